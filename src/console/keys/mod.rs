//! Keys: what a terminal sends as one, what they are bound to, and what can be asked for with them.

pub mod action;
pub mod decode;
pub mod keymap;

pub use action::Action;
pub use keymap::{Context, Keymap};
