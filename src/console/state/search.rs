//! A search in a log, and its matches on a page.

use std::ops::Range;

use unicode_width::UnicodeWidthStr;

use crate::console::state::page::PageView;
use crate::console::text::finding::{RowText, SearchText};
use crate::envelope::TaskId;

/// A search query: what to look for in a log, from which line and in which direction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchQuery {
    /// The text to find, as it appears on screen; matches case-insensitively unless it contains a capital
    /// letter.
    pub needle: String,
    /// The first line searched.
    pub from: u64,
    /// Search towards the end instead of the beginning.
    pub forward: bool,
}

impl SearchQuery {
    /// Search from the end of the log, wherever that is when it is read.
    pub const END: u64 = u64::MAX;
}

/// The state of a search.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SearchOutcome {
    /// The log is being read.
    Asked,
    /// Found in this line.
    At(u64),
    /// Not found in that direction; holds the line of the last match.
    Nowhere(Option<u64>),
}

/// A search in one task's log.
#[derive(Debug, Clone)]
pub struct LogSearch {
    pub task: TaskId,
    /// The latest query.
    pub query: SearchQuery,
    /// The line of the previous match.
    pub last: Option<u64>,
    /// The result of the latest query.
    pub outcome: SearchOutcome,
    /// The position of the current line among the matching lines and their number, once counted.
    pub counted: Option<(u64, u64)>,
}

impl LogSearch {
    /// Returns the line of the current match.
    pub fn line(&self) -> Option<u64> {
        match self.outcome {
            SearchOutcome::At(line) => Some(line),
            SearchOutcome::Asked => self.last,
            SearchOutcome::Nowhere(line) => line,
        }
    }
}

/// The cells of one row of a page that match a search.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Match {
    /// The row of the page.
    pub row: u16,
    pub columns: Range<u16>,
    /// The log line.
    pub line: u64,
}

/// Returns where a page shows `needle`; the rows of a wrapped log line are treated as one text.
pub fn matches(page: &PageView, needle: &str) -> Vec<Match> {
    let needle = SearchText::smart(needle);
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

/// Returns the text on the first row of a log line on a page.
pub fn row_of(page: &PageView, line: u64) -> Option<Match> {
    let row = page.rows.iter().position(|shown| *shown == line)?;
    let row = u16::try_from(row).ok()?;
    Some(Match { row, columns: 0..page.picture.text_columns(row), line })
}

pub(in crate::console) fn read<'a>(
    page: &PageView,
    rows: Range<usize>,
    needle: &'a SearchText,
) -> RowText<'a> {
    let mut line = RowText::new(needle);
    for row in rows {
        let mut column = 0;
        while let Some(cell) = page.picture.cell(u16::try_from(row).unwrap_or(u16::MAX), column) {
            line.push(cell.symbol(), row, column);
            column += u16::try_from(cell.symbol().width()).unwrap_or(1).max(1);
        }
    }
    line
}

/// A matching line of a task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundLine {
    pub task: TaskId,
    /// The line in its log.
    pub line: u64,
    /// The text of the line.
    pub text: String,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::console::state::page::Anchor;
    use crate::console::state::picture::Picture;
    use crate::terminal::{ByteOrigin, LogHistory, Size};

    fn found(log: &str, needle: &str) -> Vec<(u16, Range<u16>)> {
        let size = Size::nearest(10, 8);
        let page = LogHistory::new(log.as_bytes(), &[], ByteOrigin::Tty, size).page(0, size).expect("a page");
        let rows = page.rows.iter().map(|row| row.line).collect();
        let picture = Picture::of_page(&page);
        let view = PageView {
            anchor: Anchor::Tail,
            picture,
            rows,
            times: Vec::new(),
            first_line: 0,
            next_line: 9,
            lines: 9,
        };
        matches(&view, needle).into_iter().map(|found| (found.row, found.columns)).collect()
    }

    #[test]
    fn a_match_is_found_where_it_is_seen() {
        assert_eq!(found("one two\r\n\x1b[31mtwo\x1b[0m two\r\n", "two"), [(0, 4..7), (1, 0..3), (1, 4..7)]);
        assert_eq!(found("one\r\n", "One"), []);
        assert_eq!(found("One\r\n", "one"), [(0, 0..3)]);
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
