//! The difference between two texts, line by line: indicated by a mark at each line, with colour only as an
//! addition.

use similar::{Algorithm, ChangeTag, DiffOp, capture_diff_slices};

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
        let [old, new] = [before, after].map(|text| text.lines().collect::<Vec<_>>());
        let (operations, is_cut) = compare(&old, &new);
        for (at, hunk) in similar::group_diff_ops(operations, CONTEXT).iter().enumerate() {
            if at > 0 {
                self.say(vec![piece("...", Role::Faint)]);
            }
            for change in hunk.iter().flat_map(|operation| operation.iter_changes(&old, &new)) {
                self.mark(change.tag(), change.value());
            }
        }
        if is_cut {
            self.say(vec![piece(format!("only the first {MOST_LINES} lines are compared"), Role::Faint)]);
        }
    }

    /// Adds a line with its mark.
    fn mark(&mut self, tag: ChangeTag, line: &str) {
        let (mark, role) = match tag {
            ChangeTag::Equal => ("  ", Role::Faint),
            ChangeTag::Delete => ("- ", Role::Failed),
            ChangeTag::Insert => ("+ ", Role::Running),
        };
        let text = visible::in_text(line).into_owned();
        self.marks.push(piece(mark, role));
        self.lines.push(vec![piece(text, if role == Role::Faint { Role::Text } else { role })]);
    }

    /// Returns the text, and the lines at which files begin.
    pub fn finish(self) -> (WrappedText, Vec<usize>) {
        let mut document = WrappedText::new(self.lines);
        document.set_gutter(self.marks);
        (document, self.parts)
    }
}

/// Compares the first lines of two texts; tells whether there are more.
fn compare(old: &[&str], new: &[&str]) -> (Vec<DiffOp>, bool) {
    let [first_old, first_new] = [old, new].map(|lines| lines.get(..MOST_LINES).unwrap_or(lines));
    let is_cut = old.len().max(new.len()) > MOST_LINES;
    (capture_diff_slices(Algorithm::Myers, first_old, first_new), is_cut)
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
        let [old, new] = [before, after].map(|text| text.split('\n').collect::<Vec<_>>());
        let (operations, is_cut) = compare(&old, &new);
        let (mut shown, mut changes) = (FileDiffs::default(), Vec::new());
        let (mut added, mut removed, mut was_equal) = (0, 0, true);
        for change in operations.iter().flat_map(|operation| operation.iter_changes(&old, &new)) {
            let is_equal = change.tag() == ChangeTag::Equal;
            removed += usize::from(change.tag() == ChangeTag::Delete);
            added += usize::from(change.tag() == ChangeTag::Insert);
            if was_equal && !is_equal {
                changes.push(shown.lines.len());
            }
            was_equal = is_equal;
            shown.mark(change.tag(), change.value());
        }
        let (document, _) = shown.finish();
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
    fn each_line_of_a_difference_is_marked_as_kept_added_or_removed() {
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
