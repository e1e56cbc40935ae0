//! Escape sequences that move the cursor or change text.

use super::row::TextRow;
use super::rows::TextRows;
use super::{SavedCursor, TextScreen};

/// How much of what scrolled off the alternate screen is kept, in bytes.
const ALTERNATE_BYTES: usize = 64 << 10;
use crate::csi::{Csi, Parameter};
use crate::scanner::{SequenceSink, label};
use crate::size::Size;
use crate::terminal::ByteOrigin;

impl SequenceSink for TextScreen {
    fn text(&mut self, text: &str) {
        if let Some(alternate) = &mut self.alternate {
            return alternate.text(text);
        }
        let mut rest = text;
        while let Some(at) = rest.find(|c| c < ' ') {
            let (plain, from) = rest.split_at(at);
            if !plain.is_empty() {
                self.print(plain);
            }
            let mut chars = from.chars();
            self.control(chars.next().and_then(|c| u8::try_from(c).ok()).unwrap_or(0));
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
        match &mut self.alternate {
            Some(alternate) => TextScreen::control(alternate, byte),
            None => TextScreen::control(self, byte),
        }
    }

    fn escape(&mut self, intermediate: u8, last: u8) {
        if (intermediate, last) == (0, b'c') {
            return self.reset();
        }
        if let Some(alternate) = &mut self.alternate {
            return alternate.escape(intermediate, last);
        }
        match (intermediate, last) {
            (0, b'7') => self.saved = self.cursor,
            (0, b'8') => self.cursor = self.saved,
            (0, b'D') => self.line_feed(),
            (0, b'E') => {
                self.cursor.col = 0;
                self.line_feed();
            }
            (0, b'M') => self.reverse_feed(),
            _ => self.cursor.charsets.designate(intermediate, last),
        }
    }

    fn csi(&mut self, csi: Csi<'_>) {
        if csi.marker == b'?' && matches!(csi.last, b'h' | b'l') {
            return self.modes(&csi, csi.last == b'h');
        }
        if let Some(alternate) = &mut self.alternate {
            return alternate.csi(csi);
        }
        if csi.intermediate != 0 {
            return;
        }
        match csi.marker {
            0 if self.motion(&csi) => {}
            0 => self.change(&csi),
            b'?' if matches!(csi.last, b'J' | b'K') => self.change(&csi),
            _ => {}
        }
    }

    fn osc(&mut self, _: &[u8]) {}

    fn picture(&mut self, bytes: usize) {
        self.text(&label(bytes));
    }
}

impl TextScreen {
    fn modes(&mut self, csi: &Csi<'_>, on: bool) {
        for mode in csi.parameters().map(Parameter::value) {
            match mode {
                47 | 1047 | 1049 if self.origin == ByteOrigin::Pipe => {}
                47 | 1047 | 1049 if on && self.alternate.is_none() => {
                    if mode == 1049 {
                        self.saved = self.cursor;
                    }
                    self.alternate = Some(Box::new(self.other_screen()));
                }
                47 | 1047 | 1049 if !on && self.alternate.is_some() => {
                    self.alternate = None;
                    if mode == 1049 {
                        self.cursor = self.saved;
                    }
                }
                40 => self.may_set_columns = on,
                3 if self.may_set_columns => self.clear_for_columns(),
                1048 if on && self.alternate.is_none() => self.saved = self.cursor,
                1048 if !on && self.alternate.is_none() => self.cursor = self.saved,
                _ => {}
            }
        }
    }

    /// Clears the screen as a change to 80 or 132 columns does.
    fn clear_for_columns(&mut self) {
        match &mut self.alternate {
            Some(alternate) => alternate.clear_for_columns(),
            None => {
                self.clear();
                (self.cursor.row, self.cursor.col, self.region) = (0, 0, None);
            }
        }
    }

    fn reset(&mut self) {
        self.rows.finish_all();
        (self.cursor, self.saved) = (SavedCursor::default(), SavedCursor::default());
        (self.region, self.alternate) = (None, None);
    }

    /// Returns an empty alternate screen, with the cursor where it is.
    fn other_screen(&self) -> Self {
        let (size, origin, cursor) = (self.size, self.origin, self.cursor);
        let rows = TextRows::keeping(ALTERNATE_BYTES);
        Self { size, origin, rows, cursor, saved: cursor, is_alternate: true, ..Self::default() }
    }

    /// Clears the screen. What was on the primary one had been printed, and stays.
    fn clear(&mut self) {
        match self.is_alternate {
            true => self.rows = TextRows::keeping(ALTERNATE_BYTES),
            false => self.rows.finish_all(),
        }
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
                self.cursor.row = (count - 1).min(self.height() - 1);
                self.go_to_column(usize::from(csi.parameter(1, 1)) - 1);
            }
            b'd' => self.cursor.row = (count - 1).min(self.height() - 1),
            b's' => self.saved = self.cursor,
            b'u' => self.cursor = self.saved,
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

    fn change(&mut self, csi: &Csi<'_>) {
        let count = usize::from(csi.parameter(0, 1));
        let col = self.cursor.col;
        match csi.last {
            b'J' => self.erase_screen(csi.parameter(0, 0)),
            b'K' => self.erase_row(csi.parameter(0, 0)),
            b'X' => self.edit(|row| row.erase(col, col + count)),
            b'@' => {
                let limit = self.width().unwrap_or(usize::MAX);
                self.edit(|row| row.insert(col, count.min(usize::from(Size::MAX)), limit));
            }
            b'P' => self.edit(|row| row.delete(col, count)),
            b'b' => self.repeat(count.min(usize::from(self.size.cols()))),
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

    fn repeat(&mut self, count: usize) {
        if let Some(last) = self.last {
            for _ in 0..count {
                self.print_one(last);
            }
        }
    }

    fn erase_row(&mut self, what: u16) {
        let col = self.cursor.col;
        self.edit(|row| match what {
            0 => row.erase(col, usize::MAX),
            1 => row.erase(0, col + 1),
            2 => row.erase(0, usize::MAX),
            _ => {}
        });
    }

    fn erase_screen(&mut self, what: u16) {
        let SavedCursor { row, col, .. } = self.cursor;
        match what {
            // Equivalent to clearing the whole screen.
            0 if (row, col) == (0, 0) => self.clear(),
            2 => self.clear(),
            0 => {
                self.erase_row(0);
                self.rows.truncate(row + 1);
            }
            1 => {
                for above in 0..row {
                    if let Some(above) = self.rows.get(above) {
                        above.erase(0, usize::MAX);
                    }
                }
                self.erase_row(1);
            }
            _ => {}
        }
    }

    fn shift_rows(&mut self, what: u8, count: usize) {
        let (top, bottom) = self.margins();
        let row = self.cursor.row;
        let inside = (top..=bottom).contains(&row);
        for _ in 0..count.min(self.height()) {
            match what {
                b'L' if inside => self.rows.scroll_down(row, bottom),
                b'M' if inside => self.rows.remove(row, bottom),
                b'S' => self.rows.scroll_up(top, bottom),
                b'T' => self.rows.scroll_down(top, bottom),
                _ => {}
            }
        }
    }

    fn reverse_feed(&mut self) {
        let (top, bottom) = self.margins();
        if self.cursor.row == top {
            self.rows.scroll_down(top, bottom);
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
            (self.cursor.row, self.cursor.col) = (0, 0);
        }
    }
}
