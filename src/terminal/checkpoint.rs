//! A screen as bytes that draw it: fed to a fresh terminal of the same size, they show the same cells, cursor and modes.
//! They hold what can be seen and what input depends on, but neither the current style nor margins nor scrollback.

use super::cell::{Cell, CellStyle};
use super::modes::{Modes, MouseEncoding, MouseMode};
use super::terminal::Terminal;

/// Returns the bytes that draw the screen of a terminal.
pub(super) fn of(terminal: &Terminal) -> Vec<u8> {
    let mut picture = Picture { bytes: String::new(), style: CellStyle::default() };
    let modes = terminal.modes();
    if modes.alternate_screen {
        picture.bytes.push_str("\x1b[?1049h");
    }
    let size = terminal.size();
    let mut end = None;
    for row in 0..size.rows() {
        let goes_on = row > 0 && terminal.is_wrapped(row - 1) && end == Some(size.cols());
        // A blank in the last column of a wrapped row counts as drawn.
        let last = terminal.is_wrapped(row).then(|| size.cols() - 1);
        let drawn = [goes_on.then_some(0), last];
        end = picture.row(row, drawn, terminal.row(row));
    }
    picture.modes(modes);
    picture.cursor(terminal);
    picture.bytes.into_bytes()
}

struct Picture {
    bytes: String,
    style: CellStyle,
}

impl Picture {
    /// Draws a row, with up to two cells drawn even if they are blank, and returns the column behind the last one. The
    /// cursor is not moved to a row whose first cell is such a cell: printing over the end of the row above wraps, as it
    /// did when the program printed it.
    fn row<'a>(
        &mut self,
        row: u16,
        drawn: [Option<u16>; 2],
        cells: impl Iterator<Item = Cell<'a>>,
    ) -> Option<u16> {
        let mut next = drawn[0];
        for (col, cell) in (0_u16..).zip(cells) {
            let is_blank = cell.text == " " && cell.style == CellStyle::default();
            if cell.width == 0 || is_blank && !drawn.contains(&Some(col)) {
                continue;
            }
            if next != Some(col) {
                self.go(row, col);
            }
            self.cell(&cell);
            next = Some(col + u16::from(cell.width));
        }
        next
    }

    fn go(&mut self, row: u16, col: u16) {
        self.bytes.push_str(&format!("\x1b[{};{}H", row + 1, col + 1));
    }

    fn cell(&mut self, cell: &Cell<'_>) {
        if cell.style != self.style {
            self.style = cell.style;
            self.bytes.push_str(&cell.style.sequence());
        }
        self.bytes.push_str(&cell.text);
    }

    fn modes(&mut self, modes: Modes) {
        let mouse = match modes.mouse {
            MouseMode::Off => None,
            MouseMode::Press => Some(9),
            MouseMode::PressRelease => Some(1000),
            MouseMode::ButtonMotion => Some(1002),
            MouseMode::AnyMotion => Some(1003),
        };
        let encoding = match modes.mouse_encoding {
            MouseEncoding::Plain => None,
            MouseEncoding::Utf8 => Some(1005),
            MouseEncoding::Sgr => Some(1006),
        };
        let set = [
            modes.application_cursor.then_some(1),
            modes.bracketed_paste.then_some(2004),
            modes.focus_events.then_some(1004),
            mouse,
            encoding,
        ];
        for mode in set.into_iter().flatten() {
            self.bytes.push_str(&format!("\x1b[?{mode}h"));
        }
        if modes.application_keypad {
            self.bytes.push_str("\x1b=");
        }
    }

    fn cursor(&mut self, terminal: &Terminal) {
        let cursor = terminal.cursor();
        if cursor.pending_wrap {
            // Only printing in the last column moves the cursor beyond it.
            let last = terminal.cell(cursor.row, cursor.col);
            let col = if last.width == 0 { cursor.col.saturating_sub(1) } else { cursor.col };
            self.go(cursor.row, col);
            self.cell(&terminal.cell(cursor.row, col));
        } else {
            self.go(cursor.row, cursor.col);
        }
        self.bytes.push_str(&format!("\x1b[m\x1b[{} q", cursor.shape.parameter()));
        if !cursor.visible {
            self.bytes.push_str("\x1b[?25l");
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::terminal::{Origin, Size};

    fn drawn(written: &str) -> [Terminal; 2] {
        let size = Size::clamped(8, 5);
        let mut terminal = Terminal::new(size, Origin::Tty);
        let _ = terminal.feed(written.as_bytes());
        let mut again = Terminal::new(size, Origin::Tty);
        let _ = again.feed(&of(&terminal));
        [terminal, again]
    }

    fn joined(terminal: &Terminal) -> Vec<bool> {
        (0..terminal.size().rows()).map(|row| terminal.is_wrapped(row)).collect()
    }

    #[test]
    fn rows_that_were_wrapped_are_wrapped_again() {
        for written in ["12345678abc\r\nx", "12345678 b", "12345678abcdefgh1", "a\r\n12345678b"] {
            let [terminal, again] = drawn(written);
            assert_eq!(joined(&again), joined(&terminal), "{written:?}");
            assert!(joined(&again).contains(&true), "{written:?}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_drawn_and_joined_as_it_was(written in "(a|b| |你|\r\n|\x1b\\[31m|\x1b\\[m|\x1b\\[2;3H){0,60}") {
            let [terminal, again] = drawn(&written);
            prop_assert_eq!(joined(&again), joined(&terminal));
            for (row, col) in (0..5).flat_map(|row| (0..8).map(move |col| (row, col))) {
                prop_assert_eq!(again.cell(row, col), terminal.cell(row, col), "{} {}", row, col);
            }
            prop_assert_eq!(again.cursor(), terminal.cursor());
        }
    }
}
