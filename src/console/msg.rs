//! What happened outside the console's state, as plain data.

use std::sync::Arc;

use jiff::Timestamp;

use crate::envelope::TaskId;
use crate::link::{ForeignHolder, RunningRuntime};
use crate::model::{CallRecord, ChangesReport, QuestionId, Snapshot, Subject, UndoReport, UndoRequest};
use crate::runtime::TaskUsage;
use crate::runtime::past::Durations;
use crate::terminal::host_terminal::DefaultColours;
use crate::terminal::{KeyPress, MouseInput};
use crate::tools::CallAnswer;

pub use crate::console::effect::{Effect, Leave, Notification};
use crate::console::keys::decode::PasteTrouble;
use crate::console::options::DemoCue;
pub use crate::console::state::{Anchor, PageView};
use crate::console::state::{CommandCoverage, FoundLine, Picture, Reel, SearchQuery};
use crate::console::theme::Preferences;

/// Where an agent runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AgentPlace {
    /// In a task of this console.
    Task(TaskId),
    /// In another terminal, or in none; in words.
    Elsewhere(String),
}

/// Something that happened outside the console's state.
#[derive(Debug, Clone)]
pub enum Msg {
    /// A key was pressed.
    Key(KeyPress),
    /// The mouse was moved, clicked or scrolled.
    Mouse(MouseInput),
    /// Text was pasted.
    Paste(String),
    /// A paste did not arrive, or not to its end.
    PasteTrouble(PasteTrouble),
    /// The terminal was resized to this many columns and rows.
    Resize(u16, u16),
    /// The terminal window gained or lost focus.
    Focus(bool),
    /// The terminal has answered what its colours are.
    Colours(Option<DefaultColours>),
    /// The runtime published a new state.
    Snapshot(Arc<Snapshot>),
    /// The screen of a visible task has changed.
    Picture(TaskId, Picture),
    /// A call made by the user was answered.
    Answered(Box<CallAnswer>),
    /// Input typed by the user was refused, and why.
    Refused(TaskId, String),
    /// Output of a watched task, in whole lines, and the offset at which to continue reading.
    Watched(TaskId, String, u64),
    /// A watched task may have reached the duration in a watch rule.
    WatchDue,
    /// A call record that was requested.
    Record(Arc<CallRecord>),
    /// What differs in the tree since then.
    Changes(Subject, Box<ChangesReport>),
    /// What a task's command would cost if it were run now, in sentences.
    Cost(TaskId, Vec<String>),
    /// What an undo of a task would do, or has done.
    Undo(UndoRequest, Box<UndoReport>),
    /// A page of a task's log that was requested.
    Page(TaskId, PageView),
    /// The transcripts behind an answer, to mark what it showed of them.
    Coverage(u64, Vec<CommandCoverage>),
    /// The recorded moments of a task, for its replay.
    Reel(TaskId, Arc<Reel>),
    /// The screen at one moment of a replay, by index.
    Played(TaskId, usize, Picture),
    /// The result of searching a task's log: the matching line, if any; and, where matches were counted, its
    /// position among the matching lines and their number.
    Found(TaskId, SearchQuery, Option<u64>, Option<(u64, u64)>),
    /// Results of a search across all tasks, for some of them: the ticket of the search, the matching lines, and
    /// why some logs could not be read.
    FoundAll(u64, Vec<FoundLine>, Vec<String>),
    /// The log line on which the prompt searched for begins, if there is one.
    Prompt {
        task: TaskId,
        line: Option<u64>,
        /// Whether the search went towards the end.
        forward: bool,
    },
    /// An answer to a question was accepted, or else why not.
    AnswerTaken(QuestionId, Option<String>),
    /// The output of a task's last command, and whether the shell marked it.
    LastOutput(String, bool),
    /// A file was written.
    FileWritten {
        /// The folder it is in.
        folder: String,
        /// Its name there.
        name: String,
    },
    /// Text was copied: a description of its size, and the clipboards that took it.
    Copied(String, Vec<&'static str>),
    /// It is time to measure the resource usage of tasks.
    UsageDue,
    /// The measured resource usage of tasks.
    Usage(Vec<TaskUsage>),
    /// Something could not be done.
    Failed(String),
    /// The current time.
    Tick(Timestamp),
    /// The settings files were reread, with these errors.
    Preferences(Box<Preferences>, Vec<String>),
    /// How long commands took in earlier recordings of the workspace.
    Durations(Durations),
    /// The names of the finished recordings, and when they began, if known; newest first.
    Recordings(Vec<(String, Option<Timestamp>)>),
    /// This user's runtimes on this machine.
    Running(Vec<RunningRuntime>),
    /// The task of another runtime that holds the port which this task could not have, if any does.
    HolderFound(TaskId, Option<ForeignHolder>),
    /// Where an agent runs.
    AgentFound(AgentPlace),
    /// `serve --stop` asks to end the runtime in this console; by whom it was run.
    StopAsked(String),
    /// A demonstration switches to another view.
    Cue(DemoCue),
    /// The runtime went away.
    LinkLost,
    /// The next runtime of the workspace is attached.
    NextRuntime(Arc<Snapshot>),
    /// All tasks were stopped and the runtime has ended, as the user requested.
    Stopped,
}
