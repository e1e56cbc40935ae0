//! What crosses the walls between the layers, as plain data: what is seen of tasks, calls, agents, programs and questions,
//! what may be asked of a runtime, and what happened. No I/O, no clock.

mod agent_view;
mod approval;
mod call_cost;
mod call_end;
pub mod calls;
mod ceiling;
mod changes;
mod console_process;
mod end_reason;
pub mod error;
mod gate;
mod gauge;
mod held_ports;
mod histogram;
mod input;
mod lane_wait;
mod listen_address;
pub mod listening;
pub mod metrics;
pub mod native_call;
mod output_view;
pub mod phrases;
mod place;
pub mod program;
mod question;
mod request;
mod signal;
mod snapshot;
mod state;
mod status;
mod status_counts;
mod stop_view;
mod stream;
mod subject;
pub mod taken_port;
mod task;
mod timeline;
mod tree_changes;
pub mod unended;
pub mod unrecorded;
mod view;

pub use console_process::ConsoleProcess;
pub use input::{InputEvidence, InputLoss, InputNeed, InputWait, LostInput, RejectionReason, UnreadInput};
pub use listen_address::ListenAddress;
pub use signal::{Exit, Signal, UnknownSignal};
pub use status::{HoldReason, StopSignal, TaskStatus};
pub use task::{TaskEvent, TaskFact, TaskUpdate};
pub use unended::{UnendedProcess, UnendedProcesses};

pub use agent_view::{
    AgentActivity, AgentPeer, AgentRoutes, AgentView, AgentWork, HOOK_PROFILE, LAUNCH_PROFILE, SHELL_PROFILE,
};
pub use approval::{BatchRequest, Decision, GateView, HeldCall, HeldCommand, ShownCall};
pub use call_cost::CallCost;
pub use call_end::CallEnd;
pub use calls::{CallRecord, PROGRAM_CALL, STREAM_CALL};
pub use ceiling::{CeilingHit, CeilingKind};
pub use changes::{ItemChanges, ItemKey};
pub use end_reason::CloseReason;
pub use error::{Error, Resource};
pub use gate::{GateEvent, GateEventKind};
pub use gauge::{Gauge, LimitKind};
pub use histogram::{BOUNDS_MS, Histogram};
pub use lane_wait::{LaneObstacle, LaneWait};
pub use listening::Listener;
pub use metrics::{HISTORY_SECONDS, Metrics, MetricsReport};
pub use native_call::{CallRuling, ModelText, ModelTextFacts, NativeCall};
pub use output_view::OutputView;
pub use place::{PlaceId, PlaceLink, PlaceName, Slot};
pub use program::{
    BranchView, LineRange, LoopView, ProgramError, ProgramEvent, ProgramView, RunState, StepState, StepView,
    dollars,
};
pub use question::QuestionFact;
pub use question::{
    ALIKE_FOR, AgentPrompt, AlikeAnswers, AnswerInput, AnswerKind, AnswerRefusal, AnswerValue,
    AnsweredPrompts, AnsweredWhich, BindingView, CallLikeness, Comment, Evidence, ExpectedAnswerer,
    NewQuestion, PermissionEnd, PermittedPrompts, Principal, PromptPermission, Question, QuestionId,
    QuestionKind, QuestionOrigin, QuestionOutcome, READING, RecordedAnswer, alike_in_words,
};
pub use request::{
    ExecOutcome, ExecRequest, InputOutcome, InputRejection, InputTarget, Leftovers, MOST_INPUT, NativeTask,
    ParentTask, ProgramStep, STEP_GRACE, Stop, StopEffect, StopOutcome, TypedInput, Until,
};
pub use state::TaskState;
pub use status_counts::{StatusCounts, needs_you};
pub use stop_view::StopView;
pub use stream::{StreamLine, StreamView};
pub use subject::Subject;
pub use taken_port::{PortHolder, TakenPort};
pub use timeline::later_events;
pub use tree_changes::{ChangedFile, ChangesReport, TreeChanges, UndoReport, UndoRequest};
pub use unrecorded::UnrecordedCommand;
pub use unrecorded::UnrecordedRow;
pub use view::{
    BatchItem, CallSummary, Lease, Notice, PlaceState, RecordView, Snapshot, TaskEnd, TaskView,
    millis_between,
};
