//! Keys: decoding terminal input, key bindings, and the actions that keys can request.

pub mod action;
pub mod decode;
pub mod dialog_action;
pub mod keymap;
pub mod wish;

pub use action::{Action, Motion};
pub use dialog_action::{CopyAction, LeftDialogAction, QuitDialogAction, ReplayAction, StopDialogAction};
pub use keymap::{KeyContext, Keymap};
pub use wish::Wish;
