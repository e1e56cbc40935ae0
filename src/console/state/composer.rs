//! The input line: what was written in it before, and where its command will start.

use crate::console::state::history::InputHistory;
use crate::model::PlaceId;

/// What is kept for the input line.
#[derive(Debug, Clone, Default)]
pub struct Composer {
    /// Lines sent before, newest last; never a line from a hidden prompt.
    pub lines: InputHistory,
    /// Commands started from the console, in earlier sessions too.
    pub commands: InputHistory,
    /// The place where the command being written will start.
    pub start_at: Option<PlaceId>,
}
