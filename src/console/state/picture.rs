//! The last picture of a task's screen, as cells ready to be copied into a frame: drawing never waits for a
//! parser, and an ended task keeps its last screen.

use std::ops::Range;
use std::sync::Arc;

use ratatui::buffer::Cell;
use ratatui::style::{Color as Ink, Modifier, Style};
use unicode_width::UnicodeWidthStr;

use crate::console::text::cell;
use crate::terminal::{self, CellStyle, Color, Contents, Cursor, Modes, Page, ScreenRow};

/// The cells, cursor and modes of a screen at one moment.
#[derive(Debug, Clone, Default)]
pub struct Picture {
    cells: Vec<Cell>,
    columns: u16,
    rows: u16,
    used_rows: u16,
    /// What is known of each row.
    facts: Vec<PictureRow>,
    /// The cursor; a page of a log has none.
    pub cursor: Option<Cursor>,
    /// The modes that determine how input is encoded.
    pub modes: Modes,
    /// The generation of the screen when the picture was taken.
    pub generation: u64,
}

/// What is known of a row of a picture.
#[derive(Debug, Clone, Default)]
struct PictureRow {
    /// What it was taken from: a row that has not changed is not taken again.
    taken: Option<Arc<ScreenRow>>,
    /// The column behind its last cell that is not blank: what is blank takes no time to draw.
    end: u16,
    /// Whether its text wraps into the next row.
    is_joined: bool,
}

impl Picture {
    /// Takes a picture of a screen, replacing this one; returns the rows from the first to the last that differ, if
    /// it has the same size.
    pub fn take(&mut self, screen: &Contents, generation: u64) -> Range<u16> {
        let columns = screen.size.cols();
        if self.size() != (columns, screen.size.rows()) {
            self.clear(columns, screen.size.rows());
        }
        let mut changed: Option<Range<u16>> = None;
        for (at, row) in (0..self.rows).zip(screen.rows.iter().map(Some).chain(std::iter::repeat(None))) {
            let Some(fact) = self.facts.get_mut(usize::from(at)) else { break };
            if row.map(Arc::as_ptr) == fact.taken.as_ref().map(Arc::as_ptr) {
                continue;
            }
            changed = Some(changed.map_or(at, |rows| rows.start)..at + 1);
            (fact.taken, fact.is_joined) = (row.cloned(), row.is_some_and(|row| row.wrapped));
            self.clear_row(at);
            let cells = row.into_iter().flat_map(|row| row.cells());
            for (column, cell) in cells.take_while(|(column, _)| *column < columns) {
                self.put(at, column, &cell);
            }
        }
        let last = self.facts.iter().rposition(|fact| fact.end > 0).map_or(0, |row| row + 1);
        let last = u16::try_from(last).unwrap_or(self.rows);
        self.used_rows = last.max(screen.cursor.row.saturating_add(1)).min(self.rows);
        (self.cursor, self.modes, self.generation) = (Some(screen.cursor), screen.modes, generation);
        changed.unwrap_or_default()
    }

    /// Makes a picture of a page of a log.
    pub fn of_page(page: &Page) -> Self {
        let mut picture = Self::default();
        let widest = page.rows.iter().map(|row| row.cells.len()).max().unwrap_or(0);
        let columns = u16::try_from(widest).unwrap_or(u16::MAX);
        let rows = u16::try_from(page.rows.len()).unwrap_or(u16::MAX);
        picture.clear(columns, rows);
        for (row, cells) in (0..rows).zip(&page.rows) {
            for (column, cell) in (0..columns).zip(&cells.cells) {
                picture.put(row, column, cell);
            }
        }
        picture.used_rows = rows;
        let next = page.rows.iter().skip(1).map(|row| Some(row.line)).chain(std::iter::once(None));
        for (fact, (row, next)) in picture.facts.iter_mut().zip(page.rows.iter().zip(next)) {
            fact.is_joined = next == Some(row.line);
        }
        picture
    }

    fn clear(&mut self, columns: u16, rows: u16) {
        (self.columns, self.rows) = (columns, rows);
        self.cells = vec![Cell::EMPTY; usize::from(columns) * usize::from(rows)];
        self.facts = vec![PictureRow::default(); usize::from(rows)];
    }

    fn clear_row(&mut self, row: u16) {
        let Some(fact) = self.facts.get_mut(usize::from(row)) else { return };
        let (from, used) = (usize::from(row) * usize::from(self.columns), std::mem::take(&mut fact.end));
        let used = usize::from(used);
        self.cells[from..from + used].iter_mut().for_each(Cell::reset);
    }

    fn put(&mut self, row: u16, column: u16, cell: &terminal::Cell<'_>) {
        let at = usize::from(row) * usize::from(self.columns) + usize::from(column);
        let Some(slot) = self.cells.get_mut(at) else { return };
        let text: &str = if cell.width == 0 { " " } else { &cell.text };
        let blank = text == " " && cell.style == CellStyle::default();
        if !blank {
            slot.set_style(style(cell.style));
            cell::fill(slot, text, u16::from(cell.width.max(1)));
            if let Some(fact) = self.facts.get_mut(usize::from(row)) {
                fact.end = fact.end.max(column + 1);
            }
        }
    }

    /// Returns the size in columns and rows.
    pub fn size(&self) -> (u16, u16) {
        (self.columns, self.rows)
    }

    /// Returns the number of rows up to the last one that has content or the cursor.
    pub fn used_rows(&self) -> u16 {
        self.used_rows
    }

    /// Tells whether a row's text wraps into the next row.
    pub fn is_joined(&self, row: u16) -> bool {
        self.facts.get(usize::from(row)).is_some_and(|fact| fact.is_joined)
    }

    /// Returns the text in some columns of a row; a wide character that begins in them is included whole.
    pub fn text(&self, row: u16, columns: Range<u16>) -> String {
        let mut text = String::new();
        let mut column = 0;
        while let Some(cell) = self.cell(row, column).filter(|_| column < columns.end) {
            let wide = u16::try_from(cell.symbol().width()).unwrap_or(1).max(1);
            if column >= columns.start {
                text.push_str(cell.symbol());
            }
            column += wide;
        }
        text
    }

    /// Returns the width of a row up to its last character, in columns.
    pub fn text_columns(&self, row: u16) -> u16 {
        let is_text = |column: &u16| self.cell(row, *column).is_some_and(|cell| cell.symbol() != " ");
        (0..self.end(row)).rev().find(is_text).map_or(0, |column| column + 1)
    }

    /// Returns the first row shown in a pane this high: the last used rows are shown, or those around the cursor.
    pub fn top(&self, pane_rows: u16) -> u16 {
        let last = self.used_rows.saturating_sub(pane_rows);
        match self.cursor.filter(|cursor| cursor.visible) {
            Some(cursor) if cursor.row < last => cursor.row.saturating_sub(pane_rows / 2),
            _ => last,
        }
    }

    /// Returns the first column shown in a pane this wide: 0, unless the program is on the alternate screen or typed into, and
    /// its text would fit, or its cursor would be out of sight. What only prints does not make its pane jump.
    pub fn first_column(&self, pane_columns: u16, is_typed: bool) -> u16 {
        let most = self.columns.saturating_sub(pane_columns);
        if most == 0 || !(is_typed || self.modes.alternate_screen) {
            return 0;
        }
        let cursor = self.cursor.filter(|cursor| cursor.visible).map(|cursor| cursor.col);
        let (left, right) = self.text_sides();
        let first = right.saturating_sub(pane_columns);
        match cursor {
            _ if first <= left && cursor.is_none_or(|at| (first..first + pane_columns).contains(&at)) => {
                first
            }
            Some(at) if at >= pane_columns => (at - pane_columns / 2).min(most),
            _ => 0,
        }
    }

    /// Returns the columns between which all text is.
    fn text_sides(&self) -> (u16, u16) {
        let is_text =
            |row: u16, column: &u16| self.cell(row, *column).is_some_and(|cell| cell.symbol() != " ");
        let begins = (0..self.rows).filter_map(|row| (0..self.end(row)).find(|column| is_text(row, column)));
        (begins.min().unwrap_or(0), (0..self.rows).map(|row| self.text_columns(row)).max().unwrap_or(0))
    }

    /// Returns a cell.
    pub fn cell(&self, row: u16, column: u16) -> Option<&Cell> {
        if column >= self.columns {
            return None;
        }
        self.cells.get(usize::from(row) * usize::from(self.columns) + usize::from(column))
    }

    /// Returns the column behind the last cell of a row that is not blank.
    pub fn end(&self, row: u16) -> u16 {
        self.facts.get(usize::from(row)).map_or(0, |fact| fact.end)
    }

    /// Tells whether it contains no text.
    pub fn is_blank(&self) -> bool {
        (0..self.rows).all(|row| self.text_columns(row) == 0)
    }

    /// Tells whether a row has text from a column on.
    pub fn goes_on(&self, row: u16, column: u16) -> bool {
        (column..self.end(row)).any(|column| self.cell(row, column).is_some_and(|cell| cell.symbol() != " "))
    }
}

fn style(style: CellStyle) -> Style {
    let flags = [
        (style.bold, Modifier::BOLD),
        (style.dim, Modifier::DIM),
        (style.italic, Modifier::ITALIC),
        (style.underline, Modifier::UNDERLINED),
        (style.inverse, Modifier::REVERSED),
        (style.struck, Modifier::CROSSED_OUT),
    ];
    let plain = Style::new().fg(ink(style.fg)).bg(ink(style.bg));
    flags.iter().filter(|(on, _)| *on).fold(plain, |style, (_, flag)| style.add_modifier(*flag))
}

fn ink(colour: Color) -> Ink {
    match colour {
        Color::Default => Ink::Reset,
        Color::Indexed(number) => Ink::Indexed(number),
        Color::Rgb(red, green, blue) => Ink::Rgb(red, green, blue),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terminal::{ByteOrigin, Size, Terminal};

    #[test]
    fn a_picture_taken_over_an_older_one_is_the_same_as_a_new_one() {
        let pieces = [
            "one\r\ntwo \x1b[41mred\x1b[0m\r\n漢字 three\r\n",
            "typed",
            "\x08\x08 ",
            "\x1b[1;1H\x1b[K",
            "\x1b[7mall of this row is inverse\x1b[K\x1b[0m",
            "\x1b[2J",
            "a\r\nb\r\nc\r\nd\r\ne\r\nf\r\ng",
            "\x1b[?1049hother screen",
            "\x1b[?1049l",
        ];
        let mut terminal = Terminal::new(Size::nearest(20, 5), ByteOrigin::of(true));
        let mut picture = Picture::default();
        for (number, piece) in (1..).zip(pieces.into_iter().cycle().take(40)) {
            if number % 11 == 0 {
                terminal.resize(Size::nearest(20 + number % 7, 5 + number % 3));
            }
            let _ = terminal.feed(piece.as_bytes());
            let screen = Contents::of(&terminal);
            let mut new = Picture::default();
            new.take(&screen, 1);
            picture.take(&screen, 1);
            assert_eq!(picture.cells, new.cells, "{piece:?}");
            let facts = |picture: &Picture| -> Vec<(u16, bool)> {
                picture.facts.iter().map(|fact| (fact.end, fact.is_joined)).collect()
            };
            assert_eq!((facts(&picture), picture.used_rows), (facts(&new), new.used_rows), "{piece:?}");
            let shown =
                (0..picture.rows).map(|row| picture.text(row, 0..picture.columns).trim_end().to_owned());
            let text = shown.collect::<Vec<_>>().join("\n");
            assert_eq!(text.trim_end_matches('\n'), screen.text(), "{piece:?}");
        }
    }

    #[test]
    fn what_is_larger_than_its_pane_is_shown_around_its_cursor() {
        for (written, expected) in [
            ("\x1b[20;1Hend\x1b[2;70H", (0, 0, 49)),
            ("\x1b[20;1Hend\x1b[9;3H", (3, 0, 0)),
            ("\x1b[20;1Hend", (10, 0, 0)),
            ("\x1b[20;1Hend\x1b[2;70H\x1b[?25l", (10, 0, 0)),
            ("\x1b[?1049h\x1b[20;1Hend\x1b[2;50H", (0, 29, 29)),
            ("\x1b[?1049h\x1b[20;40H┌a box────┐\x1b[?25l", (10, 10, 10)),
            (&"line\r\n".repeat(60), (14, 0, 0)),
        ] {
            let mut terminal = Terminal::new(Size::nearest(90, 24), ByteOrigin::Tty);
            let _ = terminal.feed(written.as_bytes());
            let mut picture = Picture::default();
            picture.take(&Contents::of(&terminal), 1);
            let shown = (picture.top(10), picture.first_column(40, false), picture.first_column(40, true));
            assert_eq!(shown, expected, "{written:?}");
        }
    }
}
