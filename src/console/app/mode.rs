//! Which screen is shown, and where keys go.

use tui_input::Input as Editor;

use crate::envelope::TaskId;

use super::copy::Copying;

/// The screens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum View {
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

impl View {
    /// Returns its name, as files are called after it.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Tasks => "tasks",
            Self::Focus => "focus",
            Self::Receipts => "receipts",
            Self::Metrics => "metrics",
            Self::Program => "program",
        }
    }
}

/// Where keys go.
#[derive(Debug, Clone)]
pub enum Mode {
    /// To the console.
    Observe,
    /// To this task, every one but the chord that leaves.
    Input(TaskId),
    /// Into a line for this task.
    Line(TaskId, Editor),
    /// To a pane that stands still, to copy from it.
    Copy(Copying),
    /// Into a command to start.
    Start(Editor),
    /// Into a name for this task.
    Rename(TaskId, Editor),
    /// Into a text to search this task's output for.
    Search(TaskId, Editor),
    /// Into a text to find in what is read.
    Find(Editor),
}

impl Mode {
    /// Returns the task that it is about.
    #[must_use]
    pub fn task(&self) -> Option<&TaskId> {
        match self {
            Self::Input(task) | Self::Line(task, _) | Self::Rename(task, _) | Self::Search(task, _) => {
                Some(task)
            }
            Self::Copy(copying) => Some(&copying.task),
            Self::Observe | Self::Start(_) | Self::Find(_) => None,
        }
    }
}
