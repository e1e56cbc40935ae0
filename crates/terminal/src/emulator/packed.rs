//! A screen that nobody looks at, as the output that draws it again: a fraction of the memory of its cells.

use std::fmt::Write as _;

use super::{SCROLLBACK, Vt100, style_of};
use crate::cell::CellStyle;
use crate::modes::{CursorShape, Modes, MouseEncoding, MouseMode};
use crate::size::Size;

/// The most rows that are scrolled through to make up for those that are long gone: a screen that grows counts them.
const MOST_GONE: u64 = 512;

/// The output that draws a screen again.
#[derive(Debug)]
pub(crate) struct PackedScreen {
    size: Size,
    output: Box<str>,
    rows_dropped: u64,
}

impl PackedScreen {
    /// Packs a screen that has no margins and is in no sequence. Returns `None` if it would not be exactly the same again.
    pub(crate) fn of(screen: &Vt100) -> Option<Self> {
        let facts = ScreenFacts::of(screen)?;
        let (size, rows_dropped) = (screen.size(), screen.rows_dropped());
        if rows_dropped > 0 && facts.above.len() < SCROLLBACK {
            return None;
        }
        let output = facts.output(rows_dropped.min(MOST_GONE))?.into_boxed_str();
        let packed = Self { size, output, rows_dropped };
        (ScreenFacts::of(&packed.unpack())? == facts).then_some(packed)
    }

    #[cfg(test)]
    pub(crate) fn size_in_memory(&self) -> usize {
        self.output.len()
    }

    /// Returns the screen.
    pub(crate) fn unpack(&self) -> Vt100 {
        let mut screen = Vt100::new(self.size);
        screen.feed(self.output.as_bytes());
        screen.parser.callbacks_mut().rows = self.rows_dropped;
        screen
    }
}

/// All that anybody could ever tell of a screen.
#[derive(Debug, PartialEq)]
struct ScreenFacts {
    /// The rows of the scrollback.
    above: Vec<RowFacts>,
    primary: GridFacts,
    alternate: GridFacts,
    style: CellStyle,
    saved_style: CellStyle,
    modes: Modes,
    shows_cursor: bool,
    shape: CursorShape,
    /// What is printed when the last character is to be repeated.
    last: String,
}

#[derive(Debug, PartialEq)]
struct GridFacts {
    rows: Vec<RowFacts>,
    /// The cursor, row and column, from 0; beyond the last column before a wrap.
    at: (u16, u16),
    saved: (u16, u16),
}

#[derive(Debug, PartialEq)]
struct RowFacts {
    cells: Vec<vt100::Cell>,
    is_wrapped: bool,
}

impl ScreenFacts {
    fn of(screen: &Vt100) -> Option<Self> {
        let (size, cursor) = (screen.size(), screen.cursor());
        let mut copy = Vt100::new(size);
        copy.parser.screen_mut().clone_from(screen.parser.screen());
        let (style, modes) = (copy.style(), copy.modes());
        let active = GridFacts::of(&mut copy)?;
        let saved_style = copy.style();
        copy.feed(if modes.alternate_screen { b"\x1b[?47l" } else { b"\x1b[?47h" });
        let other = GridFacts::of(&mut copy)?;
        let (primary, alternate) = if modes.alternate_screen { (other, active) } else { (active, other) };
        copy.feed(b"\x1b[?47l");
        let length = copy.parser.screen().scrollback_len();
        let row = |offset| {
            copy.parser.screen_mut().set_scrollback(offset);
            RowFacts::of(&copy, 0)
        };
        let above = (1..=length).rev().map(row).collect::<Option<_>>()?;
        copy.parser.screen_mut().set_scrollback(0);
        copy.feed(b"\x1b[H\x1b[2J\x1b[b");
        let last = copy.parser.screen().cell(0, 0).map(|cell| cell.contents().to_owned())?;
        let (shows_cursor, shape) = (cursor.visible, cursor.shape);
        Some(Self { above, primary, alternate, style, saved_style, modes, shows_cursor, shape, last })
    }

    /// Returns the output that makes a fresh screen this one, in which so many rows have left the scrollback.
    fn output(&self, gone: u64) -> Option<String> {
        let mut pen = Pen::default();
        pen.text.extend((0..gone).map(|_| '\n'));
        pen.rows(self.above.iter().chain(&self.primary.rows));
        pen.save_cursor(&self.primary, self.saved_style)?;
        let is_alternate = self.modes.alternate_screen;
        let is_blank = self.alternate.rows.iter().flat_map(|row| &row.cells).all(is_blank);
        if is_alternate || !is_blank || self.alternate.at != (0, 0) || self.alternate.saved != (0, 0) {
            pen.text += "\x1b[?47h\x1b[H";
            pen.rows(self.alternate.rows.iter());
            pen.save_cursor(&self.alternate, self.saved_style)?;
            pen.text += if is_alternate { "" } else { "\x1b[?47l" };
        }
        let active = if is_alternate { &self.alternate } else { &self.primary };
        pen.ends_with(&self.last, active)?;
        pen.modes(&self.modes, self.shows_cursor, self.shape);
        pen.cursor(active)?;
        pen.set(self.style);
        Some(pen.text)
    }
}

impl GridFacts {
    /// Reads the active grid of a copy, whose cursor is then the saved one.
    fn of(copy: &mut Vt100) -> Option<Self> {
        let rows = (0..copy.size().rows()).map(|row| RowFacts::of(copy, row)).collect::<Option<_>>()?;
        let at = copy.parser.screen().cursor_position();
        copy.feed(b"\x1b8");
        Some(Self { rows, at, saved: copy.parser.screen().cursor_position() })
    }

    fn columns(&self) -> u16 {
        self.rows.first().map_or(0, |row| u16::try_from(row.cells.len()).unwrap_or(u16::MAX))
    }

    fn cell(&self, row: u16, column: u16) -> Option<&vt100::Cell> {
        self.rows.get(usize::from(row))?.cells.get(usize::from(column))
    }

    /// Finds a cell, by row and column from 0, that is not at the end of its row.
    fn find(&self, mut is_it: impl FnMut(&[vt100::Cell]) -> bool) -> Option<(u16, u16)> {
        (0_u16..).zip(&self.rows).find_map(|(at, row)| {
            let column = row.cells.windows(4).position(&mut is_it)?;
            Some((at, u16::try_from(column).ok()?))
        })
    }
}

impl RowFacts {
    /// Reads a row; `None` if more of it is kept than the screen is wide.
    fn of(copy: &Vt100, row: u16) -> Option<Self> {
        let (screen, columns) = (copy.parser.screen(), copy.size().cols());
        if screen.cell(row, columns).is_some() {
            return None;
        }
        let cells = (0..columns).map(|column| screen.cell(row, column).cloned()).collect::<Option<_>>()?;
        Some(Self { cells, is_wrapped: screen.row_wrapped(row) })
    }
}

fn is_blank(cell: &vt100::Cell) -> bool {
    !cell.has_contents() && style_of(cell) == CellStyle::default()
}

/// Writes output, and remembers what a terminal does.
#[derive(Default)]
struct Pen {
    text: String,
    style: CellStyle,
    /// What was printed last.
    last: String,
}

impl Pen {
    fn set(&mut self, style: CellStyle) {
        if style != self.style {
            self.text += &style.sequence();
            self.style = style;
        }
    }

    fn print(&mut self, text: &str, style: CellStyle) {
        self.set(style);
        self.text += text;
        self.last = text.chars().next_back().map(String::from).unwrap_or_default();
    }

    fn move_to(&mut self, (row, column): (u16, u16)) {
        // Writing to a string cannot fail.
        let _ = write!(self.text, "\x1b[{};{}H", row + 1, column + 1);
    }

    /// Draws rows, each below the one before.
    fn rows<'a>(&mut self, rows: impl Iterator<Item = &'a RowFacts>) {
        let mut above: Option<&RowFacts> = None;
        for row in rows {
            match above {
                None => {}
                Some(above) if above.is_wrapped => {
                    // The terminal wraps by itself before a character that has no room.
                    let has_room = above.cells.last().is_some_and(|cell| !cell.has_contents());
                    let is_halved = above.cells.last().is_some_and(vt100::Cell::is_wide_continuation);
                    let (text, erased) = if has_room && !is_halved { ("好", 2) } else { ("x", 1) };
                    self.print(text, CellStyle::default());
                    let _ = write!(self.text, "\r\x1b[{erased}X");
                }
                Some(_) => self.text += "\r\n",
            }
            self.cells(&row.cells);
            above = Some(row);
        }
    }

    /// Draws the cells of a row that is blank.
    fn cells(&mut self, cells: &[vt100::Cell]) {
        let mut rest = cells;
        while let Some((cell, after)) = rest.split_first() {
            rest = after;
            if cell.is_wide_continuation() {
                continue;
            }
            let style = style_of(cell);
            if cell.has_contents() {
                self.print(cell.contents(), style);
                continue;
            }
            let same = rest.iter().take_while(|next| *next == cell).count();
            rest = &rest[same..];
            let count = same + 1;
            if !is_blank(cell) {
                self.set(style);
                let _ = write!(self.text, "\x1b[{count}X");
            }
            if !rest.is_empty() {
                let _ = write!(self.text, "\x1b[{count}C");
            }
        }
    }

    /// Saves a grid's saved cursor, with the style that is saved with it, and puts its cursor where it is.
    fn save_cursor(&mut self, grid: &GridFacts, style: CellStyle) -> Option<()> {
        if grid.saved.1 >= grid.columns() {
            return None;
        }
        self.set(style);
        self.move_to(grid.saved);
        self.text += "\x1b7";
        self.move_to(grid.at);
        Some(())
    }

    /// Makes this the character that was printed last.
    fn ends_with(&mut self, last: &str, grid: &GridFacts) -> Option<()> {
        if self.last == last {
            return Some(());
        }
        let is_it = |cells: &[vt100::Cell]| cells.first().is_some_and(|cell| cell.contents() == last);
        if let Some(at) = grid.find(is_it) {
            let style = grid.cell(at.0, at.1).map(style_of)?;
            self.move_to(at);
            self.print(last, style);
            return Some(());
        }
        let (row, column) = grid.find(|cells| cells.iter().all(is_blank))?;
        self.move_to((row, column + 1));
        self.print(last, CellStyle::default());
        self.move_to((row, column + 1));
        self.text += "\x1b[2X";
        Some(())
    }

    fn modes(&mut self, modes: &Modes, shows_cursor: bool, shape: CursorShape) {
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
        let own = [(modes.application_cursor, 1), (modes.bracketed_paste, 2004)];
        let set = own.into_iter().filter(|(is_set, _)| *is_set).map(|(_, mode)| mode);
        for mode in set.chain(mouse).chain(encoding) {
            let _ = write!(self.text, "\x1b[?{mode}h");
        }
        self.text += if modes.application_keypad { "\x1b=" } else { "" };
        self.text += if shows_cursor { "" } else { "\x1b[?25l" };
        if shape != CursorShape::Default {
            let _ = write!(self.text, "\x1b[{} q", shape.parameter());
        }
    }

    /// Puts the cursor where it is; one that is to wrap stands behind the last character.
    fn cursor(&mut self, grid: &GridFacts) -> Option<()> {
        let (row, column) = grid.at;
        if column < grid.columns() {
            self.move_to(grid.at);
            return Some(());
        }
        let before = |back: u16| grid.cell(row, column.checked_sub(back)?).map(|cell| (back, cell));
        let (back, cell) =
            before(1).filter(|(_, cell)| !cell.is_wide_continuation()).or_else(|| before(2))?;
        let is_last = self.last == cell.contents();
        self.move_to((row, column - back));
        self.print(cell.contents(), style_of(cell));
        is_last.then_some(())
    }
}
