//! Reading texts: a wrapped text with the current row, a full-screen reader (the difference between two
//! answers, the coverage of a task), and how keys move a position.

use ratatui::layout::Rect;

use crate::model::CallRecord;

use super::find::found;
use super::receipts::draw;
use super::{App, Column, Layout, Painter, Screen, cut_left, cut_top};
use crate::console::keys::Action;
use crate::console::text::diff::Diff;
use crate::console::text::{Document, Piece, count, json, piece};
use crate::console::theme::Role;

/// Rows of context above a part that was jumped to.
const CONTEXT: usize = 3;

/// A text laid out for its area, with the reading position.
#[derive(Debug, Clone, Default)]
pub struct Text {
    /// The text.
    pub document: Document,
    /// The current row.
    pub at: usize,
    /// The first row shown.
    pub top: usize,
}

impl Text {
    /// Opens a document at its beginning.
    pub fn new(document: Document) -> Self {
        Self { document, at: 0, top: 0 }
    }

    /// Returns the index of the last row.
    fn last(&self) -> usize {
        self.document.rows().len().saturating_sub(1)
    }

    /// Moves the current row; this many rows are shown.
    pub fn go(&mut self, action: Action, shown: usize) {
        self.at = moved(self.at, action, shown.saturating_sub(1).max(1), self.last());
    }

    /// Scrolls by a row, as the wheel does; the current row stays if it remains visible.
    pub fn roll(&mut self, action: Action, shown: usize) {
        self.top = moved(self.top, action, shown, (self.last() + 1).saturating_sub(shown));
        self.at = self.at.clamp(self.top, self.top + shown.saturating_sub(1));
    }

    /// Wraps the text for an area this wide, with one column of padding at either side.
    pub fn wrap(&mut self, width: u16) {
        self.at = self.document.wrap_at(usize::from(width.saturating_sub(2)), self.at);
    }

    /// Scrolls the current row into view.
    pub fn settle(&mut self, shown: usize) {
        self.at = self.at.min(self.last());
        self.top = window(self.top, self.at, self.document.rows().len(), shown);
    }

    /// Returns the row of the area in which a row of the text is shown.
    pub fn row_on_screen(&self, row: usize) -> Option<u16> {
        row.checked_sub(self.top).and_then(|y| u16::try_from(y).ok())
    }
}

/// The reader: a text shown over the screen it belongs to.
#[derive(Debug, Clone)]
pub struct Reader {
    /// The title of the text.
    pub title: String,
    /// Facts about it, most important first.
    pub facts: Vec<Piece>,
    /// The text.
    pub text: Text,
    /// The lines at which its parts begin, which keys jump between.
    pub parts: Vec<usize>,
    /// The index of the part it opens at.
    pub begin: usize,
    /// The word for its parts: `change`.
    pub part: &'static str,
}

impl Reader {
    /// Jumps to the next or previous part, if there is one.
    pub fn jump(&mut self, forward: bool) {
        let mut rows = self.parts.iter().filter_map(|line| self.text.document.row_of(*line));
        let at = self.text.at;
        let to = if forward { rows.find(|row| *row > at) } else { rows.rfind(|row| *row < at) };
        if let Some(to) = to {
            (self.text.at, self.text.top) = (to, to.saturating_sub(CONTEXT));
        }
    }

    /// Returns the number of the part at or before the current row, counted from 1, and the number of parts.
    pub fn part_at(&self) -> (usize, usize) {
        let rows = self.parts.iter().filter_map(|line| self.text.document.row_of(*line));
        (rows.take_while(|row| *row <= self.text.at).count(), self.parts.len())
    }
}

impl App {
    /// Marks the current call for comparison; if another one is marked, shows the difference between them; if
    /// it is the marked one, removes the mark.
    pub(super) fn compare(&mut self) {
        let Some(shown) = self.shown_record() else { return };
        match self.calls.marked.clone() {
            Some(marked) if marked.seq == shown.seq => self.calls.marked = None,
            Some(marked) => {
                self.calls.finding = None;
                self.toasts.pass();
                let names = [marked.seq, shown.seq].map(|seq| self.call_name(seq));
                self.reader = Some(difference(&marked, &shown, names, self.calls.column));
            }
            None => {
                let text =
                    format!("call {} is marked: go to another one and compare", self.call_name(shown.seq));
                self.say(text);
                self.calls.marked = Some(shown);
            }
        }
    }

    /// Moves in the reader's text.
    pub(super) fn go_in_reader(&mut self, action: Action) {
        let shown = usize::from(cut_top(self.layout().stage, 1).1.height);
        let Some(reader) = &mut self.reader else { return };
        match action {
            Action::NextPart => reader.jump(true),
            Action::PreviousPart => reader.jump(false),
            action => reader.text.go(action, shown),
        }
    }

    /// Wraps the reader's text for its area, and scrolls the current row into view.
    pub(super) fn lay_out_reader(&mut self, layout: &Layout) {
        let Some(reader) = &mut self.reader else { return };
        let text = &mut reader.text;
        let is_new = text.document.columns() == 0;
        text.wrap(layout.stage.width);
        let begin = reader.parts.get(reader.begin).filter(|_| is_new);
        if let Some(first) = begin.and_then(|line| text.document.row_of(*line)) {
            (text.at, text.top) = (first, first.saturating_sub(usize::from(layout.stage.height / 3)));
        }
        text.settle(usize::from(layout.stage.height.saturating_sub(1)));
    }
}

/// Lays out the difference between two answers: between their receipts if those are on screen, or else their
/// envelopes.
fn difference(before: &CallRecord, after: &CallRecord, names: [String; 2], column: Column) -> Reader {
    let texts = [before, after].map(|record| match column {
        Column::Receipt => record.receipt.clone().unwrap_or_default(),
        _ => record.envelope.as_ref().map(json::text).unwrap_or_default(),
    });
    let diff = Diff::of(&texts[0], &texts[1]);
    let what = if column == Column::Receipt { "receipts" } else { "envelopes" };
    let mut facts = vec![piece(format!("-{} +{}", diff.removed, diff.added), Role::Strong)];
    facts.extend(diff.changes.is_empty().then(|| piece("they are the same", Role::Faint)));
    facts.extend(diff.is_cut.then(|| piece("the first lines of long texts", Role::Faint)));
    Reader {
        title: format!("{what} of calls - {} and + {}", names[0], names[1]),
        facts,
        text: Text::new(diff.document),
        parts: diff.changes,
        begin: 0,
        part: "change",
    }
}

pub(super) fn draw(painter: &mut Painter<'_>, area: Rect, reader: &Reader) {
    let (head, body) = cut_top(area, 1);
    painter.head(head, &[piece(reader.title.clone(), Role::Title)], &reader.facts);
    draw::reading(painter, body, &reader.text, reader.text.top);
    found(painter, body, &reader.text);
    if let Some(y) = reader.text.row_on_screen(reader.text.at) {
        let mark = piece(painter.glyphs().selected, Role::Accent);
        painter.row(cut_left(body, 1).0, y, &[mark]);
    }
}

/// Describes the position in the text.
pub(super) fn told(reader: &Reader) -> Vec<Piece> {
    let rows = reader.text.document.rows().len() as u64;
    let at = format!("line {} of {}", count((reader.text.at as u64 + 1).min(rows)), count(rows));
    let part = match reader.part_at() {
        (_, 0) => String::new(),
        (at, all) => format!("{} {}/{}  ", reader.part, count(at as u64), count(all as u64)),
    };
    vec![piece(part, Role::Strong), piece(at, Role::Text)]
}

impl App {
    /// Moves whatever the keys move on this screen: the selection, a text, or the pane's position in the log.
    pub(super) fn go(&mut self, action: Action) {
        if self.reader.is_some() {
            self.go_in_reader(action);
            return;
        }
        match (self.screen, self.calls.column) {
            (Screen::Tasks, _) if self.in_pane || is_page(action) => self.go_in_log(action),
            (Screen::Tasks | Screen::Metrics, _) => self.go_in_tasks(action),
            (Screen::Focus, _) => self.go_in_log(action),
            (Screen::Program, _) if self.programs.in_pane => self.go_in_log(action),
            (Screen::Program, _) => {
                self.go_in_source(action);
            }
            (Screen::Receipts, Column::Calls) => self.go_in_calls(action),
            (Screen::Receipts, column) => self.go_in_text(column, action),
        }
    }
}

/// On the tasks screen, these keys always move the pane.
fn is_page(action: Action) -> bool {
    matches!(action, Action::PageUp | Action::PageDown)
}

/// Returns the position that an action leads to.
pub(crate) fn moved(at: usize, action: Action, page: usize, last: usize) -> usize {
    let to = match action {
        Action::Up => at.saturating_sub(1),
        Action::Down => at.saturating_add(1),
        Action::PageUp => at.saturating_sub(page),
        Action::PageDown => at.saturating_add(page),
        Action::First => 0,
        _ => last,
    };
    to.min(last)
}

/// Returns the first item to show so that the selected one is visible and no space is wasted.
pub(crate) fn window(top: usize, selected: usize, count: usize, shown: usize) -> usize {
    let last_top = count.saturating_sub(shown);
    let top = top.min(last_top);
    if selected < top {
        selected
    } else if shown > 0 && selected >= top + shown {
        (selected + 1 - shown).min(last_top)
    } else {
        top
    }
}

#[cfg(test)]
mod tests {
    use super::window;

    #[test]
    fn the_selected_item_is_always_on_screen() {
        for (top, selected, count, shown, expected) in [
            (0, 0, 0, 5, 0),
            (0, 7, 10, 5, 3),
            (6, 2, 10, 5, 2),
            (9, 9, 10, 5, 5),
            (3, 4, 10, 5, 3),
            (0, 3, 9, 0, 0),
        ] {
            assert_eq!(window(top, selected, count, shown), expected, "{top} {selected} {count} {shown}");
        }
    }
}
