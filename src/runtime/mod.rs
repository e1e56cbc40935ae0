//! The task runtime: a pure supervisor, the async driver around it, the byte path, output logs, input leases.

mod agent_notices;
mod bytes;
mod counters;
mod driver;
mod ended_outputs;
mod export;
mod exposition;
mod handle;
mod log;
mod log_copy;
mod native;
mod output;
pub mod past;
mod pause;
mod playback;
mod question;
mod request;
mod screen;
mod session_state;
mod shared;
mod supervisor;
mod tail;
mod task_folder;
mod task_list;
mod unrecorded;

pub use crate::process::{Leftovers, Resource};
pub use agent_notices::{PARAGRAPH_CHARS, WORDS_CHARS};
pub use bytes::Viewer;
pub use driver::TaskUsage;
pub use export::{Export, Form};
pub use exposition::prometheus;
pub use handle::{AgentNotices, Handle, Options};
pub use log::{StoredLog, log_path, open_log, read_marks};
pub use log_copy::{LogPart, LogPiece};
pub use native::{Native, NativeRequest, Stage};
pub use output::{HeldLine, LinePart, Output, Piece, StoredStreams, Stream};
pub use playback::Playback;
pub use request::{
    ExecOutcome, ExecRequest, Input, InputOutcome, InputTarget, MOST_INPUT, Marked, Rejection, STEP_GRACE,
    Step, Stop, StopEffect, StopOutcome, Until, Within,
};
pub use screen::Screen;
pub use unrecorded::{leave_mark, untold};
