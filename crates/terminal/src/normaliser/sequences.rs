//! The effect of each escape sequence: it is passed on, rewritten, answered or ignored. Controls and
//! sequences without parameters are in `controls`, modes in `screens`.
//!
//! To support another one, add it to the match for its kind here. If it moves or changes text, add it to
//! `transcript/sequences.rs` too.

use super::Pass;
use crate::csi::Csi;
use crate::replies;
use crate::scanner::{SequenceSink, label};

impl SequenceSink for Pass<'_> {
    fn text(&mut self, text: &str) {
        self.take_text(text);
    }

    fn invalid(&mut self) {
        self.print_replacement();
    }

    fn control(&mut self, byte: u8) {
        self.take_control(byte);
    }

    fn escape(&mut self, intermediate: u8, last: u8) {
        self.take_escape(intermediate, last);
        self.state.columns = usize::MAX;
    }

    fn csi(&mut self, csi: Csi<'_>) {
        match (csi.marker, csi.intermediate) {
            (0, 0) => self.plain(&csi),
            (b'?', 0) => match csi.last {
                b'h' => self.private_modes(&csi, true),
                b'l' => self.private_modes(&csi, false),
                b'J' | b'K' => self.erase(csi.raw),
                b'n' if csi.parameter(0, 0) == 996 => self.reply(replies::theme(self.state.colours)),
                b'u' => {
                    let flags = self.state.keyboard().flags();
                    self.reply(format!("\x1b[?{flags}u").as_bytes());
                }
                _ => {}
            },
            (b'>' | b'<' | b'=', 0) if csi.last == b'u' => self.keyboard(&csi),
            (b'>', 0) if csi.parameter(0, 0) == 0 => match csi.last {
                b'c' => self.reply(replies::SECONDARY_ATTRIBUTES),
                b'q' => self.reply(replies::VERSION),
                _ => {}
            },
            (0, b'*') if csi.last == b'y' => self.checksum(&csi),
            (0, b' ') if csi.last == b'q' => self.emit(csi.raw),
            (0, b'!') if csi.last == b'p' => self.soft_reset(),
            (0 | b'?', b'$') if csi.last == b'p' => self.report_mode(&csi),
            _ => {}
        }
        if csi.last != b'm' {
            self.state.columns = usize::MAX;
        }
    }

    fn osc(&mut self, content: &[u8], by_bell: bool) {
        match replies::color(content, self.state.colours, by_bell) {
            Some(answer) => self.reply(&answer),
            None => self.state.properties.osc(content),
        }
    }

    /// Prints what stands for a picture, as far as it fits in the row.
    fn picture(&mut self, bytes: usize) {
        let room = usize::from(self.state.size.cols() - self.look().col);
        let label = label(bytes);
        self.take_text(&label[..label.len().min(room)]);
    }
}

impl Pass<'_> {
    fn plain(&mut self, csi: &Csi<'_>) {
        match csi.last {
            b'm' => match self.state.pen.take(csi) {
                None => self.emit(csi.raw),
                Some(rewritten) => self.emit(&rewritten),
            },
            // vt100 does not stop at the margins.
            b'E' | b'F' => {
                self.carriage_return();
                self.go_vertically(csi.parameter(0, 1), csi.last == b'E');
            }
            b'G' | b'H' | b'f' | b'`' | b'C' => {
                self.emit(csi.raw);
                self.state.may_pend = false;
            }
            b'A' | b'B' | b'e' => {
                self.settle();
                self.go_vertically(csi.parameter(0, 1), csi.last != b'A');
            }
            b'@' => self.insert_blanks(csi),
            b'P' => self.delete_characters(csi),
            b'L' | b'M' | b'S' => self.shift_lines(csi),
            // With more parameters it is mouse tracking.
            b'T' if csi.parameters().count() == 1 => self.shift_lines(csi),
            b'K' => self.erase(csi.raw),
            b'J' | b'X' => {
                self.settle();
                self.state.scrollback_cleared |= csi.last == b'J' && csi.parameter(0, 0) == 3;
                self.erase(csi.raw);
            }
            b'D' => {
                let beyond = u16::from(self.is_pending());
                self.count(csi.parameter(0, 1).saturating_add(beyond), 'D');
            }
            b'a' => self.count(csi.parameter(0, 1), 'C'),
            b'b' => self.count(csi.parameter(0, 1).min(self.state.size.cols()), 'b'),
            b'd' => self.go_to_row(csi),
            b'I' => self.tab(csi.parameter(0, 1)),
            b'Z' => self.back_tab(csi.parameter(0, 1)),
            b'g' => self.clear_tabs(csi),
            b'h' => self.ansi_modes(csi, true),
            b'l' => self.ansi_modes(csi, false),
            b'r' => self.scroll_region(csi),
            b's' => self.save_cursor(),
            b'u' => self.restore_cursor(),
            b'c' if csi.parameter(0, 0) == 0 => self.reply(replies::PRIMARY_ATTRIBUTES),
            b'n' => self.report(csi),
            b't' if csi.parameter(0, 0) == 18 => self.reply(&replies::size(self.state.size)),
            _ => {}
        }
    }

    /// Changes how keys are encoded.
    fn keyboard(&mut self, csi: &Csi<'_>) {
        let (first, keyboard) = (csi.parameter(0, 0), self.state.keyboard_mut());
        match csi.marker {
            b'>' => keyboard.push(first),
            b'<' => keyboard.pop(first.max(1)),
            _ => keyboard.set(first, csi.parameter(1, 1)),
        }
    }

    /// Sends a sequence with one parameter.
    fn count(&mut self, count: u16, last: char) {
        self.emit(format!("\x1b[{count}{last}").as_bytes());
        self.state.may_pend = last == 'b';
    }

    /// Erases without making the blanks underlined or inverse.
    pub(super) fn erase(&mut self, raw: &[u8]) {
        let pen = self.state.pen;
        if pen.leaves_blanks() {
            return self.emit(raw);
        }
        self.emit(b"\x1b[24;27m");
        self.emit(raw);
        if pen.underline {
            self.emit(b"\x1b[4m");
        }
        if pen.inverse {
            self.emit(b"\x1b[7m");
        }
    }

    /// Moves the cursor up or down. It stops at the margin of the scroll region that it comes to, also from outside, where
    /// vt100 passes it.
    fn go_vertically(&mut self, count: u16, down: bool) {
        let Some((top, bottom)) = self.state.margins().region else {
            return self.count(count, if down { 'B' } else { 'A' });
        };
        let cursor = self.look();
        let row = match down {
            true if cursor.row <= bottom => cursor.row.saturating_add(count).min(bottom),
            true => cursor.row.saturating_add(count).min(self.state.size.rows() - 1),
            false if cursor.row >= top => cursor.row.saturating_sub(count).max(top),
            false => cursor.row.saturating_sub(count),
        };
        self.go_to(row, cursor.col);
    }

    /// Moves to a row (VPA), which vt100 does not count from the top of the scroll region.
    fn go_to_row(&mut self, csi: &Csi<'_>) {
        self.settle();
        if self.state.margins().relative {
            let col = self.look().col;
            self.emit(format!("\x1b[{};{}H", csi.parameter(0, 1), col + 1).as_bytes());
        } else {
            self.emit(csi.raw);
        }
    }

    fn clear_tabs(&mut self, csi: &Csi<'_>) {
        match csi.parameter(0, 0) {
            0 => {
                let col = self.look().col;
                self.state.tabs.set(col, false);
            }
            3 => self.state.tabs.clear(),
            _ => {}
        }
    }

    fn report(&mut self, csi: &Csi<'_>) {
        match csi.parameter(0, 0) {
            5 => self.reply(replies::STATUS),
            6 => {
                let cursor = self.look();
                let margins = self.state.margins();
                let top = margins.region.filter(|_| margins.relative).map_or(0, |(top, _)| top);
                self.reply(&replies::cursor(cursor, top));
            }
            _ => {}
        }
    }

    /// Resets modes, margins, attributes and the saved cursor, but not the screen (DECSTR).
    fn soft_reset(&mut self) {
        let cursor = self.look();
        self.emit(b"\x1b[?25h\x1b[?1l\x1b>\x1b[m");
        self.state.pen = Default::default();
        self.state.charsets = Default::default();
        (self.state.insert, self.state.no_wrap) = (false, false);
        self.set_margins(None, false);
        self.go_to(0, 0);
        self.save_cursor();
        self.go_to(cursor.row, cursor.col);
    }
}
