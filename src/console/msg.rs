//! Messages to the console and effects it asks for, both plain data.

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::Timestamp;
use serde_json::Value;

use crate::envelope::TaskId;
use crate::link::{Request, Running};
use crate::runtime::past::Durations;
use crate::runtime::{CallRecord, Form, Input, PlaceId, QuestionId, Snapshot, TaskUsage, TaskView};
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
use super::options::Cue;
use super::theme::Preferences;

/// Something happened.
#[derive(Debug, Clone)]
pub enum Msg {
    /// A key was pressed.
    Key(KeyPress),
    /// The mouse moved, clicked or turned its wheel.
    Mouse(MouseInput),
    /// Text was pasted.
    Paste(String),
    /// The terminal has this many columns and rows now.
    Resize(u16, u16),
    /// The terminal window got or lost the focus.
    Focus(bool),
    /// The runtime published a new state.
    Snapshot(Arc<Snapshot>),
    /// A visible task has a new picture.
    Picture(TaskId, Picture),
    /// A call made by the person was answered.
    Answered(Answered),
    /// What the person typed was refused, and why.
    Refused(TaskId, String),
    /// What a watched task wrote, in whole lines, and where to read on.
    Watched(TaskId, String, u64),
    /// A watched task may have been silent for long enough.
    WatchDue,
    /// A call record that was requested.
    Record(Arc<CallRecord>),
    /// A page of a task's log that was requested.
    Page(TaskId, PageView),
    /// The transcripts behind an answer, to mark what it showed of them.
    Coverage(u64, Vec<CommandCoverage>),
    /// The moments of a task to replay.
    Reel(TaskId, Arc<Reel>),
    /// The screen of one of its moments, by index.
    Played(TaskId, usize, Picture),
    /// The line of a task's log that a search found, if there is one; which of the lines that match it is, and how many
    /// there are, where they were counted.
    Found(TaskId, Query, Option<u64>, Option<(u64, u64)>),
    /// What a search of all tasks found in some of them: whose turn it was, lines of tasks, and why some logs
    /// could not be read.
    FoundAll(u64, Vec<Place>, Vec<String>),
    /// The line of a task's log on which the prompt searched for begins, if there is one.
    Prompt {
        /// The task.
        task: TaskId,
        /// The line.
        line: Option<u64>,
        /// The search went towards the end.
        forward: bool,
    },
    /// An answer to a question was accepted, or why not.
    AnswerTaken(QuestionId, Option<String>),
    /// What the last command of a task printed; whether its shell has marked it.
    LastOutput(String, bool),
    /// A file was written.
    FileWritten {
        /// The folder it is in.
        folder: String,
        /// Its name there.
        name: String,
    },
    /// Text was copied: how much, and to which clipboards.
    Copied(String, Vec<&'static str>),
    /// It is time to measure what tasks use.
    UsageDue,
    /// What tasks use.
    Usage(Vec<TaskUsage>),
    /// Something could not be done.
    Failed(String),
    /// The current time.
    Tick(Timestamp),
    /// The settings files were read again, with these faults.
    Preferences(Box<Preferences>, Vec<String>),
    /// How long commands took in earlier recordings of the workspace.
    Durations(Durations),
    /// The names of the recordings that are over.
    Recordings(Vec<String>),
    /// The runtimes of this user on this machine.
    Running(Vec<Running>),
    /// A demonstration turns to something.
    Cue(Cue),
    /// The runtime went away.
    LinkLost,
    /// All tasks were stopped and the runtime has ended, as the person asked.
    Stopped,
}

/// The answer to a call made by the person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answered {
    /// The call's number.
    pub seq: u64,
    /// The tool called.
    pub tool: String,
    /// The envelope's summary, or the error's message.
    pub text: String,
    /// The call failed or was refused.
    pub is_error: bool,
    /// The task that the call started, if it did.
    pub started: Option<TaskId>,
}

/// A page out of a task's log.
#[derive(Debug, Clone)]
pub struct PageView {
    /// What was asked for.
    pub anchor: Anchor,
    /// Its rows.
    pub picture: Picture,
    /// The log line that each row is a part of.
    pub rows: Vec<u64>,
    /// When the first byte of each row's line came, as far as the log tells.
    pub times: Vec<Option<Timestamp>>,
    /// The log line its first row belongs to.
    pub first_line: u64,
    /// The log line after its last row.
    pub next_line: u64,
    /// Lines in the log when it was read.
    pub lines: u64,
}

/// Something that waits for the person, as a notification: safe text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct News {
    /// Identifies what it is about, to withdraw it; the same for as long as it waits.
    pub id: String,
    /// `question`, `input`, `held`, `limit`, `left` or `lost`.
    pub kind: &'static str,
    /// Its short name: `q03`, `t07`.
    pub name: String,
    /// What is wanted, in a few words.
    pub what: String,
    /// A prompt, a question, a command.
    pub said: String,
}

impl News {
    /// Returns all of it in one line.
    #[must_use]
    pub fn text(&self) -> String {
        format!("{} {}: {}", self.name, self.what, self.said)
    }
}

/// Which page of a log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Anchor {
    /// The last one.
    Tail,
    /// The last one, with the times of its lines, while the pane follows.
    Stamped,
    /// The last but one; they share a line.
    AboveTail,
    /// The one that ends a line before the end.
    LineAboveTail,
    /// The one that begins with this line.
    From(u64),
    /// The one that ends before this line.
    Before(u64),
    /// One that shows this line, with what stands around it.
    Around(u64),
    /// The one that begins with this line, or the last one if that shows it.
    Top(u64),
}

/// How the person leaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Leave {
    /// Stop all tasks, end the runtime.
    StopAll,
    /// The runtime goes on: in its own process, or in this one without a terminal.
    Detach,
}

impl Effect {
    /// Calls a tool as the operator.
    #[must_use]
    pub fn call(tool: &str, input: Value) -> Self {
        Self::Ask(Request::call(tool, input))
    }

    /// Calls a tool as the operator, at a place where there are several.
    #[must_use]
    pub fn call_at(place: Option<PlaceId>, tool: &str, input: Value) -> Self {
        let request = Request::call(tool, input);
        match place {
            Some(place) => Self::AskAt(place, request),
            None => Self::Ask(request),
        }
    }

    /// Passes on what the person types into a task.
    #[must_use]
    pub fn send(task: TaskId, input: Input) -> Self {
        Self::Ask(Request::Send { task, input })
    }
}

/// Something for the driver to carry out.
#[derive(Debug, Clone)]
pub enum Effect {
    /// Start the command of a task again whose beginning alone is known here.
    Rerun {
        /// The task.
        task: TaskId,
        /// The call's input but for the command.
        input: Value,
    },
    /// Run the program in this file, in this runtime; the path may be relative to the workspace.
    RunProgram {
        /// The file.
        file: String,
        /// The place, where there are several.
        place: Option<PlaceId>,
    },
    /// Ask the runtime for something; of several the one that it is about.
    Ask(Request),
    /// Ask this place for something that is about no task yet.
    AskAt(PlaceId, Request),
    /// List the runtimes of this user on this machine.
    ListRunning,
    /// Show this runtime in this console as well.
    OpenPlace(Running),
    /// Get the person's attention: bell and notification.
    Ring(String),
    /// Keep a command that was started for the next time.
    KeepCommand(String),
    /// Read what a task wrote from a byte of its log on, for the watch rules.
    ReadWatched {
        /// The task.
        task: Arc<TaskView>,
        /// Where to read on.
        from: u64,
    },
    /// Give the terminal's window this title, or the one it had.
    Title(Option<String>),
    /// Run the person's program for one thing that waits.
    Notify(News),
    /// It waits no longer: the person's program for it is ended, or not started.
    Withdraw(String),
    /// These panes are on screen now.
    Show {
        /// Tasks with a pane.
        visible: Vec<TaskId>,
        /// The one whose echo matters most.
        focus: Option<TaskId>,
        /// The columns of those that are shown as a terminal of that width would show them.
        columns: BTreeMap<TaskId, u16>,
    },
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
        /// What it shows, of each command.
        shown: Vec<ShownCommand>,
    },
    /// Read the moments of a task, for a replay.
    Replay(TaskId),
    /// Draw a screen of the replay.
    Play {
        /// The task.
        task: TaskId,
        /// The index of the moment.
        place: usize,
        /// Marks of the log applied by then.
        marks: usize,
    },
    /// Search a task's log.
    Search(TaskId, Query),
    /// Search the logs of some tasks, of all that are looked through: which search it is, the text, the tasks.
    SearchAll(u64, String, Vec<TaskId>),
    /// Search for a prompt in a task's log.
    Prompt {
        /// The task.
        task: TaskId,
        /// The first line searched; none is the one before the last.
        from: Option<u64>,
        /// Towards the end instead of the beginning.
        forward: bool,
    },
    /// Put text on the clipboard.
    Copy(String),
    /// Copy text, and say to which clipboards.
    Yank {
        /// The text.
        text: String,
        /// How much that is.
        what: String,
    },
    /// Write text to a new file.
    WriteFile {
        /// Its name.
        file: FileName,
        /// Its contents.
        text: String,
    },
    /// Write what a task wrote to a new file.
    WriteExport {
        /// The task.
        task: Arc<TaskView>,
        /// As what.
        form: Form,
        /// In which colours.
        palette: Palette,
        /// Its name.
        file: FileName,
    },
    /// Read what the last command of a task printed.
    LastOutput(TaskId),
    /// List the recordings that are over.
    Recordings,
    /// Save the theme in the settings.
    SaveTheme(String),
    /// Save what is remembered.
    Remember(Memory),
    /// Keep how the console is arranged.
    Arranged(Arrangement),
    /// Take the mouse, or leave it to the terminal.
    Mouse(bool),
    /// End the console.
    Quit(Leave),
}
