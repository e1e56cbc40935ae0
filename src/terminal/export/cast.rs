//! A log as a recording that players of terminal sessions read: asciicast, version 2 or 3.

use std::io::{self, Write};

use serde_json::{Value, json};

use crate::terminal::history::LogBytes;
use crate::terminal::marks::{Mark, MarkKind};
use crate::terminal::size::Size;
use crate::terminal::terminal::Origin;

/// Bytes of output in one line of a recording at most.
const PIECE: usize = 64 * 1024;

/// The form of a recording.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CastVersion {
    /// Times count from the beginning.
    V2,
    /// Times count from the event before.
    V3,
}

/// What a recording says of itself.
#[derive(Debug, Clone, Copy)]
pub struct Cast<'a> {
    /// Its form.
    pub version: CastVersion,
    /// The size it begins with.
    pub size: Size,
    /// A pipe's line feeds become what a terminal would have made of them.
    pub origin: Origin,
    /// When the task was made, in seconds since the Unix epoch.
    pub started_at: i64,
    /// The command, as it may be shown.
    pub command: &'a str,
}

/// Something that happened beside the output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CastEvent {
    /// Text that was typed.
    Input(String),
    /// A word about what happened.
    Marker(String),
    /// The end, with the exit status (version 3 only).
    Exit(i32),
}

impl Cast<'_> {
    /// Writes the recording. `events` are in order, each with the milliseconds since the task was made.
    ///
    /// # Errors
    /// When the log cannot be read or `out` not be written.
    pub fn write(
        &self,
        out: &mut impl Write,
        log: &(impl LogBytes + ?Sized),
        marks: &[Mark],
        events: &[(u32, CastEvent)],
    ) -> io::Result<()> {
        writeln!(out, "{}", self.header())?;
        let mut lines = Lines { out, version: self.version, last_ms: 0 };
        let mut events = events.iter().peekable();
        let mut text = Decoder { pending: Vec::new(), feed_returns: self.origin == Origin::Pipe };
        let mut size = self.size;
        for (at, mark) in marks.iter().enumerate() {
            while let Some((at_ms, event)) = events.next_if(|(at_ms, _)| *at_ms < mark.at_ms) {
                lines.event(*at_ms, event)?;
            }
            match mark.kind {
                MarkKind::Resize(new) if new == size => {}
                MarkKind::Resize(new) => {
                    size = new;
                    lines.put(mark.at_ms, "r", &format!("{}x{}", new.cols(), new.rows()))?;
                }
                MarkKind::Gap { dropped } => {
                    lines.put(mark.at_ms, "m", &format!("{dropped} bytes not kept"))?;
                }
                MarkKind::Chunk(_) => {
                    let end = marks.get(at + 1).map_or(log.len(), |next| next.offset);
                    output(log, mark.offset..end, &mut |piece| {
                        lines.put(mark.at_ms, "o", &text.take(piece))
                    })?;
                }
            }
        }
        events.try_for_each(|(at_ms, event)| lines.event(*at_ms, event))
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
struct Lines<'a, W> {
    out: &'a mut W,
    version: CastVersion,
    last_ms: u32,
}

impl<W: Write> Lines<'_, W> {
    fn put(&mut self, at_ms: u32, kind: &str, data: &str) -> io::Result<()> {
        if data.is_empty() {
            return Ok(());
        }
        // The clock of a log never goes back, that of events may by a moment.
        let at_ms = at_ms.max(self.last_ms);
        let time = match self.version {
            CastVersion::V2 => at_ms,
            CastVersion::V3 => at_ms - self.last_ms,
        };
        self.last_ms = at_ms;
        writeln!(self.out, "[{}.{:03}, \"{kind}\", {}]", time / 1_000, time % 1_000, Value::from(data))
    }

    fn event(&mut self, at_ms: u32, event: &CastEvent) -> io::Result<()> {
        match event {
            CastEvent::Input(text) => self.put(at_ms, "i", text),
            CastEvent::Marker(word) => self.put(at_ms, "m", word),
            CastEvent::Exit(status) if self.version == CastVersion::V3 => {
                self.put(at_ms, "x", &status.to_string())
            }
            CastEvent::Exit(_) => Ok(()),
        }
    }
}

fn output(
    log: &(impl LogBytes + ?Sized),
    range: std::ops::Range<u64>,
    take: &mut impl FnMut(&[u8]) -> io::Result<()>,
) -> io::Result<()> {
    let mut piece = vec![0; PIECE];
    let mut offset = range.start;
    while offset < range.end {
        let wanted = usize::try_from(range.end - offset).unwrap_or(PIECE).min(PIECE);
        match log.read_at(offset, &mut piece[..wanted])? {
            0 => break,
            count => {
                take(&piece[..count])?;
                offset += count as u64;
            }
        }
    }
    Ok(())
}

/// Makes text of bytes, whatever pieces they come in; what is no UTF-8 becomes U+FFFD.
struct Decoder {
    pending: Vec<u8>,
    feed_returns: bool,
}

impl Decoder {
    fn take(&mut self, bytes: &[u8]) -> String {
        self.pending.extend_from_slice(bytes);
        let kept = match std::str::from_utf8(&self.pending) {
            Err(error) if error.error_len().is_none() => error.valid_up_to(),
            _ => cut_off(&self.pending),
        };
        let rest = self.pending.split_off(kept);
        let text = String::from_utf8_lossy(&self.pending).into_owned();
        self.pending = rest;
        if self.feed_returns { text.replace('\n', "\r\n") } else { text }
    }
}

/// Returns where the beginning of an unfinished character stands, at the end of bytes that are not all UTF-8.
fn cut_off(bytes: &[u8]) -> usize {
    let back = bytes.iter().rev().take(4).position(|byte| *byte >= 0xc0).map_or(0, |at| at + 1);
    let start = bytes.len() - back;
    match std::str::from_utf8(&bytes[start..]) {
        Err(error) if error.valid_up_to() == 0 && error.error_len().is_none() => start,
        _ => bytes.len(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::terminal::Stream;

    fn mark(offset: u64, at_ms: u32, kind: MarkKind) -> Mark {
        Mark { offset, line: 0, at_ms, kind }
    }

    fn written(version: CastVersion, origin: Origin) -> Vec<Value> {
        let size = Size::clamped(80, 24);
        let cast = Cast { version, size, origin, started_at: 7, command: "sh" };
        let chunk = MarkKind::Chunk(Stream::Tty);
        let marks = [
            mark(0, 0, MarkKind::Resize(size)),
            mark(0, 40, chunk),
            mark(4, 1_500, chunk),
            mark(7, 2_000, MarkKind::Resize(Size::clamped(100, 30))),
            mark(7, 2_000, MarkKind::Gap { dropped: 9 }),
        ];
        let events = [(1_400, CastEvent::Input("ok\n".into())), (2_500, CastEvent::Exit(3))];
        let mut out = Vec::new();
        cast.write(&mut out, "a\n gr\u{f6}".as_bytes(), &marks, &events).expect("written");
        String::from_utf8(out)
            .expect("text")
            .lines()
            .map(|line| serde_json::from_str(line).expect("JSON"))
            .collect()
    }

    #[test]
    fn version_two_counts_from_the_beginning() {
        let lines = written(CastVersion::V2, Origin::Tty);
        assert_eq!(
            (&lines[0]["version"], &lines[0]["width"], &lines[0]["timestamp"]),
            (&json!(2), &json!(80), &json!(7))
        );
        assert_eq!(
            lines[1..],
            [
                json!([0.04, "o", "a\n g"]),
                json!([1.4, "i", "ok\n"]),
                json!([1.5, "o", "r\u{f6}"]),
                json!([2.0, "r", "100x30"]),
                json!([2.0, "m", "9 bytes not kept"]),
            ]
        );
    }

    #[test]
    fn version_three_counts_from_the_event_before_and_tells_the_exit() {
        let lines = written(CastVersion::V3, Origin::Pipe);
        assert_eq!((&lines[0]["version"], &lines[0]["term"]["rows"]), (&json!(3), &json!(24)));
        assert_eq!(
            lines[1..],
            [
                json!([0.04, "o", "a\r\n g"]),
                json!([1.36, "i", "ok\n"]),
                json!([0.1, "o", "r\u{f6}"]),
                json!([0.5, "r", "100x30"]),
                json!([0.0, "m", "9 bytes not kept"]),
                json!([0.5, "x", "3"]),
            ]
        );
    }

    proptest! {
        #[test]
        fn where_bytes_are_cut_makes_no_difference(bytes in prop::collection::vec(prop_oneof![
            Just(0xf0_u8), Just(0x9f), Just(0x98), Just(0x80), Just(0xc3), Just(0xa9), Just(b'a')], 0..40), cuts in prop::collection::vec(1_usize..5, 1..40)) {
            let mut text = Decoder { pending: Vec::new(), feed_returns: false };
            let (mut joined, mut rest) = (String::new(), &bytes[..]);
            for cut in cuts.into_iter().cycle().take(40) {
                let (piece, later) = rest.split_at(cut.min(rest.len()));
                joined.push_str(&text.take(piece));
                rest = later;
            }
            joined.push_str(&String::from_utf8_lossy(&text.pending));
            prop_assert_eq!(joined, String::from_utf8_lossy(&bytes));
        }
    }
}
