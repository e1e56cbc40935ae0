//! A text that is looked for in what is read: all its places, and the one the person is at.
//! Finding a text in what is read: written once, then from place to place.

use ratatui::layout::Rect;
use ratatui::style::Modifier;
use tui_input::Input as Editor;

use super::layout::cut_left;
use super::painter::Painter;
use super::receipts::sheet::Sheet;
use super::receipts::{Column, Place};
use super::{App, Mode, Screen};
use crate::console::keys::{Action, Context};
use crate::console::text::finding::{Needle, Span};
use crate::console::text::{Document, Piece, count, piece};
use crate::console::theme::Role;

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
    pub fn of(sheet: &Sheet, column: Column) -> Self {
        let document = sheet.document(column);
        let (rows, columns) = (document.rows().len(), document.columns());
        Self { answer: Some((sheet.seq, column, sheet.budget)), rows, columns }
    }

    /// Returns what tells a text over the screen from those below it.
    pub fn over(document: &Document) -> Self {
        Self { answer: None, rows: document.rows().len(), columns: document.columns() }
    }
}

impl Finding {
    /// Begins to look for a text.
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
    pub fn count(&self) -> (usize, usize) {
        ((self.at + 1).min(self.places.len()), self.places.len())
    }
}

fn row(spans: &[Span]) -> usize {
    spans.first().map_or(0, |(row, _)| *row)
}

impl App {
    /// Tells whether there is a text to find something in.
    pub(super) fn can_find(&self) -> bool {
        self.reader.is_some()
            || self.screen == Screen::Receipts
                && self.calls.sheet.as_ref().is_some_and(|sheet| sheet.is_answered)
    }

    /// Tells whether something was looked for, and the keys of its text hold.
    pub(crate) fn is_finding(&self) -> bool {
        self.calls.finding.is_some() && matches!(self.context(), Context::Receipts | Context::Text)
    }

    pub(super) fn find_in_text(&mut self, action: Action) {
        match action {
            Action::FindText => {
                if self.reader.is_none() && self.calls.column == Column::Calls {
                    self.calls.column = Column::Receipt;
                }
                self.mode = Mode::Find(Editor::default());
            }
            _ => {
                let mut place = self.place();
                if let Some(finding) = &mut self.calls.finding {
                    finding.go_on(action == Action::NextFound, &mut place);
                    self.put(place);
                }
            }
        }
    }

    /// Finds what is written, from the row that is read on.
    pub(super) fn found_text(&mut self) {
        let Mode::Find(editor) = &self.mode else { return };
        let text = editor.value().to_owned();
        self.observe();
        self.unfold();
        self.calls.finding = (!text.is_empty()).then(|| Finding::new(&text));
        self.look_through();
        let mut place = self.place();
        if let Some(finding) = &mut self.calls.finding {
            finding.begin(&mut place);
            self.put(place);
        }
    }

    /// Looks through the text that is read now, if it is another one than before.
    pub(super) fn look_through(&mut self) {
        let Some(finding) = self.calls.finding.as_mut() else { return };
        match (&self.reader, &self.calls.sheet) {
            (Some(reader), _) => finding.look(&reader.document, TextId::over(&reader.document)),
            (None, Some(sheet)) => {
                let column = self.calls.column;
                finding.look(sheet.document(column), TextId::of(sheet, column));
            }
            (None, None) => {}
        }
    }

    /// Opens what is folded of the text that is read: what is looked for may stand in it.
    fn unfold(&mut self) {
        if let Some(sheet) = self.calls.sheet.as_mut().filter(|_| self.reader.is_none()) {
            let at = sheet.envelope.unfold(self.calls.envelope.at);
            self.calls.envelope.at = at;
        }
    }

    /// Returns where the text is read that keys act on.
    fn place(&self) -> Place {
        self.reader.as_ref().map_or_else(|| self.calls.place(), |reader| reader.place)
    }

    fn put(&mut self, place: Place) {
        match &mut self.reader {
            Some(reader) => reader.place = place,
            None => self.calls.put(place),
        }
    }
}

/// What is looked for stands out in reverse, the place the person is at bold and underlined too.
pub(super) fn found(painter: &mut Painter<'_>, area: Rect, place: Place) {
    let inside = cut_left(area, 1).1;
    let Some(finding) = &painter.app.calls.finding else { return };
    for (spans, is_here) in finding.places() {
        for (row, columns) in spans {
            let y = row.checked_sub(place.top).and_then(|y| u16::try_from(y).ok());
            let Some(y) = y else { continue };
            painter.restyle_row(inside, y, columns.clone(), |cell| {
                cell.modifier.toggle(Modifier::REVERSED);
                cell.modifier.set(Modifier::BOLD | Modifier::UNDERLINED, is_here);
            });
        }
    }
}

/// How often a text stands in what is read, and at which place the person is.
pub(super) fn told_finding(finding: &Finding, needle: String) -> Vec<Piece> {
    let what = match finding.count() {
        (_, 0) => "no match".to_owned(),
        (at, all) => format!("{}/{}", count(at as u64), count(all as u64)),
    };
    vec![piece(format!("{what} "), Role::Strong), piece(needle, Role::Text)]
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
