//! The layout: where everything is on screen, for a terminal size and a state. Features draw into these
//! areas; the mouse finds out which of them was clicked.

use ratatui::layout::{Position, Rect};

use crate::console::state::State;
use crate::console::state::areas::{cut_bottom, cut_left, cut_top};
use crate::console::state::focus::Screen;
use crate::envelope::TaskId;
use crate::terminal::Size;

const SMALL: (u16, u16) = (60, 15);

const TINY: (u16, u16) = (40, 8);

const WIDE: (u16, u16) = (110, 30);

const FULL: (u16, u16) = (160, 45);

/// Width of the margin left of a source line, which shows the line's state and number, in columns.
pub const SOURCE_MARGIN: u16 = 8;

/// How much room there is on the screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Breakpoint {
    /// Below 40x8: a single sentence.
    #[default]
    Sentence,
    /// Below 60x15: a pane and the status line.
    Small,
    /// From 60x15, such as 80x24: a list and what is selected in it.
    Stacked,
    /// From 110x30, such as 120x40: the timeline below a task.
    Wide,
    /// From 160x45, such as 160x50: timeline and receipt beside a task.
    Full,
}

/// The pane of one task: a title row and the cells below it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pane {
    pub task: TaskId,
    /// The title row.
    pub title: Rect,
    /// The rest of the pane.
    pub cells: Rect,
}

/// The areas of the screen. An area that is not shown is empty.
#[derive(Debug, Clone, Default)]
pub struct Layout {
    /// How much room there is.
    pub breakpoint: Breakpoint,
    /// The top bar: name, agents, counts and clock.
    pub bar: Rect,
    /// The list of tasks or calls.
    pub list: Rect,
    /// The height of one list item, in rows.
    pub item_rows: u16,
    /// The panes on screen.
    pub panes: Vec<Pane>,
    /// The area that panes are placed in, whether or not there are any.
    pub stage: Rect,
    /// The timeline of the selected task.
    pub timeline: Rect,
    /// What the selected call asked for.
    pub asked: Rect,
    pub receipt: Rect,
    /// The canonical envelope.
    pub envelope: Rect,
    /// The source of a program.
    pub source: Rect,
    /// The values and branches of a program.
    pub values: Rect,
    /// The question a program is waiting on, as a single row.
    pub strip: Rect,
    /// Vertical rules between the areas.
    pub rules: Vec<Rect>,
    /// The notice, composer or prompt row.
    pub notice: Rect,
    /// The status line: mode, driver and keys.
    pub status: Rect,
}

impl Breakpoint {
    /// Returns the breakpoint for a terminal size.
    pub fn of((columns, rows): (u16, u16)) -> Self {
        let fits = |least: (u16, u16)| columns >= least.0 && rows >= least.1;
        match () {
            () if fits(FULL) => Self::Full,
            () if fits(WIDE) => Self::Wide,
            () if fits(SMALL) => Self::Stacked,
            () if fits(TINY) => Self::Small,
            () => Self::Sentence,
        }
    }
}

impl Layout {
    /// Returns the layout for the console's current state.
    pub fn of(state: &State) -> Self {
        let screen = Rect::new(0, 0, state.outer.size.0, state.outer.size.1);
        let mut layout = Self::frame(screen);
        let body = layout.stage;
        // The reader and a replay take up the whole body.
        if layout.breakpoint == Breakpoint::Sentence || state.reader.is_some() || state.replay.is_some() {
            return layout;
        }
        match state.focus.screen {
            Screen::Tasks => layout.tasks(state, body),
            Screen::Focus => layout.focus(state, body),
            Screen::Receipts => layout.receipts(state, body),
            Screen::Metrics => {}
            Screen::Program => layout.program(state, body),
        }
        layout
    }

    /// Lays out the bar, notice and status rows; the rest becomes the stage.
    pub(in crate::console) fn frame(screen: Rect) -> Self {
        let breakpoint = Breakpoint::of((screen.width, screen.height));
        let (rest, status) = cut_bottom(screen, 1);
        let (rest, notice) = cut_bottom(rest, 1);
        let (bar, body) = cut_top(rest, 1);
        let empty = Self { breakpoint, item_rows: 1, stage: screen, ..Self::default() };
        if breakpoint == Breakpoint::Sentence {
            empty
        } else {
            Self { bar, notice, status, stage: body, ..empty }
        }
    }

    fn focus(&mut self, state: &State, body: Rect) {
        match self.breakpoint {
            Breakpoint::Full if !state.division.is_zoomed => {
                let (stage, side) = self.ruled_right(body, 54);
                let (timeline, receipt) = cut_top(side, side.height / 2);
                (self.stage, self.timeline, self.receipt) = (stage, timeline, receipt);
            }
            Breakpoint::Wide if !state.division.is_zoomed => {
                (self.stage, self.timeline) = cut_bottom(body, 7)
            }
            // If there is no room for the timeline beside the pane, the timeline of all tasks takes half of
            // it on request.
            Breakpoint::Stacked if !state.division.is_zoomed && state.division.is_overall => {
                (self.stage, self.timeline) = cut_bottom(body, body.height / 2);
            }
            _ => {}
        }
        self.one_pane(state);
    }

    /// Returns the size of a task's pane when it is shown full size on its own.
    pub fn alone(state: &State) -> Size {
        let mut layout = Self::frame(Rect::new(0, 0, state.outer.size.0, state.outer.size.1));
        let body = layout.stage;
        layout.focus(state, body);
        let cells = cut_top(layout.stage, 1).1;
        Size::nearest(cells.width, cells.height)
    }

    /// Lays out the program screen: the source above and what it runs below, with the values beside the
    /// source where there is room.
    fn program(&mut self, state: &State, body: Rect) {
        if state.program().is_none() {
            return;
        }
        let asks = u16::from(state.program_question().is_some());
        let is_alone = state.division.is_zoomed || self.breakpoint == Breakpoint::Small;
        let task = state.program_task().filter(|_| !is_alone || state.programs.in_pane);
        if let Some(task) = task.clone().filter(|_| is_alone) {
            (self.stage, self.strip) = cut_bottom(body, asks);
            self.panes = vec![Pane::of(task, self.stage)];
            return;
        }
        let share = match (&task, self.breakpoint) {
            (None, _) => 0,
            (Some(_), Breakpoint::Stacked) => 8.max(body.height / 3),
            (Some(_), _) => body.height * 2 / 5,
        };
        let (above, stage) = cut_bottom(body, share);
        let (above, strip) = cut_bottom(above, asks);
        (self.stage, self.strip) = (stage, strip);
        (self.source, self.values) = match self.breakpoint {
            Breakpoint::Full => self.ruled_left(above, 110),
            Breakpoint::Wide => self.ruled_left(above, 68),
            _ if is_alone => (above, Rect::ZERO),
            _ => cut_bottom(above, if task.is_some() { 4 } else { 7 }),
        };
        self.panes = task.map(|task| Pane::of(task, stage)).into_iter().collect();
    }

    /// Returns how many lines of a program's source fit on screen.
    pub fn source_rows(&self) -> usize {
        usize::from(cut_top(self.source, 1).1.height)
    }

    /// Returns how many columns of a program's source fit on screen.
    pub fn source_columns(&self) -> u16 {
        self.source.width.saturating_sub(SOURCE_MARGIN + 1)
    }

    pub(in crate::console) fn one_pane(&mut self, state: &State) {
        if let Some(task) = state.selected_task() {
            self.panes = vec![Pane::of(task.id.clone(), self.stage)];
        }
    }

    pub(in crate::console) fn ruled_left(&mut self, area: Rect, columns: u16) -> (Rect, Rect) {
        let (left, rest) = cut_left(area, columns);
        let (rule, right) = cut_left(rest, 1);
        self.rules.push(rule);
        (left, right)
    }

    pub(in crate::console) fn ruled_right(&mut self, area: Rect, columns: u16) -> (Rect, Rect) {
        self.ruled_left(area, area.width.saturating_sub(columns + 1))
    }

    /// Returns the pane of a task.
    pub fn pane(&self, task: &TaskId) -> Option<&Pane> {
        self.panes.iter().find(|pane| pane.task == *task)
    }

    /// Returns the pane at a position.
    pub fn pane_at(&self, at: Position) -> Option<&Pane> {
        self.panes.iter().find(|pane| pane.cells.contains(at) || pane.title.contains(at))
    }

    /// Returns how many list items fit on screen.
    pub fn list_items(&self) -> usize {
        usize::from(self.list_body().height / self.item_rows.max(1))
    }

    /// Returns the list's area without its header.
    pub fn list_body(&self) -> Rect {
        cut_top(self.list, 1).1
    }

    /// Returns the index of the list item at a position, relative to the first item shown.
    pub fn item_at(&self, at: Position) -> Option<usize> {
        let body = self.list_body();
        body.contains(at).then(|| usize::from((at.y - body.y) / self.item_rows.max(1)))
    }
}

impl Pane {
    /// Splits an area into a pane's title and cells.
    pub(in crate::console) fn of(task: TaskId, area: Rect) -> Self {
        let (title, cells) = cut_top(area, 1);
        Self { task, title, cells }
    }

    /// Returns the size a task must have to fill the pane.
    pub fn size(&self) -> Size {
        Size::nearest(self.cells.width, self.cells.height)
    }
}

impl State {
    /// Returns the layout of the current screen.
    pub fn layout(&self) -> Layout {
        Layout::of(self)
    }
}
