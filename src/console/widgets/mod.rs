//! What features draw with: lists, dialogs, text fields, texts and cells. They know the state they draw from and no feature.

mod card;
pub mod cells;
pub mod chooser;
pub mod dialog;
mod glossary;
mod list;
pub mod painter;
pub mod pieces;
pub mod place_state;
pub(super) mod sentences;
pub mod task_state;
pub mod text;
pub mod text_field;

pub use card::CardReading;
pub(super) use card::{CardLine, card_rows};
pub use chooser::{Chooser, ListItem, ListKind};
pub(super) use dialog::{
    DIALOG_COLUMNS, command_rows, dialog, has_been_read, places, scroll_by, scrolled_rows,
};
pub use painter::FrameExtras;
pub(super) use painter::Painter;
pub(super) use pieces::{columns, join_groups};
pub(super) use task_state::{in_lane, role, usually};
