//! The rows of a transcript that can still change, and the final text above them.

use std::collections::VecDeque;

use super::row::TextRow;

/// The rows that would be on a screen, created as needed, and the finished text above them.
#[derive(Debug, Default)]
pub(super) struct TextRows {
    finished: String,
    /// How much of the finished text is kept, in bytes; none is all.
    most: Option<usize>,
    rows: VecDeque<TextRow>,
}

impl TextRows {
    /// Returns empty rows that keep only the end of what is finished, of about that many bytes.
    pub(super) fn keeping(most: usize) -> Self {
        Self { most: Some(most), ..Self::default() }
    }

    /// Returns a row, creating it if necessary.
    pub(super) fn at(&mut self, row: usize) -> &mut TextRow {
        if self.rows.len() <= row {
            self.rows.resize_with(row + 1, TextRow::default);
        }
        &mut self.rows[row]
    }

    /// Returns a row if it exists.
    pub(super) fn get(&mut self, row: usize) -> Option<&mut TextRow> {
        self.rows.get_mut(row)
    }

    /// Returns the number of rows.
    pub(super) fn len(&self) -> usize {
        self.rows.len()
    }

    /// Finishes the first row.
    pub(super) fn finish_first(&mut self) {
        if let Some(row) = self.rows.pop_front() {
            let wrapped = row.wrapped;
            self.finished.push_str(&row.into_text());
            if !wrapped {
                self.finished.push('\n');
            }
            if let Some(most) = self.most.filter(|most| self.finished.len() > 2 * most) {
                let from = self.finished.ceil_char_boundary(self.finished.len() - most);
                self.finished.drain(..from);
            }
        }
    }

    /// Finishes all rows up to the last one with text.
    pub(super) fn finish_all(&mut self) {
        while self.rows.back_mut().is_some_and(|row| row.is_empty()) {
            self.rows.pop_back();
        }
        if let Some(last) = self.rows.back_mut() {
            last.wrapped = false;
        }
        while !self.rows.is_empty() {
            self.finish_first();
        }
    }

    /// Moves the rows from `top` to `bottom` up by one. A row that leaves the screen at its top is finished.
    pub(super) fn scroll_up(&mut self, top: usize, bottom: usize) {
        if top > 0 {
            return self.remove(top, bottom);
        }
        self.at(0);
        self.finish_first();
        self.fill(bottom);
    }

    /// Removes a row; those below it, down to `bottom`, move up.
    pub(super) fn remove(&mut self, row: usize, bottom: usize) {
        if self.rows.remove(row).is_some() {
            self.fill(bottom);
        }
    }

    /// Inserts an empty row at `bottom`, if there are rows from there on.
    fn fill(&mut self, bottom: usize) {
        if self.rows.len() > bottom {
            self.rows.insert(bottom, TextRow::default());
        }
    }

    /// Moves the rows from `top` to `bottom` down by one; the last one is lost.
    pub(super) fn scroll_down(&mut self, top: usize, bottom: usize) {
        if top < self.rows.len() {
            self.rows.insert(top, TextRow::default());
            self.rows.remove(bottom + 1);
        }
    }

    /// Removes the rows from `row` on.
    pub(super) fn truncate(&mut self, row: usize) {
        self.rows.truncate(row);
    }

    /// Takes the finished text.
    pub(super) fn take_final(&mut self) -> String {
        std::mem::take(&mut self.finished)
    }

    /// Returns the text.
    pub(super) fn into_text(mut self) -> String {
        while self.rows.len() > 1 {
            self.finish_first();
        }
        if let Some(last) = self.rows.pop_front() {
            self.finished.push_str(&last.into_text());
        }
        self.finished
    }
}
