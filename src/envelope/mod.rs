//! Pure: who acts, what a task is called, the canonical envelope, errors, previews.

mod ids;

pub use ids::{Actor, InvalidTaskId, TaskId};
