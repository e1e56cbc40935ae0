//! How the user has arranged the screen, as it is saved.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::console::state::focus::Screen;
use crate::console::state::listing::rows::ListOrder;
use crate::console::state::tiling::Tiling;
use crate::envelope::TaskId;

/// The saved arrangement.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Arrangement {
    /// The screen: `tasks`, `focus`, `receipts`, `metrics`.
    pub screen: Screen,
    /// The selected task is shown alone.
    pub zoom: bool,
    /// Tasks whose pane is pinned, in order.
    pub pins: Vec<TaskId>,
    /// How many steps larger than the default the list is.
    pub split: i16,
    /// The sort order, grouping and columns of the task list.
    pub list: ListOrder,
    /// The layout of the tasks screen; if none, the automatic one.
    pub layout: Option<Tiling>,
    /// When it was saved: at the latest when the console was closed.
    pub saved_at: Option<Timestamp>,
}
