//! Reads lines from an untrusted peer in bounded memory, whatever it sends. Never interprets them.

use std::io;

use tokio::io::{AsyncBufReadExt, AsyncRead, BufReader};
use tokio::net::unix::OwnedReadHalf;

use crate::process::PeerReader;

/// What remains to be read of a connection after its handshake.
pub(super) type ConnectionReader = BufReader<PeerReader<OwnedReadHalf>>;

/// One line as received, without its line feed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReceivedLine {
    /// A complete line.
    Whole(Vec<u8>),
    /// A line longer than the cap; its bytes were discarded.
    TooLong,
}

/// Reads lines of at most `cap` bytes. Cancelling `next` loses nothing.
#[derive(Debug)]
pub struct LineReader<R> {
    reader: BufReader<PeerReader<R>>,
    line: Vec<u8>,
    cap: usize,
    skipping: bool,
    /// Whether what follows the last line feed is a line too.
    takes_rest: bool,
}

impl<R: AsyncRead + Unpin> LineReader<R> {
    /// Creates a line reader.
    pub fn new(reader: R, cap: usize) -> Self {
        Self {
            reader: BufReader::new(PeerReader::new(reader)),
            line: Vec::new(),
            cap,
            skipping: false,
            takes_rest: false,
        }
    }

    /// Returns the same reader with another cap.
    #[must_use]
    pub fn with_cap(mut self, cap: usize) -> Self {
        self.cap = cap;
        self
    }

    /// Returns the same reader, which takes what follows the last line feed for a line.
    #[must_use]
    pub fn with_rest(self) -> Self {
        Self { takes_rest: true, ..self }
    }

    /// Returns the underlying reader, for bytes between two lines.
    pub(super) fn reader(&mut self) -> &mut BufReader<PeerReader<R>> {
        &mut self.reader
    }

    /// Returns the underlying reader, for a conversation that continues in frames. Bytes already read beyond the last
    /// line stay in its buffer.
    pub fn into_reader(self) -> BufReader<PeerReader<R>> {
        self.reader
    }

    /// Returns the next line, or `None` at the end of the stream. A last line without a line feed is dropped, unless
    /// this reader takes it: of a broken connection it may be the beginning of a line.
    ///
    /// # Errors
    /// If the stream fails.
    pub async fn next(&mut self) -> io::Result<Option<ReceivedLine>> {
        loop {
            let seen = self.reader.fill_buf().await?;
            if seen.is_empty() {
                let is_line = self.takes_rest && !self.skipping && !self.line.is_empty();
                return Ok(is_line.then(|| ReceivedLine::Whole(std::mem::take(&mut self.line))));
            }
            let feed = memchr::memchr(b'\n', seen);
            let taken = feed.map_or(seen.len(), |at| at + 1);
            let text = feed.unwrap_or(seen.len());
            if !self.skipping && self.line.len() + text > self.cap {
                self.skipping = true;
                self.line = Vec::new();
            }
            if !self.skipping {
                self.line.extend_from_slice(&seen[..text]);
            }
            self.reader.consume(taken);
            if feed.is_some() {
                let whole = std::mem::take(&mut self.line);
                let skipped = std::mem::take(&mut self.skipping);
                return Ok(Some(if skipped { ReceivedLine::TooLong } else { ReceivedLine::Whole(whole) }));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn all(bytes: &[u8], cap: usize) -> Vec<ReceivedLine> {
        let mut lines = LineReader::new(bytes, cap);
        let mut out = Vec::new();
        while let Some(line) = lines.next().await.expect("a slice does not fail") {
            out.push(line);
        }
        out
    }

    #[tokio::test]
    async fn a_line_over_the_cap_is_refused_and_the_next_one_is_read() {
        let read = all(b"abcd\nabcde\n\nx\nunfinished", 4).await;
        let whole = |text: &[u8]| ReceivedLine::Whole(text.to_vec());
        assert_eq!(read, [whole(b"abcd"), ReceivedLine::TooLong, whole(b""), whole(b"x")]);
        let mut lines = LineReader::new(&b"x\nunfinished"[..], 64).with_rest();
        assert_eq!(lines.next().await.expect("reads"), Some(whole(b"x")));
        assert_eq!(lines.next().await.expect("reads"), Some(whole(b"unfinished")));
        assert_eq!(lines.next().await.expect("reads"), None);
    }

    #[tokio::test]
    async fn an_endless_line_holds_no_memory() {
        let flood = vec![b'x'; 1 << 20];
        let mut lines = LineReader::new(flood.as_slice(), 64);
        assert_eq!(lines.next().await.expect("reads"), None);
        assert_eq!(lines.line.capacity(), 0);
    }
}
