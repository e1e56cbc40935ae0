//! The pane of a task: its title and cells, scrolling through its log, searching and copying.

pub mod draw;
pub mod empty;
pub mod fit;
pub mod reflow;
pub mod timestamps;
pub mod typing;
