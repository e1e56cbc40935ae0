//! The console as a whole: its state, its features, and what lies over the screen. Only this folder names all features: which
//! one has the keys, where a message goes, and in which order they are drawn.

mod actions;
mod agents;
pub mod arranging;
pub mod availability;
mod away;
mod border;
mod calls;
mod composing;
mod copying;
mod derived;
mod dialogs;
pub mod draw;
mod finding;
mod glossary;
pub mod layer;
mod lists;
mod mouse;
mod outer;
mod pane;
mod places;
mod programs;
mod quitting;
mod replaying;
mod replies;
mod searching;
mod tasks;
mod update;
mod visible;
mod writing;

use std::collections::BTreeSet;
use std::sync::Arc;

use jiff::Timestamp;

use crate::console::app::border::ListBorder;
use crate::console::app::layer::Layer;
use crate::console::app::visible::VisiblePanes;
use crate::console::features::attention::Attention;
use crate::console::features::away::Absence;
use crate::console::features::receipts::Receipts;
use crate::console::features::search_all::AllTasksSearch;
use crate::console::features::stop::PendingStops;
use crate::console::options::DemoCue;
use crate::console::state::setup::Setup;
use crate::console::state::{Screen, State};
use crate::envelope::TaskId;
use crate::model::Snapshot;

/// The whole console: what is known and shown, and what each feature keeps for itself.
#[derive(Debug, Clone)]
pub struct App {
    /// What all features read.
    pub state: State,
    /// The layers over the screen, topmost last.
    pub layers: Vec<Layer>,
    /// The texts of the calls on screen.
    pub receipts: Receipts,
    /// The most recent search across all tasks.
    pub everywhere: AllTasksSearch,
    /// What waits for the user, and what the bell has rung for.
    pub attention: Attention,
    /// When the user was away, and what happened meanwhile.
    pub absence: Absence,
    /// What is being stopped or asked about stopping.
    pub stopping: PendingStops,
    /// The dialog in the frame that the terminal is taking, and whether its last row is in it.
    sent_dialog: Option<(String, bool)>,
    /// The panes on screen.
    pub(in crate::console) panes: VisiblePanes,
    last_click: Option<(Timestamp, u16, u16)>,
    /// The border that the mouse drags.
    border: Option<ListBorder>,
    select_next: Option<TaskId>,
    /// The selection follows once no layer lies over the screen.
    follows_late: bool,
    /// The screen from which a task was entered to type into it.
    entered_from: Option<Screen>,
    /// Enter the next task started here, to type into it.
    enters_next: bool,
    /// A task that is to be entered as soon as it takes input: started here, or entered before it ran.
    to_enter: Option<TaskId>,
    /// Tasks started here; they are resized to fit their pane.
    own: BTreeSet<TaskId>,
    /// When a key was last discarded because its task had ended.
    swallowed: Option<Timestamp>,
    /// A step of a demonstration about a call that is not here yet.
    early_cue: Option<DemoCue>,
}

impl App {
    /// Returns a console freshly opened on `snapshot`.
    pub fn new(setup: Setup, snapshot: Arc<Snapshot>, size: (u16, u16), now: Timestamp) -> Self {
        Self {
            state: State::new(setup, snapshot, size, now),
            layers: Vec::new(),
            receipts: Receipts::default(),
            everywhere: AllTasksSearch::default(),
            attention: Attention::since(now),
            absence: Absence::default(),
            stopping: PendingStops::default(),
            sent_dialog: None,
            panes: VisiblePanes::default(),
            last_click: None,
            border: None,
            select_next: None,
            follows_late: false,
            entered_from: None,
            enters_next: false,
            to_enter: None,
            own: BTreeSet::new(),
            swallowed: None,
            early_cue: None,
        }
    }
}
