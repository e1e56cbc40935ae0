//! The pane of a task: its title and cells, scrolling through its log, searching and copying.

pub mod copy;
pub mod draw;
mod fit;
mod log;
mod reflow;
mod search;
pub mod stamps;
