//! A text that takes the whole screen to be read: the difference of two answers, a task with what of it was seen.
//! Texts that take the whole screen: the difference of two answers; moving in them, and leaving.
//! A text that takes the whole screen: its title, what is marked, the row that is read.

use super::movement::{text_columns, window};
use ratatui::layout::Rect;
use serde_json::Value;

use crate::runtime::CallRecord;

use super::layout::{Layout, cut_left, cut_top};
use super::movement::moved;
use super::painter::Painter;
use super::receipts::{Column, Place, draw};
use super::{App, find};
use crate::console::keys::Action;
use crate::console::text::diff::Diff;
use crate::console::text::{self, Document, Piece, count, piece};
use crate::console::theme::Role;

/// Rows kept in sight above a part that was jumped to.
const CONTEXT: usize = 3;

/// A text read over the screen it belongs to.
#[derive(Debug, Clone)]
pub struct Reader {
    /// What it is.
    pub title: String,
    /// Facts about it, most important first.
    pub facts: Vec<Piece>,
    /// The text.
    pub document: Document,
    /// Where it is read.
    pub place: Place,
    /// The lines in which its parts begin: what the keys jump between.
    pub parts: Vec<usize>,
    /// The part it is opened at, from 0.
    pub begin: usize,
    /// What its parts are called: `change`.
    pub part: &'static str,
}

impl Reader {
    /// Goes to the part after the row read, or to the one before; stays when there is none.
    pub fn jump(&mut self, forward: bool) {
        let mut rows = self.parts.iter().filter_map(|line| self.document.row_of(*line));
        let at = self.place.at;
        let to = if forward { rows.find(|row| *row > at) } else { rows.rfind(|row| *row < at) };
        if let Some(to) = to {
            self.place = Place { at: to, top: to.saturating_sub(CONTEXT) };
        }
    }

    /// Returns which part the row read is in or after, from 1, and how many there are.
    pub fn part_at(&self) -> (usize, usize) {
        let rows = self.parts.iter().filter_map(|line| self.document.row_of(*line));
        (rows.take_while(|row| *row <= self.place.at).count(), self.parts.len())
    }
}

impl App {
    /// Marks the call shown; with another one marked, shows how the two differ. The marked one again: no mark.
    pub(super) fn compare(&mut self) {
        let Some(shown) = self.shown_record() else { return };
        match self.calls.marked.clone() {
            Some(marked) if marked.seq == shown.seq => self.calls.marked = None,
            Some(marked) => {
                self.calls.finding = None;
                self.toasts.pass();
                self.reader = Some(difference(&marked, &shown, self.calls.column));
            }
            None => {
                let text =
                    format!("call {} is marked: go to another one and compare", text::count(shown.seq));
                self.say(text);
                self.calls.marked = Some(shown);
            }
        }
    }

    /// Moves in the text that is read over the screen.
    pub(super) fn go_in_reader(&mut self, action: Action) {
        let shown = usize::from(cut_top(self.layout().stage, 1).1.height);
        let Some(reader) = &mut self.reader else { return };
        let last = reader.document.rows().len().saturating_sub(1);
        match action {
            Action::NextPart => reader.jump(true),
            Action::PreviousPart => reader.jump(false),
            action => reader.place.at = moved(reader.place.at, action, shown.saturating_sub(1).max(1), last),
        }
    }

    /// Wraps the text over the screen for its room, and puts the row read on screen.
    pub(super) fn lay_out_reader(&mut self, layout: &Layout) {
        let Some(reader) = &mut self.reader else { return };
        let is_new = reader.document.columns() == 0;
        let place = &mut reader.place;
        place.at = reader.document.wrap_at(text_columns(layout.stage.width), place.at);
        if let Some(first) = reader.parts.get(reader.begin).and_then(|line| reader.document.row_of(*line))
            && is_new
        {
            *place = Place { at: first, top: first.saturating_sub(usize::from(layout.stage.height / 3)) };
        }
        let rows = reader.document.rows().len();
        place.at = place.at.min(rows.saturating_sub(1));
        place.top = window(place.top, place.at, rows, usize::from(layout.stage.height.saturating_sub(1)));
    }
}

/// Lays out how two answers differ: their receipts when those are read, else their envelopes.
fn difference(before: &CallRecord, after: &CallRecord, column: Column) -> Reader {
    let texts = [before, after].map(|record| match column {
        Column::Receipt => record.receipt.clone().unwrap_or_default(),
        _ => pretty(record.envelope.as_ref()),
    });
    let diff = Diff::of(&texts[0], &texts[1]);
    let what = if column == Column::Receipt { "receipts" } else { "envelopes" };
    let (first, second) = (text::count(before.seq), text::count(after.seq));
    let mut facts = vec![piece(format!("-{} +{}", diff.removed, diff.added), Role::Strong)];
    facts.extend(diff.changes.is_empty().then(|| piece("they are the same", Role::Faint)));
    facts.extend(diff.is_cut.then(|| piece("the first lines of long texts", Role::Faint)));
    Reader {
        title: format!("{what} of calls - {first} and + {second}"),
        facts,
        document: diff.document,
        place: Place::default(),
        parts: diff.changes,
        begin: 0,
        part: "change",
    }
}

fn pretty(value: Option<&Value>) -> String {
    value.map(|value| format!("{value:#}")).unwrap_or_default()
}

pub(super) fn draw(painter: &mut Painter<'_>, area: Rect, reader: &Reader) {
    let (head, body) = cut_top(area, 1);
    painter.head(head, &[piece(reader.title.clone(), Role::Title)], &reader.facts);
    draw::reading(painter, body, &reader.document, reader.place.top);
    find::found(painter, body, reader.place);
    let y = reader.place.at.checked_sub(reader.place.top).and_then(|y| u16::try_from(y).ok());
    if let Some(y) = y.filter(|y| *y < body.height) {
        let mark = piece(painter.glyphs().selected, Role::Accent);
        painter.row(cut_left(body, 1).0, y, &[mark]);
    }
}

/// Where the person is in it.
pub(super) fn told(reader: &Reader) -> Vec<Piece> {
    let rows = reader.document.rows().len() as u64;
    let at = format!("line {} of {}", count((reader.place.at as u64 + 1).min(rows)), count(rows));
    let part = match reader.part_at() {
        (_, 0) => String::new(),
        (at, all) => format!("{} {}/{}  ", reader.part, count(at as u64), count(all as u64)),
    };
    vec![piece(part, Role::Strong), piece(at, Role::Text)]
}
