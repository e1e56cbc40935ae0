//! A text that is looked for in what is read: all its places, and the one the person is at.

use super::super::text::document::Document;
use super::super::text::finding::{Needle, Span};
use super::calls::{Column, Place, Sheet};

/// What is looked for, and where it stands.
#[derive(Debug, Clone)]
pub struct Finding {
    /// What is looked for.
    pub needle: Needle,
    places: Vec<Vec<Span>>,
    at: usize,
    /// What it was last looked for in.
    of: Option<TextId>,
}

/// Tells one text from another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TextId {
    /// The call, the column and the budget; none for a text over the screen.
    answer: Option<(u64, Column, Option<u64>)>,
    rows: usize,
    columns: usize,
}

impl TextId {
    /// Returns what tells a column of an answer from all other texts.
    #[must_use]
    pub fn of(sheet: &Sheet, column: Column) -> Self {
        let document = sheet.document(column);
        let (rows, columns) = (document.rows().len(), document.columns());
        Self { answer: Some((sheet.seq, column, sheet.budget)), rows, columns }
    }

    /// Returns what tells a text over the screen from those below it.
    #[must_use]
    pub fn over(document: &Document) -> Self {
        Self { answer: None, rows: document.rows().len(), columns: document.columns() }
    }
}

impl Finding {
    /// Begins to look for a text.
    #[must_use]
    pub fn new(text: &str) -> Self {
        Self { needle: Needle::smart(text), places: Vec::new(), at: 0, of: None }
    }

    /// Looks through a text unless it is the one looked through last.
    pub fn look(&mut self, document: &Document, text: TextId) {
        if self.of != Some(text) {
            self.of = Some(text);
            self.places = document.find(&self.needle);
            self.at = self.at.min(self.places.len().saturating_sub(1));
        }
    }

    /// Goes to the first place from where the person reads on, around the end.
    pub fn begin(&mut self, place: &mut Place) {
        self.go_to(self.places.iter().position(|spans| row(spans) >= place.at).unwrap_or(0), place);
    }

    /// Goes on to the next place, or back to the one before, around either end.
    pub fn go_on(&mut self, forward: bool, place: &mut Place) {
        let many = self.places.len();
        if many == 0 {
            return;
        }
        let is_here = self.places.get(self.at).is_some_and(|spans| row(spans) == place.at);
        let to = match (is_here, forward) {
            (true, true) => (self.at + 1) % many,
            (true, false) => (self.at + many - 1) % many,
            (false, true) => self.places.iter().position(|spans| row(spans) > place.at).unwrap_or(0),
            (false, false) => {
                let before = self.places.iter().rposition(|spans| row(spans) < place.at);
                before.unwrap_or(many.saturating_sub(1))
            }
        };
        self.go_to(to, place);
    }

    fn go_to(&mut self, to: usize, place: &mut Place) {
        if let Some(spans) = self.places.get(to) {
            (self.at, place.at) = (to, row(spans));
        }
    }

    /// Returns the places, each with whether it is the one the person is at.
    pub fn places(&self) -> impl Iterator<Item = (&[Span], bool)> {
        self.places.iter().enumerate().map(|(at, spans)| (spans.as_slice(), at == self.at))
    }

    /// Returns which place the person is at, from 1, and how many there are.
    #[must_use]
    pub fn count(&self) -> (usize, usize) {
        ((self.at + 1).min(self.places.len()), self.places.len())
    }
}

fn row(spans: &[Span]) -> usize {
    spans.first().map_or(0, |(row, _)| *row)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finding(text: &str, needle: &str) -> Finding {
        let mut document = Document::plain(text);
        document.wrap(20);
        let mut finding = Finding::new(needle);
        let of = TextId::over(&document);
        finding.look(&document, of);
        finding
    }

    #[test]
    fn it_goes_from_place_to_place_and_around() {
        let (mut finding, mut place) = (finding("a\nb a a\nb\na", "a"), Place { at: 1, top: 0 });
        finding.begin(&mut place);
        let mut seen = vec![(place.at, finding.count())];
        for forward in [true, true, true, true, false, false] {
            finding.go_on(forward, &mut place);
            seen.push((place.at, finding.count()));
        }
        let at: Vec<_> = seen.iter().map(|(row, (at, _))| (*row, *at)).collect();
        assert_eq!(at, [(1, 2), (1, 3), (3, 4), (0, 1), (1, 2), (0, 1), (3, 4)]);
    }

    #[test]
    fn whoever_moved_meanwhile_goes_on_from_there() {
        let (mut finding, mut place) = (finding("a\nb\na\nb\na", "a"), Place::default());
        finding.begin(&mut place);
        place.at = 3;
        finding.go_on(true, &mut place);
        assert_eq!((place.at, finding.count()), (4, (3, 3)));
        place.at = 3;
        finding.go_on(false, &mut place);
        assert_eq!((place.at, finding.count()), (2, (2, 3)));
    }

    #[test]
    fn nothing_is_found_in_nothing() {
        let (mut finding, mut place) = (finding("abc", "x"), Place::default());
        finding.begin(&mut place);
        finding.go_on(true, &mut place);
        assert_eq!((place, finding.count()), (Place::default(), (0, 0)));
    }
}
