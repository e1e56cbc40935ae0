//! What the console requests from outside, as plain data.

use std::sync::Arc;

use serde_json::Value;

use crate::envelope::TaskId;
use crate::link::{Act, ConsoleView, Request, RunningRuntime};
use crate::model::{PlaceId, TaskView, TypedInput};
use crate::runtime::ExportForm;
use crate::terminal::{Palette, Size};

use crate::console::state::{Anchor, Arrangement, ConsoleMemory, CoveredCommand, FileName, SearchQuery};
use crate::console::text::reading::ReaderView;

/// Something that waits for the user, as a notification; all of it is safe text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notification {
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

impl Notification {
    /// Returns all of it on one line.
    pub fn text(&self) -> String {
        format!("{} {}: {}", self.name, self.what, self.said)
    }
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

/// What a feature asks of the console when a key, or news, came to it.
#[derive(Debug, Clone)]
pub enum FeatureReply {
    /// Carried out.
    Do(Effect),
    /// Said to the person.
    Say(String),
    /// Said, with the call that it is about.
    About(String, u64),
    /// Said of a key that did nothing, until the next one.
    Decline(String),
    /// An error, which stays until it is closed.
    Fail(String),
    /// A text that takes the screen.
    Read(Box<ReaderView>),
}

impl Effect {
    /// Calls a tool as the operator.
    pub fn call(tool: &str, input: Value) -> Self {
        Self::Ask(Request::call(tool, input))
    }

    /// Calls a tool as the operator, at the given place where there are several.
    pub fn call_at(place: Option<PlaceId>, tool: &str, input: Value) -> Self {
        let request = Request::call(tool, input);
        match place {
            Some(place) => Self::AskAt(place, request),
            None => Self::Ask(request),
        }
    }

    /// Sends what the user types to a task.
    pub fn send(task: TaskId, input: TypedInput) -> Self {
        Self::Ask(Act::Send(input).on(task))
    }
}

/// Something for the driver to do.
#[derive(Debug, Clone)]
pub enum Effect {
    /// Rerun the command of a task, of which the console knows only the beginning.
    Rerun {
        task: TaskId,
        /// The call's input, without the command.
        input: Value,
    },
    /// Run the program in this file in this runtime; the path may be relative to the workspace.
    RunProgram {
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
    /// Find the task of another of this user's runtimes that holds the port which a task could not have.
    FindHolder { task: TaskId, port: u16 },
    /// Go to the window or pane in which an agent of this machine runs.
    GoToAgent {
        label: String,
        /// A process of it.
        pid: u32,
        /// The live tasks in which it may run, with the processes of their shells.
        tasks: Vec<(u32, TaskId)>,
    },
    /// Show this runtime in this console too.
    OpenPlace(RunningRuntime),
    /// Get the user's attention with the bell and a notification.
    Ring(String),
    /// Save a started command to the command history.
    KeepCommand(String),
    /// Read a task's output from an offset in its log, for the watch rules.
    ReadWatched {
        task: Arc<TaskView>,
        /// The offset at which to continue reading.
        from: u64,
    },
    /// Set the title of the terminal's window, or restore the original one.
    Title(Option<String>),
    /// Run the user's notification program for one item that waits.
    Notify(Notification),
    /// The item no longer waits: end the user's notification program for it, or do not start it.
    Withdraw(String),
    /// Announce which panes are on screen.
    Show(ConsoleView),
    /// Give the terminal back to the shell until that continues the console.
    Suspend,
    /// Have the terminal report each movement of the mouse, or only those with a button held.
    Hover(bool),
    /// Read a page of a task's log.
    Page {
        task: TaskId,
        /// Which page.
        anchor: Anchor,
        /// How large.
        size: Size,
    },
    /// Read the transcripts behind an answer.
    Coverage {
        call: u64,
        /// What it shows of each command.
        shown: Vec<CoveredCommand>,
    },
    /// Read the recorded moments of a task, for a replay.
    Replay(TaskId),
    /// Draw a screen of a replay.
    Play {
        task: TaskId,
        /// The index of the moment.
        place: usize,
        /// The number of log marks applied by then.
        marks: usize,
    },
    /// Search a task's log.
    Search(TaskId, SearchQuery),
    /// Search the logs of some tasks: the ticket of the search, the text and the tasks.
    SearchAll(u64, String, Vec<TaskId>),
    /// Search for a prompt in a task's log.
    Prompt {
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
        text: String,
        /// A description of its size.
        what: String,
    },
    /// Write text to a new file.
    WriteFile {
        file: FileName,
        /// Its contents.
        text: String,
    },
    /// Export a task's output to a new file.
    WriteExport {
        task: Arc<TaskView>,
        /// The format.
        form: ExportForm,
        /// The colours to use.
        palette: Palette,
        file: FileName,
    },
    /// Read the output of a task's last command.
    LastOutput(TaskId),
    /// List the finished recordings.
    Recordings,
    /// Save the theme in the settings.
    SaveTheme(String),
    /// Save what is remembered across sessions.
    Remember(ConsoleMemory),
    /// Save how the console is arranged.
    Arranged(Arrangement),
    /// Capture the mouse, or leave it to the terminal.
    Mouse(bool),
    /// End the console.
    Quit(Leave),
    /// Answer `serve --stop`: the runtime stays.
    Stay,
}
