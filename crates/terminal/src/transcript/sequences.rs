//! Escape sequences that move the cursor or change text.

use super::row::TextRow;
use super::rows::TextRows;
use super::screen::{TextCursor, TextModes, TextScreen};
use crate::csi::{Csi, Parameter};
use crate::scanner::{SequenceSink, label};
use crate::size::Size;
use crate::terminal::ByteOrigin;

impl SequenceSink for TextScreen {
    fn text(&mut self, text: &str) {
        let mut rest = text;
        while let Some(at) = rest.find(|c| c < ' ') {
            let (plain, from) = rest.split_at(at);
            if !plain.is_empty() {
                self.print(plain);
            }
            let mut chars = from.chars();
            self.take_control(chars.next().and_then(|c| u8::try_from(c).ok()).unwrap_or(0));
            rest = chars.as_str();
        }
        if !rest.is_empty() {
            self.print(rest);
        }
    }

    fn invalid(&mut self) {
        self.text("\u{FFFD}");
    }

    fn control(&mut self, byte: u8) {
        self.take_control(byte);
    }

    fn escape(&mut self, intermediate: u8, last: u8) {
        match (intermediate, last) {
            (0, b'c') => self.reset(),
            (0, b'7') => self.save_cursor(),
            (0, b'8') => self.restore_cursor(),
            (0, b'D') => self.line_feed(),
            (0, b'E') => {
                self.cursor.col = 0;
                self.line_feed();
            }
            (0, b'H') => self.set_tab(true),
            (0, b'M') => self.reverse_feed(),
            _ => self.cursor.charsets.designate(intermediate, last),
        }
    }

    fn csi(&mut self, csi: Csi<'_>) {
        match (csi.marker, csi.intermediate, csi.last) {
            (b'?', 0, b'h' | b'l') => self.private_modes(&csi, csi.last == b'h'),
            (b'?', 0, b'J' | b'K') => self.change(&csi),
            (0, b'!', b'p') => self.soft_reset(),
            (0, 0, b'm') if self.paints => self.cursor.style.take(&csi),
            (0, 0, b'h' | b'l') => self.ansi_modes(&csi, csi.last == b'h'),
            (0, 0, _) if !self.motion(&csi) => self.change(&csi),
            _ => {}
        }
    }

    fn osc(&mut self, _: &[u8], _: bool) {}

    fn picture(&mut self, bytes: usize) {
        self.text(&label(bytes));
    }
}

impl TextScreen {
    fn ansi_modes(&mut self, csi: &Csi<'_>, on: bool) {
        for mode in csi.parameters().map(Parameter::value) {
            match mode {
                4 => self.modes.insert = on,
                20 => self.modes.newline = on,
                _ => {}
            }
        }
    }

    fn private_modes(&mut self, csi: &Csi<'_>, on: bool) {
        for mode in csi.parameters().map(Parameter::value) {
            match mode {
                47 | 1047 | 1049 if self.origin == ByteOrigin::Pipe => {}
                47 | 1047 | 1049 if on => self.enter_alternate(mode == 1049),
                47 | 1047 | 1049 => self.leave_alternate(mode == 1049),
                6 => {
                    self.cursor.relative = on;
                    (self.cursor.row, self.cursor.col) = (self.top(), 0);
                }
                7 => self.modes.no_wrap = !on,
                40 => self.modes.may_set_columns = on,
                3 if self.modes.may_set_columns => {
                    self.clear();
                    (self.cursor.row, self.cursor.col, self.cursor.relative) = (0, 0, false);
                    self.region = None;
                }
                1048 if on => self.save_cursor(),
                1048 => self.restore_cursor(),
                _ => {}
            }
        }
    }

    fn enter_alternate(&mut self, saves: bool) {
        if self.primary.is_none() {
            if saves {
                self.save_cursor();
            }
            self.primary = Some(std::mem::replace(&mut self.rows, TextRows::of_alternate(self.paints)));
        }
    }

    /// Returns to the primary screen, if the alternate one is on.
    pub(super) fn leave_alternate(&mut self, restores: bool) {
        if let Some(primary) = self.primary.take() {
            self.rows = primary;
            if restores {
                self.restore_cursor();
            }
        }
    }

    fn save_cursor(&mut self) {
        self.saved[usize::from(self.primary.is_some())] = self.cursor;
    }

    fn restore_cursor(&mut self) {
        self.cursor = self.saved[usize::from(self.primary.is_some())];
    }

    fn reset(&mut self) {
        self.leave_alternate(false);
        self.rows.clear();
        (self.cursor, self.saved, self.region) = Default::default();
        (self.modes, self.tabs) = (TextModes::default(), crate::tabs::Tabs::new(self.size.cols()));
    }

    fn soft_reset(&mut self) {
        self.go_to_column(self.cursor.col);
        let TextCursor { row, col, .. } = self.cursor;
        self.cursor = TextCursor { row, col, ..TextCursor::default() };
        self.modes = TextModes { insert: false, no_wrap: false, ..self.modes };
        self.region = None;
        self.saved[usize::from(self.primary.is_some())] = TextCursor::default();
    }

    fn set_tab(&mut self, stop: bool) {
        self.tabs.set(u16::try_from(self.cursor.col).unwrap_or(u16::MAX), stop);
    }

    /// Clears the screen. What was on the primary one had been printed: see [`TextRows::clear`].
    fn clear(&mut self) {
        match &self.primary {
            Some(_) => self.rows = TextRows::of_alternate(self.paints),
            None => self.rows.clear(),
        }
        self.blank(0..self.height());
    }

    /// Returns the row from which rows are counted.
    fn top(&self) -> usize {
        if self.cursor.relative { self.margins().0 } else { 0 }
    }

    /// Moves the cursor to a row, counted from 1.
    fn go_to_row(&mut self, row: usize) {
        let last = if self.cursor.relative { self.margins().1 } else { self.height() - 1 };
        self.cursor.row = (self.top() + row - 1).min(last);
        self.go_to_column(self.cursor.col);
    }

    /// Moves the cursor; returns whether the sequence was a cursor motion.
    fn motion(&mut self, csi: &Csi<'_>) -> bool {
        let count = usize::from(csi.parameter(0, 1));
        match csi.last {
            b'A' => self.up(count),
            b'B' | b'e' => self.down(count),
            b'C' | b'a' => self.go_to_column(self.cursor.col.saturating_add(count)),
            b'D' => self.move_left(count),
            b'E' => {
                self.cursor.col = 0;
                self.down(count);
            }
            b'F' => {
                self.cursor.col = 0;
                self.up(count);
            }
            b'G' | b'`' => self.go_to_column(count - 1),
            b'H' | b'f' => {
                self.go_to_row(count);
                self.go_to_column(usize::from(csi.parameter(1, 1)) - 1);
            }
            b'd' => self.go_to_row(count),
            b'I' => self.tab(csi.parameter(0, 1)),
            b'Z' => self.back_tab(csi.parameter(0, 1)),
            b's' => self.save_cursor(),
            b'u' => self.restore_cursor(),
            _ => return false,
        }
        true
    }

    fn up(&mut self, count: usize) {
        let (top, _) = self.margins();
        let limit = if self.cursor.row >= top { top } else { 0 };
        self.cursor.row = self.cursor.row.saturating_sub(count).max(limit);
        self.go_to_column(self.cursor.col);
    }

    fn down(&mut self, count: usize) {
        let (_, bottom) = self.margins();
        let limit = if self.cursor.row <= bottom { bottom } else { self.height() - 1 };
        self.cursor.row = self.cursor.row.saturating_add(count).min(limit);
        self.go_to_column(self.cursor.col);
    }

    /// Moves the cursor to a column; on a pipe, no further than the maximum width of a terminal or the width
    /// of the row.
    fn go_to_column(&mut self, col: usize) {
        let row_width = self.rows.get(self.cursor.row).map_or(0, |row| row.width());
        let last = self.width().map_or_else(|| row_width.max(usize::from(Size::MAX)), |width| width - 1);
        self.cursor.col = col.min(last);
    }

    fn back_tab(&mut self, count: u16) {
        let col = u16::try_from(self.cursor.col).unwrap_or(u16::MAX);
        self.cursor.col = usize::from(self.tabs.before(col, count));
    }

    fn change(&mut self, csi: &Csi<'_>) {
        let count = usize::from(csi.parameter(0, 1));
        match csi.last {
            b'J' => self.erase_screen(csi.parameter(0, 0)),
            b'K' => self.erase_row(csi.parameter(0, 0)),
            b'X' | b'@' | b'P' => self.shift_columns(csi.last, count),
            b'g' if csi.parameter(0, 0) == 0 => self.set_tab(false),
            b'g' if csi.parameter(0, 0) == 3 => self.tabs.clear(),
            b'b' => self.repeat(count.min(usize::from(self.size.cols()))),
            // With more parameters it is mouse tracking.
            b'T' if csi.parameters().count() > 1 => {}
            b'L' | b'M' | b'S' | b'T' => self.shift_rows(csi.last, count),
            b'r' => self.scroll_region(csi),
            _ => {}
        }
    }

    /// Edits the cursor's row, if it has any content.
    fn edit(&mut self, change: impl FnOnce(&mut TextRow)) {
        if let Some(row) = self.rows.get(self.cursor.row) {
            change(row);
        }
    }

    /// Erases columns, inserts blank ones or deletes some, from the cursor on.
    fn shift_columns(&mut self, what: u8, count: usize) {
        self.go_to_column(self.cursor.col);
        let (col, width) = (self.cursor.col, self.width());
        let count = count.min(width.map_or(usize::from(Size::MAX), |width| width - col));
        match what {
            b'X' => self.erase(col, col + count),
            b'@' => {
                self.edit(|row| row.insert(col, count, width.unwrap_or(usize::MAX)));
                self.paint(col, col + count, self.cursor.style.of_erased());
            }
            _ => {
                self.edit(|row| row.delete(col, count));
                if let Some(width) = width {
                    self.paint(width - count, width, self.cursor.style.of_erased());
                }
            }
        }
    }

    fn repeat(&mut self, count: usize) {
        if let Some(last) = self.last {
            for _ in 0..count {
                self.print_one(last);
            }
        }
    }

    /// Erases columns of the cursor's row.
    fn erase(&mut self, from: usize, to: usize) {
        self.edit(|row| row.erase(from, to));
        let style = self.cursor.style.of_erased();
        let width = self.width().or_else(|| Some(self.rows.get(self.cursor.row)?.width()));
        self.paint(from, to.min(width.unwrap_or(0)), style);
    }

    fn erase_row(&mut self, what: u16) {
        let col = self.width().map_or(self.cursor.col, |width| self.cursor.col.min(width - 1));
        match what {
            0 => self.erase(self.cursor.col, usize::MAX),
            1 => self.erase(0, col + 1),
            2 => self.erase(0, usize::MAX),
            _ => {}
        }
    }

    fn erase_screen(&mut self, what: u16) {
        self.go_to_column(self.cursor.col);
        let TextCursor { row, col, .. } = self.cursor;
        match what {
            // Equivalent to clearing the whole screen.
            0 if (row, col) == (0, 0) => self.clear(),
            2 => self.clear(),
            0 => {
                self.erase_row(0);
                self.rows.truncate(row + 1);
                self.blank(row + 1..self.height());
            }
            1 => {
                self.erase_row(1);
                for above in 0..row {
                    if let Some(above) = self.rows.get(above) {
                        above.erase(0, usize::MAX);
                    }
                }
                self.blank(0..row);
            }
            _ => {}
        }
    }

    fn shift_rows(&mut self, what: u8, count: usize) {
        let (top, bottom) = self.margins();
        let row = self.cursor.row;
        let from = if matches!(what, b'L' | b'M') { row } else { top };
        if !(top..=bottom).contains(&from) {
            return;
        }
        for _ in 0..count.min(bottom + 1 - from) {
            match what {
                b'L' | b'T' => self.rows.scroll_down(from, bottom),
                b'M' => self.rows.remove(from, bottom),
                _ => self.rows.scroll_up(top, bottom),
            }
            let blank = if matches!(what, b'L' | b'T') { from } else { bottom };
            self.blank(blank..blank + 1);
        }
    }

    fn reverse_feed(&mut self) {
        let (top, bottom) = self.margins();
        if self.cursor.row == top {
            self.rows.scroll_down(top, bottom);
            self.blank(top..top + 1);
        } else {
            self.cursor.row = self.cursor.row.saturating_sub(1);
        }
    }

    fn scroll_region(&mut self, csi: &Csi<'_>) {
        let height = self.height();
        let top = usize::from(csi.parameter(0, 1)) - 1;
        let bottom = usize::from(csi.parameter(1, self.size.rows())).min(height) - 1;
        if top < bottom {
            self.region = Some((top, bottom)).filter(|region| *region != (0, height - 1));
            (self.cursor.row, self.cursor.col) = (self.top(), 0);
        }
    }
}
