//! The whole state of the console: a single value that `update` changes and `draw` reads.

mod agents;
pub mod approval;
mod areas;
pub mod attention;
pub mod availability;
pub mod bell;
mod changes;
pub mod chooser;
pub mod copy;
pub mod coverage;
mod cue;
mod derive;
mod dialog;
pub mod draw;
pub mod export;
pub mod find;
pub mod fleet;
pub mod hints;
pub mod layout;
pub mod metrics;
mod mode;
mod mouse;
mod next_runtime;
mod outer;
pub mod painter;
mod palette;
mod pane;
pub(crate) mod pasting;
pub mod picture;
mod places;
pub mod program;
pub mod question;
pub mod reader;
pub mod receipts;
mod reflow;
pub mod replay;
mod restart;
pub mod search;
pub mod search_all;
pub mod setup;
mod stamps;
mod status;
pub mod stop;
mod task;
pub mod task_list;
pub mod task_words;
pub mod tell;
mod terms;
mod tiles;
pub mod tiling;
mod timeline;
pub mod toasts;
pub mod typing;
mod update;
pub mod usage;
mod usual;
pub mod view;
pub mod watch;

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use jiff::Timestamp;

use crate::envelope::TaskId;
use crate::link::Shown;
use crate::model::{PlaceId, ProgramView, Snapshot, TaskStatus, TaskView};
use crate::terminal::Size;

use super::msg::{Anchor, Effect, PageView};
use bell::Bell;
pub use fleet::names::alias;
pub(crate) use fleet::names::short_alias;
pub(in crate::console) use fleet::names::{call_name, link_word, place_of_number};
pub(in crate::console) use fleet::{place_of_question, refusal};
use hints::Memory;
pub use layout::{Breakpoint, Layout, Pane, cut_bottom, cut_left, cut_top};
pub use mode::{Layer, Mode, Prompt, Screen};
pub use outer::Outer;
pub(crate) use painter::{Painter, columns, joined};
use places::Places;
use program::Programs;
use reader::Reader;
pub use reader::Text;
pub(crate) use reader::{moved, window};
use receipts::Calls;
pub use receipts::Column;
use replay::Replay;
use search::{Match, Search};
use search_all::Everywhere;
pub use setup::Setup;
use stamps::Stamps;
use stop::{Guard, StopQuestion};
use task_list::TaskList;
pub(crate) use task_words::{command, who};
use terms::Terms;
use tiling::Tilings;
use toasts::Toasts;
use typing::History;
use usage::Pace;
use usual::Usual;
use view::View;
use watch::Watching;

/// A pane that is scrolled back: frozen on a page of the log.
#[derive(Debug, Clone)]
pub struct Scroll {
    /// The task whose pane it is.
    pub task: TaskId,
    /// The requested page.
    pub wanted: Anchor,
    /// The width the page was requested for, in columns.
    pub columns: u16,
    /// The page shown, once it has been read.
    pub page: Option<PageView>,
    /// The number of lines in the log when the pane was frozen.
    pub lines: u64,
    /// The prompt jumped to; the search for the next one starts there.
    pub prompt: Option<u64>,
    /// Search matches on the page, plus that prompt.
    pub matches: Vec<Match>,
}

/// The console's whole state.
#[derive(Debug, Clone)]
pub struct App {
    /// Settings and facts passed in from outside.
    pub setup: Setup,
    /// The terminal around the console, but for its size.
    pub outer: Outer,
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
    /// The layers over the screen, topmost last.
    pub layers: Vec<Layer>,
    /// Transient messages.
    pub toasts: Toasts,
    /// The task list.
    pub list: TaskList,
    /// The scrolled-back pane, if any.
    pub scroll: Option<Scroll>,
    /// The current or finished search; cleared when the pane follows its output again.
    pub search: Option<Search>,
    /// The most recent search across all tasks.
    pub everywhere: Everywhere,
    /// The timestamps beside the pane's lines, if they are shown.
    pub stamps: Stamps,
    /// On the tasks screen: navigation keys go to the pane instead of the list.
    pub in_pane: bool,
    /// The line from which the search being typed goes backwards.
    pub(super) search_from: u64,
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
    pub(super) places: Places,
    /// Input lines sent before, newest last; never a line from a hidden prompt.
    pub history: History,
    /// Commands started from the console, in earlier sessions too.
    pub commands: History,
    /// When a key was last pressed.
    pub touched: Option<Timestamp>,
    /// The timeline covers all tasks.
    pub is_overall: bool,
    /// The receipts screen: calls, receipts and envelopes.
    pub calls: Calls,
    /// The text open in the reader over the screen, if any.
    pub reader: Option<Reader>,
    /// The task being replayed, if any.
    pub replay: Option<Replay>,
    /// The program screen.
    pub programs: Programs,
    /// How fast the console responds.
    pub pace: Pace,
    /// What the bell has already rung for.
    pub bell: Bell,
    /// The watch rules and what they have found.
    pub watching: Watching,
    /// The usual durations of commands.
    pub usual: Usual,
    /// Tasks being stopped for a restart, and since when.
    pub restarts: Vec<(TaskId, Timestamp)>,
    /// The window title we have set, if any.
    pub title: Option<String>,
    /// Whether we capture the mouse.
    pub has_mouse: bool,
    /// What is remembered across sessions.
    pub memory: Memory,
    /// Which terms are on screen for the first time.
    terms: Terms,
    /// When the console was opened.
    pub opened: Timestamp,
    /// Quitting: the tasks are being stopped first.
    pub is_leaving: bool,
    /// What `serve --stop` asks, until it is answered.
    pub(in crate::console) stop_question: Option<StopQuestion>,
    /// The dialog in the frame that the terminal is taking.
    sent_dialog: Option<String>,
    pub(super) is_dirty: bool,
    /// Effects produced since the last message.
    effects: Vec<Effect>,
    pub(super) shown: Shown,
    pub(super) paged: BTreeMap<TaskId, u16>,
    pub(super) fitted: Option<(TaskId, Size)>,
    pub(super) last_click: Option<(Timestamp, u16, u16)>,
    /// Where a mouse press on a pane may start a drag.
    pub(super) pressed: Option<(u16, u16)>,
    pub(super) guard: Guard,
    pub(super) notices_seen: u64,
    pub(super) select_next: Option<TaskId>,
    /// The screen from which a task was entered to type into it.
    pub(super) entered_from: Option<Screen>,
    /// The place where the command being written will start.
    pub(super) start_at: Option<PlaceId>,
    /// Enter the next task started here, to type into it.
    pub(super) enters_next: bool,
    /// A task that is to be entered as soon as it takes input: started here, or entered before it ran.
    pub(super) to_enter: Option<TaskId>,
    /// Tasks started here; they are resized to fit their pane.
    pub(super) own: BTreeSet<TaskId>,
    /// When the cleared tasks are dismissed from the runtime's list.
    pub(super) clear_at: Option<Timestamp>,
    /// When a key was last discarded because its task had ended.
    pub(super) swallowed: Option<Timestamp>,
}

impl App {
    /// Returns a console freshly opened on `snapshot`.
    pub fn new(setup: Setup, snapshot: Arc<Snapshot>, size: (u16, u16), now: Timestamp) -> Self {
        let mut app = Self {
            setup,
            outer: Outer::default(),
            size,
            now,
            view: View::new(snapshot),
            screen: Screen::Tasks,
            mode: Mode::Observe,
            layers: Vec::new(),
            toasts: Toasts::default(),
            list: TaskList::default(),
            scroll: None,
            search: None,
            everywhere: Everywhere::default(),
            stamps: Stamps::default(),
            in_pane: false,
            search_from: u64::MAX,
            pan: 0,
            is_zoomed: false,
            pins: Vec::new(),
            split: 0,
            tilings: Tilings::default(),
            places: Places::default(),
            history: History::default(),
            commands: History::default(),
            touched: None,
            is_overall: false,
            calls: Calls::default(),
            reader: None,
            replay: None,
            programs: Programs::default(),
            pace: Pace::default(),
            bell: Bell::default(),
            watching: Watching::since(now),
            usual: Usual::default(),
            restarts: Vec::new(),
            title: None,
            has_mouse: true,
            memory: Memory::default(),
            terms: Terms::default(),
            opened: now,
            is_leaving: false,
            stop_question: None,
            sent_dialog: None,
            is_dirty: true,
            effects: Vec::new(),
            shown: Default::default(),
            paged: BTreeMap::new(),
            fitted: None,
            last_click: None,
            pressed: None,
            guard: Guard::default(),
            notices_seen: 0,
            select_next: None,
            entered_from: None,
            start_at: None,
            enters_next: false,
            to_enter: None,
            own: BTreeSet::new(),
            clear_at: None,
            swallowed: None,
        };
        app.note_durations();
        app.follow();
        app
    }

    /// Tells whether there is anything new to draw.
    pub fn is_dirty(&self) -> bool {
        self.is_dirty
    }

    /// Shows a transient message.
    fn say(&mut self, text: impl Into<String>) {
        self.toasts.say(text, None, self.now);
    }

    /// Marks the state as changed, to be drawn again.
    pub fn touch(&mut self) {
        self.is_dirty = true;
    }

    /// Returns the selected task.
    pub fn selected(&self) -> Option<&Arc<TaskView>> {
        self.list.selected.as_ref().and_then(|id| self.view.task(id))
    }

    /// Returns the current task, which keys act on: the command of the program on screen, or else the
    /// selected task.
    pub fn at_hand(&self) -> Option<&Arc<TaskView>> {
        match self.screen {
            Screen::Program => self.program_task().and_then(|id| self.view.task(&id)),
            _ => self.selected(),
        }
    }

    /// Returns the index of the selected task in the list.
    pub fn selected_at(&self) -> Option<usize> {
        let selected = self.list.selected.as_ref()?;
        self.tasks().iter().position(|task| task.id == *selected)
    }

    /// Returns the programs that would end with this console; most of them are waiting for somebody.
    pub fn ending_programs(&self) -> impl Iterator<Item = &Arc<ProgramView>> {
        let ends = !self.setup.is_remote || self.setup.shows_run;
        self.view.snapshot.programs.iter().filter(move |program| ends && !program.state.is_terminal())
    }

    /// Returns the task that has waited longest for the user, on stronger evidence than silence, unless the
    /// user is typing into it.
    pub fn waiter(&self) -> Option<&Arc<TaskView>> {
        let since = |task: &&Arc<TaskView>| {
            let waiting = task.certain_wait()?;
            (self.typing_into() != Some(&task.id)).then_some(waiting.since)
        };
        let waiting = self.view.snapshot.tasks.iter().filter(|task| since(task).is_some());
        waiting.min_by_key(since)
    }

    /// Returns the task that keystrokes are sent to.
    pub fn typing_into(&self) -> Option<&TaskId> {
        match &self.mode {
            Mode::Input(task) | Mode::Write(Prompt::Line(task), _) => Some(task),
            Mode::Copy(copying) if copying.was_input => Some(&copying.task),
            Mode::Observe | Mode::Copy(_) | Mode::Write(..) => None,
        }
    }

    /// Moves the selection to the newest live task, unless the user has moved it, is typing, or is viewing a
    /// single task: what they are looking at or typing into never changes by itself.
    pub(super) fn follow(&mut self) {
        let still_there = self.selected().is_some();
        let is_still = self.typing_into().is_some() || matches!(self.mode, Mode::Copy(_));
        let is_held = self.list.is_held || self.screen == Screen::Focus || is_still;
        if is_held && still_there {
            return;
        }
        let newest = self
            .tasks()
            .into_iter()
            .min_by_key(|task| (task.status.is_terminal(), Reverse(fleet::names::born(task))));
        let newest = newest.map(|task| (task.id.clone(), !task.status.is_terminal()));
        match newest {
            Some((id, is_live)) if is_live || !still_there => self.list.selected = Some(id),
            None => self.list.selected = None,
            Some(_) => {}
        }
    }
}

/// Tells whether a task can receive typed input.
pub fn takes_input(task: &TaskView) -> bool {
    task.status == TaskStatus::Running && (task.tty || task.accepts_input || task.side_terminal)
}
