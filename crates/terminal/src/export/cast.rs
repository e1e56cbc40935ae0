//! Exports a log as a recording for terminal session players: asciicast, version 2 or 3.

use std::io;

use serde_json::{Value, json};

use crate::dialogue::Dialogue;
use crate::history::LogBytes;
use crate::marks::{ByteSource, Mark, MarkKind};
use crate::size::Size;
use crate::terminal::ByteOrigin;

/// Maximum number of bytes of output in one line of a recording.
const PIECE: usize = 64 * 1024;

/// The version of the format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CastVersion {
    /// Times are relative to the beginning.
    V2,
    /// Times are relative to the previous event.
    V3,
}

/// The properties of a recording.
#[derive(Debug, Clone, Copy)]
pub struct Cast<'a> {
    pub version: CastVersion,
    /// The initial size.
    pub size: Size,
    /// The origin of the output; a pipe's line feeds are converted to what a terminal would receive.
    pub origin: ByteOrigin,
    /// When the task was created, in seconds since the Unix epoch.
    pub started_at: i64,
    /// The command, with secrets masked.
    pub command: &'a str,
}

/// An event other than output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CastEvent {
    /// Text that was typed.
    Input(String),
    /// A label for an event.
    Marker(String),
    /// The end, with the exit status (version 3 only).
    Exit(i32),
}

impl Cast<'_> {
    /// Returns the recording. `events` are in order, each with the time in milliseconds since the task was
    /// created. One that came together with output stands before it; the end is the last.
    ///
    /// # Errors
    /// When the log cannot be read.
    pub fn text(
        &self,
        log: &(impl LogBytes + ?Sized),
        marks: &[Mark],
        events: &[(u32, CastEvent)],
    ) -> io::Result<String> {
        let mut lines = CastLines { text: format!("{}\n", self.header()), version: self.version, last_ms: 0 };
        let is_end = |event: &&(u32, CastEvent)| matches!(event.1, CastEvent::Exit(_));
        let (ends, events): (Vec<_>, Vec<_>) = events.iter().partition(is_end);
        let mut events = events.into_iter().peekable();
        let mut decoder = TextDecoder { pending: Vec::new(), feed_returns: self.origin == ByteOrigin::Pipe };
        let (mut dialogue, mut size) = (Dialogue::default(), self.size);
        for (at, mark) in marks.iter().enumerate() {
            while let Some((at_ms, event)) = events.next_if(|(at_ms, _)| *at_ms <= mark.at_ms) {
                lines.event(*at_ms, event);
            }
            match mark.kind {
                MarkKind::Input => {}
                MarkKind::Resize(new) if new == size => {}
                MarkKind::Resize(new) => {
                    size = new;
                    lines.put(mark.at_ms, "r", &format!("{}x{}", new.cols(), new.rows()));
                }
                MarkKind::Gap { dropped } => {
                    lines.put(mark.at_ms, "m", &format!("{dropped} bytes dropped (log limit)"));
                }
                MarkKind::Chunk(stream) => {
                    let aside = stream == ByteSource::Tty && self.origin == ByteOrigin::Pipe;
                    let end = marks.get(at + 1).map_or(log.len(), |next| next.offset);
                    log.for_each_block(mark.offset..end, |_, block| {
                        block.chunks(PIECE).for_each(|piece| {
                            let drawn = dialogue.draw(aside, piece);
                            lines.put(mark.at_ms, "o", &decoder.decode(&drawn));
                        });
                        true
                    })?;
                }
            }
        }
        events.chain(ends).for_each(|(at_ms, event)| lines.event(*at_ms, event));
        Ok(lines.text)
    }

    fn header(&self) -> Value {
        let (cols, rows) = (self.size.cols(), self.size.rows());
        match self.version {
            CastVersion::V2 => json!({"version": 2, "width": cols, "height": rows,
                "timestamp": self.started_at, "command": self.command, "env": {"TERM": "xterm-256color"}}),
            CastVersion::V3 => {
                json!({"version": 3, "term": {"cols": cols, "rows": rows, "type": "xterm-256color"},
                "timestamp": self.started_at, "command": self.command})
            }
        }
    }
}

/// The lines of a recording, each with its time.
struct CastLines {
    text: String,
    version: CastVersion,
    last_ms: u32,
}

impl CastLines {
    fn put(&mut self, at_ms: u32, kind: &str, data: &str) {
        if data.is_empty() {
            return;
        }
        // The clock of a log never goes back; that of events may, by a moment.
        let at_ms = at_ms.max(self.last_ms);
        let time = match self.version {
            CastVersion::V2 => at_ms,
            CastVersion::V3 => at_ms - self.last_ms,
        };
        self.last_ms = at_ms;
        let (seconds, millis) = (time / 1_000, time % 1_000);
        self.text.push_str(&format!("[{seconds}.{millis:03}, \"{kind}\", {}]\n", Value::from(data)));
    }

    fn event(&mut self, at_ms: u32, event: &CastEvent) {
        match event {
            CastEvent::Input(text) => self.put(at_ms, "i", text),
            CastEvent::Marker(label) => self.put(at_ms, "m", label),
            CastEvent::Exit(status) if self.version == CastVersion::V3 => {
                self.put(at_ms, "x", &status.to_string());
            }
            CastEvent::Exit(_) => {}
        }
    }
}

/// Decodes bytes to text, however they are split into pieces; invalid UTF-8 becomes U+FFFD.
struct TextDecoder {
    pending: Vec<u8>,
    feed_returns: bool,
}

impl TextDecoder {
    fn decode(&mut self, bytes: &[u8]) -> String {
        self.pending.extend_from_slice(bytes);
        let (mut text, mut done) = (String::new(), 0);
        for chunk in self.pending.utf8_chunks() {
            text.push_str(chunk.valid());
            done += chunk.valid().len();
            let is_last = done + chunk.invalid().len() == self.pending.len();
            if is_last
                && std::str::from_utf8(chunk.invalid())
                    .map_or_else(|error| error.error_len().is_none(), |_| true)
            {
                break;
            }
            text.push(char::REPLACEMENT_CHARACTER);
            done += chunk.invalid().len();
        }
        self.pending.drain(..done);
        if self.feed_returns { text.replace('\n', "\r\n") } else { text }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::ByteSource;

    fn mark(offset: u64, at_ms: u32, kind: MarkKind) -> Mark {
        Mark { offset, line: 0, at_ms, kind }
    }

    fn written(version: CastVersion, origin: ByteOrigin) -> Vec<Value> {
        let size = Size::nearest(80, 24);
        let cast = Cast { version, size, origin, started_at: 7, command: "sh" };
        let chunk =
            MarkKind::Chunk(if origin == ByteOrigin::Tty { ByteSource::Tty } else { ByteSource::Stdout });
        let marks = [
            mark(0, 0, MarkKind::Resize(size)),
            mark(0, 40, chunk),
            mark(4, 1_500, chunk),
            mark(7, 2_000, MarkKind::Resize(Size::nearest(100, 30))),
            mark(7, 2_000, MarkKind::Gap { dropped: 9 }),
        ];
        let events = [
            (1_400, CastEvent::Input("ok\n".into())),
            (1_500, CastEvent::Marker("stopped".into())),
            (1_900, CastEvent::Exit(3)),
        ];
        let text = cast.text("a\n gr\u{f6}".as_bytes(), &marks, &events).expect("a log in memory");
        text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
    }

    #[test]
    fn version_two_counts_from_the_beginning() {
        let lines = written(CastVersion::V2, ByteOrigin::Tty);
        assert_eq!(
            (&lines[0]["version"], &lines[0]["width"], &lines[0]["timestamp"]),
            (&json!(2), &json!(80), &json!(7))
        );
        assert_eq!(
            lines[1..],
            [
                json!([0.04, "o", "a\n g"]),
                json!([1.4, "i", "ok\n"]),
                json!([1.5, "m", "stopped"]),
                json!([1.5, "o", "r\u{f6}"]),
                json!([2.0, "r", "100x30"]),
                json!([2.0, "m", "9 bytes dropped (log limit)"]),
            ]
        );
    }

    #[test]
    fn version_three_counts_from_the_event_before_and_tells_the_exit() {
        let lines = written(CastVersion::V3, ByteOrigin::Pipe);
        assert_eq!((&lines[0]["version"], &lines[0]["term"]["rows"]), (&json!(3), &json!(24)));
        assert_eq!(
            lines[1..],
            [
                json!([0.04, "o", "a\r\n g"]),
                json!([1.36, "i", "ok\n"]),
                json!([0.1, "m", "stopped"]),
                json!([0.0, "o", "r\u{f6}"]),
                json!([0.5, "r", "100x30"]),
                json!([0.0, "m", "9 bytes dropped (log limit)"]),
                json!([0.0, "x", "3"]),
            ]
        );
    }

    proptest! {
        #[test]
        fn decoding_gives_the_same_text_wherever_the_bytes_are_cut(bytes in prop::collection::vec(prop_oneof![
            Just(0xf0_u8), Just(0x9f), Just(0x98), Just(0x80), Just(0xc3), Just(0xa9), Just(b'a')], 0..40), cuts in prop::collection::vec(1_usize..5, 1..40)) {
            let mut text = TextDecoder { pending: Vec::new(), feed_returns: false };
            let (mut joined, mut rest) = (String::new(), &bytes[..]);
            for cut in cuts.into_iter().cycle().take(40) {
                let (piece, later) = rest.split_at(cut.min(rest.len()));
                joined.push_str(&text.decode(piece));
                rest = later;
            }
            joined.push_str(&String::from_utf8_lossy(&text.pending));
            prop_assert_eq!(joined, String::from_utf8_lossy(&bytes));
        }
    }
}
