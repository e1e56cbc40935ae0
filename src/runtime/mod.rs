//! The task runtime: a pure supervisor, the async driver around it, the byte path, output logs, input leases, metrics
//! and snapshots.

mod agent_notices;
mod agent_view;
mod approval;
mod bytes;
mod calls;
mod cause;
mod counters;
mod driver;
mod ended_outputs;
mod error;
mod events;
mod export;
mod exposition;
mod gauge;
mod handle;
mod histogram;
mod log;
mod log_copy;
mod metrics;
mod native;
mod output;
mod outside;
pub mod past;
mod pause;
mod place;
mod playback;
mod program;
mod question;
mod request;
mod screen;
mod session_state;
mod shared;
mod standing;
mod state;
mod stream;
mod supervisor;
mod tail;
mod task_folder;
mod task_list;
mod view;

pub use crate::facts::{
    Exit, HoldReason, InputEvidence, Need, RejectionReason, StopSignal, TaskEvent, TaskFact, TaskStatus,
    TaskUpdate, Waiting,
};
pub use crate::process::{Leftovers, Resource};
pub use agent_notices::{PARAGRAPH_CHARS, WORDS_CHARS};
pub use agent_view::{AgentPeer, AgentView, SHELL_PROFILE};
pub use approval::{BatchRequest, Decision, GateView, HeldCall, HeldCommand};
pub use bytes::Viewer;
pub use calls::{CallRecord, PROGRAM_CALL, STREAM_CALL};
pub use cause::Closing;
pub use driver::TaskUsage;
pub use error::Error;
pub use export::{Export, Form};
pub use exposition::prometheus;
pub use gauge::{Gauge, Limit};
pub use handle::{AgentNotices, Handle, Options};
pub use histogram::{BOUNDS_MS, Histogram};
pub use log::{StoredLog, log_path, open_log, read_marks};
pub use log_copy::{LogPart, LogPiece};
pub use metrics::{Metrics, MetricsReport};
pub use native::{Native, NativeRequest, Stage};
pub use output::{HeldLine, LinePart, Output, Piece, StoredStreams, Stream};
pub use outside::{Mark, leave_mark, untold};
pub use place::{PlaceId, PlaceLink, PlaceName, Slot};
pub use playback::Playback;
pub use program::{
    BranchView, Lines, LoopView, ProgramError, ProgramView, RunState, StepState, StepView, dollars,
};
pub use question::{
    Answer, AnswerValue, Asking, BindingView, Comment, Evidence, Expected, Given, Origin, Principal,
    Question, QuestionId, QuestionKind, READING, Refusal, Settled,
};
pub use request::{
    ExecOutcome, ExecRequest, Input, InputOutcome, InputTarget, MOST_INPUT, Marked, Rejection, STEP_GRACE,
    Step, Stop, StopEffect, StopOutcome, Until, Within,
};
pub use screen::Screen;
pub use standing::Standing;
pub use state::TaskState;
pub use stream::{StreamLine, StreamView};
pub use view::{
    BatchItem, CallSummary, Ended, Lease, Notice, OutputView, PlaceState, RecordView, Snapshot, StopView,
    TaskView,
};
