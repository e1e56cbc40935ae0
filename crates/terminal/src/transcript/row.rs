//! One row of a transcript: plain text as long as it only grows at its end, cells once it has been edited.

use unicode_width::UnicodeWidthChar;

use super::text_cell::{TextCell, add_mark, draw, split_into_cells};
use crate::cell::{Cell, CellStyle};
use crate::tabs::next_stop;

/// A row with more bytes than this gets no further combining marks: those take no column, so that they would never
/// reach its end.
const HEAVY: usize = 512 << 10;

/// Rows wider than this are not split into cells; see [`TextRow::can_edit`].
const MAX_CELLS: usize = 1 << 16;

#[derive(Debug)]
pub(super) struct TextRow {
    /// The text, until the row is edited.
    plain: Option<UneditedText>,
    /// The cells, after that.
    cells: Vec<TextCell>,
    /// The styles of its columns, if any has one; those beyond have none.
    styles: Vec<CellStyle>,
    /// Whether its text continues in the next row.
    pub(super) wrapped: bool,
    /// The line of the log that was printed on it last.
    pub(super) line: u64,
}

/// Text that has only grown at its end.
#[derive(Debug)]
struct UneditedText {
    text: String,
    width: usize,
    /// Whether every byte takes one column.
    flat: bool,
}

impl Default for TextRow {
    fn default() -> Self {
        let plain = UneditedText { text: String::new(), width: 0, flat: true };
        Self { plain: Some(plain), cells: Vec::new(), styles: Vec::new(), wrapped: false, line: 0 }
    }
}

impl TextRow {
    /// Returns a row with text of single columns.
    pub(super) fn of(text: &str, line: u64) -> Self {
        let mut row = Self { line, ..Self::default() };
        row.put_ascii(0, text);
        row
    }

    /// Returns the number of columns in use.
    pub(super) fn width(&self) -> usize {
        self.plain.as_ref().map_or(self.cells.len(), |plain| plain.width)
    }

    /// Tells whether the row is empty.
    pub(super) fn is_empty(&self) -> bool {
        let has_text = self.plain.as_ref().is_some_and(|plain| !plain.text.is_empty());
        self.width() == 0 && !has_text && !self.styles.iter().any(|style| style.shows_on_blanks())
    }

    /// Tells whether nothing but blanks is on the row.
    pub(super) fn is_blank(&self) -> bool {
        match &self.plain {
            Some(plain) => plain.text.trim().is_empty(),
            None => self.cells.iter().all(|cell| matches!(cell, TextCell::Blank | TextCell::Char(' '))),
        }
    }

    /// Sets the style of the columns from `from` to `to`, exclusive.
    pub(super) fn paint(&mut self, from: usize, to: usize, style: CellStyle) {
        if self.styles.len() < to && style != CellStyle::default() {
            self.styles.resize(to, CellStyle::default());
        }
        let to = to.min(self.styles.len());
        if let Some(painted) = self.styles.get_mut(from..to) {
            painted.fill(style);
        }
    }

    /// Returns the cells to draw, without blank ones at the end.
    pub(super) fn into_cells(mut self) -> Vec<Cell<'static>> {
        let styles = std::mem::take(&mut self.styles);
        draw(self.cells(), &styles)
    }

    /// Returns the text, without trailing columns that were never printed.
    pub(super) fn into_text(self) -> String {
        let mut cells = match self.plain {
            Some(plain) => return plain.text,
            None => self.cells,
        };
        while cells.last() == Some(&TextCell::Blank) {
            cells.pop();
        }
        let mut text = String::with_capacity(cells.len());
        for cell in cells {
            match cell {
                TextCell::Blank => text.push(' '),
                TextCell::Char(c) => text.push(c),
                TextCell::Marked(marked) => text.push_str(&marked),
                TextCell::Tab => text.push('\t'),
                TextCell::Tail | TextCell::Filler => {}
            }
        }
        text
    }

    /// Tells whether combining marks have to go on in the next row.
    pub(super) fn is_heavy(&self) -> bool {
        self.plain.as_ref().is_some_and(|plain| plain.text.len() > HEAVY)
    }

    /// Tells whether text may be put at `col`: a very wide row in which not every byte takes one column can
    /// only grow at its end.
    pub(super) fn can_edit(&self, col: usize) -> bool {
        self.plain.as_ref().is_none_or(|plain| plain.flat || col >= plain.width || plain.width <= MAX_CELLS)
    }

    /// Prints ASCII characters at `col`.
    pub(super) fn put_ascii(&mut self, col: usize, piece: &str) {
        self.pad(col);
        match &mut self.plain {
            Some(plain) if plain.width == col => {
                plain.text.push_str(piece);
                plain.width += piece.len();
            }
            Some(plain) if plain.flat => {
                let end = (col + piece.len()).min(plain.width);
                plain.text.replace_range(col..end, piece);
                plain.width = plain.text.len();
            }
            _ => {
                for (at, c) in piece.chars().enumerate() {
                    self.put_cell(col + at, c, 1);
                }
            }
        }
    }

    /// Prints a character of one or two columns at `col`.
    pub(super) fn put(&mut self, col: usize, c: char, columns: usize) {
        self.pad(col);
        match &mut self.plain {
            Some(plain) if plain.width == col => {
                plain.text.push(c);
                plain.width += columns;
                plain.flat &= c.is_ascii();
            }
            _ => self.put_cell(col, c, columns),
        }
    }

    /// Adds a combining mark to the character before `col`.
    pub(super) fn mark(&mut self, col: usize, mark: char) {
        if col == 0 {
            // There is no character before it, as with the byte order mark of a file: keep the mark as text.
            if let Some(plain) = self.plain.as_mut().filter(|plain| plain.width == 0) {
                plain.text.push(mark);
                plain.flat = false;
            }
            return;
        }
        match &mut self.plain {
            Some(plain) if plain.width == col => {
                plain.text.push(mark);
                plain.flat = false;
            }
            _ => {
                let before = self.cells().get_mut(..col).unwrap_or_default();
                add_mark(before, mark);
            }
        }
    }

    /// Returns the character before `col`, if it is one of a single column without marks.
    pub(super) fn char_before(&mut self, col: usize) -> Option<char> {
        let c = match self.plain.as_ref().filter(|plain| plain.width == col) {
            Some(plain) => plain.text.chars().next_back()?,
            None => match self.cells().get(col.checked_sub(1)?)? {
                TextCell::Char(c) => *c,
                _ => return None,
            },
        };
        Some(c).filter(|c| c.width() == Some(1))
    }

    /// Adds a mark to the character before `col` that gives it a second column.
    pub(super) fn widen(&mut self, col: usize, mark: char) {
        self.mark(col, mark);
        match &mut self.plain {
            Some(plain) => plain.width += 1,
            None => {
                self.free(col);
                match self.cells.get_mut(col) {
                    Some(cell) => *cell = TextCell::Tail,
                    None => self.cells.push(TextCell::Tail),
                }
            }
        }
    }

    /// Moves from `col` to `stop`. A tab at the end of the text is kept as a tab, also where the margin leaves it no
    /// column.
    pub(super) fn tab(&mut self, col: usize, stop: usize) {
        if self.width() != col {
            return;
        }
        match &mut self.plain {
            Some(plain) if stop == next_stop(col) => {
                plain.text.push('\t');
                plain.width = stop;
                plain.flat = false;
            }
            _ if stop > col => {
                self.cells().push(TextCell::Tab);
                self.cells.resize(stop, TextCell::Filler);
            }
            _ => add_mark(self.cells(), '\t'),
        }
    }

    /// Blanks the columns from `from` to `to`, exclusive.
    pub(super) fn erase(&mut self, from: usize, to: usize) {
        self.paint(from, to, CellStyle::default());
        let width = self.width();
        if from >= width || !self.can_edit(from) && from > 0 {
            return;
        }
        if to < width {
            for col in from..to {
                self.free(col);
            }
            return self.cells()[from..to].fill(TextCell::Blank);
        }
        self.wrapped = false;
        match &mut self.plain {
            Some(plain) if plain.flat || from == 0 => {
                plain.text.truncate(from);
                (plain.width, plain.flat) = (from, true);
            }
            _ => {
                self.free(from);
                self.cells().truncate(from);
            }
        }
    }

    /// Inserts `count` blank columns; whatever is pushed beyond `limit` is lost.
    pub(super) fn insert(&mut self, col: usize, count: usize, limit: usize) {
        self.wrapped = false;
        if col < self.styles.len() {
            self.styles.splice(col..col, std::iter::repeat_n(CellStyle::default(), count));
            self.styles.truncate(limit);
        }
        if col >= self.width() || !self.can_edit(col) {
            return;
        }
        self.break_at(col);
        let cells = self.cells();
        cells.splice(col..col, std::iter::repeat_n(TextCell::Blank, count));
        self.break_at(limit);
        self.cells().truncate(limit);
    }

    /// Deletes `count` columns.
    pub(super) fn delete(&mut self, col: usize, count: usize) {
        self.wrapped = false;
        if col < self.styles.len() {
            self.styles.drain(col..(col + count).min(self.styles.len()));
        }
        let end = (col + count).min(self.width());
        if col < end && self.can_edit(col) {
            self.break_at(col);
            self.break_at(end);
            self.cells().drain(col..end);
        }
    }

    /// Pads with blanks up to `col`.
    fn pad(&mut self, col: usize) {
        match &mut self.plain {
            Some(plain) if plain.width < col => {
                plain.text.extend(std::iter::repeat_n(' ', col - plain.width));
                plain.width = col;
            }
            None if self.cells.len() < col => self.cells.resize(col, TextCell::Blank),
            _ => {}
        }
    }

    fn put_cell(&mut self, col: usize, c: char, columns: usize) {
        for at in col..col + columns {
            self.free(at);
        }
        let cells = self.cells();
        if cells.len() < col + columns {
            cells.resize(col + columns, TextCell::Tail);
        }
        cells[col] = TextCell::Char(c);
        cells[col + 1..col + columns].fill(TextCell::Tail);
    }

    /// Breaks up the wide character or tab that begins before a column and covers it.
    fn break_at(&mut self, col: usize) {
        if matches!(self.cells().get(col), Some(TextCell::Tail | TextCell::Filler)) {
            self.free(col);
        }
    }

    /// Breaks up the wide character or tab that covers a column, so that the column can be changed on its
    /// own.
    fn free(&mut self, col: usize) {
        let cells = self.cells();
        let joined = |cell: Option<&TextCell>| matches!(cell, Some(TextCell::Tail | TextCell::Filler));
        if !joined(cells.get(col)) && !joined(cells.get(col + 1)) {
            return;
        }
        let mut first = col;
        while first > 0 && joined(cells.get(first)) {
            first -= 1;
        }
        let mut end = first + 1;
        while joined(cells.get(end)) {
            end += 1;
        }
        if let Some(group) = cells.get_mut(first..end) {
            group.fill(TextCell::Char(' '));
        }
    }

    fn cells(&mut self) -> &mut Vec<TextCell> {
        if let Some(plain) = self.plain.take() {
            self.cells = split_into_cells(&plain.text);
        }
        &mut self.cells
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(text: &str) -> TextRow {
        let mut row = TextRow::default();
        for c in text.chars() {
            match c.width() {
                _ if c == '\t' => {
                    row.tab(row.width(), next_stop(row.width()));
                }
                Some(0) => row.mark(row.width(), c),
                columns => row.put(row.width(), c, columns.unwrap()),
            }
        }
        row
    }

    #[test]
    fn a_tab_behind_the_text_stays_one_however_the_text_came() {
        let mut overwritten = row("A");
        overwritten.put(0, 'é', 1);
        overwritten.tab(1, 8);
        assert_eq!(overwritten.into_text(), "é\t");
    }

    #[test]
    fn overwriting_breaks_wide_characters_and_tabs() {
        for (text, col, expected) in [
            ("abc", 1, "aXc"),
            ("a好c", 1, "aX c"),
            ("a好c", 2, "a Xc"),
            ("a\tb", 3, "a  X    b"),
            ("e\u{301}b", 1, "e\u{301}X"),
            ("ab", 4, "ab  X"),
        ] {
            let mut row = row(text);
            row.put(col, 'X', 1);
            assert_eq!(row.into_text(), expected, "{text} {col}");
        }
    }

    #[test]
    fn erasing_leaves_blanks_in_the_middle_and_nothing_at_the_end() {
        for (text, from, to, expected) in [
            ("abcd", 1, 3, "a  d"),
            ("abcd", 2, 9, "ab"),
            ("a好d", 2, 3, "a  d"),
            ("好d", 1, 9, " "),
            ("\tx", 0, 9, ""),
        ] {
            let mut row = row(text);
            row.erase(from, to);
            assert_eq!(row.into_text(), expected, "{text} {from} {to}");
        }
    }

    #[test]
    fn columns_are_put_in_and_taken_out() {
        let mut inserted = row("abcd");
        inserted.insert(1, 2, 5);
        assert_eq!(inserted.into_text(), "a  bc");
        let mut deleted = row("a好bc");
        deleted.delete(2, 1);
        assert_eq!(deleted.into_text(), "a bc");
    }
}
