//! A text that is read: wrapped, with the current row, and how keys move a position.

use crate::console::keys::Motion;
use crate::console::text::{StyledPiece, WrappedText};

/// Rows of context above a part that was jumped to.
pub(in crate::console) const CONTEXT: usize = 3;

/// A text laid out for its area, with the reading position.
#[derive(Debug, Clone, Default)]
pub struct ReaderText {
    pub document: WrappedText,
    /// The current row.
    pub at: usize,
    /// The first row shown.
    pub top: usize,
}

impl ReaderText {
    /// Opens a document at its beginning.
    pub fn new(document: WrappedText) -> Self {
        Self { document, at: 0, top: 0 }
    }

    /// Returns the index of the last row.
    fn last(&self) -> usize {
        self.document.rows().len().saturating_sub(1)
    }

    /// Moves the current row; this many rows are shown.
    pub fn go(&mut self, motion: Motion, shown: usize) {
        self.at = move_by(self.at, motion, shown.saturating_sub(1).max(1), self.last());
    }

    /// Scrolls by a row, as the wheel does; the current row stays if it remains visible.
    pub fn roll(&mut self, motion: Motion, shown: usize) {
        self.top = move_by(self.top, motion, shown, (self.last() + 1).saturating_sub(shown));
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
pub struct ReaderView {
    /// The title of the text.
    pub title: String,
    /// Facts about it, most important first.
    pub facts: Vec<StyledPiece>,
    pub text: ReaderText,
    /// The lines at which its parts begin, which keys jump between.
    pub parts: Vec<usize>,
    /// The index of the part it opens at.
    pub begin: usize,
    /// The word for its parts: `change`.
    pub part: &'static str,
}

impl ReaderView {
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

/// Returns the position that an action leads to.
pub(in crate::console) fn move_by(at: usize, motion: Motion, page: usize, last: usize) -> usize {
    let to = match motion {
        Motion::Up => at.saturating_sub(1),
        Motion::Down => at.saturating_add(1),
        Motion::PageUp => at.saturating_sub(page),
        Motion::PageDown => at.saturating_add(page),
        Motion::Top => 0,
        Motion::Bottom => last,
    };
    to.min(last)
}

/// Returns the first item to show so that the selected one is visible and no space is wasted.
pub(in crate::console) fn window(top: usize, selected: usize, count: usize, shown: usize) -> usize {
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
