//! A page of a log, and the pane that is frozen on one.

use jiff::Timestamp;

use crate::console::state::picture::Picture;
use crate::console::state::search::Match;
use crate::envelope::TaskId;

/// A pane that is scrolled back: frozen on a page of the log.
#[derive(Debug, Clone)]
pub struct Scroll {
    /// The task whose pane it is.
    pub task: TaskId,
    /// The requested page.
    pub wanted: Anchor,
    /// The width the page was requested for, in columns.
    pub columns: u16,
    /// The page shown, once it has been read.
    pub page: Option<PageView>,
    /// The number of lines in the log when the pane was frozen.
    pub lines: u64,
    /// The prompt jumped to; the search for the next one starts there.
    pub prompt: Option<u64>,
    /// Search matches on the page, plus that prompt.
    pub matches: Vec<Match>,
}

/// A page of a task's log.
#[derive(Debug, Clone)]
pub struct PageView {
    /// What was asked for.
    pub anchor: Anchor,
    /// Its rows.
    pub picture: Picture,
    /// The log line that each row is a part of.
    pub rows: Vec<u64>,
    /// When the first byte of each row's line arrived, where the log says so.
    pub times: Vec<Option<Timestamp>>,
    /// The log line its first row belongs to.
    pub first_line: u64,
    /// The log line after its last row.
    pub next_line: u64,
    /// The number of lines in the log when it was read.
    pub lines: u64,
}

/// Which page of a log to read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Anchor {
    /// The last one.
    Tail,
    /// The last one, with the timestamps of its lines, while the pane follows.
    Stamped,
    /// The last but one; the two share a line.
    AboveTail,
    /// The page that ends one line before the end.
    LineAboveTail,
    /// The page that begins with this line.
    From(u64),
    /// The page that ends right before this line.
    Before(u64),
    /// A page that shows this line in context.
    Around(u64),
    /// The page that begins with this line, or the last page if it shows the line.
    Top(u64),
}
