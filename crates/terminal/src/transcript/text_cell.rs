//! One column of a row of text.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use crate::cell::{Cell, CellStyle, HYPHEN, SOFT_HYPHEN};
use crate::tabs::next_stop;

/// What is in a column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum TextCell {
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

/// Returns the columns of a text.
pub(super) fn split_into_cells(text: &str) -> Vec<TextCell> {
    let mut cells = Vec::with_capacity(text.len());
    for c in text.chars() {
        match (c, c.width()) {
            ('\t', _) => {
                let stop = next_stop(cells.len());
                cells.push(TextCell::Tab);
                cells.resize(stop, TextCell::Filler);
            }
            (_, Some(0)) if c != SOFT_HYPHEN => {
                let widens = matches!(cells.last(), Some(TextCell::Char(before)) if before.width() == Some(1) && width_with(*before, c) > 1);
                add_mark(&mut cells, c);
                cells.extend(widens.then_some(TextCell::Tail));
            }
            (_, columns) => {
                cells.push(TextCell::Char(c));
                cells.extend((1..columns.unwrap_or(1)).map(|_| TextCell::Tail));
            }
        }
    }
    cells
}

/// Adds a combining mark to the last character.
pub(super) fn add_mark(cells: &mut [TextCell], mark: char) {
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

/// Returns the columns of a character with a mark.
pub(super) fn width_with(c: char, mark: char) -> usize {
    String::from_iter([c, mark]).width()
}

/// Returns columns as cells to draw, without blank ones at the end.
pub(super) fn draw(columns: &[TextCell], styles: &[CellStyle]) -> Vec<Cell<'static>> {
    let style = |col: usize| styles.get(col).copied().unwrap_or_default();
    let last = styles.iter().rposition(|style| style.shows_on_blanks()).map_or(0, |last| last + 1);
    let cell = |col: usize| match columns.get(col) {
        Some(TextCell::Char(c)) => cell_of(c.encode_utf8(&mut [0; 4]), columns.get(col + 1), style(col)),
        Some(TextCell::Marked(text)) => cell_of(text, columns.get(col + 1), style(col)),
        Some(TextCell::Tail) => Cell::continuation(),
        _ => Cell::blank(style(col)),
    };
    let mut cells: Vec<_> = (0..columns.len().max(last)).map(cell).collect();
    while cells.last().is_some_and(|cell| cell.text == " " && !cell.style.shows_on_blanks()) {
        cells.pop();
    }
    cells
}

/// Returns a cell with this text.
fn cell_of(text: &str, next: Option<&TextCell>, style: CellStyle) -> Cell<'static> {
    const ASCII: &str =
        " !\"#$%&'()*+,-./0123456789:;<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_`abcdefghijklmnopqrstuvwxyz{|}~";
    match text.as_bytes() {
        [byte @ b' '..=b'~'] => {
            let at = usize::from(byte - b' ');
            Cell { text: ASCII[at..=at].into(), width: 1, style }
        }
        _ if text.starts_with(SOFT_HYPHEN) => Cell { text: HYPHEN.into(), width: 1, style },
        _ => Cell::from_raw(text, next == Some(&TextCell::Tail), style).into_owned(),
    }
}
