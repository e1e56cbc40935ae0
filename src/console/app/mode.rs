//! Which screen is shown, which layers lie over it, and where keys go.

use serde::{Deserialize, Serialize};
use tui_input::Input as Editor;

use crate::envelope::TaskId;

use super::App;
use super::approval::card::Card;
use super::attention::Chosen;
use super::chooser::Chooser;
use super::copy::Copying;
use super::pasting::UnsentPaste;
use super::question::QuestionDialog;
use super::tell::Tell;
use crate::console::keys::Context;

/// A layer over the screen, which receives the keys.
#[derive(Debug, Clone)]
pub enum Layer {
    /// Confirms stopping this task.
    Stop {
        /// The task.
        task: TaskId,
        /// It was requested with the kill key.
        kill: bool,
    },
    /// Chooses a signal for this task.
    Signal(TaskId),
    /// Confirms stopping this task and starting it again.
    Restart(TaskId),
    /// Confirms quitting.
    Quit,
    /// Shows what is known about this task.
    Why(TaskId),
    /// Decides whether this call may run.
    Approval(Card),
    /// Answers a program's question.
    Question(Box<QuestionDialog>),
    /// The attention list, with the selected item.
    Attention(Chosen),
    /// Confirms sending this multi-line paste to its task.
    Paste(Box<UnsentPaste>),
    /// Writes a message to an agent.
    Tell(Box<Tell>),
    /// A list to choose from.
    List(Box<Chooser>),
    /// The key bindings of a context.
    Help {
        /// The context whose keys are shown.
        about: Context,
        /// The first row shown.
        top: usize,
    },
}

/// The screens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, strum::IntoStaticStr)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum Screen {
    /// All tasks and their panes.
    #[default]
    Tasks,
    /// One task, full size.
    Focus,
    /// All calls.
    Receipts,
    /// The metrics.
    Metrics,
    /// A program: its source, its values and the command it is running.
    Program,
}

impl Screen {
    /// Returns its name, as used in file names.
    pub fn word(self) -> &'static str {
        self.into()
    }
}

/// Where keys go.
#[derive(Debug, Clone)]
pub enum Mode {
    /// To the console.
    Observe,
    /// To this task, except for the chord that leaves it.
    Input(TaskId),
    /// To a frozen pane, for copying from it.
    Copy(Copying),
    /// To an input line at the bottom of the screen.
    Write(Prompt, Editor),
}

/// What an input line is for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Prompt {
    /// A line to send to this task.
    Line(TaskId),
    /// A command to start.
    Start,
    /// A name for this task.
    Rename(TaskId),
    /// A watch rule for this task.
    Watch(TaskId),
    /// A name for the current layout.
    Layout,
    /// A text to search for in this task's output.
    Search(TaskId),
    /// A text to search for in the output of all tasks.
    SearchAll,
    /// A text to find in the open reader.
    Find,
    /// A text to filter the list of calls by.
    FilterCalls,
    /// Words to filter the task list by.
    FilterTasks,
}

impl Prompt {
    /// Returns the context whose key bindings apply while it is being typed.
    pub fn context(&self) -> Context {
        match self {
            Self::Line(_) => Context::Line,
            Self::Start => Context::Start,
            Self::Rename(_) | Self::Watch(_) | Self::Layout => Context::Note,
            Self::Search(_) | Self::SearchAll | Self::Find => Context::Search,
            Self::FilterCalls | Self::FilterTasks => Context::Search,
        }
    }
}

impl Mode {
    /// Returns the task that the mode concerns.
    pub fn task(&self) -> Option<&TaskId> {
        match self {
            Self::Input(task) => Some(task),
            Self::Write(
                Prompt::Line(task) | Prompt::Rename(task) | Prompt::Watch(task) | Prompt::Search(task),
                _,
            ) => Some(task),
            Self::Copy(copying) => Some(&copying.task),
            Self::Observe | Self::Write(..) => None,
        }
    }
}

impl App {
    /// Returns the context whose key bindings apply now.
    pub fn context(&self) -> Context {
        match (self.layers.last(), &self.mode) {
            (Some(Layer::Stop { .. }), _) => Context::Stop,
            (Some(Layer::Signal(_)), _) => Context::Signal,
            (Some(Layer::Restart(_)), _) => Context::Restart,
            (Some(Layer::Quit), _) => Context::Quit,
            (Some(Layer::Question(dialog)), _) => dialog.context(),
            (Some(Layer::Attention(_)), _) => Context::Attention,
            (Some(Layer::List(_)), _) => Context::List,
            (Some(Layer::Paste(..)), _) => Context::Paste,
            (Some(Layer::Tell(_)), _) => Context::Tell,
            (Some(Layer::Approval(card)), _) => card.context(),
            (Some(Layer::Help { .. } | Layer::Why(_)), _) => Context::Help,
            (None, Mode::Input(_)) => Context::Input,
            (None, Mode::Copy(_)) => Context::Copy,
            (None, Mode::Write(prompt, _)) => prompt.context(),
            (None, Mode::Observe) => self.view_context(),
        }
    }

    /// Returns the context of the current screen, ignoring any layers over it.
    pub fn view_context(&self) -> Context {
        match self.screen {
            _ if self.reader.is_some() => Context::Text,
            _ if self.replay.is_some() => Context::Replay,
            Screen::Tasks => Context::Tasks,
            Screen::Focus => Context::Focus,
            Screen::Receipts => Context::Receipts,
            Screen::Metrics => Context::Metrics,
            Screen::Program => Context::Program,
        }
    }
}
