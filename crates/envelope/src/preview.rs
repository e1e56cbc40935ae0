//! Previews of output: the beginning and the end within a budget of characters, with accurate counts. Truncates only
//! text that is already clean; never escape sequences or our own serialised JSON.

mod marker;
mod unreadable;

use std::borrow::Cow;
use std::ops::RangeInclusive;

pub use marker::ReadOn;

use super::pretty;
use marker::{TextSize, Unit};

/// The assumed number of characters per token.
pub const CHARS_PER_TOKEN: u64 = 4;
/// What is shown whole where a call asks for no budget, in tokens.
const WHOLE_TOKENS: u64 = 8_000;
/// The budget of longer output there, in tokens.
const LONG_TOKENS: u64 = 2_000;
/// The minimum and maximum budget of a call, in tokens.
pub const TOKENS: RangeInclusive<u64> = 1..=64_000;
/// Below this many characters, a preview is only the beginning and [`CUT`].
const SMALLEST_MARKED: usize = 200;
/// The mark of a cut where there is no room to say what was left out.
const CUT: &str = "[…]";
/// A JSON document of a line shorter than this is shown as it was printed, in bytes.
const LONG_LINE: usize = 240;

/// The clean text of a stream, or as much of it as a preview can need.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StreamText {
    Whole(String),
    /// The beginning and the end of a longer stream.
    Ends {
        /// Its first characters.
        head: String,
        /// Its last characters.
        tail: String,
        /// The number of lines, if they were counted.
        lines: Option<u64>,
        /// The number of characters, if they were counted.
        chars: Option<u64>,
    },
}

impl StreamText {
    /// Returns the text without a beginning that was shown before.
    #[must_use]
    pub fn without(self, shown: &str) -> Self {
        let rest = |text: String| text.strip_prefix(shown).map_or(text.clone(), str::to_owned);
        match self {
            Self::Whole(text) => Self::Whole(rest(text)),
            Self::Ends { head, tail, lines, chars } => Self::Ends {
                head: rest(head),
                tail,
                lines: lines.map(|lines| lines.saturating_sub(shown.matches('\n').count() as u64)),
                chars: chars.map(|chars| chars.saturating_sub(count(shown) as u64)),
            },
        }
    }
}

/// The part of a stream that is shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Preview {
    /// The text, at most as long as the budget.
    pub text: String,
    /// Whether something was left out.
    pub truncated: bool,
}

/// How much of a text is shown, in characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PreviewBudget {
    /// The longest text that is shown whole.
    pub whole: usize,
    /// The length to which a longer one is cut.
    pub cut: usize,
}

impl PreviewBudget {
    /// Returns the budget for the tokens that a call asked for, if it did.
    pub fn of_tokens(asked: Option<u64>) -> Self {
        let chars = |tokens: u64| usize::try_from(tokens * CHARS_PER_TOKEN).unwrap_or(usize::MAX);
        match asked {
            None | Some(0) => Self { whole: chars(WHOLE_TOKENS), cut: chars(LONG_TOKENS) },
            Some(tokens) => chars(tokens.clamp(*TOKENS.start(), *TOKENS.end())).into(),
        }
    }

    /// Returns the same budget, limited to `chars`.
    #[must_use]
    pub fn at_most(self, chars: usize) -> Self {
        Self { whole: self.whole.min(chars), cut: self.cut.min(chars) }
    }
}

impl From<usize> for PreviewBudget {
    fn from(chars: usize) -> Self {
        Self { whole: chars, cut: chars }
    }
}

/// Splits a budget between two streams: half each, with any unused part of one given to the other.
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

/// The line before a document that was printed in one line and is shown in several.
pub const LAID_OUT: &str = "[JSON of one line, laid out for reading; all of it is line 1]";

/// Lays a JSON document of one long line out; `None` if a text is none. It is shown after [`LAID_OUT`], which is no line of
/// it.
pub fn laid_out(text: &str) -> Option<String> {
    let document = text.trim();
    let is_long_line = document.len() >= LONG_LINE && !document.contains('\n');
    is_long_line.then(|| pretty::laid_out(text)).flatten()
}

/// Truncates a text to a budget. Returns `None` if it is blank.
pub fn cut(text: &StreamText, budget: impl Into<PreviewBudget>) -> Option<Preview> {
    cut_with(text, budget, &ReadOn::default())
}

/// Truncates a text to a budget; the marker says how to read on.
pub fn cut_with(text: &StreamText, budget: impl Into<PreviewBudget>, read_on: &ReadOn) -> Option<Preview> {
    Readable::of(text, read_on).map(|readable| readable.cut(budget.into()))
}

/// Truncates two streams to a shared budget; the marker in each says how to read on.
pub fn cut_pair(
    (a, read_on_a): (&StreamText, &ReadOn),
    (b, read_on_b): (&StreamText, &ReadOn),
    budget: impl Into<PreviewBudget>,
) -> (Option<Preview>, Option<Preview>) {
    let budget = budget.into();
    match (Readable::of(a, read_on_a), Readable::of(b, read_on_b)) {
        (Some(a), Some(b)) => {
            let (of_a, of_b) = (a.chars(), b.chars());
            let fits = of_a.saturating_add(of_b) <= budget.whole;
            let (for_a, for_b) = if fits { (of_a, of_b) } else { split_budget(of_a, of_b, budget.cut) };
            (Some(a.cut(for_a.into())), Some(b.cut(for_b.into())))
        }
        (a, b) => (a.map(|a| a.cut(budget)), b.map(|b| b.cut(budget))),
    }
}

/// Truncates a preview further. What its marker says about the first and last lines and about the whole stays true.
/// `read_on` is used if the preview was complete.
pub fn recut(preview: &str, budget_chars: usize, read_on: &ReadOn) -> String {
    Recut::of(preview).to(budget_chars, read_on)
}

/// Returns the beginning and the end shown in a truncated preview; `None` if it has no marker.
pub fn ends(preview: &str) -> Option<(&str, &str)> {
    marker::split(preview).map(|(head, tail, _)| (head, tail))
}

/// A preview, split into its parts to be truncated again.
#[derive(Debug, Clone)]
pub(super) struct Recut<'a> {
    preview: &'a str,
    chars: usize,
    /// The ends and what is known about the whole, if it was already truncated.
    ends: Option<(&'a str, &'a str, TextSize)>,
}

impl<'a> Recut<'a> {
    pub(super) fn of(preview: &'a str) -> Self {
        Self { preview, chars: count(preview), ends: marker::split(preview) }
    }

    pub(super) fn chars(&self) -> usize {
        self.chars
    }

    pub(super) fn to(&self, budget_chars: usize, read_on: &ReadOn) -> String {
        if self.chars <= budget_chars {
            return self.preview.to_owned();
        }
        match &self.ends {
            Some((head, tail, whole)) => both_ends(head, tail, budget_chars, || whole.clone()),
            None => {
                both_ends(self.preview, self.preview, budget_chars, || TextSize::of(self.preview, read_on))
            }
        }
    }
}

/// A text that is not blank, in the form in which it is shown, and how to read on in it.
struct Readable<'a> {
    text: ShownText<'a>,
    read_on: &'a ReadOn,
}

enum ShownText<'a> {
    /// The complete text.
    All(Cow<'a, str>),
    /// The complete text, laid out.
    LaidOut(String),
    Ends {
        head: Cow<'a, str>,
        tail: &'a str,
        lines: Option<u64>,
        chars: Option<u64>,
    },
}

impl<'a> Readable<'a> {
    fn of(text: &'a StreamText, read_on: &'a ReadOn) -> Option<Self> {
        let text = match text {
            StreamText::Whole(whole) if whole.trim().is_empty() => return None,
            StreamText::Whole(whole) => match laid_out(whole) {
                Some(laid_out) => ShownText::LaidOut(laid_out),
                None => ShownText::All(unreadable::mark(Cow::Borrowed(whole))),
            },
            StreamText::Ends { head, tail, lines, chars } => {
                let head = unreadable::mark(Cow::Borrowed(head));
                ShownText::Ends { head, tail, lines: *lines, chars: *chars }
            }
        };
        Some(Self { text, read_on })
    }

    /// Returns the number of characters it would take; more than any budget if only its ends are known.
    fn chars(&self) -> usize {
        match &self.text {
            ShownText::All(whole) => count(whole),
            ShownText::LaidOut(whole) => count(LAID_OUT) + 1 + count(whole),
            ShownText::Ends { .. } => usize::MAX,
        }
    }

    fn cut(self, budget: PreviewBudget) -> Preview {
        let PreviewBudget { whole: most, cut: budget } = budget;
        let text = match self.text {
            ShownText::All(whole) if count(&whole) <= most => {
                return Preview { text: whole.into_owned(), truncated: false };
            }
            ShownText::All(whole) => both_ends(&whole, &whole, budget, || TextSize::of(&whole, self.read_on)),
            ShownText::LaidOut(whole) => {
                let all = format!("{LAID_OUT}\n{whole}");
                if count(&all) <= most {
                    return Preview { text: all, truncated: false };
                }
                match budget.checked_sub(count(LAID_OUT) + 1).filter(|_| budget >= SMALLEST_MARKED) {
                    None => beginning(&all, budget),
                    Some(left) => {
                        let cut = head_and_tail(&whole, &whole, left, &TextSize::of(&whole, self.read_on));
                        format!("{LAID_OUT}\n{cut}")
                    }
                }
            }
            ShownText::Ends { head, tail, lines, chars } => {
                both_ends(&head, tail, budget, || TextSize { lines, chars, read_on: self.read_on.clone() })
            }
        };
        Preview { text, truncated: true }
    }
}

/// Truncates text that is longer than the budget.
fn both_ends(head: &str, tail: &str, budget: usize, whole: impl FnOnce() -> TextSize) -> String {
    if budget < SMALLEST_MARKED {
        beginning(head, budget)
    } else {
        head_and_tail(head, tail, budget, &whole())
    }
}

/// One end of a stream, and whether it is cut at a line boundary.
struct TextEnd<'a> {
    text: &'a str,
    whole_lines: bool,
}

fn head_and_tail(head: &str, tail: &str, budget: usize, whole: &TextSize) -> String {
    // No count exceeds the budget, so one of these is the longest marker that can be needed.
    let longest = [Unit::Lines, Unit::Characters].map(|unit| count(&whole.marker(unit, budget, budget)));
    let room = budget.saturating_sub(longest[0].max(longest[1]));
    let head = first_lines(head, room / 2);
    // A head cut inside a line does not end with a line feed, so the marker needs one before it.
    let gap = usize::from(!head.text.ends_with('\n'));
    let tail = last_lines(tail, room - count(head.text) - gap);
    let unit = if head.whole_lines && tail.whole_lines { Unit::Lines } else { Unit::Characters };
    join(head.text, tail.text, whole, unit)
}

/// Joins the ends with the marker between them.
fn join(head: &str, tail: &str, whole: &TextSize, unit: Unit) -> String {
    let gap = if head.ends_with('\n') { "" } else { "\n" };
    let marker = whole.marker(unit, unit.of_head(head), unit.of(tail));
    format!("{head}{gap}{marker}{tail}")
}

/// Returns whole lines from the beginning, at most `share` characters. If the line at the cut is itself longer than
/// the share, it is cut inside instead, so that one endless line does not leave the share empty.
fn first_lines(text: &str, share: usize) -> TextEnd<'_> {
    let within = first(text, share);
    let lines = within.rfind('\n').map_or("", |at| within.get(..=at).unwrap_or(""));
    let line_at_cut = text.get(lines.len()..).and_then(|rest| rest.lines().next()).unwrap_or("");
    if lines.is_empty() || count(line_at_cut) > share {
        TextEnd { text: within, whole_lines: within.ends_with('\n') }
    } else {
        TextEnd { text: lines, whole_lines: true }
    }
}

/// Returns whole lines from the end, at most `share` characters, by the same rule.
fn last_lines(text: &str, share: usize) -> TextEnd<'_> {
    let within = last(text, share);
    let before = text.get(..text.len() - within.len()).unwrap_or("");
    if before.ends_with('\n') {
        return TextEnd { text: within, whole_lines: true };
    }
    let (rest_of_line, lines) = match within.find('\n') {
        Some(at) => within.split_at(at + 1),
        None => (within, ""),
    };
    let line_start = before.rsplit('\n').next().unwrap_or("");
    if lines.is_empty() || count(line_start) + count(rest_of_line) > share {
        TextEnd { text: within, whole_lines: false }
    } else {
        TextEnd { text: lines, whole_lines: true }
    }
}

/// Returns the beginning of a text that is longer than the budget, marked as cut if there is room for it.
fn beginning(text: &str, budget: usize) -> String {
    match budget.checked_sub(count(CUT)) {
        Some(room) => format!("{}{CUT}", first(text, room)),
        None => first(text, budget).to_owned(),
    }
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
