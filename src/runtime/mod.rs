//! Tasks: supervisor (pure), driver, byte path, output log, lease, metrics, snapshots.

mod book;
mod bytes;
mod calls;
mod cause;
mod driver;
mod ends;
mod error;
mod export;
mod exposition;
mod finished;
mod gate;
mod gatekeeping;
mod gauge;
mod handle;
mod histogram;
mod log;
mod metrics;
mod order;
mod output;
mod pace;
pub mod past;
mod playback;
mod program;
mod publish;
mod question;
mod request;
mod rows;
mod screen;
mod shared;
mod start;
mod stream;
mod supervisor;
mod tail;
mod timers;
mod typing;
mod usage;
mod view;
mod waiting;

pub use crate::facts::{
    Exit, InputEvidence, Need, RejectionReason, StopSignal, TaskEvent, TaskFact, TaskStatus, Waiting,
};
pub use crate::process::{Leftovers, Resource};
pub use bytes::Viewer;
pub use calls::CallRecord;
pub use cause::Closing;
pub use error::Error;
pub use export::{Export, Form};
pub use exposition::prometheus;
pub use gate::{BatchRequest, Decision, GateView, HeldCall, HeldCommand, HoldReason};
pub use gauge::{Gauge, Limit};
pub use handle::{Handle, Options};
pub use histogram::{BOUNDS_MS, Histogram};
pub use log::{StoredLog, log_path, read_marks};
pub use metrics::{Metrics, MetricsReport};
pub use output::{Output, Stream};
pub use playback::Playback;
pub use program::{BranchView, Lines, LoopView, ProgramError, ProgramView, RunState, StepState, StepView};
pub use question::{
    Answer, AnswerValue, Asking, BindingView, Comment, Evidence, Given, Origin, Principal, Question,
    QuestionId, QuestionKind, READING, Refusal, Settled,
};
pub use request::{
    ExecOutcome, ExecRequest, Input, InputOutcome, InputTarget, Rejection, STEP_GRACE, Step, Stop,
    StopEffect, StopOutcome, Until, Within,
};
pub use screen::Screen;
pub use stream::{StreamLine, StreamView};
pub use usage::TaskUsage;
pub use view::{
    AgentPeer, AgentView, BatchItem, CallSummary, Ended, Lease, Notice, OutputView, RecordView, Snapshot,
    StopView, TaskView,
};
