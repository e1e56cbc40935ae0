//! The difference between two texts, line by line: indicated by a mark at each line, with colour only as an
//! addition.

use similar::{Algorithm, ChangeTag, capture_diff_slices};

use super::document::{StyledPiece, WrappedText, piece};
use super::visible;
use crate::console::theme::Role;

/// Maximum number of lines compared of each text. Comparisons that take longer than a moment are left to
/// other programs.
const MOST_LINES: usize = 3_000;

/// Lines around a change that are shown of a file.
const CONTEXT: usize = 3;

/// The differences of several files, one below the other, each with the lines around its changes.
#[derive(Debug, Default)]
pub struct FileDiffs {
    lines: Vec<Vec<StyledPiece>>,
    marks: Vec<StyledPiece>,
    /// The lines at which files begin.
    parts: Vec<usize>,
}

impl FileDiffs {
    /// Adds a line that is of no file.
    pub fn say(&mut self, line: Vec<StyledPiece>) {
        self.lines.push(line);
        self.marks.push(piece("", Role::Faint));
    }

    /// Adds the line at which a file begins.
    pub fn part(&mut self, head: Vec<StyledPiece>) {
        self.parts.push(self.lines.len());
        self.say(head);
    }

    /// Adds how a text differs from an earlier one.
    pub fn add(&mut self, before: &str, after: &str) {
        let lines = |text: &str| text.lines().take(MOST_LINES).map(str::to_owned).collect::<Vec<_>>();
        let (old, new) = (lines(before), lines(after));
        let operations = capture_diff_slices(Algorithm::Myers, &old, &new);
        for (at, hunk) in similar::group_diff_ops(operations, CONTEXT).iter().enumerate() {
            if at > 0 {
                self.say(vec![piece("...", Role::Faint)]);
            }
            for change in hunk.iter().flat_map(|operation| operation.iter_changes(&old, &new)) {
                let (mark, line) = marked(change.tag(), change.value_ref());
                self.lines.push(vec![line]);
                self.marks.push(mark);
            }
        }
        if [before, after].iter().any(|text| text.lines().nth(MOST_LINES).is_some()) {
            self.say(vec![piece(format!("only the first {MOST_LINES} lines are compared"), Role::Faint)]);
        }
    }

    /// Returns the text, and the lines at which files begin.
    pub fn finish(self) -> (WrappedText, Vec<usize>) {
        let mut document = WrappedText::new(self.lines);
        document.set_gutter(self.marks);
        (document, self.parts)
    }
}

/// Returns the mark of a line, and the line.
fn marked(tag: ChangeTag, line: &str) -> (StyledPiece, StyledPiece) {
    let (mark, role) = match tag {
        ChangeTag::Equal => ("  ", Role::Faint),
        ChangeTag::Delete => ("- ", Role::Failed),
        ChangeTag::Insert => ("+ ", Role::Running),
    };
    let text = visible::in_text(line).into_owned();
    (piece(mark, role), piece(text, if role == Role::Faint { Role::Text } else { role }))
}

/// The difference between two texts.
#[derive(Debug)]
pub struct Diff {
    /// The lines of both, each with its mark.
    pub document: WrappedText,
    /// The lines at which changes begin.
    pub changes: Vec<usize>,
    /// The number of lines only in the second text.
    pub added: usize,
    /// The number of lines only in the first text.
    pub removed: usize,
    /// Whether some lines were not compared.
    pub is_cut: bool,
}

impl Diff {
    /// Compares two texts.
    pub fn of(before: &str, after: &str) -> Self {
        let lines = |text: &str| text.split('\n').take(MOST_LINES).map(str::to_owned).collect::<Vec<_>>();
        let (old, new) = (lines(before), lines(after));
        let is_cut = [before, after].iter().any(|text| text.split('\n').nth(MOST_LINES).is_some());
        let (mut shown, mut marks, mut changes) = (Vec::new(), Vec::new(), Vec::new());
        let (mut added, mut removed) = (0, 0);
        for operation in capture_diff_slices(Algorithm::Myers, &old, &new) {
            for change in operation.iter_changes(&old, &new) {
                let (mark, line) = marked(change.tag(), change.value_ref());
                removed += usize::from(change.tag() == ChangeTag::Delete);
                added += usize::from(change.tag() == ChangeTag::Insert);
                let last: Option<&StyledPiece> = marks.last();
                if mark.role != Role::Faint && last.is_none_or(|last| last.role == Role::Faint) {
                    changes.push(shown.len());
                }
                marks.push(mark);
                shown.push(vec![line]);
            }
        }
        let mut document = WrappedText::new(shown);
        document.set_gutter(marks);
        Self { document, changes, added, removed, is_cut }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn shown(diff: &mut Diff) -> Vec<String> {
        diff.document.wrap(80);
        let row = |row: &Vec<StyledPiece>| row.iter().map(|piece| piece.text.as_str()).collect();
        diff.document.rows().iter().map(row).collect()
    }

    #[test]
    fn each_line_says_whose_it_is() {
        let mut diff = Diff::of("exit=0\nsame\nold\nend", "exit=1\nsame\nend\nmore");
        assert_eq!(shown(&mut diff), ["- exit=0", "+ exit=1", "  same", "- old", "  end", "+ more"]);
        assert_eq!((diff.changes, diff.added, diff.removed, diff.is_cut), (vec![0, 3, 5], 2, 2, false));
    }

    #[test]
    fn very_long_texts_are_compared_in_part_and_say_so() {
        let long = "x\n".repeat(MOST_LINES + 1);
        let diff = Diff::of(&long, "x");
        assert!(diff.is_cut && diff.removed < MOST_LINES);
    }

    proptest! {
        #[test]
        fn both_texts_can_be_read_out_of_their_difference(
            old in prop::collection::vec("[ab]{0,2}", 0..12), new in prop::collection::vec("[ab]{0,2}", 0..12)
        ) {
            let (old, new) = (old.join("\n"), new.join("\n"));
            let mut diff = Diff::of(&old, &new);
            let rows = shown(&mut diff);
            let without = |mark: &str| {
                let kept = rows.iter().filter(|row| !row.starts_with(mark)).map(|row| row[2..].to_owned());
                kept.collect::<Vec<_>>().join("\n")
            };
            prop_assert_eq!(without("+ "), old);
            prop_assert_eq!(without("- "), new);
        }
    }
}
