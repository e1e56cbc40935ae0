//! Messages to the console and the effects it requests, both plain data.

use std::sync::Arc;

use jiff::Timestamp;
use serde_json::Value;

use crate::envelope::TaskId;
use crate::link::{Request, Running, Shown};
use crate::model::{CallRecord, Input, PlaceId, QuestionId, Snapshot, TaskView};
use crate::runtime::past::Durations;
use crate::runtime::{Form, TaskUsage};
use crate::terminal::host_terminal::DefaultColours;
use crate::terminal::{KeyPress, MouseInput, Palette, Size};

use super::app::coverage::CommandCoverage;
use super::app::coverage::ShownCommand;
use super::app::export::FileName;
use super::app::hints::Memory;
use super::app::picture::Picture;
use super::app::replay::Reel;
use super::app::search::Query;
use super::app::search_all::Place;
use super::app::setup::Arrangement;
use super::keys::decode::PasteTrouble;
use super::options::Cue;
use super::theme::Preferences;

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
    Answered(Answered),
    /// Input typed by the user was refused, and why.
    Refused(TaskId, String),
    /// Output of a watched task, in whole lines, and the offset at which to continue reading.
    Watched(TaskId, String, u64),
    /// A watched task may have reached the duration in a watch rule.
    WatchDue,
    /// A call record that was requested.
    Record(Arc<CallRecord>),
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
    Found(TaskId, Query, Option<u64>, Option<(u64, u64)>),
    /// Results of a search across all tasks, for some of them: the ticket of the search, the matching lines, and
    /// why some logs could not be read.
    FoundAll(u64, Vec<Place>, Vec<String>),
    /// The log line on which the prompt searched for begins, if there is one.
    Prompt {
        /// The task.
        task: TaskId,
        /// The line.
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
    /// The names of the finished recordings.
    Recordings(Vec<String>),
    /// This user's runtimes on this machine.
    Running(Vec<Running>),
    /// `serve --stop` asks to end the runtime in this console; by whom it was run.
    StopAsked(String),
    /// A demonstration switches to another view.
    Cue(Cue),
    /// The runtime went away.
    LinkLost,
    /// The next runtime of the workspace is attached.
    NextRuntime(Arc<Snapshot>),
    /// All tasks were stopped and the runtime has ended, as the user requested.
    Stopped,
}

/// The answer to a call made by the user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answered {
    /// The call's number.
    pub seq: u64,
    /// The tool called.
    pub tool: String,
    /// The envelope's summary, or the error's message.
    pub text: String,
    /// Whether the call failed or was refused.
    pub is_error: bool,
    /// The task that the call started, if any.
    pub started: Option<TaskId>,
}

/// A page of a task's log.
#[derive(Debug, Clone)]
pub struct PageView {
    /// What was asked for.
    pub anchor: Anchor,
    /// Its rows.
    pub picture: Picture,
    /// The log line that each row is a part of.
    pub rows: Vec<u64>,
    /// When the first byte of each row's line arrived, where the log says so.
    pub times: Vec<Option<Timestamp>>,
    /// The log line its first row belongs to.
    pub first_line: u64,
    /// The log line after its last row.
    pub next_line: u64,
    /// The number of lines in the log when it was read.
    pub lines: u64,
}

/// Something that waits for the user, as a notification; all of it is safe text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct News {
    /// Identifies the item, so that it can be withdrawn; stays the same for as long as it waits.
    pub id: String,
    /// `question`, `input`, `held`, `limit`, `left`, `lost` or `watch`.
    pub kind: &'static str,
    /// Its short name: `q03`, `t07`.
    pub name: String,
    /// What is needed, in a few words.
    pub what: String,
    /// The prompt, question or command.
    pub said: String,
}

impl News {
    /// Returns all of it on one line.
    #[must_use]
    pub fn text(&self) -> String {
        format!("{} {}: {}", self.name, self.what, self.said)
    }
}

/// Which page of a log to read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Anchor {
    /// The last one.
    Tail,
    /// The last one, with the timestamps of its lines, while the pane follows.
    Stamped,
    /// The last but one; the two share a line.
    AboveTail,
    /// The page that ends one line before the end.
    LineAboveTail,
    /// The page that begins with this line.
    From(u64),
    /// The page that ends right before this line.
    Before(u64),
    /// A page that shows this line in context.
    Around(u64),
    /// The page that begins with this line, or the last page if it shows the line.
    Top(u64),
}

/// How the user leaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Leave {
    /// Stop all tasks and end the runtime.
    StopAll,
    /// Keep the runtime going: in its own process, or in this one without a terminal.
    Detach,
    /// End the runtime, as `serve --stop` asked.
    AsAsked,
}

impl Effect {
    /// Calls a tool as the operator.
    #[must_use]
    pub fn call(tool: &str, input: Value) -> Self {
        Self::Ask(Request::call(tool, input))
    }

    /// Calls a tool as the operator, at the given place where there are several.
    #[must_use]
    pub fn call_at(place: Option<PlaceId>, tool: &str, input: Value) -> Self {
        let request = Request::call(tool, input);
        match place {
            Some(place) => Self::AskAt(place, request),
            None => Self::Ask(request),
        }
    }

    /// Sends what the user types to a task.
    #[must_use]
    pub fn send(task: TaskId, input: Input) -> Self {
        Self::Ask(Request::Send { task, input })
    }
}

/// Something for the driver to do.
#[derive(Debug, Clone)]
pub enum Effect {
    /// Rerun the command of a task, of which the console knows only the beginning.
    Rerun {
        /// The task.
        task: TaskId,
        /// The call's input, without the command.
        input: Value,
    },
    /// Run the program in this file in this runtime; the path may be relative to the workspace.
    RunProgram {
        /// The file.
        file: String,
        /// The place, where there are several.
        place: Option<PlaceId>,
    },
    /// Send a request to the runtime; of several, to the one that the request concerns.
    Ask(Request),
    /// Send a request that does not concern a task yet to this place.
    AskAt(PlaceId, Request),
    /// List this user's runtimes on this machine.
    ListRunning,
    /// Show this runtime in this console too.
    OpenPlace(Running),
    /// Get the user's attention with the bell and a notification.
    Ring(String),
    /// Save a started command to the command history.
    KeepCommand(String),
    /// Read a task's output from an offset in its log, for the watch rules.
    ReadWatched {
        /// The task.
        task: Arc<TaskView>,
        /// The offset at which to continue reading.
        from: u64,
    },
    /// Set the title of the terminal's window, or restore the original one.
    Title(Option<String>),
    /// Run the user's notification program for one item that waits.
    Notify(News),
    /// The item no longer waits: end the user's notification program for it, or do not start it.
    Withdraw(String),
    /// Announce which panes are on screen.
    Show(Shown),
    /// Give the terminal back to the shell until that continues the console.
    Suspend,
    /// Have the terminal report each movement of the mouse, or only those with a button held.
    Hover(bool),
    /// Read a page of a task's log.
    Page {
        /// The task.
        task: TaskId,
        /// Which page.
        anchor: Anchor,
        /// How large.
        size: Size,
    },
    /// Read the transcripts behind an answer.
    Coverage {
        /// The call.
        call: u64,
        /// What it shows of each command.
        shown: Vec<ShownCommand>,
    },
    /// Read the recorded moments of a task, for a replay.
    Replay(TaskId),
    /// Draw a screen of a replay.
    Play {
        /// The task.
        task: TaskId,
        /// The index of the moment.
        place: usize,
        /// The number of log marks applied by then.
        marks: usize,
    },
    /// Search a task's log.
    Search(TaskId, Query),
    /// Search the logs of some tasks: the ticket of the search, the text and the tasks.
    SearchAll(u64, String, Vec<TaskId>),
    /// Search for a prompt in a task's log.
    Prompt {
        /// The task.
        task: TaskId,
        /// The first line searched; if none, the one before the last.
        from: Option<u64>,
        /// Towards the end instead of the beginning.
        forward: bool,
    },
    /// Put text on the clipboard.
    Copy(String),
    /// Copy text, and report which clipboards took it.
    Yank {
        /// The text.
        text: String,
        /// A description of its size.
        what: String,
    },
    /// Write text to a new file.
    WriteFile {
        /// Its name.
        file: FileName,
        /// Its contents.
        text: String,
    },
    /// Export a task's output to a new file.
    WriteExport {
        /// The task.
        task: Arc<TaskView>,
        /// The format.
        form: Form,
        /// The colours to use.
        palette: Palette,
        /// Its name.
        file: FileName,
    },
    /// Read the output of a task's last command.
    LastOutput(TaskId),
    /// List the finished recordings.
    Recordings,
    /// Save the theme in the settings.
    SaveTheme(String),
    /// Save what is remembered across sessions.
    Remember(Memory),
    /// Save how the console is arranged.
    Arranged(Arrangement),
    /// Capture the mouse, or leave it to the terminal.
    Mouse(bool),
    /// End the console.
    Quit(Leave),
    /// Answer `serve --stop`: the runtime stays.
    Stay,
}
