//! What choosing an item of a list means.

use crate::console::keys::Action;
use crate::console::state::calls::RulingFilter;
use crate::console::state::export::ExportKind;
use crate::console::state::listing::columns::ListColumn;
use crate::console::state::listing::filter::{AgentFilter, Filter};
use crate::console::state::listing::rows::{Grouping, Sort};
use crate::console::state::tiling::Tiling;
use crate::envelope::TaskId;
use crate::link::RunningRuntime;
use crate::model::{PlaceId, Subject};

/// What choosing an item does.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum ListChoice {
    /// Perform this action.
    Action(Action),
    /// Go to this task.
    Task(TaskId),
    /// Go to this call.
    Call(u64),
    /// Open this recording.
    Recording(String),
    /// Use this theme.
    Theme(String),
    /// Export this to a file.
    Export(ExportKind),
    /// List only these tasks.
    Filter(Filter),
    /// List only the tasks of an agent.
    Whose(AgentFilter),
    /// List only the calls that were let be made so.
    Ruling(RulingFilter),
    /// Arrange the task list this way.
    Arranged(ListForm),
    /// Use this layout.
    Layout(Option<Tiling>),
    /// Show what differs in the tree since then.
    Changes(Subject),
    /// Run this command in a pane.
    Run(String),
    /// Go to this search result, by index.
    Place(usize),
    /// List only the tasks of this place; if none, those of all places.
    Only(Option<PlaceId>),
    /// Show this runtime too.
    Open(RunningRuntime),
    /// Nothing: the item is there only to be read.
    #[default]
    Nothing,
}

/// A choice about the form of the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ListForm {
    /// The sort order.
    Sort(Sort),
    Groups(Grouping),
    /// Shows or hides a column.
    Column(ListColumn),
}
