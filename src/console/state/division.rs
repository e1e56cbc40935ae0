//! How the screen is divided among the list, panes and what is beside them.

use crate::console::state::seats::Stage;
use crate::console::state::tiling::Tiling;
use crate::envelope::TaskId;

/// The division of the screen, as the user chose it.
#[derive(Debug, Clone, Default)]
pub struct Division {
    /// The layout of the tasks screen; if none, the automatic one.
    pub tiling: Option<Tiling>,
    /// How many steps larger than the default the list is.
    pub split: i16,
    /// Tasks whose pane is pinned, in order.
    pub pins: Vec<TaskId>,
    /// Which tasks have a pane on the tasks screen.
    pub stage: Stage,
    /// Whether the selected task is shown alone.
    pub is_zoomed: bool,
    /// The timeline covers all tasks.
    pub is_overall: bool,
}
