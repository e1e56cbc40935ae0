//! A text that takes the whole screen to be read: the difference of two answers, a task with what of it was seen.

use super::super::text::document::{Document, Piece};
use super::calls::Place;

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
    #[must_use]
    pub fn part_at(&self) -> (usize, usize) {
        let rows = self.parts.iter().filter_map(|line| self.document.row_of(*line));
        (rows.take_while(|row| *row <= self.place.at).count(), self.parts.len())
    }
}
