//! The reach of output: whether a sequence can change anything beyond its own line, and how many rows lines
//! take at a given width.

use unicode_width::UnicodeWidthChar as _;

use super::csi::Csi;
use super::scanner::{Scanner, SequenceSink, label};

/// The longest incomplete sequence that is waited for.
const MOST_WAITED: usize = 64;

/// What a sequence can change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SequenceReach {
    /// Its own line, or no text at all.
    Line,
    /// Other rows of the screen, or the interpretation of text from here on.
    Screen,
    /// The whole screen: nothing printed before remains, and printing restarts at the top.
    Clears,
    /// Unknown, because the sequence is incomplete.
    Unknown,
}

/// Returns what the sequence at the beginning of `bytes` can change; the first byte is ESC.
pub(super) fn reach(bytes: &[u8]) -> SequenceReach {
    match bytes {
        [_] => SequenceReach::Unknown,
        [_, b'[', ..] => match Csi::first_in(bytes) {
            Some((_, Some(csi))) => csi_reach(&csi, bytes),
            Some((_, None)) => SequenceReach::Line,
            None if bytes.len() < MOST_WAITED && !bytes[2..].iter().any(|byte| *byte < b' ') => {
                SequenceReach::Unknown
            }
            None => SequenceReach::Screen,
        },
        [_, b']' | b'P' | b'X' | b'^' | b'_', content @ ..] => string_reach(bytes[1], content),
        // Character sets, the terminator of a string, the saved cursor, the keypad.
        [_, b'(' | b')' | b'\\' | b'7' | b'=' | b'>', ..] => SequenceReach::Line,
        _ => SequenceReach::Screen,
    }
}

/// Returns what a string can change: the line feeds in it are none, so that its line does not end where it seems to.
fn string_reach(kind: u8, content: &[u8]) -> SequenceReach {
    let is_end = |byte: &u8| matches!(byte, 0x1b | 0x18 | 0x1a) || kind == b']' && *byte == 0x07;
    let end = content.iter().position(is_end);
    match content[..end.unwrap_or(content.len())].contains(&b'\n') {
        true => SequenceReach::Screen,
        false if end.is_some() => SequenceReach::Line,
        false => SequenceReach::Unknown,
    }
}

fn csi_reach(csi: &Csi<'_>, bytes: &[u8]) -> SequenceReach {
    let is_home = || csi.parameters().all(|parameter| parameter.value() <= 1);
    let is_local = match (csi.marker, csi.intermediate, csi.last) {
        (0, 0, b'm' | b'K' | b'G' | b'`' | b'C' | b'a' | b'D' | b'X' | b'@' | b'P' | b'b' | b'I' | b'Z') => {
            true
        }
        (0, 0, b'n' | b'c' | b't' | b's') | (b'>', _, _) | (0, b' ', b'q') | (_, b'$', b'p') => true,
        (0 | b'?', 0, b'J') => matches!(csi.parameter(0, 0), 0 | 3),
        (b'?', 0, b'K' | b'n') => true,
        (b'?', 0, b'h' | b'l') => csi.parameters().all(|mode| {
            matches!(mode.value(), 1 | 9 | 12 | 25 | 1000..=1007 | 1015 | 1016 | 1034 | 2004 | 2026 | 2031)
        }),
        (0, 0, b'H' | b'f') if is_home() && clears(&bytes[csi.raw.len()..]) => return SequenceReach::Clears,
        _ => false,
    };
    if is_local { SequenceReach::Line } else { SequenceReach::Screen }
}

/// Tells whether output continues with a sequence that erases the screen from the cursor on.
fn clears(bytes: &[u8]) -> bool {
    [&b"\x1b[J"[..], b"\x1b[0J", b"\x1b[2J"].iter().any(|sequence| bytes.starts_with(sequence))
}

/// Measures output at a given width, in pieces that end with lines.
pub(super) struct Measure {
    scanner: Scanner,
    lines: LineReach,
}

/// The measurements so far.
#[derive(Debug, Clone, Copy)]
struct LineReach {
    columns: usize,
    /// A lower bound for the columns of the current line, up to the cursor.
    at: usize,
    /// Whether a line that takes several rows has returned to the first column of its last row.
    has_returned: bool,
    /// A lower bound for the number of completed rows.
    rows: usize,
    /// Whether a line that takes several rows is overwritten, which would repeat it at this width.
    is_redrawn: bool,
}

impl Measure {
    /// Measures at this width.
    pub(super) fn new(columns: u16) -> Self {
        let columns = usize::from(columns.max(1));
        let lines = LineReach { columns, at: 0, has_returned: false, rows: 0, is_redrawn: false };
        Self { scanner: Scanner::default(), lines }
    }

    /// Measures some lines.
    pub(super) fn take(&mut self, bytes: &[u8]) {
        self.scanner.scan(bytes, &mut self.lines);
    }

    /// Returns a lower bound for the number of completed rows.
    pub(super) fn rows(&self) -> usize {
        self.lines.rows + self.lines.at.saturating_sub(1) / self.lines.columns
    }

    /// Tells whether a line that takes several rows is overwritten.
    pub(super) fn is_redrawn(&self) -> bool {
        self.lines.is_redrawn
    }
}

impl LineReach {
    fn is_wrapped(&self) -> bool {
        self.at > self.columns
    }

    fn goes_back(&mut self) {
        self.is_redrawn |= self.is_wrapped();
    }

    fn prints(&mut self, columns: usize) {
        self.is_redrawn |= self.has_returned;
        self.at += columns;
    }

    fn feeds(&mut self) {
        self.rows += 1 + self.at.saturating_sub(1) / self.columns;
        (self.at, self.has_returned) = (0, false);
    }
}

impl SequenceSink for LineReach {
    fn text(&mut self, text: &str) {
        for c in text.chars() {
            match c {
                '\n' => self.feeds(),
                '\r' if self.is_wrapped() => self.has_returned = true,
                '\r' => self.at = 0,
                _ if c < ' ' => self.control(u8::try_from(c).unwrap_or_default()),
                '\u{7f}' => {}
                _ => self.prints(c.width().unwrap_or(0)),
            }
        }
    }

    fn invalid(&mut self) {
        self.prints(1);
    }

    fn control(&mut self, byte: u8) {
        match byte {
            b'\n' => self.feeds(),
            b'\r' => self.has_returned |= self.is_wrapped(),
            0x08 => {
                self.goes_back();
                self.at = self.at.saturating_sub(1);
            }
            b'\t' => self.at += 1,
            _ => {}
        }
    }

    fn escape(&mut self, _: u8, _: u8) {}

    fn csi(&mut self, csi: Csi<'_>) {
        let count = usize::from(csi.parameter(0, 1));
        match csi.last {
            b'C' | b'a' => self.at = (self.at + count).min(self.columns.max(self.at)),
            b'b' => self.prints(count.min(self.columns)),
            b'G' | b'`' => {
                self.goes_back();
                self.at = (count - 1).min(self.columns - 1);
            }
            b'D' => {
                self.goes_back();
                self.at = self.at.saturating_sub(count);
            }
            b'P' | b'@' | b'X' => self.goes_back(),
            b'K' if csi.parameter(0, 0) > 0 => self.goes_back(),
            _ => {}
        }
    }

    fn osc(&mut self, _: &[u8], _: bool) {}

    fn picture(&mut self, bytes: usize) {
        self.prints(label(bytes).len());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sequences_are_classified_by_how_far_they_reach() {
        for local in ["[31m", "[K", "[?25l", "[?2004h", "[J", "]0;title\x07", "(0", "7", "[6n", "[3J", "[1 q"]
        {
            assert_eq!(reach(format!("\x1b{local}x").as_bytes()), SequenceReach::Line, "{local}");
        }
        for far in ["[A", "[2;5H", "[H", "[2J", "[?1049h", "[4h", "[?7l", "[3;9r", "M", "8", "c", "[S", "[B"]
        {
            assert_eq!(reach(format!("\x1b{far}x").as_bytes()), SequenceReach::Screen, "{far}");
        }
        assert_eq!(reach(b"\x1bPq#0\n~~\x1b\\"), SequenceReach::Screen, "the line feed is none");
        for clear in ["[H\x1b[2J", "[1;1H\x1b[J", "[;f\x1b[0J"] {
            assert_eq!(reach(format!("\x1b{clear}").as_bytes()), SequenceReach::Clears, "{clear}");
        }
        for begun in ["", "[", "[12;", "]0;title", "_G;AAAA"] {
            assert_eq!(reach(format!("\x1b{begun}").as_bytes()), SequenceReach::Unknown, "{begun}");
        }
    }

    fn measured(text: &str) -> (usize, bool) {
        let mut measure = Measure::new(10);
        measure.take(text.as_bytes());
        (measure.rows(), measure.is_redrawn())
    }

    #[test]
    fn rows_are_counted_at_the_width() {
        assert_eq!(measured("1234567890\r\n"), (1, false));
        assert_eq!(measured("12345678901\r\nx\r\n"), (3, false));
        assert_eq!(measured("\x1b[31m好好好好好好\x1b[m\r\n"), (2, false));
    }

    #[test]
    fn a_line_of_several_rows_that_is_written_over_is_found() {
        assert_eq!(measured("short\rshort\r\n"), (1, false));
        assert_eq!(measured("a line of several rows\r\r\n"), (3, false));
        assert_eq!(measured("a line of several rows\x1b[K\r\n"), (3, false));
        for again in ["\rx", "\x08x", "\x1b[3Gx", "\x1b[2Dx", "\x1b[2Kx"] {
            assert!(measured(&format!("a line of several rows{again}\r\n")).1, "{again:?}");
        }
    }
}
