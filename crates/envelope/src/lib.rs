//! The canonical envelope and its parts: actors and task ids, errors, previews, compaction, masking, and text that is
//! safe to print. Pure.

mod canonical;
mod causes;
mod characters;
mod compact;
mod error;
mod ids;
mod json;
mod mask;
mod pretty;
pub mod preview;
mod safe_text;
pub mod units;

pub use canonical::{CallOutcome, Envelope, InvalidEnvelope, SUMMARY_CHARS, one_line};
pub use causes::with_causes;
pub use characters::is_hidden;
pub use compact::{compact, length};
pub use error::{ErrorKind, ToolError};
pub use ids::{Actor, InvalidTaskId, TaskId};
pub use json::json_length;
pub use mask::{MASKED, mask, mask_strings, names_secret};
pub use safe_text::SafeText;
