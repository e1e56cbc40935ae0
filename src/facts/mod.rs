//! What happens, as typed facts. A row of the journal says one of them, and everything that is shown of a task follows
//! from them, in the order they came: in a running runtime and for a recording alike. Pure.

mod input;
mod status;
mod task;

pub use input::{InputEvidence, Need, RejectionReason, Waiting};
pub use status::{Exit, HoldReason, StopSignal, TaskStatus};
pub use task::{TaskEvent, TaskFact, TaskUpdate};
