//! What the console knows and what is on its screen: the runtime, the selection, where keys go, the size, the clock and the
//! settings. All features read it; it knows none of them.

mod actions;
pub mod agents;
mod answers;
pub mod areas;
pub mod arrangement;
pub mod availability;
mod call_areas;
pub mod call_rows;
pub mod calls;
pub mod choice;
pub mod clock;
pub mod composer;
pub mod copying;
pub mod coverage;
pub mod delivery;
pub mod division;
pub mod durations;
pub mod export;
pub mod finding;
pub mod focus;
pub mod glossary;
pub mod grid;
pub mod history;
pub mod input;
pub mod key_target;
pub mod layout;
pub mod listing;
pub mod load;
mod lookups;
pub mod memory;
pub mod names;
pub mod outer;
pub mod page;
pub mod pane_reading;
pub mod picture;
pub mod places;
pub mod ports;
pub mod programs;
pub mod questions;
pub mod replay;
pub mod rulings;
pub mod search;
pub mod seats;
pub mod setup;
pub mod stage;
pub mod tiles;
pub mod tiling;
pub mod timestamps;
pub mod titles;
pub mod toasts;
pub mod usage;
pub mod view;
pub mod waiting;
pub mod words;

use std::sync::Arc;

use jiff::Timestamp;

use crate::console::effect::Effect;
use crate::console::state::calls::Calls;
use crate::console::state::clock::ConsoleClock;
use crate::console::state::composer::Composer;
use crate::console::state::division::Division;
use crate::console::state::focus::Focus;
use crate::console::state::glossary::Terms;
use crate::console::state::key_target::KeyTarget;
use crate::console::state::listing::ListState;
use crate::console::state::outer::OuterTerminal;
use crate::console::state::pane_reading::PaneReading;
use crate::console::state::setup::Setup;
use crate::console::state::toasts::Toasts;
use crate::console::state::usage::Pace;
use crate::console::text::reading::ReaderView;
use crate::model::Snapshot;

pub(super) use agents::owner;
pub(super) use answers::{answers_no, only_answers};
pub use areas::{cut_bottom, cut_left, cut_top, inside, over_screen, stand};
pub use arrangement::Arrangement;
pub use availability::{Availability, Obstacle};
pub use call_rows::CallRow;
pub(super) use call_rows::{CallState, outcome};
pub use calls::Column;
pub use choice::ListChoice;
pub use copying::CopyMode;
pub use coverage::{CommandCoverage, CoveredCommand, CoveredStream, StreamTranscript};
pub use export::{ExportKind, FileName, ShareForm, Shot};
pub use finding::TextSearch;
pub use focus::{Mode, Prompt, Screen};
pub(super) use glossary::HINTED;
pub use glossary::Term;
pub use input::takes_input;
pub(super) use input::{MOST_WRITTEN, SIGNALS, line_to, signal, start_of, stop_of, wants_secret};
pub use layout::{Breakpoint, Layout, Pane};
pub use listing::PointedRow;
pub use listing::columns::ListColumn;
pub use listing::filter::{Filter, Filters};
pub(super) use listing::rows::{ListRow, SelectableRow};
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
pub use usage::Usages;
pub use view::View;
pub(super) use words::{actor_name, command, fact_words, last_sign, needs, short};

/// What the console knows and shows.
#[derive(Debug, Clone)]
pub struct State {
    /// Settings and facts passed in from outside.
    pub setup: Setup,
    /// The terminal around the console.
    pub outer: OuterTerminal,
    /// The time.
    pub clock: ConsoleClock,
    /// The runtime, as the console knows it.
    pub view: View,
    /// The screen and where keys go.
    pub focus: Focus,
    /// The task that keys act on.
    pub key_target: KeyTarget,
    /// How the screen is divided.
    pub division: Division,
    /// How panes are read.
    pub reading: PaneReading,
    /// The input line.
    pub composer: Composer,
    /// Transient messages.
    pub toasts: Toasts,
    /// The task list.
    pub list: ListState,
    /// The receipts screen: calls, receipts and envelopes.
    pub calls: Calls,
    pub programs: ProgramScreen,
    /// The text open in the reader over the screen, if any.
    pub reader: Option<ReaderView>,
    /// The task being replayed, if any.
    pub replay: Option<Replay>,
    /// How fast the console responds.
    pub pace: Pace,
    /// What is remembered across sessions.
    pub memory: ConsoleMemory,
    /// Which terms are on screen for the first time.
    pub terms: Terms,
    /// Quitting: the tasks are being stopped first.
    pub is_leaving: bool,
    /// Whether there is anything new to draw.
    pub is_dirty: bool,
    /// Effects produced since the last message.
    pub effects: Vec<Effect>,
}

impl State {
    /// Returns the state of a console freshly opened on `snapshot`.
    pub fn new(setup: Setup, snapshot: Arc<Snapshot>, size: (u16, u16), now: Timestamp) -> Self {
        let mut state = Self {
            setup,
            outer: OuterTerminal::of_size(size),
            clock: ConsoleClock::new(now),
            view: View::new(snapshot),
            focus: Focus::default(),
            key_target: KeyTarget::default(),
            division: Division::default(),
            reading: PaneReading::default(),
            composer: Composer::default(),
            toasts: Toasts::default(),
            list: ListState::default(),
            calls: Calls::default(),
            programs: ProgramScreen::default(),
            reader: None,
            replay: None,
            pace: Pace::default(),
            memory: ConsoleMemory::default(),
            terms: Terms::default(),
            is_leaving: false,
            is_dirty: true,
            effects: Vec::new(),
        };
        state.view.usual.note(&state.view.snapshot.tasks);
        state.follow();
        state.note_target(None);
        state
    }
}
