//! Copy mode: a frozen picture of a pane, with a cursor and a selection.

use crate::console::state::page::{Anchor, PageView};
use crate::console::state::picture::Picture;
use crate::envelope::TaskId;

/// The shape of the selection between anchor and cursor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// A range of characters.
    Chars,
    /// Whole rows.
    Lines,
    /// A rectangle.
    Block,
}

/// A row and a column in the picture.
pub type Spot = (u16, u16);

#[derive(Debug, Clone)]
pub struct CopyMode {
    /// The task whose pane it is.
    pub task: TaskId,
    /// The frozen picture.
    pub picture: Picture,
    /// The first row shown.
    pub top: u16,
    /// The cursor.
    pub at: Spot,
    /// Where the selection began, if it has.
    pub anchor: Option<Spot>,
    pub shape: Shape,
    /// The longer page being read, if any; it replaces the picture unless the cursor is moved first.
    pub wanted: Option<Anchor>,
    /// The log line of each row, where known.
    pub lines: Vec<u64>,
    /// Whether input mode was active before, and is to be restored.
    pub was_input: bool,
}

impl CopyMode {
    /// Enters copy mode on a picture that is shown from row `top` on.
    pub fn new(task: TaskId, picture: Picture, top: u16, at: Spot) -> Self {
        let (anchor, shape, wanted, lines) = (None, Shape::Chars, None, Vec::new());
        Self { task, picture, top, at, anchor, shape, wanted, lines, was_input: false }
    }

    /// Returns the position of the last row and column.
    pub fn last(&self) -> Spot {
        let (columns, _) = self.picture.size();
        (self.picture.used_rows().saturating_sub(1), columns.saturating_sub(1))
    }

    /// Moves the cursor, scrolling as needed.
    pub fn go(&mut self, at: Spot, shown_rows: u16) {
        let last = self.last();
        self.at = (at.0.min(last.0), at.1.min(last.1));
        let lowest_top = self.at.0.saturating_sub(shown_rows.saturating_sub(1));
        self.top = self.top.clamp(lowest_top, self.at.0);
        self.wanted = None;
    }

    /// Returns the row in which a log line begins.
    pub fn row_of(&self, line: u64) -> Option<u16> {
        self.lines.iter().position(|shown| *shown == line).and_then(|row| u16::try_from(row).ok())
    }

    /// Switches to another page, with the cursor at one of its lines.
    pub fn show_page(&mut self, page: &PageView, line: u64, shown_rows: u16) {
        self.take(page);
        let row = self.row_of(line).unwrap_or(0);
        self.top = row;
        self.go((row, 0), shown_rows);
    }

    fn take(&mut self, page: &PageView) {
        self.picture = page.picture.clone();
        self.lines.clone_from(&page.rows);
        self.wanted = None;
    }

    /// Switches to a longer page, whose last row is the last row shown before.
    pub fn lengthen(&mut self, page: &PageView, shown_rows: u16) {
        let column = self.at.1;
        self.take(page);
        let last = self.last().0;
        self.top = last.saturating_sub(shown_rows.saturating_sub(1));
        self.at = (last, column.min(self.last().1));
    }

    /// Returns the range of selected columns in a row, as a start and an exclusive end.
    pub fn columns(&self, row: u16) -> Option<(u16, u16)> {
        let anchor = self.anchor?;
        let (first, last) = if anchor <= self.at { (anchor, self.at) } else { (self.at, anchor) };
        if row < first.0 || row > last.0 {
            return None;
        }
        let end = self.picture.size().0;
        Some(match self.shape {
            Shape::Lines => (0, end),
            Shape::Block => (anchor.1.min(self.at.1), anchor.1.max(self.at.1).saturating_add(1).min(end)),
            Shape::Chars => {
                let from = if row == first.0 { first.1 } else { 0 };
                let to = if row == last.0 { last.1.saturating_add(1).min(end) } else { end };
                (from, to)
            }
        })
    }

    /// Returns the selected text: without trailing blanks, with wrapped rows joined and empty rows kept. With
    /// no selection, returns the cursor's row.
    pub fn text(&self) -> String {
        let mut whole = self.clone();
        if whole.anchor.is_none() {
            (whole.anchor, whole.shape) = (Some(self.at), Shape::Lines);
        }
        let mut out = String::new();
        let mut rows = (0..whole.picture.size().1).filter_map(|row| whole.columns(row).map(|at| (row, at)));
        let mut next = rows.next();
        while let Some((row, (from, to))) = next {
            next = rows.next();
            let text = whole.picture.text(row, from..to);
            let goes_on = whole.shape != Shape::Block && next.is_some() && whole.picture.is_joined(row);
            if goes_on {
                out.push_str(&text);
                continue;
            }
            out.push_str(text.trim_end());
            if next.is_some() {
                out.push('\n');
            }
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terminal::{ByteOrigin, LogHistory, Size};

    /// Starts copying on a page ten columns wide.
    fn on_page(log: &str, rows: u16, top: u16, at: Spot) -> CopyMode {
        let size = Size::nearest(10, rows);
        let page = LogHistory::new(log.as_bytes(), &[], ByteOrigin::Tty, size).page(0, size).expect("a page");
        CopyMode::new(TaskId::from_random([1; 8]), Picture::of_page(&page), top, at)
    }

    /// Returns the text of a selection on a page.
    fn copied(log: &str, anchor: Spot, at: Spot, shape: Shape) -> String {
        let mut copying = on_page(log, 12, 0, at);
        (copying.anchor, copying.shape) = (Some(anchor), shape);
        copying.text()
    }

    #[test]
    fn copied_text_is_the_printed_text() {
        let log = "one  \r\n\r\n0123456789abc\r\nlast\r\n";
        let cases = [
            ((0, 0), (4, 3), Shape::Chars, "one\n\n0123456789abc\nlast"),
            ((4, 1), (0, 1), Shape::Chars, "ne\n\n0123456789abc\nla"),
            ((0, 2), (0, 2), Shape::Chars, "e"),
            ((2, 5), (3, 1), Shape::Chars, "56789ab"),
            ((3, 0), (2, 0), Shape::Lines, "0123456789abc"),
            ((1, 3), (0, 0), Shape::Lines, "one\n"),
            ((2, 1), (4, 2), Shape::Block, "12\nbc\nas"),
        ];
        for (anchor, at, shape, text) in cases {
            assert_eq!(copied(log, anchor, at, shape), text, "{anchor:?} {at:?} {shape:?}");
        }
    }

    #[test]
    fn a_wide_character_is_copied_once() {
        assert_eq!(copied("日本語 ok\r\n", (0, 0), (0, 9), Shape::Chars), "日本語 ok");
    }

    #[test]
    fn the_view_follows_the_cursor() {
        let log: String = (0..30).map(|line| format!("{line}\r\n")).collect();
        let mut copying = on_page(&log, 40, 20, (25, 0));
        copying.go((5, 3), 10);
        assert_eq!((copying.top, copying.at), (5, (5, 1)));
        copying.go((900, 0), 10);
        assert_eq!(copying.at.0, copying.last().0);
        assert!(copying.top + 10 > copying.at.0);
    }
}
