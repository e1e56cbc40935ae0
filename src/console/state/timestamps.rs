//! The timestamps beside the lines of a pane.

use crate::console::state::page::PageView;
use crate::envelope::TaskId;
use crate::terminal::Size;

/// Whether timestamps are shown, and the page they belong to while the pane follows.
#[derive(Debug, Clone, Default)]
pub struct Timestamps {
    /// Whether timestamps are shown.
    pub are_shown: bool,
    pub(in crate::console) page: Option<(TaskId, PageView)>,
    /// The last request: the task, how much it had written, and the size; and whether the reply is still
    /// pending.
    pub(in crate::console) asked: Option<((TaskId, u64, Size), bool)>,
}
