//! Frames for operators and scripts: a length (u32, big endian) followed by that many bytes of JSON.
//!
//! A length is never trusted: it is checked against the reader's limit before anything is allocated, and JSON that
//! nests too deeply is rejected before it is parsed.

use std::io::IoSlice;

use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

use super::Error;

/// The largest frame the runtime accepts.
pub const MAX_FRAME: usize = 1 << 20;
/// The largest frame the runtime accepts from a console, which may paste: in JSON, a byte becomes up to six.
pub(super) const MAX_FROM_CONSOLE: usize = 8 << 20;
/// The largest frame that a console or script accepts from the runtime, whose snapshots and screens may be longer
/// than any request.
pub(super) const MAX_FROM_RUNTIME: usize = 16 << 20;
/// How deep JSON from a connection may nest.
pub const MAX_DEPTH: usize = 64;

/// A frame holding one JSON document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Frame(Vec<u8>);

impl Frame {
    /// Creates a frame with `value` as JSON.
    pub(super) fn json(value: &impl Serialize) -> Result<Self, Error> {
        Ok(Self(serde_json::to_vec(value)?))
    }

    /// Returns the document's length in bytes.
    pub(super) fn length(&self) -> usize {
        self.0.len()
    }

    /// Parses the document.
    pub(super) fn parse<T: DeserializeOwned>(&self) -> Result<T, Error> {
        if !depth_within(&self.0, MAX_DEPTH) {
            return Err(Error::frame(format!("JSON nested deeper than {MAX_DEPTH}")));
        }
        Ok(serde_json::from_slice(&self.0)?)
    }

    /// Writes the frame and flushes.
    pub(super) async fn write(&self, writer: &mut (impl AsyncWrite + Unpin)) -> Result<(), Error> {
        let length = u32::try_from(self.0.len()).map_err(|_| Error::frame("longer than 4 GiB"))?;
        let head = length.to_be_bytes();
        // Both in a single write where possible, so that the reader is woken only once.
        let pieces = [IoSlice::new(&head), IoSlice::new(&self.0)];
        let sent = writer.write_vectored(&pieces).await.map_err(Error::Talk)?;
        for (piece, sent) in [(&head[..], sent), (&self.0, sent.saturating_sub(head.len()))] {
            let rest = piece.get(sent..).unwrap_or_default();
            writer.write_all(rest).await.map_err(Error::Talk)?;
        }
        writer.flush().await.map_err(Error::Talk)
    }

    /// Reads one frame of at most `limit` bytes; `None` if the stream ended between frames.
    pub(super) async fn read(
        reader: &mut (impl AsyncRead + Unpin),
        limit: usize,
    ) -> Result<Option<Self>, Error> {
        let Some(length) = Self::read_length(reader, limit).await? else { return Ok(None) };
        let mut payload = vec![0; length];
        reader.read_exact(&mut payload).await.map_err(Error::Talk)?;
        Ok(Some(Self(payload)))
    }

    /// Creates a frame from the bytes of its document.
    pub(super) fn of(document: Vec<u8>) -> Self {
        Self(document)
    }

    /// Reads the length of the next frame; `None` if the stream ended between frames.
    pub(super) async fn read_length(
        reader: &mut (impl AsyncRead + Unpin),
        limit: usize,
    ) -> Result<Option<usize>, Error> {
        let mut head = [0; 4];
        if reader.read(&mut head[..1]).await.map_err(Error::Talk)? == 0 {
            return Ok(None);
        }
        reader.read_exact(&mut head[1..]).await.map_err(Error::Talk)?;
        let length = u32::from_be_bytes(head) as usize;
        if length > limit {
            return Err(Error::frame(format!("{length} bytes announced, {limit} allowed")));
        }
        Ok(Some(length))
    }
}

/// Tells whether arrays and objects in `json` nest at most `max` deep. Invalid JSON may pass: rejecting it is the
/// parser's job.
pub fn depth_within(json: &[u8], max: usize) -> bool {
    let (mut depth, mut in_string, mut escaped) = (0_usize, false, false);
    for byte in json {
        match (in_string, byte) {
            (true, _) if escaped => escaped = false,
            (true, b'\\') => escaped = true,
            (true, b'"') => in_string = false,
            (true, _) => {}
            (false, b'"') => in_string = true,
            (false, b'[' | b'{') => depth += 1,
            (false, b']' | b'}') => depth = depth.saturating_sub(1),
            (false, _) => {}
        }
        if depth > max {
            return false;
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn block_on<F: Future>(future: F) -> F::Output {
        tokio::runtime::Builder::new_current_thread().build().expect("a runtime").block_on(future)
    }

    #[test]
    fn depth_counts_nesting_and_not_brackets_in_strings() {
        for (json, max, within) in [
            (r#"{"a":[1,{"b":2}]}"#, 3, true),
            (r#"{"a":[1,{"b":2}]}"#, 2, false),
            (r#"["[[[[[[","\"[[[["]"#, 1, true),
            ("[][][][]", 1, true),
            ("1", 0, true),
        ] {
            assert_eq!(depth_within(json.as_bytes(), max), within, "{json} in {max}");
        }
        assert!(!depth_within("[".repeat(10_000).as_bytes(), MAX_DEPTH));
    }

    #[test]
    fn a_frame_longer_than_the_limit_is_refused_before_it_is_read() {
        let announced = [0xff, 0xff, 0xff, 0xff];
        let refused = block_on(Frame::read(&mut announced.as_slice(), MAX_FRAME));
        assert!(matches!(refused, Err(Error::Frame { .. })), "{refused:?}");
    }

    #[test]
    fn a_stream_that_ends_inside_a_frame_is_an_error_and_between_frames_is_not() {
        assert!(matches!(block_on(Frame::read(&mut [0_u8, 0].as_slice(), 9)), Err(Error::Talk(_))));
        assert!(matches!(block_on(Frame::read(&mut [].as_slice(), 9)), Ok(None)));
    }

    #[test]
    fn deep_json_is_refused() {
        let deep = Frame([b"[".repeat(65), b"]".repeat(65)].concat());
        assert!(matches!(deep.parse::<serde_json::Value>(), Err(Error::Frame { .. })));
    }

    proptest! {
        #[test]
        fn frames_read_back_in_order(payloads in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..300), 0..8)) {
            let frames: Vec<Frame> = payloads.into_iter().map(Frame).collect();
            let read = block_on(async {
                let mut wire = Vec::new();
                for frame in &frames {
                    frame.write(&mut wire).await.expect("a vector takes everything");
                }
                let mut wire = wire.as_slice();
                let mut read = Vec::new();
                while let Some(frame) = Frame::read(&mut wire, 300).await.expect("whole frames") {
                    read.push(frame);
                }
                read
            });
            prop_assert_eq!(read, frames);
        }

        #[test]
        fn reading_noise_never_panics(noise in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = block_on(Frame::read(&mut noise.as_slice(), 64));
            let _ = Frame(noise).parse::<serde_json::Value>();
        }
    }
}
