//! Which screen is shown, what lies over it, and where keys go.

use serde::{Deserialize, Serialize};
use tui_input::Input as Editor;

use crate::envelope::TaskId;

use super::App;
use super::approval::card::Card;
use super::attention::Chosen;
use super::chooser::Chooser;
use super::copy::Copying;
use super::question::QuestionDialog;
use super::tell::Tell;
use crate::console::keys::Context;

/// What lies over the screen and takes the keys.
#[derive(Debug, Clone)]
pub enum Layer {
    /// Stop this task?
    Stop {
        /// The task.
        task: TaskId,
        /// Asked for with the kill key.
        kill: bool,
    },
    /// Which signal for this task?
    Signal(TaskId),
    /// Stop this task and start it again?
    Restart(TaskId),
    /// Quit?
    Quit,
    /// What is known of this task.
    Why(TaskId),
    /// May this call run?
    Approval(Card),
    /// A question of a program.
    Question(Box<QuestionDialog>),
    /// What waits for the person, with the item pointed at.
    Attention(Chosen),
    /// Send this paste of several lines to this task?
    Paste(TaskId, String),
    /// Words for an agent.
    Tell(Box<Tell>),
    /// A list to choose from.
    List(Box<Chooser>),
    /// The keys of a context.
    Help {
        /// The context asked about.
        about: Context,
        /// First row shown.
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
    /// Every call.
    Receipts,
    /// The counters.
    Metrics,
    /// A program: source, values, the command it runs.
    Program,
}

impl Screen {
    /// Returns its name, which file names contain.
    pub fn word(self) -> &'static str {
        self.into()
    }
}

/// Where keys go.
#[derive(Debug, Clone)]
pub enum Mode {
    /// To the console.
    Observe,
    /// To this task, every one but the chord that leaves.
    Input(TaskId),
    /// To a frozen pane, to copy from it.
    Copy(Copying),
    /// Into a line that is written at the bottom of the screen.
    Write(Prompt, Editor),
}

/// What a line is written for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Prompt {
    /// To send it to this task.
    Line(TaskId),
    /// A command to start.
    Start,
    /// A name for this task.
    Rename(TaskId),
    /// What to ring for in this task.
    Watch(TaskId),
    /// A name for the layout in use.
    Layout,
    /// A text to search this task's output for.
    Search(TaskId),
    /// A text to search the output of all tasks for.
    SearchAll,
    /// A text to find in what is read.
    Find,
    /// A text that the calls listed are to hold.
    FilterCalls,
    /// Words that the tasks listed are to hold.
    FilterTasks,
}

impl Prompt {
    /// Returns the context whose keys hold while it is written.
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
    /// Returns the task that it is about.
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
    /// Returns the context whose keys hold now.
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
            (Some(Layer::Approval(Card { writing: Some(_), .. })), _) => Context::Note,
            (Some(Layer::Approval(_)), _) => Context::Held,
            (Some(Layer::Help { .. } | Layer::Why(_)), _) => Context::Help,
            (None, Mode::Input(_)) => Context::Input,
            (None, Mode::Copy(_)) => Context::Copy,
            (None, Mode::Write(prompt, _)) => prompt.context(),
            (None, Mode::Observe) => self.view_context(),
        }
    }

    /// Returns the context of the screen shown, whatever lies over it.
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
