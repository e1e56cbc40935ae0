//! One row of a transcript: plain text as long as it only grows at its end, cells once it has been edited.

use unicode_width::UnicodeWidthChar;

/// Columns between tab stops.
const TAB: usize = 8;

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
    /// Whether its text continues in the next row.
    pub(super) wrapped: bool,
}

/// Text that has only grown at its end.
#[derive(Debug)]
struct UneditedText {
    text: String,
    width: usize,
    /// Whether every byte takes one column.
    flat: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum TextCell {
    /// Nothing was printed here.
    Blank,
    Char(char),
    /// A character with combining marks.
    Marked(Box<str>),
    /// The second half of a wide character.
    Tail,
    /// A tab; the other columns it covers follow as filler.
    Tab,
    Filler,
}

impl Default for TextRow {
    fn default() -> Self {
        let plain = UneditedText { text: String::new(), width: 0, flat: true };
        Self { plain: Some(plain), cells: Vec::new(), wrapped: false }
    }
}

impl TextRow {
    /// Returns the number of columns in use.
    pub(super) fn width(&self) -> usize {
        self.plain.as_ref().map_or(self.cells.len(), |plain| plain.width)
    }

    /// Tells whether the row is empty.
    pub(super) fn is_empty(&self) -> bool {
        self.width() == 0 && self.plain.as_ref().is_none_or(|plain| plain.text.is_empty())
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

    /// Moves from `col` to the next tab stop; returns its column. A tab at the end of the text is kept as a
    /// tab.
    pub(super) fn tab(&mut self, col: usize) -> usize {
        let stop = next_stop(col);
        if self.width() != col {
            return stop;
        }
        match &mut self.plain {
            Some(plain) => {
                plain.text.push('\t');
                plain.width = stop;
                plain.flat = false;
            }
            None => {
                self.cells.push(TextCell::Tab);
                self.cells.resize(stop, TextCell::Filler);
            }
        }
        stop
    }

    /// Blanks the columns from `from` to `to`, exclusive.
    pub(super) fn erase(&mut self, from: usize, to: usize) {
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
        if col >= self.width() || !self.can_edit(col) {
            return;
        }
        self.free(col);
        let cells = self.cells();
        cells.splice(col..col, std::iter::repeat_n(TextCell::Blank, count));
        cells.truncate(limit);
    }

    /// Deletes `count` columns.
    pub(super) fn delete(&mut self, col: usize, count: usize) {
        self.wrapped = false;
        let end = (col + count).min(self.width());
        if col < end && self.can_edit(col) {
            self.free(col);
            self.free(end - 1);
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

fn split_into_cells(text: &str) -> Vec<TextCell> {
    let mut cells = Vec::with_capacity(text.len());
    for c in text.chars() {
        match (c, c.width()) {
            ('\t', _) => {
                let stop = next_stop(cells.len());
                cells.push(TextCell::Tab);
                cells.resize(stop, TextCell::Filler);
            }
            (_, Some(0)) => add_mark(&mut cells, c),
            (_, columns) => {
                cells.push(TextCell::Char(c));
                cells.extend((1..columns.unwrap_or(1)).map(|_| TextCell::Tail));
            }
        }
    }
    cells
}

/// Adds a combining mark to the last character.
fn add_mark(cells: &mut [TextCell], mark: char) {
    match cells {
        [.., cell @ (TextCell::Char(_) | TextCell::Marked(_)), TextCell::Tail] | [.., cell] => {
            let marked = match cell {
                TextCell::Char(c) => [*c, mark].iter().collect(),
                TextCell::Marked(text) if text.len() < 64 => format!("{text}{mark}"),
                _ => return,
            };
            *cell = TextCell::Marked(marked.into());
        }
        [] => {}
    }
}

fn next_stop(col: usize) -> usize {
    (col / TAB + 1) * TAB
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(text: &str) -> TextRow {
        let mut row = TextRow::default();
        for c in text.chars() {
            match c.width() {
                _ if c == '\t' => {
                    row.tab(row.width());
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
        overwritten.tab(1);
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
