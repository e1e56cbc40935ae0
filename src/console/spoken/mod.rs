//! The console in plain lines: for screen readers, dumb terminals and CI. Nothing is drawn, moved or coloured: what
//! happens is said once, line after line, and lines are read. Pure; `edge/spoken.rs` reads, writes and carries out.

mod attention;
pub mod events;
pub mod line;
pub mod menu;
mod programs;
pub mod questions;
pub mod reading;
mod steps;
pub mod talk;
pub mod tasks;

pub use events::events;
pub use line::Line;
pub use reading::{Purpose, Reading};
pub use talk::{Act, Circumstances, Heard, Talk};
