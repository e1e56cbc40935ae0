//! The tools, one file each (input schema, execution, result, receipt), and the table that lists them.
//!
//! An answer is built in three steps: a tool's findings become a typed result, the result goes into the canonical
//! envelope, and the receipt that a model reads is rendered from the envelope alone. This layer does no socket or
//! terminal I/O; the caller provides the runtime and its identity.

mod budget;
mod call;
mod cancel_guard;
mod early_end;
pub mod exec_command;
pub mod exec_command_batch;
mod idempotency;
mod input;
mod leftovers;
mod listening;
mod plan;
mod preview;
mod question;
pub mod question_answer;
pub mod question_list;
mod questions;
mod reading;
mod receipt;
mod schema;
mod schemas;
mod table;
mod task;
pub mod task_input;
pub mod task_list;
pub mod task_output;
pub mod task_status;
pub mod task_stop;
mod verb;
mod wait_goal;
mod waiting_note;

pub use budget::{OutputBudget, RECEIPT_CHARS, Room};
pub use call::{CallAnswer, call, call_with_notices};
pub use early_end::{CallNumber, CutHandle, CutReason};
pub use idempotency::{IdempotencyKeys, call_once};
pub use input::{quantity, read as read_input};
pub use listening::ListeningNote;
pub use plan::{CallPlan, PlannedCommand};
pub use preview::{OutputCursor, StreamPreview};
pub use receipt::{ReceiptSource, RenderedReceipt};
pub use schema::{input as input_schema, result as output_schema};
pub use schemas::schemas;
pub use table::{TOOLS, Tool, find, for_a_shell, render, render_with_sources};
pub use verb::{Caller, Hints};
