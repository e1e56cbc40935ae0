//! Control characters and simple escape sequences.

use super::{NormaliserState, Pass, SavedPen};
use crate::terminal::ByteOrigin;

impl Pass<'_> {
    pub(super) fn take_control(&mut self, byte: u8) {
        match byte {
            0x07 => self.fed.bells = self.fed.bells.saturating_add(1),
            0x08 => {
                // vt100's cursor is one column further than it appears.
                if self.is_pending() {
                    self.emit(b"\x08");
                }
                self.emit(b"\x08");
            }
            b'\t' => self.tab(1),
            b'\n' | 0x0b | 0x0c => {
                if self.state.newline || self.state.origin == ByteOrigin::Pipe {
                    self.carriage_return();
                }
                self.line_feed();
            }
            b'\r' => self.carriage_return(),
            0x0e => self.state.charsets.shift(true),
            0x0f => self.state.charsets.shift(false),
            _ => {}
        }
    }

    pub(super) fn take_escape(&mut self, intermediate: u8, last: u8) {
        match (intermediate, last) {
            (0, b'7') => self.save_cursor(),
            (0, b'8') => self.restore_cursor(),
            (0, b'=') => self.emit(b"\x1b="),
            (0, b'>') => self.emit(b"\x1b>"),
            (0, b'D') => self.line_feed(),
            (0, b'E') => {
                self.carriage_return();
                self.line_feed();
            }
            (0, b'H') => {
                let col = self.look().col;
                self.state.tabs.set(col, true);
            }
            (0, b'M') => self.reverse_feed(),
            (0, b'c') => self.full_reset(),
            (b'#', b'8') => self.fill_screen(),
            _ => self.state.charsets.designate(intermediate, last),
        }
    }

    pub(super) fn carriage_return(&mut self) {
        self.emit(b"\r");
        (self.state.may_pend, self.state.columns) = (false, 0);
    }

    /// Moves `count` tab stops to the right.
    pub(super) fn tab(&mut self, count: u16) {
        if self.state.tabs.are_default && count == 1 {
            return self.emit_text(b"\t");
        }
        let cursor = self.look();
        if !cursor.pending_wrap {
            let col = self.state.tabs.after(cursor.col, count);
            self.go_to_column(col);
        }
    }

    /// Moves `count` tab stops to the left.
    pub(super) fn back_tab(&mut self, count: u16) {
        let col = self.look().col;
        let col = self.state.tabs.before(col, count);
        self.go_to_column(col);
    }

    pub(super) fn save_cursor(&mut self) {
        self.emit(b"\x1b7");
        self.note_saved();
    }

    pub(super) fn note_saved(&mut self) {
        let saved = SavedPen { charsets: self.state.charsets, pen: self.state.pen };
        self.state.saved[usize::from(self.state.alternate)] = saved;
        let margins = self.state.margins();
        margins.saved_relative = margins.relative;
    }

    pub(super) fn restore_cursor(&mut self) {
        self.emit(b"\x1b8");
        self.note_restored();
    }

    pub(super) fn note_restored(&mut self) {
        let SavedPen { charsets, pen } = self.state.saved[usize::from(self.state.alternate)];
        (self.state.charsets, self.state.pen) = (charsets, pen);
        let margins = self.state.margins();
        margins.relative = margins.saved_relative;
        self.state.may_pend = true;
    }

    fn full_reset(&mut self) {
        self.emit(b"\x1bc");
        let NormaliserState { size, origin, colours, ref mut gathered, .. } = *self.state;
        let gathered = std::mem::take(gathered);
        *self.state = NormaliserState { gathered, colours, ..NormaliserState::new(size, origin) };
        self.state.scrollback_cleared = true;
    }

    /// Fills the screen with E, resets the margins and moves the cursor home (DECALN).
    fn fill_screen(&mut self) {
        self.set_margins(None, false);
        let row_text = "E".repeat(usize::from(self.state.size.cols()));
        for row in 0..self.state.size.rows() {
            self.go_to(row, 0);
            self.emit(row_text.as_bytes());
        }
        self.go_to(0, 0);
    }
}
