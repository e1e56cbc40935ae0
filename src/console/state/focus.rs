//! Which screen is shown, which layers lie over it, and where keys go.

use serde::{Deserialize, Serialize};
use tui_input::Input as Editor;

use crate::console::keys::KeyContext;
use crate::console::state::copying::CopyMode;
use crate::envelope::TaskId;

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

/// The screen and where on it keys go.
#[derive(Debug, Clone)]
pub struct Focus {
    /// The current screen.
    pub screen: Screen,
    /// Where keys go.
    pub mode: Mode,
    /// On the tasks screen: navigation keys go to the pane instead of the list.
    pub in_pane: bool,
}

impl Default for Focus {
    fn default() -> Self {
        Self { screen: Screen::Tasks, mode: Mode::Observe, in_pane: false }
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
    Copy(CopyMode),
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
    pub fn context(&self) -> KeyContext {
        match self {
            Self::Line(_) => KeyContext::Line,
            Self::Start => KeyContext::Start,
            Self::Rename(_) | Self::Watch(_) => KeyContext::Note,
            Self::Search(_) | Self::SearchAll | Self::Find => KeyContext::Search,
            Self::FilterCalls | Self::FilterTasks => KeyContext::Search,
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
