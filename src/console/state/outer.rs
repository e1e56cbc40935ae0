//! The terminal around the console.

use crate::envelope::TaskId;
use crate::terminal::host_terminal::DefaultColours;

/// What is known of the terminal, and what follows from it.
#[derive(Debug, Clone, Default)]
pub struct OuterTerminal {
    /// Whether it is known not to have the focus.
    pub is_elsewhere: bool,
    /// Its colours, once it has answered.
    pub colours: Option<DefaultColours>,
    /// Whether it reports each movement of the mouse.
    pub hovers: bool,
    /// The task whose program was told that it has the focus.
    pub(in crate::console) focused: Option<TaskId>,
}
