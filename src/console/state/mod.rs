//! What the console knows and what is on its screen: the runtime, the selection, where keys go, the size, the clock and the
//! settings. All features read it; it knows none of them.

mod actions;
pub mod agents;
pub mod areas;
pub mod arrangement;
pub mod availability;
pub mod call_rows;
pub mod calls;
pub mod choice;
pub mod copying;
pub mod coverage;
pub mod durations;
pub mod export;
pub mod finding;
pub mod focus;
pub mod history;
pub mod input;
pub mod layout;
pub mod listing;
mod lookups;
pub mod memory;
pub mod names;
pub mod outer;
pub mod page;
pub mod pane_slots;
mod panes;
pub mod picture;
pub mod places;
pub mod programs;
pub mod questions;
pub mod replay;
pub mod search;
pub mod setup;
pub mod stamps;
pub mod terms;
pub mod tiles;
pub mod tiling;
pub mod toasts;
pub mod usage;
pub mod view;
pub mod words;

use std::sync::Arc;

use jiff::Timestamp;

use crate::console::effect::Effect;
use crate::console::state::calls::Calls;
use crate::console::state::durations::UsualDurations;
use crate::console::state::history::InputHistory;
use crate::console::state::listing::ListState;
use crate::console::state::outer::OuterTerminal;
use crate::console::state::pane_slots::PaneSlots;
use crate::console::state::setup::Setup;
use crate::console::state::stamps::Stamps;
use crate::console::state::terms::Terms;
use crate::console::state::tiling::Tilings;
use crate::console::state::toasts::Toasts;
use crate::console::state::usage::Pace;
use crate::console::text::reading::ReaderView;
use crate::envelope::TaskId;
use crate::model::{PlaceId, Snapshot};

pub(super) use agents::owner;
pub use areas::{centred, cut_bottom, cut_left, cut_top, inside};
pub use arrangement::Arrangement;
pub use availability::{Availability, Obstacle};
pub use call_rows::CallRow;
pub(super) use call_rows::{CallState, outcome};
pub use calls::Column;
pub use choice::ListChoice;
pub use copying::Copying;
pub use coverage::{CommandCoverage, CoveredCommand, CoveredStream, StreamTranscript};
pub(super) use durations::roughly;
pub use export::{ExportKind, FileName, Shot};
pub use finding::TextSearch;
pub use focus::{Mode, Prompt, Screen};
pub use input::takes_input;
pub(super) use input::{MOST_WRITTEN, SIGNALS, line_to, signal, start_of, stop_of, wants_secret};
pub use layout::{Breakpoint, Layout, Pane};
pub use listing::columns::ListColumn;
pub use listing::filter::{Filter, Filters};
pub(super) use listing::rows::ListRow;
pub use memory::ConsoleMemory;
pub use names::alias;
pub(super) use names::{call_name, link_word, short_alias};
pub use page::{Anchor, PageView, Scroll};
pub use picture::Picture;
pub(super) use places::refusal;
pub use programs::ProgramScreen;
pub(super) use programs::program_file;
pub use replay::{Reel, Replay};
pub use search::{FoundLine, LogSearch, SearchOutcome, SearchQuery};
pub(super) use terms::HINTED;
pub use terms::Term;
pub use usage::Usages;
pub use view::View;
pub(super) use words::{command, how, last_sign, needs, short, told, who};

/// What the console knows and shows.
#[derive(Debug, Clone)]
pub struct State {
    /// Settings and facts passed in from outside.
    pub setup: Setup,
    /// The terminal around the console, but for its size.
    pub outer: OuterTerminal,
    /// Size of that terminal: columns and rows.
    pub size: (u16, u16),
    /// The current time, as of the last message.
    pub now: Timestamp,
    /// The runtime, as the console knows it.
    pub view: View,
    /// The current screen.
    pub screen: Screen,
    /// Where keys go.
    pub mode: Mode,
    /// Transient messages.
    pub toasts: Toasts,
    /// The task list.
    pub list: ListState,
    /// The scrolled-back pane, if any.
    pub scroll: Option<Scroll>,
    /// The current or finished search; cleared when the pane follows its output again.
    pub search: Option<LogSearch>,
    /// The timestamps beside the pane's lines, if they are shown.
    pub stamps: Stamps,
    /// On the tasks screen: navigation keys go to the pane instead of the list.
    pub in_pane: bool,
    /// The line from which the search being typed goes backwards.
    pub search_from: u64,
    /// How many columns the pane is panned to the right.
    pub pan: u16,
    /// Whether the selected task is shown alone.
    pub is_zoomed: bool,
    /// Tasks whose pane is pinned, in order.
    pub pins: Vec<TaskId>,
    /// How many steps larger than the default the list is.
    pub split: i16,
    /// How the tasks screen is split into panes.
    pub tilings: Tilings,
    /// Which tasks have a pane on the tasks screen.
    pub places: PaneSlots,
    /// Input lines sent before, newest last; never a line from a hidden prompt.
    pub history: InputHistory,
    /// Commands started from the console, in earlier sessions too.
    pub commands: InputHistory,
    /// When a key was last pressed.
    pub touched: Option<Timestamp>,
    /// The timeline covers all tasks.
    pub is_overall: bool,
    /// The receipts screen: calls, receipts and envelopes.
    pub calls: Calls,
    /// The text open in the reader over the screen, if any.
    pub reader: Option<ReaderView>,
    /// The task being replayed, if any.
    pub replay: Option<Replay>,
    /// The program screen.
    pub programs: ProgramScreen,
    /// How fast the console responds.
    pub pace: Pace,
    /// The usual durations of commands.
    pub usual: UsualDurations,
    /// Whether we capture the mouse.
    pub has_mouse: bool,
    /// What is remembered across sessions.
    pub memory: ConsoleMemory,
    /// Which terms are on screen for the first time.
    pub terms: Terms,
    /// When the console was opened.
    pub opened: Timestamp,
    /// Quitting: the tasks are being stopped first.
    pub is_leaving: bool,
    /// Whether there is anything new to draw.
    pub is_dirty: bool,
    /// Effects produced since the last message.
    pub effects: Vec<Effect>,
    /// Where a mouse press on a pane may start a drag.
    pub pressed: Option<(u16, u16)>,
    /// The last notice that was cleared.
    pub notices_seen: u64,
    /// The place where the command being written will start.
    pub start_at: Option<PlaceId>,
    /// When the cleared tasks are dismissed from the runtime's list.
    pub clear_at: Option<Timestamp>,
}

impl State {
    /// Returns the state of a console freshly opened on `snapshot`.
    pub fn new(setup: Setup, snapshot: Arc<Snapshot>, size: (u16, u16), now: Timestamp) -> Self {
        let mut state = Self {
            setup,
            outer: OuterTerminal::default(),
            size,
            now,
            view: View::new(snapshot),
            screen: Screen::Tasks,
            mode: Mode::Observe,
            toasts: Toasts::default(),
            list: ListState::default(),
            scroll: None,
            search: None,
            stamps: Stamps::default(),
            in_pane: false,
            search_from: u64::MAX,
            pan: 0,
            is_zoomed: false,
            pins: Vec::new(),
            split: 0,
            tilings: Tilings::default(),
            places: PaneSlots::default(),
            history: InputHistory::default(),
            commands: InputHistory::default(),
            touched: None,
            is_overall: false,
            calls: Calls::default(),
            reader: None,
            replay: None,
            programs: ProgramScreen::default(),
            pace: Pace::default(),
            usual: UsualDurations::default(),
            has_mouse: true,
            memory: ConsoleMemory::default(),
            terms: Terms::default(),
            opened: now,
            is_leaving: false,
            is_dirty: true,
            effects: Vec::new(),
            pressed: None,
            notices_seen: 0,
            start_at: None,
            clear_at: None,
        };
        state.usual.note(&state.view.snapshot.tasks);
        state.follow();
        state
    }
}
