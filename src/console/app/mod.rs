//! The whole state of the console: one value that `update` changes and `draw` reads.

mod agents;
pub mod approval;
mod areas;
pub mod attention;
pub mod availability;
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
pub mod painter;
mod palette;
mod pane;
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
use crate::runtime::{PlaceId, ProgramView, Snapshot, TaskStatus, TaskView};
use crate::terminal::Size;

use super::msg::{Anchor, Effect, PageView};
use attention::Bell;
pub use fleet::names::alias;
pub(crate) use fleet::names::short_alias;
pub(in crate::console) use fleet::names::{call_name, link_word, place_of_number};
pub(in crate::console) use fleet::{place_of_question, refusal};
use hints::Memory;
pub use layout::{Breakpoint, Layout, Pane, cut_bottom, cut_left, cut_top};
pub use mode::{Layer, Mode, Prompt, Screen};
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
use stop::Guard;
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

/// A pane scrolled back: frozen on a page of the log.
#[derive(Debug, Clone)]
pub struct Scroll {
    /// The task scrolled.
    pub task: TaskId,
    /// The page asked for.
    pub wanted: Anchor,
    /// How wide a page was asked for.
    pub columns: u16,
    /// The page shown, once read.
    pub page: Option<PageView>,
    /// Lines in the log when the pane was frozen.
    pub lines: u64,
    /// The prompt that was gone to: the next one is looked for from there.
    pub prompt: Option<u64>,
    /// What a search found on the page, and that prompt.
    pub matches: Vec<Match>,
}

/// The console's whole state.
#[derive(Debug, Clone)]
pub struct App {
    /// What does not change.
    pub setup: Setup,
    /// Columns and rows of the terminal.
    pub size: (u16, u16),
    /// The current time, as of the last message.
    pub now: Timestamp,
    /// What is known of the runtime.
    pub view: View,
    /// The screen shown.
    pub screen: Screen,
    /// Where keys go.
    pub mode: Mode,
    /// What lies over the screen, topmost last.
    pub layers: Vec<Layer>,
    /// Passing messages.
    pub toasts: Toasts,
    /// The task list.
    pub list: TaskList,
    /// The pane scrolled back, if one is.
    pub scroll: Option<Scroll>,
    /// The search under way or done, until the pane follows again.
    pub search: Option<Search>,
    /// The search of all tasks, done last.
    pub everywhere: Everywhere,
    /// The times beside the lines of the pane, if they are shown.
    pub stamps: Stamps,
    /// On the screen of all tasks: keys move in the pane, not in the list.
    pub in_pane: bool,
    /// The line that the search being written goes back from.
    pub(super) search_from: u64,
    /// Columns panned to the right.
    pub pan: u16,
    /// The selected task is shown alone.
    pub is_zoomed: bool,
    /// Tasks that keep their pane, in order.
    pub pins: Vec<TaskId>,
    /// Steps by which the list is larger than usual.
    pub split: i16,
    /// How the screen of all tasks is divided.
    pub tilings: Tilings,
    /// Which tasks have a pane there.
    pub(super) places: Places,
    /// Lines written before, newest last; never one that was to be hidden.
    pub history: History,
    /// Commands started here, also before.
    pub commands: History,
    /// When a key was pressed last.
    pub touched: Option<Timestamp>,
    /// The timeline tells of all tasks.
    pub is_overall: bool,
    /// The calls.
    pub calls: Calls,
    /// A text read over the screen, if one is.
    pub reader: Option<Reader>,
    /// A task that is played again, if one is.
    pub replay: Option<Replay>,
    /// The program screen.
    pub programs: Programs,
    /// How fast the console is.
    pub pace: Pace,
    /// What the person was rung for.
    pub bell: Bell,
    /// What else it rings for.
    pub watching: Watching,
    /// How long commands usually take.
    pub usual: Usual,
    /// Tasks that are stopped to be started again, and since when.
    pub restarts: Vec<(TaskId, Timestamp)>,
    /// The title of the window, where it has one of ours.
    pub title: Option<String>,
    /// The mouse is ours.
    pub has_mouse: bool,
    /// What is remembered from one time to the next.
    pub memory: Memory,
    /// Which words are in sight for the first time.
    terms: Terms,
    /// When the console was opened.
    pub opened: Timestamp,
    /// Tasks are being stopped before the end.
    pub is_leaving: bool,
    pub(super) is_dirty: bool,
    /// What is to be done outside, since the last message.
    effects: Vec<Effect>,
    pub(super) shown: (Vec<TaskId>, Option<TaskId>, BTreeMap<TaskId, u16>),
    pub(super) paged: BTreeMap<TaskId, u16>,
    pub(super) fitted: Option<(TaskId, Size)>,
    pub(super) last_click: Option<(Timestamp, u16, u16)>,
    /// Where a press on a pane may begin a drag.
    pub(super) pressed: Option<(u16, u16)>,
    pub(super) guard: Guard,
    pub(super) notices_seen: u64,
    pub(super) select_next: Option<TaskId>,
    /// The screen from which a task was entered to type into it.
    pub(super) entered_from: Option<Screen>,
    /// The place at which a command that is being written starts.
    pub(super) start_at: Option<PlaceId>,
    /// The next task that is started here is typed into.
    pub(super) enters_next: bool,
    /// A task that was started here, until it is there to be typed into.
    pub(super) to_enter: Option<TaskId>,
    /// Tasks started here, which are made as large as their pane.
    pub(super) own: BTreeSet<TaskId>,
    /// When the tasks cleared are taken off the runtime's list.
    pub(super) clear_at: Option<Timestamp>,
    /// When a key was last swallowed because its task had ended.
    pub(super) swallowed: Option<Timestamp>,
}

impl App {
    /// Returns a console that has just opened on `snapshot`.
    pub fn new(setup: Setup, snapshot: Arc<Snapshot>, size: (u16, u16), now: Timestamp) -> Self {
        let mut app = Self {
            setup,
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

    /// Tells whether there is something new to draw.
    pub fn is_dirty(&self) -> bool {
        self.is_dirty
    }

    /// Marks the state as drawn.
    pub fn drawn(&mut self) {
        self.mark_drawn();
        self.is_dirty = false;
    }

    /// Shows a message that passes by itself.
    fn say(&mut self, text: impl Into<String>) {
        self.toasts.say(text, None, self.now);
    }

    /// Marks the state as changed, to be drawn again.
    pub fn touch(&mut self) {
        self.is_dirty = true;
    }

    /// Returns the tasks with a pane that are not at their end: their screens may change.
    pub fn live_panes(&self) -> Vec<TaskId> {
        let is_live = |id: &&TaskId| self.view.task(id).is_some_and(|task| !task.status.is_terminal());
        self.shown.0.iter().filter(is_live).cloned().collect()
    }

    /// Returns the selected task.
    pub fn selected(&self) -> Option<&Arc<TaskView>> {
        self.list.selected.as_ref().and_then(|id| self.view.task(id))
    }

    /// Returns the current task, which keys act on: the command of the program on screen, else the selected one.
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

    /// Returns the programs that would end with this console, most of them waiting for somebody.
    pub fn ending_programs(&self) -> impl Iterator<Item = &Arc<ProgramView>> {
        let ends = !self.setup.is_remote || self.setup.shows_run;
        self.view.snapshot.programs.iter().filter(move |program| ends && !program.state.is_terminal())
    }

    /// Returns the task that has waited longest for the person, on more evidence than silence, if nobody
    /// types into it.
    pub fn waiter(&self) -> Option<&Arc<TaskView>> {
        let since = |task: &&Arc<TaskView>| {
            let waiting = task.certain_wait()?;
            (self.typing_into() != Some(&task.id)).then_some(waiting.since)
        };
        let waiting = self.view.snapshot.tasks.iter().filter(|task| since(task).is_some());
        waiting.min_by_key(since)
    }

    /// Returns the task that keys are typed into.
    pub fn typing_into(&self) -> Option<&TaskId> {
        match &self.mode {
            Mode::Input(task) | Mode::Write(Prompt::Line(task), _) => Some(task),
            Mode::Copy(copying) if copying.was_input => Some(&copying.task),
            Mode::Observe | Mode::Copy(_) | Mode::Write(..) => None,
        }
    }

    /// Lets the selection follow the newest live task, unless the person moved it, types or looks at one
    /// task alone: what is under the eyes and fingers never changes by itself.
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

/// Tells whether something typed can reach a task.
pub fn takes_input(task: &TaskView) -> bool {
    task.status == TaskStatus::Running && (task.tty || task.accepts_input || task.side_terminal)
}
