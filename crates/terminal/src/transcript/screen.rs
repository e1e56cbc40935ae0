//! The screen behind a transcript: its rows as they are printed, edited and scrolled off, with their styles if they
//! are to be drawn.

use unicode_width::UnicodeWidthChar;

use super::row::TextRow;
use super::rows::TextRows;
use super::text_cell::width_with;
use crate::cell::{CellStyle, EMOJI_PRESENTATION, SOFT_HYPHEN};
use crate::charset::Charsets;
use crate::size::Size;
use crate::tabs::{Tabs, next_stop};
use crate::terminal::ByteOrigin;

/// The columns of a row on a pipe. A longer line continues in the next row, as on a terminal.
const PIPE_COLUMNS: usize = 1 << 18;
/// A control character that a terminal ignores, and its picture.
const DELETE: char = '\x7f';
const DELETE_PICTURE: char = '␡';

/// A screen of text.
#[derive(Debug, Default)]
pub(super) struct TextScreen {
    pub(super) size: Size,
    pub(super) origin: ByteOrigin,
    pub(super) rows: TextRows,
    /// The rows of the primary screen while the alternate one is on.
    pub(super) primary: Option<TextRows>,
    pub(super) cursor: TextCursor,
    /// The saved cursor of the primary and of the alternate screen.
    pub(super) saved: [TextCursor; 2],
    /// The first and last row of the scroll region, unless it is the whole screen.
    pub(super) region: Option<(usize, usize)>,
    pub(super) modes: TextModes,
    pub(super) tabs: Tabs,
    /// The character that REP repeats.
    pub(super) last: Option<char>,
    /// The line of the log that is being printed.
    pub(super) line: u64,
    /// Whether rows have styles.
    pub(super) paints: bool,
}

/// The modes that affect where text goes.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct TextModes {
    pub(super) insert: bool,
    pub(super) no_wrap: bool,
    /// Whether a line feed returns to the first column.
    pub(super) newline: bool,
    /// Whether a change to 80 or 132 columns clears the screen.
    pub(super) may_set_columns: bool,
}

/// The cursor, with what is saved along with it.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct TextCursor {
    pub(super) row: usize,
    /// Equal to the width if the next character wraps to the next row.
    pub(super) col: usize,
    pub(super) charsets: Charsets,
    pub(super) style: CellStyle,
    /// Whether rows are counted from the top of the scroll region.
    pub(super) relative: bool,
}

/// Returns the picture of a control character: ␀ for NUL.
fn picture_of(control: u8) -> char {
    char::from_u32(0x2400 + u32::from(control)).unwrap_or(char::REPLACEMENT_CHARACTER)
}

impl TextScreen {
    /// Returns an empty screen.
    pub(super) fn new(origin: ByteOrigin, size: Size) -> Self {
        Self { size, origin, tabs: Tabs::new(size.cols()), ..Self::default() }
    }

    /// Returns the columns of a row.
    pub(super) fn columns(&self) -> usize {
        self.width().unwrap_or(PIPE_COLUMNS)
    }

    /// Returns the number of columns of the terminal; a pipe has none.
    pub(super) fn width(&self) -> Option<usize> {
        (self.origin == ByteOrigin::Tty).then_some(usize::from(self.size.cols()))
    }

    pub(super) fn height(&self) -> usize {
        usize::from(self.size.rows())
    }

    /// Changes the size from here on.
    pub(super) fn resize(&mut self, size: Size) {
        self.size = size;
        self.region = None;
        self.tabs.resize(size.cols());
        let (last_row, width) = (self.height() - 1, self.width().unwrap_or(usize::MAX));
        let mut gone = 0;
        for rows in [Some(&mut self.rows), self.primary.as_mut()].into_iter().flatten() {
            gone = rows.len().saturating_sub(last_row + 1);
            (0..gone).for_each(|_| rows.finish_first());
        }
        for place in [&mut self.cursor].into_iter().chain(&mut self.saved) {
            place.row = place.row.saturating_sub(gone).min(last_row);
            place.col = place.col.min(width);
        }
    }

    /// Prints text without controls.
    pub(super) fn print(&mut self, text: &str) {
        let shown = self.cursor.charsets.translate(text);
        let is_plain = !(self.modes.insert || self.modes.no_wrap);
        if is_plain && shown.bytes().all(|byte| matches!(byte, b' '..=b'~')) {
            return self.print_ascii(&shown);
        }
        for c in shown.chars() {
            self.print_one(c);
        }
    }

    fn print_ascii(&mut self, text: &str) {
        let mut rest = text;
        while !rest.is_empty() {
            self.make_room(1);
            let col = self.cursor.col;
            let room = self.columns().saturating_sub(col).min(rest.len());
            let (piece, later) = rest.split_at(room);
            self.row().put_ascii(col, piece);
            self.paint(col, col + room, self.cursor.style);
            self.cursor.col += room;
            self.last = piece.chars().next_back();
            rest = later;
        }
    }

    pub(super) fn print_one(&mut self, c: char) {
        let c = if c == DELETE && self.origin == ByteOrigin::Pipe { DELETE_PICTURE } else { c };
        let width = if c == SOFT_HYPHEN { Some(1) } else { c.width() };
        match width {
            None => {}
            Some(0) => self.add_mark(c),
            Some(columns) if columns <= self.columns() && !self.is_cut_off(columns) => {
                self.make_room(columns);
                let (col, limit) = (self.cursor.col, self.width());
                if self.modes.insert {
                    self.row().insert(col, columns, limit.unwrap_or(usize::MAX));
                }
                self.row().put(col, c, columns);
                self.paint(col, col + columns, self.cursor.style);
                self.cursor.col += columns;
                self.last = Some(c);
            }
            Some(_) => {}
        }
    }

    /// Tells whether a wide character is dropped because only half of it fits and it must not wrap.
    fn is_cut_off(&self, columns: usize) -> bool {
        let (col, all) = (self.cursor.col, self.columns());
        self.modes.no_wrap && columns > 1 && col < all && col + columns > all
    }

    /// Adds a character without a width to the one before the cursor.
    fn add_mark(&mut self, mark: char) {
        if self.row().is_heavy() {
            self.wrap();
        }
        let col = self.cursor.col;
        if mark == EMOJI_PRESENTATION && col >= self.columns() {
            return;
        }
        if mark == EMOJI_PRESENTATION
            && self.row().char_before(col).is_some_and(|before| width_with(before, mark) > 1)
        {
            self.row().widen(col, mark);
            let style = self.cursor.style;
            self.paint(col, col + 1, style);
            self.cursor.col += 1;
        } else {
            self.row().mark(col, mark);
        }
    }

    /// Returns the row of the cursor.
    fn row(&mut self) -> &mut TextRow {
        let row = self.rows.at(self.cursor.row);
        row.line = self.line;
        row
    }

    /// Sets the style of columns of the cursor's row.
    pub(super) fn paint(&mut self, from: usize, to: usize, style: CellStyle) {
        if self.paints {
            self.rows.at(self.cursor.row).paint(from, to, style);
        }
    }

    /// Wraps if `columns` more columns do not fit.
    fn make_room(&mut self, columns: usize) {
        let col = self.cursor.col;
        if col + columns > self.columns() {
            if self.modes.no_wrap {
                self.cursor.col = self.columns() - columns;
            } else {
                self.wrap();
            }
        } else if !self.row().can_edit(col) {
            self.line_feed();
            self.cursor.col = 0;
        }
    }

    /// Goes on in the next row, which has no background: as in tmux.
    fn wrap(&mut self) {
        self.row().wrapped = true;
        self.next_row();
        self.cursor.col = 0;
    }

    pub(super) fn take_control(&mut self, byte: u8) {
        match byte {
            0x08 => self.move_left(1),
            b'\t' => self.tab(1),
            b'\n' | 0x0b | 0x0c => {
                if self.origin == ByteOrigin::Pipe || self.modes.newline {
                    self.cursor.col = 0;
                }
                self.line_feed();
            }
            b'\r' => self.cursor.col = 0,
            0x0e => self.cursor.charsets.shift(true),
            0x0f => self.cursor.charsets.shift(false),
            // It means nothing on a pipe, and is not to vanish.
            0 | 0x01..=0x06 | 0x10..=0x1f if self.origin == ByteOrigin::Pipe => {
                self.print_one(picture_of(byte))
            }
            _ => {}
        }
    }

    pub(super) fn move_left(&mut self, count: usize) {
        let shown = self.width().map_or(self.cursor.col, |width| self.cursor.col.min(width - 1));
        self.cursor.col = shown.saturating_sub(count);
    }

    /// Moves to a tab stop to the right. In the last column, and behind it, the cursor stays: the next character still
    /// wraps. The text has a tab in any case.
    pub(super) fn tab(&mut self, count: u16) {
        let col = self.cursor.col;
        let stop = match self.width() {
            None => (1..count).fold(next_stop(col), |stop, _| next_stop(stop)),
            Some(width) if col >= width => col,
            Some(_) => usize::from(self.tabs.after(u16::try_from(col).unwrap_or(u16::MAX), count)),
        };
        self.row().tab(col, stop);
        self.cursor.col = stop;
    }

    /// Returns the scroll region, or the whole screen.
    pub(super) fn margins(&self) -> (usize, usize) {
        self.region.unwrap_or((0, self.height() - 1))
    }

    pub(super) fn line_feed(&mut self) {
        let (_, bottom) = self.margins();
        let scrolls = self.cursor.row == bottom;
        self.next_row();
        if scrolls {
            self.blank(bottom..bottom + 1);
        }
    }

    fn next_row(&mut self) {
        let (top, bottom) = self.margins();
        if self.cursor.row == bottom {
            self.rows.scroll_up(top, bottom);
        } else if self.cursor.row + 1 < self.height() {
            self.cursor.row += 1;
        }
        self.rows.at(self.cursor.row);
    }

    /// Gives rows that have become blank the background that is set.
    pub(super) fn blank(&mut self, rows: std::ops::Range<usize>) {
        let style = self.cursor.style.of_erased();
        if let Some(width) = self.width().filter(|_| self.paints && style != CellStyle::default()) {
            rows.for_each(|row| self.rows.at(row).paint(0, width, style));
        }
    }
}
