//! Diffs of changed files, in the format of `diff -u`. Secrets in them are masked.

use std::fmt::Write as _;

use similar::{Algorithm, DiffOp, capture_diff_slices, group_diff_ops};

use crate::envelope::mask;

/// The number of context lines around a change.
const CONTEXT: usize = 3;

/// Returns the diff of a file's old and new text; empty if they are equal.
pub(in crate::dispatch) fn unified_diff(name: &str, before: &str, after: &str) -> String {
    let (old, new): (Vec<&str>, Vec<&str>) = (before.lines().collect(), after.lines().collect());
    let groups = group_diff_ops(capture_diff_slices(Algorithm::Myers, &old, &new), CONTEXT);
    let mut text = String::new();
    for group in groups.iter().filter(|group| !group.is_empty()) {
        if text.is_empty() {
            let from = if before.is_empty() { "/dev/null" } else { name };
            let to = if after.is_empty() { "/dev/null" } else { name };
            let _ = writeln!(text, "--- {from}\n+++ {to}");
        }
        let (first, last) = (group[0], group[group.len() - 1]);
        let from = range(first.old_range().start, last.old_range().end);
        let to = range(first.new_range().start, last.new_range().end);
        let _ = writeln!(text, "@@ -{from} +{to} @@");
        group.iter().for_each(|op| lines(&mut text, op, &old, &new));
    }
    text
}

fn range(start: usize, end: usize) -> String {
    // A range without lines refers to the line before it.
    let begin = if start == end { start } else { start + 1 };
    format!("{begin},{}", end - start)
}

fn lines(text: &mut String, op: &DiffOp, old: &[&str], new: &[&str]) {
    let (before, after) = (&old[op.old_range()], &new[op.new_range()]);
    let mut all = |mark: &str, lines: &[&str]| {
        lines.iter().for_each(|line| text.extend([mark, &*mask(line), "\n"]));
    };
    if matches!(op, DiffOp::Equal { .. }) {
        return all(" ", before);
    }
    all("-", before);
    all("+", after);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_is_shown_with_the_lines_around_it() {
        let before = "1\n2\n3\n4\n5\n6\n7\n8\n9\n";
        let after = "1\n2\n3\n4\nfive\n6\n7\n8\n9\n";
        let expected = "--- f\n+++ f\n@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n";
        assert_eq!(unified_diff("f", before, after), expected);
        assert_eq!(unified_diff("f", "", "a\nb\n"), "--- /dev/null\n+++ f\n@@ -0,0 +1,2 @@\n+a\n+b\n");
        assert_eq!(unified_diff("f", before, before), "");
        let secret = unified_diff("f", "\"token\": \"abc\",\n", "\"token\": \"abc\",\n1\n");
        assert!(!secret.contains("abc") && secret.ends_with("\n+1\n"), "{secret}");
    }
}
