//! What is entered: lines one by one, or several at once, which only a paste does. A paste is text, never a command or
//! an answer; nor is a line that is too long, whose rest must not be taken for another one.

use jiff::Timestamp;

use super::session::{DialogueStep, PlainEffect, PlainSession};
use super::steps::reply;
use crate::console::state::MOST_WRITTEN;

/// The longest line that a terminal passes on; it drops the rest of a longer one.
const TERMINAL_LINE: usize = 4_095;

/// What was entered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EnteredLine {
    /// A line, without its end.
    Line(String),
    /// A line of at least so many bytes, which is too long.
    TooLong(usize),
    /// Several lines at once.
    Pasted {
        /// The number of lines.
        lines: usize,
        /// The lines with their ends, if they are not too long.
        text: Option<String>,
    },
}

/// Splits input into what was entered.
#[derive(Debug, Default)]
pub struct LineSplitter {
    waiting: Vec<u8>,
    /// How many bytes of a line that is too long were dropped.
    dropped: usize,
    /// The first of the lines that have come at once, how many there are, and their text as far as it is kept.
    first: Option<EnteredLine>,
    lines: usize,
    text: Option<String>,
    /// Whether a terminal passes on the lines.
    is_terminal: bool,
}

impl LineSplitter {
    /// Splits the input of a terminal or of anything else.
    pub fn new(is_terminal: bool) -> Self {
        Self { is_terminal, ..Self::default() }
    }

    /// Adds more input.
    pub fn add(&mut self, bytes: &[u8]) {
        self.waiting.extend_from_slice(bytes);
    }

    /// Returns the next line; `None` if its end has not come yet.
    pub fn line(&mut self) -> Option<EnteredLine> {
        let Some(at) = memchr::memchr(b'\n', &self.waiting) else {
            if self.waiting.len() > MOST_WRITTEN {
                self.dropped += self.waiting.len();
                self.waiting.clear();
            }
            return None;
        };
        let line: Vec<u8> = self.waiting.drain(..=at).collect();
        Some(self.entered_line(&line[..at]))
    }

    /// Returns the last line, which has no end.
    pub fn rest(&mut self) -> Option<EnteredLine> {
        let line = std::mem::take(&mut self.waiting);
        (!line.is_empty() || self.dropped > 0).then(|| self.entered_line(&line))
    }

    /// Collects the lines that have come, because more may come at once; tells whether there are any.
    pub fn collect(&mut self) -> bool {
        while let Some(entered) = self.line() {
            if self.lines == 0 {
                (self.first, self.text) = (Some(entered.clone()), Some(String::new()));
            }
            self.lines += 1;
            let text = self.text.take();
            self.text = match entered {
                EnteredLine::Line(line) => {
                    let fits = text.filter(|text| text.len() + line.len() < MOST_WRITTEN);
                    fits.map(|text| text + &line + "\n")
                }
                _ => None,
            };
        }
        self.lines > 0
    }

    /// Returns what was collected.
    pub fn take_lines(&mut self) -> Option<EnteredLine> {
        let first = self.first.take()?;
        let (lines, text) = (std::mem::take(&mut self.lines), self.text.take());
        Some(if lines == 1 { first } else { EnteredLine::Pasted { lines, text } })
    }

    fn entered_line(&mut self, line: &[u8]) -> EnteredLine {
        let length = std::mem::take(&mut self.dropped) + line.len();
        if length > MOST_WRITTEN || self.is_terminal && length >= TERMINAL_LINE {
            return EnteredLine::TooLong(length);
        }
        EnteredLine::Line(String::from_utf8_lossy(line).trim_end_matches('\r').to_owned())
    }
}

impl PlainSession {
    /// Handles what was entered, and was read at this time.
    pub(super) fn handle_entry(&mut self, entered: EnteredLine, at: Timestamp) -> Vec<PlainEffect> {
        match entered {
            EnteredLine::Line(line) => self.line(&line, at),
            EnteredLine::TooLong(bytes) => match &mut self.step {
                DialogueStep::Lines(_, written) => {
                    *written = None;
                    Vec::new()
                }
                _ => vec![reply(format!(
                    "a line of {bytes} bytes was not taken: a line has at most {MOST_WRITTEN}, on a terminal fewer \
                     than {TERMINAL_LINE}"
                ))],
            },
            EnteredLine::Pasted { lines, text } => self.handle_paste(lines, text.as_deref(), at),
        }
    }

    /// Handles lines that came at once: they go on with an answer of several lines, and are nothing else.
    fn handle_paste(&mut self, lines: usize, text: Option<&str>, at: Timestamp) -> Vec<PlainEffect> {
        if !matches!(self.step, DialogueStep::Lines(..)) {
            return vec![reply(format!("{lines} lines at once were not taken: write one line at a time"))];
        }
        let Some(text) = text else { return self.handle_entry(EnteredLine::TooLong(MOST_WRITTEN + 1), at) };
        let mut rest = text.lines();
        let mut effects = Vec::new();
        while matches!(self.step, DialogueStep::Lines(..))
            && let Some(line) = rest.next()
        {
            effects.extend(self.line(line, at));
        }
        match rest.count() {
            0 => {}
            left => effects.push(reply(format!("{left} lines behind its end were not taken"))),
        }
        effects
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(splitter: &mut LineSplitter) -> Vec<EnteredLine> {
        let lines: Vec<EnteredLine> = std::iter::from_fn(|| splitter.line()).collect();
        lines.into_iter().chain(splitter.rest()).collect()
    }

    fn line(text: &str) -> EnteredLine {
        EnteredLine::Line(text.to_owned())
    }

    #[test]
    fn the_rest_of_a_line_that_is_too_long_is_not_read_as_a_line() {
        let mut splitter = LineSplitter::new(false);
        let mut got = Vec::new();
        for piece in [&vec![b'x'; 3 * MOST_WRITTEN][..], b"stop t01\nta", b"sks\r\nq"] {
            for bytes in piece.chunks(4_096) {
                splitter.add(bytes);
                got.extend(std::iter::from_fn(|| splitter.line()));
            }
        }
        got.extend(splitter.rest());
        assert_eq!(got, [EnteredLine::TooLong(3 * MOST_WRITTEN + 8), line("tasks"), line("q")]);
    }

    #[test]
    fn a_line_that_a_terminal_has_cut_is_no_line() {
        let mut splitter = LineSplitter::new(true);
        splitter.add(&[&[b'x'; TERMINAL_LINE][..], b"\n", &[b'x'; TERMINAL_LINE - 1], b"\n"].concat());
        assert_eq!(
            all(&mut splitter),
            [EnteredLine::TooLong(TERMINAL_LINE), line(&"x".repeat(TERMINAL_LINE - 1))]
        );
    }

    #[test]
    fn f51_lines_that_come_at_once_are_one_paste_of_bounded_size() {
        let mut splitter = LineSplitter::new(true);
        splitter.add(b"yes\n");
        assert!(splitter.collect());
        assert_eq!(splitter.take_lines(), Some(line("yes")));
        splitter.add(b"yes\nno\nhalf");
        assert!(splitter.collect());
        assert_eq!(
            splitter.take_lines(),
            Some(EnteredLine::Pasted { lines: 2, text: Some("yes\nno\n".into()) })
        );
        for _ in 0..100_000 {
            splitter.add(b" of a paste of five megabytes, line after line\n");
            splitter.collect();
        }
        assert!(splitter.text.is_none() && splitter.waiting.is_empty());
        assert_eq!(splitter.take_lines(), Some(EnteredLine::Pasted { lines: 100_000, text: None }));
        assert_eq!(splitter.take_lines(), None);
    }
}
