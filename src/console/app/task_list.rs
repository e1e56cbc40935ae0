//! The task list: its filter, its selection, and its rows: one line per task where there is width, two in a column.

use std::sync::Arc;

use jiff::SignedDuration;
use ratatui::layout::Rect;
use strum::VariantArray as _;

use crate::envelope::{Actor, TaskId};
use crate::link::Request;
use crate::runtime::{TaskStatus, TaskView};

use super::chooser::{Choice, Chooser, Item, Kind};
use super::receipts::rows::{CallRow, CallState, outcome, task_of};
use super::task_words::{short, short_command, why};
use super::{App, Layer, Layout, Painter, Screen, alias, columns, command, cut_top, moved};
use crate::console::keys::{Action, Context};
use crate::console::msg::Effect;
use crate::console::text::{Piece, column, piece, right};
use crate::console::theme::Role;

const STATE: usize = 13;
/// Columns of who started a task.
const WHO: usize = 6;
const LEAST_NOTE: usize = 8;
const LEAST_WHY: usize = 12;
/// For so long clearing tasks can be undone.
const UNDONE: SignedDuration = SignedDuration::from_secs(10);

/// What the list of tasks shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, strum::IntoStaticStr, strum::VariantArray)]
#[strum(serialize_all = "lowercase")]
pub enum Filter {
    /// Everything.
    #[default]
    All,
    /// What waits for the person.
    Waiting,
    /// What has not ended.
    Live,
    /// What has failed or was interrupted.
    Failed,
    /// What the person started.
    Yours,
    /// What agents started.
    #[strum(serialize = "by agents")]
    Agents,
    /// What scripts and commands started.
    #[strum(serialize = "by scripts")]
    Scripts,
}

impl Filter {
    /// Returns the word for the list's header.
    pub fn word(self) -> &'static str {
        self.into()
    }

    /// Returns the letter it is chosen by.
    pub fn letter(self) -> char {
        match self {
            Self::Agents => 'g',
            Self::Scripts => 's',
            other => other.word().chars().next().unwrap_or(' '),
        }
    }

    /// Tells whether a task is shown.
    pub fn holds(self, task: &TaskView) -> bool {
        match self {
            Self::All => true,
            Self::Waiting => !task.status.is_terminal() && (task.waiting.is_some() || task.held.is_some()),
            Self::Live => !task.status.is_terminal(),
            Self::Failed => matches!(task.status, TaskStatus::Failed | TaskStatus::Interrupted),
            Self::Yours => task.started_by == Actor::Operator,
            Self::Agents => matches!(task.started_by, Actor::Agent(_)),
            Self::Scripts => task.started_by == Actor::Cli,
        }
    }
}

impl App {
    /// Returns the tasks that the screen goes through, in that order. The selected one is among them also when
    /// the filter no longer matches it: what the person looks at does not vanish by itself.
    pub fn tasks(&self) -> Vec<&Arc<TaskView>> {
        let mut tasks = self.view.all_tasks();
        if self.screen == Screen::Tasks {
            let selected = self.list.selected.as_ref();
            tasks.retain(|task| self.list.filter.holds(task) || Some(&task.id) == selected);
        }
        tasks
    }

    /// Opens the filters, each with its letter and how many tasks it holds for.
    pub(super) fn open_filters(&mut self) {
        let items = Filter::VARIANTS.iter().map(|filter| {
            let count = self.view.snapshot.tasks.iter().filter(|task| filter.holds(task)).count();
            let about = if count == 1 { "1 task".to_owned() } else { format!("{count} tasks") };
            let key = filter.letter().to_string();
            Item { key, ..Item::new(filter.word(), about, Choice::Filter(*filter)) }
        });
        let mut chooser = Chooser::new(Kind::Filters, items.collect());
        chooser.select(&Choice::Filter(self.list.filter));
        self.open(Layer::List(Box::new(chooser)));
    }

    /// Sets the filter; unless the selected task matches it, the first one that does is selected.
    pub(crate) fn set_filter(&mut self, filter: Filter) {
        self.list.filter = filter;
        self.list.top = 0;
        if self.selected().is_none_or(|task| !filter.holds(task)) {
            let first = self.view.all_tasks().into_iter().find(|task| filter.holds(task));
            self.list.selected = first.map(|task| task.id.clone());
            self.pan = 0;
        }
    }

    pub(super) fn go_in_tasks(&mut self, action: Action) {
        let (page, last) = (self.layout().list_items().max(1), self.tasks().len().saturating_sub(1));
        self.select_at(moved(self.selected_at().unwrap_or(0), action, page, last));
        // The newest stands first: going there is following it.
        self.list.is_held &= action != Action::First;
    }

    /// Holds the selection: what is acted on stays selected, also once it has ended.
    pub(super) fn hold(&mut self) {
        self.list.is_held |= self.screen != Screen::Program;
    }

    pub(super) fn select(&mut self, task: TaskId) {
        if self.list.selected.as_ref() != Some(&task) {
            self.thaw();
            self.pan = 0;
        }
        self.list.selected = Some(task);
        self.list.is_held = true;
    }

    /// Selects the task so many places further on.
    pub(super) fn step_task(&mut self, by: isize) {
        let last = self.tasks().len().saturating_sub(1);
        self.select_at(self.selected_at().unwrap_or(0).saturating_add_signed(by).min(last));
    }

    /// Returns the place of the next item of the list that failed or waits for the person, around the end.
    pub(super) fn next_of(&self, action: Action) -> Option<usize> {
        let is_failed = action == Action::NextFailed;
        let waits = |task: &TaskView| Filter::Waiting.holds(task);
        let found: Vec<bool> = match self.screen {
            Screen::Receipts => {
                let is_it = |row: &CallRow<'_>| match is_failed {
                    true => outcome(&self.view, row.call).0 == CallState::Failed,
                    false => task_of(&self.view, row.call).is_some_and(|task| waits(task)),
                };
                self.call_rows().iter().map(is_it).collect()
            }
            _ => {
                let is_it =
                    |task: &&Arc<TaskView>| if is_failed { Filter::Failed.holds(task) } else { waits(task) };
                self.tasks().iter().map(is_it).collect()
            }
        };
        let at =
            if self.screen == Screen::Receipts { self.call_at() } else { self.selected_at().unwrap_or(0) };
        (1..=found.len()).map(|step| (at + step) % found.len()).find(|to| found.get(*to) == Some(&true))
    }

    pub(super) fn go_to_next(&mut self, action: Action) {
        let Some(to) = self.next_of(action) else { return };
        if self.screen != Screen::Receipts {
            return self.select_at(to);
        }
        self.calls.selected = self.call_rows().get(to).map(|row| row.call.seq);
    }

    /// Selects the task at a place of the list.
    pub(super) fn select_at(&mut self, at: usize) {
        let id = self.tasks().get(at).map(|task| task.id.clone());
        id.into_iter().for_each(|id| self.select(id));
    }

    /// Clears all finished tasks; for a while that can be undone.
    pub(super) fn clear_finished(&mut self) {
        let ended = self.view.snapshot.tasks.iter().filter(|task| task.status.is_terminal());
        let ended: Vec<TaskId> = ended.map(|task| task.id.clone()).collect();
        self.clear(ended);
    }

    /// Takes finished tasks off the list; the runtime hears of it once it is not undone any more.
    pub(super) fn clear(&mut self, tasks: Vec<TaskId>) {
        self.clear_now();
        let key = self.setup.keymap.key(self.view_context(), Action::Undo).unwrap_or_default();
        let count = tasks.len();
        let what = if count == 1 { "finished task" } else { "finished tasks" };
        self.say(format!("{count} {what} cleared, still on record; {key} brings them back for 10 s"));
        self.view.cleared.extend(tasks);
        self.clear_at = self.now.checked_add(UNDONE).ok();
        self.follow();
    }

    /// Brings back what was cleared.
    pub(super) fn undo(&mut self) {
        self.clear_at = None;
        let count = std::mem::take(&mut self.view.cleared).len();
        self.say(format!("{count} brought back"));
    }

    /// Clears what waits for it.
    pub(super) fn clear_now(&mut self) {
        self.clear_at = None;
        let tasks = std::mem::take(&mut self.view.cleared);
        self.effects.extend(tasks.into_iter().map(|task| Effect::Ask(Request::Dismiss { task })));
    }
}

pub(super) fn draw(painter: &mut Painter<'_>, layout: &Layout) {
    if layout.list.is_empty() {
        return;
    }
    let (head, _) = cut_top(layout.list, 1);
    let is_narrow = layout.item_rows > 1;
    if is_narrow {
        let filter = filtered(painter, layout);
        if filter.is_empty() {
            let shown = position(painter, layout).map_or_else(String::new, |range| format!("   {range}"));
            painter.row(head, 0, &[piece(format!("   TASK STATE{shown}"), Role::Faint)]);
            let inside = Rect { width: head.width.saturating_sub(1), ..head };
            painter.row_right(inside, 0, &[piece("AGE", Role::Faint)]);
        }
        painter.row_from(head, (3, 0), &filter);
    } else {
        let [ran, quiet] = if painter.is_still() { ["TIME", "LAST"] } else { ["AGE", "IDLE"] };
        let times = format!("{}{}", right(ran, 6), right(quiet, 6));
        let names = format!("   TASK  {} BY     {times}  CPU", column("STATE", STATE, ""));
        let x = painter.row(head, 0, &[piece(names, Role::Faint)]);
        let filter = match (filtered(painter, layout), position(painter, layout)) {
            (filter, Some(range)) if filter.is_empty() => vec![piece(format!("{range} "), Role::Faint)],
            (filter, _) => filter,
        };
        // Where there is little room, what the commands are is plain from themselves.
        let last = [piece("  COMMAND", Role::Faint)];
        if columns(&filter) + columns(&last) + x < head.width {
            painter.row_from(head, (x, 0), &last);
        }
        painter.row_right(head, 0, &filter);
    }
    let body = layout.list_body();
    let app = painter.app;
    for (at, task) in app.tasks().into_iter().skip(app.list.top).take(layout.list_items()).enumerate() {
        let offset = u16::try_from(at).unwrap_or(u16::MAX).saturating_mul(layout.item_rows);
        let item = cut_top(cut_top(body, offset).1, layout.item_rows).0;
        let is_selected = app.list.selected.as_ref() == Some(&task.id);
        if is_narrow {
            narrow(painter, item, task, is_selected)
        } else {
            wide(painter, item, task, is_selected)
        }
        if is_selected {
            painter.select(item);
        }
    }
}

/// Which tasks are listed, unless that is all of them, and how to see all.
fn filtered(painter: &Painter<'_>, layout: &Layout) -> Vec<Piece> {
    let app = painter.app;
    let filter = app.list.filter;
    if filter == Filter::All {
        return Vec::new();
    }
    let listed = app.view.snapshot.tasks.iter().filter(|task| filter.holds(task)).count();
    let range = position(painter, layout).map_or_else(String::new, |range| format!("  {range}"));
    let key = app.setup.keymap.key(Context::Tasks, Action::Back).unwrap_or_default();
    vec![
        piece(filter.word(), Role::Strong),
        piece(format!("  {listed} of {}{range}  ", app.view.snapshot.tasks.len()), Role::Text),
        piece(key, Role::Key),
        piece(" all ", Role::Faint),
    ]
}

/// Which of the tasks are in sight, where that is not all of them.
fn position(painter: &Painter<'_>, layout: &Layout) -> Option<String> {
    let (count, shown) = (painter.app.tasks().len(), layout.list_items());
    let from = painter.app.list.top;
    (count > shown).then(|| format!("{}-{} of {count}", from + 1, (from + shown).min(count)))
}

fn mark(painter: &Painter<'_>, is_selected: bool) -> Piece {
    piece(format!(" {} ", painter.marker(is_selected)), Role::Accent)
}

fn wide(painter: &mut Painter<'_>, area: Rect, task: &TaskView, is_selected: bool) {
    let shown = painter.state(task);
    let dots = painter.glyphs().cut;
    let word = column(&format!("{} {}", shown.glyph, shown.word), STATE, dots);
    let (ran, quiet) = (painter.ran(task), painter.quiet(task));
    let fixed = [
        mark(painter, is_selected),
        piece(column(&alias(task), 6, dots), Role::Text),
        piece(format!("{word} "), shown.role),
        piece(column(&short(&task.started_by, WHO, dots), WHO + 1, dots), Role::Faint),
        piece(right(&ran, 6), Role::Text),
        piece(right(&quiet, 6), Role::Faint),
        piece(format!("{}  ", right(&cpu(painter, task), 5)), Role::Text),
    ];
    let x = painter.row(area, 0, &fixed);
    let inside = Rect { width: area.width.saturating_sub(1), ..area };
    let note = painter.note(task);
    let (x, taken) = described(painter, inside, (x, 0), &command(task), note);
    // Why it runs stands behind the command where both fit, never instead of a part of it.
    let left = usize::from(inside.width.saturating_sub(x)).saturating_sub(taken + 2);
    let why = why(task);
    if !why.is_empty() && left >= LEAST_WHY.min(usize::from(columns(&why))) {
        let why = painter.cut(&why, left);
        painter.row_from(inside, (x + 2, 0), &why);
    }
}

/// Percent of a processor; a dot where it is not known, which is not nothing.
fn cpu(painter: &Painter<'_>, task: &TaskView) -> String {
    let used = painter.app.view.usage.of(&task.id).filter(|_| !task.status.is_terminal());
    used.and_then(|used| used.cpu).map_or_else(|| painter.glyphs().dot.to_owned(), |cpu| cpu.to_string())
}

/// Writes a command and, at the right, what there is room for of a note: a short one stands whole, of a longer one what
/// the command leaves. The command is never left out. Returns the column after it, and the columns of the note.
fn described(
    painter: &mut Painter<'_>,
    area: Rect,
    at: (u16, u16),
    cmd: &[Piece],
    note: Option<Piece>,
) -> (u16, usize) {
    let room = usize::from(area.width.saturating_sub(at.0));
    let note: Vec<Piece> = note.into_iter().collect();
    let wanted = usize::from(columns(&note));
    let left = room.saturating_sub(usize::from(columns(cmd)).min(room * 2 / 3) + 2);
    let note = match wanted {
        _ if wanted <= left.max((room * 3 / 5).saturating_sub(2)) => note,
        _ if left >= LEAST_NOTE => painter.cut(&note, left),
        _ => Vec::new(),
    };
    let taken = if note.is_empty() { 0 } else { usize::from(columns(&note)) + 2 };
    painter.row_right(area, at.1, &note);
    let cmd = painter.cut(cmd, room.saturating_sub(taken));
    (painter.row_from(area, at, &cmd), taken)
}

/// Two rows: the state before everything else in the first, the command in the second.
fn narrow(painter: &mut Painter<'_>, area: Rect, task: &TaskView, is_selected: bool) {
    let shown = painter.state(task);
    let dots = painter.glyphs().cut;
    let time = if task.status.is_terminal() { painter.quiet(task) } else { painter.ran(task) };
    let inside = Rect { width: area.width.saturating_sub(1), ..area };
    let x =
        painter.row(area, 0, &[mark(painter, is_selected), piece(column(&alias(task), 5, dots), Role::Text)]);
    let state = [piece(format!("{} {}", shown.glyph, shown.word), shown.role)];
    let state = painter.cut(&state, inside.width.saturating_sub(x));
    let x = painter.row_from(inside, (x, 0), &state);
    let used = painter.app.view.usage.of(&task.id).and_then(|used| used.cpu);
    let busy = used.filter(|cpu| *cpu > 0 && !task.status.is_terminal());
    let busy = busy.map(|cpu| piece(format!("{cpu}%"), Role::Text));
    let note = painter.note(task).filter(|_| !task.status.is_terminal());
    // Right of the state stands what there is room for: its age, then what the person must know, then its load.
    let mut right: Vec<Piece> = Vec::new();
    let mut told_above = false;
    let parts = [(Some(piece(time, Role::Faint)), false), (note.clone(), true), (busy, false)];
    for (part, is_note) in parts.into_iter().filter_map(|(part, is_note)| Some((part?, is_note))) {
        let gap = if right.is_empty() { Vec::new() } else { vec![piece(" ", Role::Text)] };
        let row: Vec<Piece> = [part].into_iter().chain(gap).chain(right.iter().cloned()).collect();
        if x + columns(&row) < inside.width {
            right = row;
            told_above |= is_note;
        }
    }
    painter.row_right(inside, 0, &right);
    let by = column(&short(&task.started_by, WHO, dots), WHO + 1, dots);
    painter.row(area, 1, &[piece(format!("   {by}"), Role::Faint)]);
    described(painter, inside, (10, 1), &short_command(task), note.filter(|_| !told_above));
}
