//! What happens to a task, as typed facts. Each journal row states one fact, and all that is shown of a task is
//! derived from its facts in order, in a running runtime and in a recording alike. Pure.

mod input;
mod status;
mod task;

pub use input::{InputEvidence, Need, RejectionReason, Waiting};
pub use status::{Exit, HoldReason, StopSignal, TaskStatus};
pub use task::{TaskEvent, TaskFact, TaskUpdate};
