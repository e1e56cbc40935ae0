//! A search through a task's log: what is looked for, how far it got, and where a page shows it.

use std::ops::Range;

use unicode_width::UnicodeWidthStr;

use crate::envelope::TaskId;

use super::super::msg::PageView;
use super::super::text::finding::{Line, Needle};

/// What to look for in a log, from where, which way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Query {
    /// The text, as it was shown; capitals count.
    pub needle: String,
    /// The first line looked at.
    pub from: u64,
    /// Towards the end instead of the beginning.
    pub forward: bool,
}

impl Query {
    /// From the end of the log, wherever that is when it is read.
    pub const END: u64 = u64::MAX;
}

/// How far a search got.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// The log is being read.
    Asked,
    /// It stands in this line.
    At(u64),
    /// It stands nowhere in that direction; the line of the last match stays.
    Nowhere(Option<u64>),
}

/// A search in one task's log.
#[derive(Debug, Clone)]
pub struct Search {
    /// The task.
    pub task: TaskId,
    /// What was asked last.
    pub query: Query,
    /// The line of the match before.
    pub last: Option<u64>,
    /// What came of it.
    pub outcome: Outcome,
}

impl Search {
    /// Returns the line of the match shown.
    #[must_use]
    pub fn line(&self) -> Option<u64> {
        match self.outcome {
            Outcome::At(line) => Some(line),
            Outcome::Asked => self.last,
            Outcome::Nowhere(line) => line,
        }
    }
}

/// Cells of one row of a page that a search found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Match {
    /// The row of the page.
    pub row: u16,
    /// Its columns.
    pub columns: Range<u16>,
    /// The log line.
    pub line: u64,
}

/// Returns where a page shows `needle`; rows of one log line are read as one text.
#[must_use]
pub fn matches(page: &PageView, needle: &str) -> Vec<Match> {
    let needle = Needle::exact(needle);
    let mut found = Vec::new();
    let mut row = 0;
    for rows in page.rows.chunk_by(|one, next| one == next) {
        let line = read(page, row..row + rows.len(), &needle);
        for (row, columns) in line.places().into_iter().flatten() {
            found.push(Match { row: u16::try_from(row).unwrap_or(u16::MAX), columns, line: rows[0] });
        }
        row += rows.len();
    }
    found
}

/// Returns the first row of a log line on a page, as far as it has text.
#[must_use]
pub fn row_of(page: &PageView, line: u64) -> Option<Match> {
    let row = page.rows.iter().position(|shown| *shown == line)?;
    let row = u16::try_from(row).ok()?;
    Some(Match { row, columns: 0..page.picture.text_columns(row), line })
}

fn read<'a>(page: &PageView, rows: Range<usize>, needle: &'a Needle) -> Line<'a> {
    let mut line = Line::new(needle);
    for row in rows {
        let mut column = 0;
        while let Some(cell) = page.picture.cell(u16::try_from(row).unwrap_or(u16::MAX), column) {
            line.push(cell.symbol(), row, column);
            column += u16::try_from(cell.symbol().width()).unwrap_or(1).max(1);
        }
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::console::app::picture::Picture;
    use crate::console::msg::Anchor;
    use crate::terminal::{History, Origin, Size};

    fn found(log: &str, needle: &str) -> Vec<(u16, Range<u16>)> {
        let size = Size::clamped(10, 8);
        let page = History::new(log.as_bytes(), &[], Origin::Tty, size).page(0, size).expect("a page");
        let rows = page.rows.iter().map(|row| row.line).collect();
        let picture = Picture::of_page(&page);
        let view = PageView { anchor: Anchor::Tail, picture, rows, first_line: 0, next_line: 9, lines: 9 };
        matches(&view, needle).into_iter().map(|found| (found.row, found.columns)).collect()
    }

    #[test]
    fn a_match_is_found_where_it_is_seen() {
        assert_eq!(found("one two\r\n\x1b[31mtwo\x1b[0m two\r\n", "two"), [(0, 4..7), (1, 0..3), (1, 4..7)]);
        assert_eq!(found("one\r\n", "One"), []);
        assert_eq!(found("one\r\ntwo\r\n", ""), []);
    }

    #[test]
    fn a_match_that_is_wrapped_is_found_on_both_rows() {
        assert_eq!(found("0123456needle\r\n", "needle"), [(0, 7..10), (1, 0..3)]);
        assert_eq!(found("nee\r\ndle\r\n", "needle"), [], "two lines are two texts");
    }

    #[test]
    fn wide_characters_take_their_columns() {
        assert_eq!(found("日本語 ok\r\n", "語 o"), [(0, 4..8)]);
    }
}
