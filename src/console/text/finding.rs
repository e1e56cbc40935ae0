//! Finding text as displayed: the cells of one line as a text, and where a needle occurs in it.

use std::ops::Range;

use regex::{Regex, RegexBuilder};

use crate::terminal::SearchPattern;

/// A row, and a range of its columns.
pub type Span = (usize, Range<u16>);

/// What to find on a screen: a text, or after `re:` a regular expression. Matches case-insensitively unless it contains a
/// capital letter.
#[derive(Debug, Clone)]
pub struct SearchText {
    /// The needle as typed.
    pub text: String,
    /// What matches; nothing does if it was no valid expression.
    matches: Option<Regex>,
}

impl SearchText {
    /// Creates a needle that is case-sensitive if it contains a capital letter.
    pub fn smart(text: &str) -> Self {
        let typed = SearchPattern::parse(text);
        let regex = |typed: SearchPattern| {
            RegexBuilder::new(&typed.expression).case_insensitive(typed.ignores_case).build().ok()
        };
        Self { text: text.to_owned(), matches: typed.and_then(regex) }
    }

    /// Creates a case-sensitive needle.
    pub fn exact(text: &str) -> Self {
        let matches = Regex::new(&regex::escape(text)).ok().filter(|_| !text.is_empty());
        Self { text: text.to_owned(), matches }
    }
}

/// A word of a filter.
#[derive(Debug, Clone, PartialEq, Eq)]
struct FilterWord {
    text: String,
    is_exact: bool,
}

/// Words to find in a text: all of them, in any order. A word matches case-insensitively unless it contains a
/// capital letter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FilterWords(Vec<FilterWord>);

impl FilterWords {
    /// Splits a typed text into words at blanks.
    pub fn smart(text: &str) -> Self {
        let word =
            |word: &str| FilterWord { text: word.to_owned(), is_exact: word.chars().any(char::is_uppercase) };
        Self(text.split_whitespace().map(word).collect())
    }

    /// Tells whether there are no words.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Tells whether a text contains all of the words.
    pub fn are_in(&self, text: &str) -> bool {
        let small = self.0.iter().any(|word| !word.is_exact).then(|| text.to_lowercase());
        self.0.iter().all(|word| match &small {
            Some(small) if !word.is_exact => small.contains(&word.text),
            _ => text.contains(&word.text),
        })
    }
}

/// The rows of one line as a text, with the cell that each of its bytes came from.
#[derive(Debug)]
pub struct RowText<'a> {
    needle: &'a SearchText,
    text: String,
    cells: Vec<(usize, u16)>,
}

impl<'a> RowText<'a> {
    /// Starts a line in which to look for a needle.
    pub fn new(needle: &'a SearchText) -> Self {
        Self { needle, text: String::new(), cells: Vec::new() }
    }

    /// Appends the contents of a cell.
    pub fn push(&mut self, symbol: &str, row: usize, column: u16) {
        self.text.push_str(symbol);
        self.cells.resize(self.text.len(), (row, column));
    }

    /// Returns the occurrences of the needle; each is a list of spans by row.
    pub fn places(&self) -> Vec<Vec<Span>> {
        let found = self.needle.matches.iter().flat_map(|matches| matches.find_iter(&self.text));
        found.filter(|found| !found.is_empty()).map(|found| self.spans(found.range())).collect()
    }

    fn spans(&self, bytes: Range<usize>) -> Vec<Span> {
        let rows = self.cells.get(bytes).unwrap_or_default().chunk_by(|one, next| one.0 == next.0);
        let span = |cells: &[(usize, u16)]| {
            let ((row, first), (_, last)) = (*cells.first()?, *cells.last()?);
            Some((row, first..last + 1))
        };
        rows.filter_map(span).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str, needle: &SearchText) -> Vec<u16> {
        let mut line = RowText::new(needle);
        for (column, c) in (0..).zip(text.chars()) {
            line.push(&c.to_string(), 0, column);
        }
        line.places().iter().flatten().map(|(_, columns)| columns.start).collect()
    }

    #[test]
    fn small_letters_stand_for_both_and_a_capital_for_itself() {
        assert_eq!(found("Exit exit EXIT", &SearchText::smart("exit")), [0, 5, 10]);
        assert_eq!(found("Exit exit EXIT", &SearchText::smart("Exit")), [0]);
        assert_eq!(found("Exit exit EXIT", &SearchText::exact("exit")), [5]);
        assert_eq!(found("", &SearchText::smart("")), [0; 0]);
    }

    #[test]
    fn an_expression_finds_what_it_matches_and_a_broken_one_nothing() {
        assert_eq!(found("error: E12, e3", &SearchText::smart(r"re:e\d+")), [7, 12]);
        assert_eq!(found("error: E12, e3", &SearchText::smart(r"re:E\d+")), [7]);
        assert_eq!(found("a.b axb", &SearchText::smart("a.b")), [0]);
        assert_eq!(found("(", &SearchText::smart("re:(")), [0; 0]);
        assert_eq!(found("aa", &SearchText::smart("re:b*")), [0; 0], "an empty match is none");
    }

    #[test]
    fn letters_that_grow_when_they_are_small_keep_their_cells() {
        assert_eq!(found("İİ ok", &SearchText::smart("ok")), [3]);
        assert_eq!(found("ÄÖ ä", &SearchText::smart("ä")), [0, 3]);
    }
}
