//! The plain-line console, for screen readers, dumb terminals and CI. Nothing is drawn, moved or coloured:
//! every event is printed once, line by line, and commands are read as lines. Pure; `console/io/plain.rs`
//! does the reading, writing and carrying out.

mod attention;
mod calls;
pub mod entered;
pub mod events;
mod left;
pub mod line;
pub mod menu;
mod message;
pub mod output;
mod outside;
mod places;
pub mod session;
mod steps;
pub mod tasks;
mod watch;

pub use entered::{EnteredLine, LineSplitter};
pub use events::events;
pub use line::PlainLine;
pub use output::{OutputReading, Purpose};
pub use session::{Circumstances, PlainEffect, PlainEvent, PlainSession};
