//! Recordings as they can be read: which there are, what they tell, and how those are brought to
//! their end whose runtime had died.

mod find;
mod keep;
mod recover;
mod shown;
mod story;
mod untold;

pub use find::{Finding, Listed, State, list, resolve};
pub use keep::forget_looks;
pub use story::{PastAgent, PastCall, PastEvent, Story, read};

pub(super) use find::task as find_task;
pub(super) use keep::keep;
pub(super) use recover::{Recovery, notice, recover};
pub(super) use story::read_call;
