//! The beginning and the end of a long text, and its numbers, as its lines go by. Pure.

use super::StreamPiece;
use crate::envelope::preview::StreamText;

/// Collects them.
#[derive(Debug)]
pub(super) struct Ends {
    /// How many bytes of each end are kept.
    most: usize,
    head: String,
    /// Whether something came after the head that it does not have.
    is_cut: bool,
    tail: String,
    lines: u64,
    chars: u64,
}

impl Ends {
    pub(super) fn new(most: usize) -> Self {
        Self { most, head: String::new(), is_cut: false, tail: String::new(), lines: 0, chars: 0 }
    }

    pub(super) fn take(&mut self, piece: StreamPiece<'_>) {
        match piece {
            StreamPiece::Gap { lines, .. } => {
                self.lines += lines;
                self.is_cut = true;
                self.tail.clear();
            }
            StreamPiece::LaidOut => {}
            StreamPiece::Line(line) => {
                self.chars += u64::from(self.lines > 0) + line.chars();
                self.lines += 1;
                self.print(line.text);
                if line.after > 0 {
                    self.is_cut = true;
                    self.tail.clear();
                    self.print(line.end);
                }
                self.print("\n");
            }
        }
    }

    fn print(&mut self, text: &str) {
        if !self.is_cut {
            self.head.push_str(text);
            self.is_cut = self.head.len() > self.most;
        }
        self.tail.push_str(text);
        if self.tail.len() > 2 * self.most {
            let from = self.tail.ceil_char_boundary(self.tail.len() - self.most);
            self.tail.drain(..from);
        }
    }

    pub(super) fn into_text(self) -> StreamText {
        let Self { head, is_cut, tail, lines, chars, .. } = self;
        match is_cut {
            false => StreamText::Whole(head),
            true => StreamText::Ends { head, tail, lines: Some(lines), chars: Some(chars) },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::HeldLine;
    use super::*;

    fn collected(most: usize, lines: &[HeldLine<'_>]) -> StreamText {
        let mut ends = Ends::new(most);
        lines.iter().for_each(|line| ends.take(StreamPiece::Line(*line)));
        ends.into_text()
    }

    #[test]
    fn short_text_is_whole_and_long_text_has_true_ends() {
        let lines = ["one", "two", "three"].map(HeldLine::whole);
        assert_eq!(collected(100, &lines), StreamText::Whole("one\ntwo\nthree\n".into()));
        let cut = collected(6, &lines);
        let StreamText::Ends { head, tail, lines, chars } = cut else { panic!("{cut:?}") };
        assert!(head.starts_with("one\n") && tail.ends_with("three\n"));
        assert_eq!((lines, chars), (Some(3), Some(13)));
        let long = HeldLine { text: "xxx", before: 0, after: 1_000, end: "yyNEEDLE" };
        let cut = collected(100, &[long, HeldLine::whole("next")]);
        let StreamText::Ends { head, tail, chars, .. } = cut else { panic!("{cut:?}") };
        assert_eq!((head.as_str(), tail.as_str(), chars), ("xxx", "yyNEEDLE\nnext\n", Some(1_008)));
    }
}
