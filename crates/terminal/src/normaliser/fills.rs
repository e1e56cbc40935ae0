//! Blanks brought in by scrolling and shifting. They must have the current background colour, as terminfo's
//! `bce` promises; the emulator leaves them without one, so they are erased again.

use super::Pass;
use crate::csi::Csi;

impl Pass<'_> {
    /// Moves down a row; at the bottom of the scroll region, the region scrolls up.
    pub(super) fn line_feed(&mut self) {
        let scrolls = self.has_background() && self.look().row == self.region().1;
        self.emit(b"\n");
        if scrolls {
            self.erase(b"\x1b[2K");
        }
    }

    /// Moves up a row (RI). At the top of the screen, above the scroll region, vt100 would wrongly scroll the
    /// region.
    pub(super) fn reverse_feed(&mut self) {
        let (top, _) = self.region();
        if top > 0 && self.look().row == 0 {
            return;
        }
        let scrolls = self.has_background() && self.look().row == top;
        self.emit(b"\x1bM");
        if scrolls {
            self.erase(b"\x1b[2K");
        }
    }

    /// Inserts or deletes lines at the cursor, or scrolls the region (IL, DL, SU, SD).
    pub(super) fn shift_lines(&mut self, csi: &Csi<'_>) {
        if !self.has_background() {
            return self.emit(csi.raw);
        }
        let (cursor, (top, bottom)) = (self.look(), self.region());
        self.emit(csi.raw);
        let count = csi.parameter(0, 1);
        let from = if matches!(csi.last, b'L' | b'M') { cursor.row } else { top };
        if !(top..=bottom).contains(&from) {
            return;
        }
        let blank = match csi.last {
            b'L' | b'T' => from..=from.saturating_add(count - 1).min(bottom),
            _ => (bottom + 1).saturating_sub(count).max(from)..=bottom,
        };
        for row in blank {
            self.go_to(row, 0);
            self.erase(b"\x1b[2K");
        }
        // A cursor beyond the last column counts as being in it, as in xterm.
        self.go_to(cursor.row, cursor.col);
    }

    /// Inserts blanks at the cursor (ICH).
    pub(super) fn insert_blanks(&mut self, csi: &Csi<'_>) {
        self.settle();
        self.emit(csi.raw);
        if self.has_background() {
            self.erase(format!("\x1b[{}X", csi.parameter(0, 1)).as_bytes());
        }
    }

    /// Deletes characters at the cursor (DCH), which brings in blanks at the right.
    pub(super) fn delete_characters(&mut self, csi: &Csi<'_>) {
        self.settle();
        self.emit(csi.raw);
        if self.has_background() {
            let (col, cols) = (self.look().col, self.state.size.cols());
            self.go_to_column(cols.saturating_sub(csi.parameter(0, 1)).max(col));
            self.erase(b"\x1b[K");
            self.go_to_column(col);
        }
    }

    /// Returns the first and last row of the scroll region.
    fn region(&mut self) -> (u16, u16) {
        let last = self.state.size.rows() - 1;
        self.state.margins().region.unwrap_or((0, last))
    }
}

#[cfg(test)]
mod tests {
    use crate::{ByteOrigin, Color, Contents, Size, Terminal};

    /// Returns the background of every cell, as one digit per palette colour.
    fn backgrounds(output: &str, origin: ByteOrigin) -> Vec<String> {
        let mut terminal = Terminal::new(Size::nearest(4, 4), origin);
        terminal.feed(output.as_bytes());
        let of = |row, col| match terminal.cell(row, col).style.bg {
            Color::Indexed(index) => index.to_string(),
            _ => "-".to_owned(),
        };
        (0..4).map(|row| (0..4).map(|col| of(row, col)).collect()).collect()
    }

    #[test]
    fn blanks_that_come_in_have_the_background_that_is_set() {
        for (output, rows) in [
            ("\x1b[4;1Ha\x1b[44m\n\n", ["----", "----", "4444", "4444"]),
            ("\x1b[4;1Ha\x1b[44m\x1bDb\x1bE", ["----", "----", "4444", "4444"]),
            ("\x1b[44m\x1b[3;1H\n", ["----", "----", "----", "----"]),
            ("\x1b[2;3r\x1b[48;5;4m\x1b[3;1H\n", ["----", "----", "4444", "----"]),
            ("\x1b[2;3r\x1b[44m\x1b[4;1H\n", ["----", "----", "----", "----"]),
            ("\x1b[4;1H\x1b[44m\x1b[49m\n", ["----", "----", "----", "----"]),
            ("\x1b[4;1H\x1b[44m\x1b[1;0m\n", ["----", "----", "----", "----"]),
            ("\x1b[4;1H\x1b[1;38;5;3;101m\n", ["----", "----", "----", "9999"]),
            ("\x1b[44m\x1bM", ["4444", "----", "----", "----"]),
            ("\x1b[2;3r\x1b[44m\x1b[2;1H\x1bM", ["----", "4444", "----", "----"]),
            ("\x1b[44m\x1b[2;2H\x1b[2L", ["----", "4444", "4444", "----"]),
            ("\x1b[44m\x1b[2;2H\x1b[99M", ["----", "4444", "4444", "4444"]),
            ("\x1b[2;3r\x1b[44m\x1b[4;1H\x1b[L\x1b[M", ["----", "----", "----", "----"]),
            ("\x1b[2;3r\x1b[44m\x1b[4;1H\x1b[S", ["----", "----", "4444", "----"]),
            ("\x1b[44m\x1b[3T", ["4444", "4444", "4444", "----"]),
            ("abcd\x1b[44m\x1b[1;2H\x1b[2@", ["-44-", "----", "----", "----"]),
            ("abcd\x1b[44m\x1b[1;2H\x1b[2P", ["--44", "----", "----", "----"]),
            ("abcd\x1b[44m\x1b[1;3H\x1b[9P", ["--44", "----", "----", "----"]),
        ] {
            assert_eq!(backgrounds(output, ByteOrigin::Tty), rows, "{output:?}");
        }
        assert_eq!(backgrounds("\x1b[4;1Ha\x1b[44m\n", ByteOrigin::Pipe), ["----", "----", "----", "4444"]);
    }

    #[test]
    fn a_colour_that_is_not_one_leaves_blanks_plain() {
        for output in
            ["\x1b[48m", "\x1b[48;5m", "\x1b[48;5;300m", "\x1b[48;2;1m", "\x1b[48:9:1m", "\x1b[48;9;41m"]
        {
            let mut terminal = Terminal::new(Size::nearest(4, 4), ByteOrigin::Tty);
            terminal.feed(format!("{output}\x1b[1m\x1b[4;1H\n\x1b[H\x1bM\x1b[L\x1b[@\x1b[P").as_bytes());
            assert!(Contents::of(&terminal).rows.iter().all(|row| row.runs.is_empty()), "{output:?}");
        }
    }

    #[test]
    fn the_cursor_stays_where_it_was() {
        for sequence in ["2L", "2M", "S", "2T", "2@", "2P"] {
            let mut terminal = Terminal::new(Size::nearest(4, 4), ByteOrigin::Tty);
            terminal.feed(format!("\x1b[44m\x1b[2;3H\x1b[{sequence}").as_bytes());
            let cursor = terminal.cursor();
            assert_eq!((cursor.row, cursor.col), (1, 2), "{sequence}");
        }
    }

    #[test]
    fn blanks_are_neither_underlined_nor_inverse() {
        let mut terminal = Terminal::new(Size::nearest(4, 4), ByteOrigin::Tty);
        terminal.feed(b"\x1b[4;1H\x1b[4;7;44m\nx");
        let (blank, printed) = (terminal.cell(3, 3).style, terminal.cell(3, 0).style);
        assert!(!blank.underline && !blank.inverse && blank.bg == Color::Indexed(4));
        assert!(printed.underline && printed.inverse);
    }
}
