//! The pane of a task: its title and cells, scrolling through its log, searching and copying.

pub mod copy;
pub mod draw;
pub mod empty;
pub mod fit;
pub mod log;
pub mod reflow;
pub mod search;
pub mod timestamps;
pub mod typing;
pub mod visible;
