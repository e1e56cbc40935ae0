//! What features draw with: lists, dialogs, text fields, texts and cells. They know the state they draw from and no feature.

pub mod cells;
pub mod chooser;
pub mod dialog;
pub mod painter;
pub mod pieces;
pub mod place_state;
pub mod task_state;
mod terms;
pub mod text;
pub mod text_field;
