//! The text that is looked for in the text on screen, and its matches.

use crate::console::state::calls::Column;
use crate::console::text::WrappedText;
use crate::console::text::finding::{SearchText, Span};
use crate::console::text::reading::ReaderText;

/// The text to find, and its matches.
#[derive(Debug, Clone)]
pub struct TextSearch {
    /// The text to find.
    pub needle: SearchText,
    places: Vec<Vec<Span>>,
    at: usize,
    /// What was last searched: the text, and its size in rows and columns.
    of: Option<(TextId, usize, usize)>,
}

/// Identifies a text: the call, column and budget; `None` for the reader over the screen.
pub type TextId = Option<(u64, Column, Option<u64>)>;

impl TextSearch {
    /// Starts a search for a text.
    pub fn new(text: &str) -> Self {
        Self { needle: SearchText::smart(text), places: Vec::new(), at: 0, of: None }
    }

    /// Searches a text, unless it is the one that was searched last.
    pub fn look(&mut self, document: &WrappedText, text: TextId) {
        let of = Some((text, document.rows().len(), document.columns()));
        if self.of != of {
            self.of = of;
            self.places = document.find(&self.needle);
            self.at = self.at.min(self.places.len().saturating_sub(1));
        }
    }

    /// Goes to the first match at or below the current row, wrapping around at the end.
    pub fn begin(&mut self, text: &mut ReaderText) {
        self.go_to(self.places.iter().position(|spans| row(spans) >= text.at).unwrap_or(0), text);
    }

    /// Goes to the next or previous match, wrapping at either end.
    pub fn go_on(&mut self, forward: bool, text: &mut ReaderText) {
        let many = self.places.len();
        if many == 0 {
            return;
        }
        let is_here = self.places.get(self.at).is_some_and(|spans| row(spans) == text.at);
        let to = match (is_here, forward) {
            (true, true) => (self.at + 1) % many,
            (true, false) => (self.at + many - 1) % many,
            (false, true) => self.places.iter().position(|spans| row(spans) > text.at).unwrap_or(0),
            (false, false) => {
                let before = self.places.iter().rposition(|spans| row(spans) < text.at);
                before.unwrap_or(many.saturating_sub(1))
            }
        };
        self.go_to(to, text);
    }

    fn go_to(&mut self, to: usize, text: &mut ReaderText) {
        if let Some(spans) = self.places.get(to) {
            (self.at, text.at) = (to, row(spans));
        }
    }

    /// Returns the matches, each with whether it is the current one.
    pub fn places(&self) -> impl Iterator<Item = (&[Span], bool)> {
        self.places.iter().enumerate().map(|(at, spans)| (spans.as_slice(), at == self.at))
    }

    /// Returns the position of the current match, counted from 1, and the number of matches.
    pub fn count(&self) -> (usize, usize) {
        ((self.at + 1).min(self.places.len()), self.places.len())
    }
}

pub(in crate::console) fn row(spans: &[Span]) -> usize {
    spans.first().map_or(0, |(row, _)| *row)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finding(text: &str, needle: &str) -> (TextSearch, ReaderText) {
        let mut document = WrappedText::plain(text);
        document.wrap(20);
        let mut finding = TextSearch::new(needle);
        finding.look(&document, None);
        (finding, ReaderText::new(document))
    }

    #[test]
    fn finding_goes_from_match_to_match_and_wraps() {
        let (mut finding, mut text) = finding("a\nb a a\nb\na", "a");
        text.at = 1;
        finding.begin(&mut text);
        let mut seen = vec![(text.at, finding.count())];
        for forward in [true, true, true, true, false, false] {
            finding.go_on(forward, &mut text);
            seen.push((text.at, finding.count()));
        }
        let at: Vec<_> = seen.iter().map(|(row, (at, _))| (*row, *at)).collect();
        assert_eq!(at, [(1, 2), (1, 3), (3, 4), (0, 1), (1, 2), (0, 1), (3, 4)]);
    }

    #[test]
    fn finding_continues_from_where_the_person_moved() {
        let (mut finding, mut text) = finding("a\nb\na\nb\na", "a");
        finding.begin(&mut text);
        text.at = 3;
        finding.go_on(true, &mut text);
        assert_eq!((text.at, finding.count()), (4, (3, 3)));
        text.at = 3;
        finding.go_on(false, &mut text);
        assert_eq!((text.at, finding.count()), (2, (2, 3)));
    }

    #[test]
    fn without_a_match_nothing_moves() {
        let (mut finding, mut text) = finding("abc", "x");
        finding.begin(&mut text);
        finding.go_on(true, &mut text);
        assert_eq!((text.at, finding.count()), (0, (0, 0)));
    }
}
