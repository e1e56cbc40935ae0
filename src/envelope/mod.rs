//! Pure: who acts, what a task is called, the canonical envelope, errors, previews,
//! compaction, masking.

mod canonical;
mod compact;
mod error;
mod ids;
mod mask;
mod pretty;
pub mod preview;

pub use canonical::{Envelope, InvalidEnvelope, Outcome, SUMMARY_CHARS, one_line};
pub use compact::{compact, length};
pub use error::{ErrorKind, ToolError};
pub use ids::{Actor, InvalidTaskId, TaskId};
pub use mask::{MASKED, mask, mask_strings};
