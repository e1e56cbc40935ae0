//! Keys: decoding terminal input, key bindings, and the actions that keys can request.

pub mod action;
pub mod decode;
pub mod keymap;

pub use action::{Action, Motion};
pub use keymap::{KeyContext, Keymap};
