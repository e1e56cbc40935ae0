//! The marker line between the beginning and the end of a preview: how much is shown, of how much, and how to read
//! the rest.

use super::{LAID_OUT, count};

/// The maximum length of a `read_on` accepted from a preview, because that text may have been printed by a program.
const READ_ON_CHARS: usize = 40;
const BEFORE: &str = "...\n[output truncated: showing first ";
const AFTER: &str = "]\n...\n";

/// How to read the rest of a truncated text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ReadOn {
    /// What to pass to TaskOutput: an id, or an id with a stream (`task_4k2m9x7q stream=stderr`).
    pub with: Option<String>,
    /// The number of the text's first line in the stream, if that is not 1.
    pub from_line: Option<u64>,
}

/// What is known about the whole of a truncated text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct TextSize {
    /// The number of lines.
    pub(super) lines: Option<u64>,
    /// The number of characters.
    pub(super) chars: Option<u64>,
    pub(super) read_on: ReadOn,
}

/// The unit that a marker counts in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unit {
    Lines,
    Characters,
}

impl Unit {
    fn word(self) -> &'static str {
        match self {
            Self::Lines => "lines",
            Self::Characters => "characters",
        }
    }

    /// Counts what is shown of the beginning of a text, without the line that says that it is laid out.
    pub(super) fn of_head(self, head: &str) -> usize {
        self.of(head.strip_prefix(LAID_OUT).and_then(|rest| rest.strip_prefix('\n')).unwrap_or(head))
    }

    pub(super) fn of(self, text: &str) -> usize {
        match self {
            Self::Lines => text.lines().count(),
            Self::Characters => count(text),
        }
    }
}

impl TextSize {
    /// Returns what is known about a complete text.
    pub(super) fn of(text: &str, read_on: &ReadOn) -> Self {
        let [lines, chars] = [Unit::Lines, Unit::Characters].map(|unit| Some(unit.of_head(text) as u64));
        Self { lines, chars, read_on: read_on.clone() }
    }

    /// Returns the marker for `n` units shown at the beginning and `m` at the end.
    pub(super) fn marker(&self, unit: Unit, n: usize, m: usize) -> String {
        let word = unit.word();
        let shown = match (unit, self.lines, self.chars) {
            (Unit::Lines, Some(all), _) => format!("{m} of {all} {word}"),
            (Unit::Characters, _, Some(all)) => format!("{m} of {all} {word}"),
            _ => format!("{m} {word}"),
        };
        let ReadOn { with, from_line } = &self.read_on;
        let from = from_line.map(|line| format!(" from line {line}")).unwrap_or_default();
        let with = with.as_ref().map(|id| format!("; read on: TaskOutput {id} lines|match"));
        format!("{BEFORE}{n} and last {shown}{from}{}{AFTER}", with.unwrap_or_default())
    }
}

/// Splits a preview at its marker: the one whose counts agree with the text around it.
pub(super) fn split(preview: &str) -> Option<(&str, &str, TextSize)> {
    preview.match_indices(BEFORE).find_map(|(at, _)| {
        let head = preview.get(..at)?;
        let (says, tail) = preview.get(at + BEFORE.len()..)?.split_once(AFTER)?;
        let (unit, n, m, whole) = read(says)?;
        // A head cut inside a line is followed by a line feed that is not its own.
        [head, head.strip_suffix('\n').unwrap_or(head)].into_iter().find_map(|head| {
            (unit.of_head(head) == n && unit.of(tail) == m).then(|| (head, tail, whole.clone()))
        })
    })
}

/// Parses a marker, including the shorter form in older recordings.
fn read(says: &str) -> Option<(Unit, usize, usize, TextSize)> {
    let (says, with) = match says.split_once("; read on: TaskOutput ") {
        Some((says, rest)) => (says, Some(rest.strip_suffix(" lines|match").filter(|id| is_read_on(id))?)),
        None => (says, None),
    };
    let (says, from_line) = match says.split_once(" from line ") {
        Some((says, line)) => (says, Some(line.parse().ok()?)),
        None => (says, None),
    };
    let (n, rest) = says.split_once(" and last ")?;
    let (counts, word) = rest.rsplit_once(' ')?;
    let unit = [Unit::Lines, Unit::Characters].into_iter().find(|unit| unit.word() == word)?;
    let (m, all) = match counts.split_once(" of ") {
        Some((m, all)) => (m, Some(all.parse().ok()?)),
        None => (counts, None),
    };
    let (lines, chars) = if unit == Unit::Lines { (all, None) } else { (None, all) };
    let whole = TextSize { lines, chars, read_on: ReadOn { with: with.map(str::to_owned), from_line } };
    Some((unit, n.parse().ok()?, m.parse().ok()?, whole))
}

fn is_read_on(text: &str) -> bool {
    let is_usual = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '_' | '=' | ' ');
    text.starts_with("task_") && text.len() <= READ_ON_CHARS && text.chars().all(is_usual)
}
