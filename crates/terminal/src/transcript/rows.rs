//! The rows of a screen that can still change, and what is finished above them: text, or rows to draw.

use std::collections::VecDeque;

use super::row::TextRow;
use crate::history::PageRow;

/// How much of what scrolled off the alternate screen is kept, in bytes or rows.
const ALTERNATE_BYTES: usize = 64 << 10;
const ALTERNATE_ROWS: usize = 1_000;

/// The rows that would be on a screen, created as needed, and what is finished above them.
#[derive(Debug, Default)]
pub(super) struct TextRows {
    finished: FinishedRows,
    /// Whether only the end of what is finished is kept.
    keeps_end: bool,
    rows: VecDeque<TextRow>,
    frames: ClearedScreens,
    /// The line of the row that was finished last.
    line: u64,
}

#[derive(Debug)]
enum FinishedRows {
    Text(String),
    Drawn(Vec<PageRow>),
}

/// The screens since one was cleared that were cleared themselves before anything scrolled off: frames of a program
/// that draws again and again. The last one stays.
#[derive(Debug, Default)]
struct ClearedScreens {
    /// Whether the screen is a frame, so far.
    is_one: bool,
    last: VecDeque<TextRow>,
    left_out: u64,
}

impl Default for FinishedRows {
    fn default() -> Self {
        Self::Text(String::new())
    }
}

impl FinishedRows {
    fn of(are_drawn: bool) -> Self {
        if are_drawn { Self::Drawn(Vec::new()) } else { Self::default() }
    }
}

impl TextRows {
    /// Returns empty rows of a primary screen.
    pub(super) fn of_primary(are_drawn: bool) -> Self {
        Self { finished: FinishedRows::of(are_drawn), ..Self::default() }
    }

    /// Returns empty rows of an alternate screen.
    pub(super) fn of_alternate(are_drawn: bool) -> Self {
        Self { finished: FinishedRows::of(are_drawn), keeps_end: true, ..Self::default() }
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

    /// Finishes the first row, which scrolls off.
    pub(super) fn finish_first(&mut self) {
        if std::mem::take(&mut self.frames.is_one) {
            self.leave_out_frames();
        }
        if let Some(row) = self.rows.pop_front() {
            self.finish(row, true);
        }
    }

    fn finish(&mut self, row: TextRow, ends_line: bool) {
        let wrapped = row.wrapped;
        self.line = self.line.max(row.line);
        match &mut self.finished {
            FinishedRows::Text(text) => {
                text.push_str(&row.into_text());
                if ends_line && !wrapped {
                    text.push('\n');
                }
                if self.keeps_end && text.len() > 2 * ALTERNATE_BYTES {
                    text.drain(..text.ceil_char_boundary(text.len() - ALTERNATE_BYTES));
                }
            }
            FinishedRows::Drawn(rows) => {
                rows.push(PageRow { cells: row.into_cells(), line: self.line, wrapped });
                if self.keeps_end && rows.len() > 2 * ALTERNATE_ROWS {
                    rows.drain(..rows.len() - ALTERNATE_ROWS);
                }
            }
        }
    }

    /// Finishes a row with a note about the row that follows, or about the last one.
    pub(super) fn note(&mut self, text: &str) {
        let line = self.rows.front().map_or(self.line, |row| row.line);
        if let FinishedRows::Text(text) = &mut self.finished
            && !(text.is_empty() || text.ends_with('\n'))
        {
            text.push('\n');
        }
        self.finish(TextRow::of(text, line), true);
    }

    /// Says how many frames are left out, the last one among them.
    fn leave_out_frames(&mut self) {
        let last = std::mem::take(&mut self.frames.last);
        match std::mem::take(&mut self.frames.left_out) + u64::from(!last.is_empty()) {
            0 => {}
            1 => self.note("[1 earlier frame]"),
            count => self.note(&format!("[{count} earlier frames]")),
        }
    }

    /// Clears the screen. What was on it had been printed, and stays, unless it is one of several frames.
    pub(super) fn clear(&mut self) {
        self.drop_blank_end();
        if let Some(last) = self.rows.back_mut() {
            last.wrapped = false;
            let rows = std::mem::take(&mut self.rows);
            if self.frames.is_one {
                let before = std::mem::replace(&mut self.frames.last, rows);
                self.frames.left_out += u64::from(!before.is_empty());
            } else {
                rows.into_iter().for_each(|row| self.finish(row, true));
            }
        }
        self.frames.is_one = true;
    }

    fn drop_blank_end(&mut self) {
        while self.rows.back().is_some_and(|row| row.is_blank()) {
            self.rows.pop_back();
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
    pub(super) fn take_text(&mut self) -> String {
        match &mut self.finished {
            FinishedRows::Text(text) => std::mem::take(text),
            FinishedRows::Drawn(_) => String::new(),
        }
    }

    /// Takes the finished rows.
    pub(super) fn take_rows(&mut self) -> Vec<PageRow> {
        match &mut self.finished {
            FinishedRows::Text(_) => Vec::new(),
            FinishedRows::Drawn(rows) => std::mem::take(rows),
        }
    }

    /// Returns the cells of the rows that can still change.
    #[cfg(test)]
    pub(super) fn into_cells(self) -> Vec<Vec<crate::cell::Cell<'static>>> {
        self.rows.into_iter().map(TextRow::into_cells).collect()
    }

    /// Finishes all rows; the last one, if it is empty, is none.
    pub(super) fn finish_all(&mut self) {
        if std::mem::take(&mut self.frames.is_one) {
            if self.rows.iter().all(TextRow::is_blank) && !self.frames.last.is_empty() {
                self.rows = std::mem::take(&mut self.frames.last);
            }
            self.leave_out_frames();
        }
        let last = self.rows.pop_back();
        while let Some(row) = self.rows.pop_front() {
            self.finish(row, true);
        }
        if let Some(last) = last.filter(|row| !row.is_empty()) {
            self.finish(last, false);
        }
    }

    /// Finishes all rows of the primary screen, and below them, under a note, those of this one.
    pub(super) fn finish_below(mut self, primary: &mut Self, note: &str) {
        primary.finish_all();
        self.finish_all();
        match self.finished {
            FinishedRows::Text(text) if !text.trim().is_empty() => {
                primary.note(note);
                if let FinishedRows::Text(all) = &mut primary.finished {
                    all.push_str(&text);
                }
            }
            FinishedRows::Drawn(rows) if rows.iter().any(|row| !row.cells.is_empty()) => {
                primary.note(note);
                if let FinishedRows::Drawn(all) = &mut primary.finished {
                    all.extend(rows);
                }
            }
            _ => {}
        }
    }
}
