//! Previews of output: the beginning and the end within a budget of characters, with true counts.
//! Cuts text that is already clean; never escape sequences, never serialised JSON of ours.

use std::borrow::Cow;

use super::pretty::laid_out;

/// Characters per token.
const CHARS_PER_TOKEN: u64 = 4;
/// Budget of a call that does not name one.
const DEFAULT_TOKENS: u64 = 8_000;
/// Largest budget of a call.
const MAX_TOKENS: u64 = 64_000;
/// Below this many characters a preview is a plain beginning, without a marker.
const SMALLEST_MARKED: usize = 200;

/// Clean text of a stream: as much of it as a preview can need.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Text {
    /// All of it.
    Whole(String),
    /// The beginning and the end of a longer stream.
    Ends {
        /// Its first characters.
        head: String,
        /// Its last characters.
        tail: String,
    },
}

/// What is shown of a stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Preview {
    /// The text, at most as long as the budget.
    pub text: String,
    /// Something was left out.
    pub truncated: bool,
}

/// Returns the token budget a call gets for what it asked.
#[must_use]
pub fn effective_tokens(asked: Option<u64>) -> u64 {
    match asked {
        None | Some(0) => DEFAULT_TOKENS,
        Some(tokens) => tokens.min(MAX_TOKENS),
    }
}

/// Returns the budget in characters a call gets for what it asked.
#[must_use]
pub fn budget_chars(asked_tokens: Option<u64>) -> usize {
    usize::try_from(effective_tokens(asked_tokens) * CHARS_PER_TOKEN).unwrap_or(usize::MAX)
}

/// Splits a budget between two streams: half each, and what one leaves unused goes to the other.
#[must_use]
pub fn split_budget(a_chars: usize, b_chars: usize, budget: usize) -> (usize, usize) {
    let half = budget / 2;
    if a_chars <= half {
        (a_chars, budget - a_chars)
    } else if b_chars <= half {
        (budget - b_chars, b_chars)
    } else {
        (half, budget - half)
    }
}

/// Cuts a text to a budget. Returns none when there is nothing but blanks.
#[must_use]
pub fn cut(text: &Text, budget_chars: usize) -> Option<Preview> {
    Readable::of(text).map(|readable| readable.cut(budget_chars))
}

/// Cuts two streams that share one budget.
#[must_use]
pub fn cut_pair(a: &Text, b: &Text, budget_chars: usize) -> (Option<Preview>, Option<Preview>) {
    match (Readable::of(a), Readable::of(b)) {
        (Some(a), Some(b)) => {
            let (for_a, for_b) = split_budget(a.chars(), b.chars(), budget_chars);
            (Some(a.cut(for_a)), Some(b.cut(for_b)))
        }
        (a, b) => (a.map(|a| a.cut(budget_chars)), b.map(|b| b.cut(budget_chars))),
    }
}

/// Cuts a preview again, to less room. What it said about first and last lines stays true.
#[must_use]
pub fn recut(preview: &str, budget_chars: usize) -> String {
    Recut::of(preview).to(budget_chars)
}

/// Returns the beginning and the end that a preview shows of a text it had to cut; none when it has no such marker.
#[must_use]
pub fn ends(preview: &str) -> Option<(&str, &str)> {
    at_marker(preview)
}

/// A preview, taken apart to be cut again.
#[derive(Debug, Clone, Copy)]
pub(super) struct Recut<'a> {
    preview: &'a str,
    chars: usize,
    head: &'a str,
    tail: &'a str,
}

impl<'a> Recut<'a> {
    pub(super) fn of(preview: &'a str) -> Self {
        let (head, tail) = at_marker(preview).unwrap_or((preview, preview));
        Self { preview, chars: count(preview), head, tail }
    }

    pub(super) fn chars(&self) -> usize {
        self.chars
    }

    pub(super) fn to(self, budget_chars: usize) -> String {
        if self.chars <= budget_chars {
            return self.preview.to_owned();
        }
        Readable::Ends { head: self.head, tail: self.tail }.cut(budget_chars).text
    }
}

/// A text that is not blank, as it is shown.
enum Readable<'a> {
    /// All of it; a JSON document is laid out.
    Whole(Cow<'a, str>),
    Ends {
        head: &'a str,
        tail: &'a str,
    },
}

impl<'a> Readable<'a> {
    fn of(text: &'a Text) -> Option<Self> {
        match text {
            Text::Whole(whole) if whole.trim().is_empty() => None,
            Text::Whole(whole) => {
                Some(Self::Whole(laid_out(whole).map_or(Cow::Borrowed(whole.as_str()), Cow::Owned)))
            }
            Text::Ends { head, tail } => Some(Self::Ends { head, tail }),
        }
    }

    /// Characters it would take; of a text known by its ends, more than any budget.
    fn chars(&self) -> usize {
        match self {
            Self::Whole(whole) => count(whole),
            Self::Ends { .. } => usize::MAX,
        }
    }

    fn cut(self, budget: usize) -> Preview {
        let text = match self {
            Self::Whole(whole) if count(&whole) <= budget => {
                return Preview { text: whole.into_owned(), truncated: false };
            }
            Self::Whole(whole) => both_ends(&whole, &whole, budget),
            Self::Ends { head, tail } => both_ends(head, tail, budget),
        };
        Preview { text, truncated: true }
    }
}

/// Cuts what is longer than the budget.
fn both_ends(head: &str, tail: &str, budget: usize) -> String {
    if budget < SMALLEST_MARKED { first(head, budget).to_owned() } else { head_and_tail(head, tail, budget) }
}

/// What N and M of a marker count.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Unit {
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

    fn of(self, text: &str) -> usize {
        match self {
            Self::Lines => text.lines().count(),
            Self::Characters => count(text),
        }
    }
}

/// One end of a stream, and whether it stops at a line's boundary.
struct End<'a> {
    text: &'a str,
    whole_lines: bool,
}

fn head_and_tail(head: &str, tail: &str, budget: usize) -> String {
    // No count exceeds the budget, so this marker is the longest that can be needed.
    let room = budget.saturating_sub(count(&marker(Unit::Characters, budget, budget)));
    let head = first_lines(head, room / 2);
    // A head cut inside a line does not end its line: the marker must start one of its own.
    let gap = if head.text.ends_with('\n') { "" } else { "\n" };
    let tail = last_lines(tail, room - count(head.text) - gap.len());
    let unit = if head.whole_lines && tail.whole_lines { Unit::Lines } else { Unit::Characters };
    let marker = marker(unit, unit.of(head.text), unit.of(tail.text));
    format!("{}{gap}{marker}{}", head.text, tail.text)
}

fn marker(unit: Unit, n: usize, m: usize) -> String {
    format!("...\n[output truncated: showing first {n} and last {m} {}]\n...\n", unit.word())
}

/// Takes whole lines from the beginning, at most `share` characters. Where the line at the cut is
/// by itself longer than the share, it is cut inside instead, so that one endless line does not
/// leave the share empty.
fn first_lines(text: &str, share: usize) -> End<'_> {
    let within = first(text, share);
    let lines = within.rfind('\n').map_or("", |at| within.get(..=at).unwrap_or(""));
    let line_at_cut = text.get(lines.len()..).and_then(|rest| rest.lines().next()).unwrap_or("");
    if lines.is_empty() || count(line_at_cut) > share {
        End { text: within, whole_lines: within.ends_with('\n') }
    } else {
        End { text: lines, whole_lines: true }
    }
}

/// Takes whole lines from the end, at most `share` characters, by the same rule.
fn last_lines(text: &str, share: usize) -> End<'_> {
    let within = last(text, share);
    let before = text.get(..text.len() - within.len()).unwrap_or("");
    if before.ends_with('\n') {
        return End { text: within, whole_lines: true };
    }
    let (rest_of_line, lines) = match within.find('\n') {
        Some(at) => within.split_at(at + 1),
        None => (within, ""),
    };
    let line_start = before.rsplit('\n').next().unwrap_or("");
    if lines.is_empty() || count(line_start) + count(rest_of_line) > share {
        End { text: within, whole_lines: false }
    } else {
        End { text: lines, whole_lines: true }
    }
}

/// Splits a preview at its marker: the one whose counts agree with what stands around it.
fn at_marker(preview: &str) -> Option<(&str, &str)> {
    const BEFORE: &str = "...\n[output truncated: showing first ";
    const AFTER: &str = "]\n...\n";
    preview.match_indices(BEFORE).find_map(|(at, _)| {
        let head = preview.get(..at)?;
        let (counts, tail) = preview.get(at + BEFORE.len()..)?.split_once(AFTER)?;
        let (n, rest) = counts.split_once(" and last ")?;
        let (m, word) = rest.split_once(' ')?;
        let (n, m): (usize, usize) = (n.parse().ok()?, m.parse().ok()?);
        // A head cut inside a line has a line feed that is not its own.
        [head, head.strip_suffix('\n').unwrap_or(head)].into_iter().find_map(|head| {
            let unit = if word == Unit::Lines.word() { Unit::Lines } else { Unit::Characters };
            (unit.of(head) == n && unit.of(tail) == m).then_some((head, tail))
        })
    })
}

fn count(text: &str) -> usize {
    text.chars().count()
}

fn first(text: &str, chars: usize) -> &str {
    let end = text.char_indices().nth(chars).map_or(text.len(), |(at, _)| at);
    text.get(..end).unwrap_or(text)
}

fn last(text: &str, chars: usize) -> &str {
    let Some(before) = chars.checked_sub(1) else { return "" };
    let start = text.char_indices().nth_back(before).map_or(0, |(at, _)| at);
    text.get(start..).unwrap_or(text)
}

#[cfg(test)]
mod tests;
