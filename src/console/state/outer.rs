//! The terminal around the console.

use crate::envelope::TaskId;
use crate::terminal::host_terminal::DefaultColours;

/// What is known of the terminal, and what follows from it.
#[derive(Debug, Clone)]
pub struct OuterTerminal {
    /// Its size: columns and rows.
    pub size: (u16, u16),
    /// Whether we capture its mouse.
    pub has_mouse: bool,
    /// Whether it is known not to have the focus.
    pub is_elsewhere: bool,
    /// Its colours, once it has answered.
    pub colours: Option<DefaultColours>,
    /// Whether it reports each movement of the mouse.
    pub hovers: bool,
    /// The task whose program was told that it has the focus.
    pub(in crate::console) focused: Option<TaskId>,
}

impl OuterTerminal {
    /// Returns a terminal of which only the size is known.
    pub(super) fn of_size(size: (u16, u16)) -> Self {
        Self { size, has_mouse: true, is_elsewhere: false, colours: None, hovers: false, focused: None }
    }
}
