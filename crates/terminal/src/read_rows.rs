//! The rows of a screen as they were last read: one that has not changed since is not read again.

use std::cell::RefCell;
use std::sync::Arc;

use super::row::ScreenRow;

/// The first byte of characters from U+0080 to U+00BF, which include controls.
const CONTROLS: u8 = 0xc2;

/// The rows, from top to bottom, as far as they have been read.
#[derive(Debug, Default)]
pub(super) struct ReadRows(RefCell<Vec<Option<Arc<ScreenRow>>>>);

impl ReadRows {
    /// Notes that any row may have changed.
    pub(super) fn forget(&mut self) {
        self.0.get_mut().clear();
    }

    /// Notes that only this row may have changed.
    pub(super) fn forget_row(&mut self, row: u16) {
        if let Some(read) = self.0.get_mut().get_mut(usize::from(row)) {
            *read = None;
        }
    }

    /// Returns a row; `read` reads it if it may have changed.
    pub(super) fn row(&self, row: u16, read: impl FnOnce() -> ScreenRow) -> Arc<ScreenRow> {
        let (mut rows, row) = (self.0.borrow_mut(), usize::from(row));
        if rows.len() <= row {
            rows.resize(row + 1, None);
        }
        rows[row].get_or_insert_with(|| Arc::new(read())).clone()
    }
}

/// Tells whether text that is written from a column on changes nothing but that row: it has no control characters
/// except those that return or go back within the row, and is too short to wrap.
pub(super) fn stays_in_row(text: &[u8], column: u16, columns: u16) -> bool {
    let fits = usize::from(column) + text.len() < usize::from(columns);
    // Without a cell before it in the row, a combining character would go to the end of the row above.
    let joins_none = column > 0 || text.is_ascii();
    let is_text = |byte: &u8| matches!(byte, b'\r' | 0x08 | b' '..=b'~' | 0x80..) && *byte != CONTROLS;
    fits && joins_none && text.iter().all(is_text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_text_stays_in_its_row_and_all_else_may_not() {
        assert!(stays_in_row(b"ls -l\x08\r", 2, 80) && stays_in_row("жё".as_bytes(), 2, 80));
        assert!(!stays_in_row(b"text", 76, 80), "it would fill the row");
        assert!(!stays_in_row("\u{301}".as_bytes(), 0, 80), "it may belong to the row above");
        for moves in ["\n", "\x1b[2J", "\t", "\u{85}", "\x7f", "\x0b"] {
            assert!(!stays_in_row(moves.as_bytes(), 2, 80), "{moves:?}");
        }
    }

    #[test]
    fn a_row_is_read_again_only_after_it_may_have_changed() {
        let mut rows = ReadRows::default();
        let wrapped = || ScreenRow { wrapped: true, ..ScreenRow::default() };
        assert!(rows.row(1, wrapped).wrapped);
        assert!(rows.row(1, ScreenRow::default).wrapped);
        rows.forget_row(0);
        assert!(rows.row(1, ScreenRow::default).wrapped);
        rows.forget_row(1);
        assert!(!rows.row(1, ScreenRow::default).wrapped);
        rows.forget();
        assert!(rows.row(1, wrapped).wrapped);
    }
}
