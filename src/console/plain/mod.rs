//! The console in plain lines: for screen readers, dumb terminals and CI. Nothing is drawn, moved or coloured: what
//! happens is said once, line after line, and lines are read. Pure; `console/io/plain.rs` reads, writes and carries out.

mod attention;
mod calls;
pub mod events;
pub mod line;
pub mod menu;
pub mod output;
mod places;
pub mod session;
mod steps;
pub mod tasks;
mod watch;

pub use events::events;
pub use line::Line;
pub use output::{Purpose, Reading};
pub use session::{Circumstances, Effect, Event, Session};
