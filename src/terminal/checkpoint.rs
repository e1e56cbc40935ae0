//! A picture of a screen as bytes: fed to a fresh terminal of the same size they show the same cells, cursor and
//! modes. It holds what can be seen and what input depends on; colours to come, margins and scrollback are not in it.

use super::cell::{Cell, CellStyle, Color};
use super::modes::{Modes, MouseEncoding, MouseMode};
use super::terminal::Terminal;

/// Returns the picture of a terminal.
pub(super) fn of(terminal: &Terminal) -> Vec<u8> {
    let mut picture = Picture { bytes: String::new(), style: CellStyle::default() };
    let modes = terminal.modes();
    if modes.alternate_screen {
        picture.bytes.push_str("\x1b[?1049h");
    }
    let size = terminal.size();
    for row in 0..size.rows() {
        picture.row(row, (0..size.cols()).map(|col| terminal.cell(row, col)));
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
    fn row<'a>(&mut self, row: u16, cells: impl Iterator<Item = Cell<'a>>) {
        let mut next = None;
        for (col, cell) in (0_u16..).zip(cells) {
            let is_blank = cell.text == " " && cell.style == CellStyle::default();
            if cell.width == 0 || is_blank {
                continue;
            }
            if next != Some(col) {
                self.go(row, col);
            }
            self.cell(&cell);
            next = Some(col + u16::from(cell.width));
        }
    }

    fn go(&mut self, row: u16, col: u16) {
        self.bytes.push_str(&format!("\x1b[{};{}H", row + 1, col + 1));
    }

    fn cell(&mut self, cell: &Cell<'_>) {
        if cell.style != self.style {
            self.style = cell.style;
            self.bytes.push_str(&select(cell.style));
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
            // Only printing in the last column brings the cursor beyond it.
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

/// Returns the sequence that selects a style from any other.
fn select(style: CellStyle) -> String {
    let mut sequence = String::from("\x1b[0");
    let attributes =
        [(style.bold, 1), (style.dim, 2), (style.italic, 3), (style.underline, 4), (style.inverse, 7)];
    for (_, number) in attributes.iter().filter(|(on, _)| *on) {
        sequence.push_str(&format!(";{number}"));
    }
    for (color, number) in [(style.fg, 38), (style.bg, 48)] {
        match color {
            Color::Default => {}
            Color::Indexed(index) => sequence.push_str(&format!(";{number};5;{index}")),
            Color::Rgb(r, g, b) => sequence.push_str(&format!(";{number};2;{r};{g};{b}")),
        }
    }
    sequence.push('m');
    sequence
}
