//! Drawing the task list: its header, the group headers, and a row for each task or batch.

use ratatui::layout::Rect;

use crate::console::features::task_list::agents;
use crate::console::features::task_list::columns::{age_label, by, by_actor, by_columns, idle_label};
use crate::console::keys::{Action, KeyContext};
use crate::console::state::listing::filter;
use crate::console::state::listing::headed::HeadedTasks;
use crate::console::state::listing::heads::{FoldReason, FoldedTasks, GroupHead, GroupKey};
use crate::console::state::words::{short_command, why};
use crate::console::state::{Layout, ListColumn, ListRow, command, cut_top, short_alias};
use crate::console::text::{StyledPiece, column, cut, piece, right, visible, width};
use crate::console::theme::Role;
use crate::console::widgets::{Painter, columns, place_state, usually};
use crate::model::{HeldCall, TaskView};

/// The title of the list: the key that shows it, and its name.
const TITLE: &str = "[1] tasks";

const STATE: usize = 13;

const LEAST_NOTE: usize = 8;

const LEAST_WHY: usize = 12;

/// Maximum width of the place name above rows whose header is out of sight, in columns.
const MOST_PLACE: usize = 22;

/// Maximum width of the filter text, in columns.
const MOST_TEXT: usize = 20;

pub(crate) fn draw(painter: &mut Painter<'_>, layout: &Layout) {
    if layout.list.is_empty() {
        return;
    }
    let (head, _) = cut_top(layout.list, 1);
    let is_narrow = layout.item_rows > 1;
    draw_head(painter, layout, head);
    let body = layout.list_body();
    let state = painter.state;
    let listed = state.list_rows();
    // The place of the first visible row, if its header is out of sight.
    let first = listed.rows.get(state.list.top).and_then(|row| state.task_in(row));
    if let Some(place) = first.and_then(|task| task.place.as_ref()).filter(|_| !state.is_narrowed()) {
        let room = if is_narrow { MOST_PLACE - 8 } else { MOST_PLACE };
        let name = column(&format!(" {}", place.name), room, painter.glyphs().cut);
        painter.row(head, 0, &[piece(name, Role::Title)]);
    }
    let shown = listed.rows.iter().skip(state.list.top).take(layout.list_items()).collect::<Vec<_>>();
    // A heading with nothing below it heads nothing.
    let shown = shown.strip_suffix(&[&ListRow::Ended]).unwrap_or(&shown).iter().copied();
    painter.tall_list(body, layout.item_rows, shown, |painter, item, row| {
        let folded = match row {
            ListRow::Head(head) => {
                group(painter, item, head);
                return false;
            }
            ListRow::Held(at) => {
                let Some(held) = state.view.snapshot.gate.held.get(*at) else { return false };
                let is_selected = state.batch_at_hand().is_some_and(|batch| batch.ticket == held.ticket);
                held_batch(painter, item, held, is_selected);
                return is_selected;
            }
            ListRow::Agent(at) => {
                return agents::draw(painter, item, *at, listed.works.get(*at).copied().flatten());
            }
            ListRow::Ended => {
                ended_head(painter, item, is_narrow);
                return false;
            }
            ListRow::Task { folded, .. } => folded.as_ref(),
        };
        let Some(task) = state.task_in(row) else { return false };
        let is_selected = state.selected_task().is_some_and(|selected| selected.id == task.id);
        match folded {
            Some(folded) if folded.reason == FoldReason::Short => {
                short(painter, item, (task, folded), is_selected)
            }
            _ if is_narrow => narrow(painter, item, (task, folded), is_selected),
            _ => wide(painter, item, (task, folded), is_selected),
        }
        if state.is_stale(task) {
            place_state::grey(painter, item);
        }
        is_selected
    });
}

/// Draws what heads the first row, and the filters.
fn draw_head(painter: &mut Painter<'_>, layout: &Layout, head: Rect) {
    let headed =
        painter.state.list_rows().headed_tasks(painter.state.list.top, &painter.state.view.snapshot.tasks);
    let mut filter = active_filters(painter, layout);
    if layout.item_rows > 1 {
        if filter.is_empty() {
            let shown = position(painter).map_or_else(String::new, |at| format!("   {at}"));
            painter.row(head, 0, &[piece(format!("{TITLE} STATE{shown}"), Role::Faint)]);
            let inside = Rect { width: head.width.saturating_sub(1), ..head };
            painter.row_right(inside, 0, &[piece(narrow_time(painter, headed), Role::Faint)]);
        }
        painter.row_from(head, (3, 0), &filter);
    } else {
        let labels = labels(painter, headed, head.width);
        let names = format!("{TITLE}{} {labels}", column("  STATE", STATE, ""));
        let x = painter.row(head, 0, &[piece(names, Role::Faint)]);
        if filter.is_empty() {
            filter.extend(position(painter).map(|at| piece(format!("{at} "), Role::Faint)));
        }
        // Where there is little room, the commands need no heading.
        let last = [piece("  COMMAND", Role::Faint)];
        if columns(&filter) + columns(&last) + x < head.width {
            painter.row_from(head, (x, 0), &last);
        }
        painter.row_right(head, 0, &filter);
    }
}

/// Returns the labels of the chosen columns.
fn labels(painter: &Painter<'_>, of: HeadedTasks, width: u16) -> String {
    let is_still = painter.is_still();
    painter.state.list.listing.columns.iter().map(|one| one.label(is_still, of, width)).collect()
}

/// Returns what heads the only time in narrow rows: how long it has lived, or when it ended.
fn narrow_time(painter: &Painter<'_>, of: HeadedTasks) -> &'static str {
    match of {
        HeadedTasks::Ended => idle_label(painter.is_still(), of),
        of => age_label(painter.is_still(), of),
    }
}

/// Draws the headings of the tasks that have ended, right above them.
fn ended_head(painter: &mut Painter<'_>, area: Rect, is_narrow: bool) {
    let of = HeadedTasks::Ended;
    let y = area.height.saturating_sub(1);
    if is_narrow {
        let inside = Rect { width: area.width.saturating_sub(1), ..area };
        return painter.row_right(inside, y, &[piece(narrow_time(painter, of), Role::Faint)]);
    }
    let names = format!("{}{}", " ".repeat(9 + STATE + 1), labels(painter, of, area.width));
    painter.line(area, y, &[piece(names, Role::Faint)]);
}

/// Draws the row of the short tasks: how many there are and how they ended; one of them, while it is selected.
fn short(
    painter: &mut Painter<'_>,
    area: Rect,
    (task, folded): (&TaskView, &FoldedTasks),
    is_selected: bool,
) {
    let mut row = vec![mark(painter, is_selected)];
    row.extend(
        painter.state.setup.keymap.key(KeyContext::Tasks, Action::Fold).map(|_| piece("+ ", Role::Key)),
    );
    row.push(piece(format!("{} short commands", folded.counts.all), Role::Faint));
    row.extend(painter.state_counts(folded.counts));
    if !is_selected {
        return painter.line(area, 0, &row);
    }
    let shown = painter.state(task);
    let of = [
        piece(format!("{}  ", short_alias(task)), Role::Text),
        piece(format!("{} {}  ", shown.glyph, shown.word), shown.role),
        piece(format!("{}  ", painter.ran(task)), Role::Faint),
    ];
    let changes = changes(task).map(|changes| piece(format!("  {}", changes.text), changes.role));
    let of = of.into_iter().chain(command(task)).chain(changes);
    if area.height > 1 {
        painter.line(area, 0, &row);
        return painter.line(area, 1, &[piece("   ", Role::Text)].into_iter().chain(of).collect::<Vec<_>>());
    }
    row.push(piece("   ", Role::Text));
    row.extend(of);
    painter.line(area, 0, &row)
}

/// Draws the row of a batch that waits for approval, and the key that shows its card.
fn held_batch(painter: &mut Painter<'_>, area: Rect, held: &HeldCall, is_selected: bool) {
    let dots = painter.glyphs().cut;
    let word = column(&format!("{} to approve", painter.glyphs().states[0]), STATE, dots);
    let name = piece(column("batch", 6, dots), Role::Text);
    let mut fixed = vec![mark(painter, is_selected), name, piece(format!("{word} "), Role::Waiting)];
    let chosen = painter.state.list.listing.columns.clone();
    let is_narrow = area.height > 1;
    for one in chosen.into_iter().filter(|_| !is_narrow) {
        let blank = width(&one.label(painter.is_still(), HeadedTasks::Live, area.width));
        fixed.push(match one {
            ListColumn::By => by_actor(painter, &held.actor, by_columns(area.width)),
            ListColumn::Age => piece(right(&painter.age(held.since), blank), Role::Text),
            _ => piece(" ".repeat(blank), Role::Text),
        });
    }
    // While it is selected, the status line says which key decides.
    let key = painter.state.setup.keymap.key(KeyContext::Tasks, Action::Approvals).filter(|_| !is_selected);
    let decides: Vec<_> =
        key.into_iter().flat_map(|key| [piece(key, Role::Key), piece(" decides ", Role::Faint)]).collect();
    let noun = if held.commands.len() == 1 { "command" } else { "commands" };
    let cmds: Vec<_> = held.commands.iter().map(|command| visible::masked_line(command.cmd.trim())).collect();
    let mut told = vec![
        piece(format!("  {} {noun}  ", held.commands.len()), Role::Waiting),
        piece(cmds.join("; "), Role::Text),
    ];
    let x = painter.row(area, 0, &fixed);
    let (from, y) = if is_narrow { (1, 1) } else { (x, 0) };
    let room = usize::from(area.width.saturating_sub(from + columns(&decides) + 2));
    told = painter.cut(&told, room);
    painter.row_from(area, (from, y), &told);
    painter.row_right(area, y, &decides);
}

/// Draws a group header: the name, and the number of tasks by state.
fn group(painter: &mut Painter<'_>, area: Rect, head: &GroupHead) {
    let name = visible::one_line(&head.name).into_owned();
    let noun = if head.counts.all == 1 { "task" } else { "tasks" };
    let role = match &head.of {
        GroupKey::Actor(by) => painter.state.role_of(by),
        GroupKey::Place(_) => Role::Title,
    };
    let mut row = vec![piece(" ", Role::Text), piece(name, role)];
    // Where list items are two rows high, the state of a place gets a row of its own.
    if let GroupKey::Place(place) = &head.of {
        let standing = place_state::link_state(painter, place);
        match area.height {
            0 | 1 => row.extend(standing),
            _ => painter.line(area, 1, &standing),
        }
    }
    row.push(piece(format!("  {} {noun}", head.counts.all), Role::Faint));
    row.extend(painter.state_counts(head.counts));
    painter.line(area, 0, &row);
}

/// Returns the active filters, if any, and how to remove them.
fn active_filters(painter: &Painter<'_>, layout: &Layout) -> Vec<StyledPiece> {
    let (state, dots) = (painter.state, painter.glyphs().cut);
    let filters = &state.list.filters;
    if filters.is_empty() {
        return Vec::new();
    }
    let is_narrow = layout.item_rows > 1;
    let mut words: Vec<String> = Vec::new();
    words.extend(filters.place.as_ref().and_then(|id| state.place(id)).map(|place| place.name.name.clone()));
    words.extend((filters.state != filter::Filter::All).then(|| filters.state.word().to_owned()));
    let name = |whose: &filter::AgentFilter| visible::one_line(whose.name()).into_owned();
    words.extend(filters.whose.as_ref().map(name).map(|name| cut(&name, MOST_TEXT, dots)));
    let text = visible::one_line(&filters.text).into_owned();
    let most = if is_narrow { MOST_TEXT / 3 } else { MOST_TEXT };
    words.extend((!text.is_empty()).then(|| format!("\"{}\"", cut(&text, most, dots))));
    let matching = state.list_rows().matching;
    let key = state.setup.keymap.key(KeyContext::Tasks, Action::Back).unwrap_or_default();
    vec![
        piece(words.join("  "), Role::Strong),
        piece(format!("  {matching} of {}  ", state.view.snapshot.tasks.len()), Role::Text),
        piece(key, Role::Key),
        piece(" all ", Role::Faint),
    ]
}

/// Returns where the selected row is in the list.
fn position(painter: &Painter<'_>) -> Option<String> {
    let state = painter.state;
    let count = state.selectable().len();
    state.selected_at().map(|at| format!("{} of {count}", at + 1))
}

fn mark(painter: &Painter<'_>, is_selected: bool) -> StyledPiece {
    piece(format!(" {} ", painter.marker(is_selected)), Role::Accent)
}

fn wide(
    painter: &mut Painter<'_>,
    area: Rect,
    (task, batch): (&TaskView, Option<&FoldedTasks>),
    is_selected: bool,
) {
    let shown = painter.row_state(task, batch);
    let dots = painter.glyphs().cut;
    let word = column(&format!("{} {}", shown.glyph, shown.word), STATE, dots);
    let mut fixed = vec![
        mark(painter, is_selected),
        piece(column(&short_alias(task), 6, dots), Role::Text),
        piece(format!("{word} "), shown.role),
    ];
    let chosen = painter.state.list.listing.columns.clone();
    fixed.extend(chosen.into_iter().map(|one| one.cell(painter, task, area.width)));
    fixed.push(piece("  ", Role::Text));
    let x = painter.row(area, 0, &fixed);
    let inside = Rect { width: area.width.saturating_sub(1), ..area };
    let note = painter.note(task);
    let cmd = if batch.is_some() { short_command(task) } else { command(task) };
    let (x, taken) = draw_command(painter, inside, (x, 0), &task_text(painter, cmd, batch), note);
    // What differs and the reason follow the command if they fit, but never replace part of it.
    let room = |x: u16| usize::from(inside.width.saturating_sub(x)).saturating_sub(taken + 2);
    let changes = changes(task).filter(|changes| room(x) > width(&changes.text));
    let x = changes.map_or(x, |changes| painter.row_from(inside, (x + 2, 0), &[changes]));
    let usual = usually(painter.state, task).filter(|usual| room(x) > width(&usual.text));
    let x = usual.map_or(x, |usual| painter.row_from(inside, (x + 2, 0), &[usual]));
    let (left, why) = (room(x), why(task));
    if !why.is_empty() && left >= LEAST_WHY.min(usize::from(columns(&why))) {
        let why = painter.cut(&why, left);
        painter.row_from(inside, (x + 2, 0), &why);
    }
}

/// Returns what differs in the tree since a task began, if anything does: `+3 ~12 -1`.
fn changes(task: &TaskView) -> Option<StyledPiece> {
    let changes = task.changes.as_ref().filter(|changes| changes.total() > 0)?;
    match changes.undone {
        true => Some(piece("undone", Role::Faint)),
        false => Some(piece(changes.to_string(), Role::Strong)),
    }
}

/// Returns the text for a task: its command; for a batch in one row, preceded by the states of its tasks.
fn task_text(painter: &Painter<'_>, cmd: Vec<StyledPiece>, batch: Option<&FoldedTasks>) -> Vec<StyledPiece> {
    let Some(batch) = batch else { return cmd };
    let key = painter.state.setup.keymap.key(KeyContext::Tasks, Action::Fold);
    let key = key.map(|_| piece("+", Role::Key));
    let counts = painter.state_counts(batch.counts);
    key.into_iter().chain(counts).chain([piece("  ", Role::Text)]).chain(cmd).collect()
}

/// Writes a command and, at the right, as much of a note as fits: a short one in full, a longer one in the
/// room the command leaves. The command is never omitted. Returns the column after the command, and the width
/// of the note.
fn draw_command(
    painter: &mut Painter<'_>,
    area: Rect,
    at: (u16, u16),
    cmd: &[StyledPiece],
    note: Option<StyledPiece>,
) -> (u16, usize) {
    let room = usize::from(area.width.saturating_sub(at.0));
    let note: Vec<StyledPiece> = note.into_iter().collect();
    let wanted = usize::from(columns(&note));
    let left = room.saturating_sub(usize::from(columns(cmd)).min(room * 2 / 3) + 2);
    // Why something ended has its first words even beside a long command.
    let is_cause = note.iter().any(|piece| matches!(piece.role, Role::Failed | Role::Cancelled));
    let most = if is_cause { left.max((room * 3 / 5).saturating_sub(2)) } else { left };
    let note = match wanted {
        _ if wanted <= left.max((room * 3 / 5).saturating_sub(2)) => note,
        _ if most >= LEAST_NOTE => painter.cut(&note, most),
        _ => Vec::new(),
    };
    let taken = if note.is_empty() { 0 } else { usize::from(columns(&note)) + 2 };
    painter.row_right(area, at.1, &note);
    let cmd = painter.cut(cmd, room.saturating_sub(taken));
    (painter.row_from(area, at, &cmd), taken)
}

/// Draws two rows: the state, before anything else, in the first, and the command in the second.
fn narrow(
    painter: &mut Painter<'_>,
    area: Rect,
    (task, batch): (&TaskView, Option<&FoldedTasks>),
    is_selected: bool,
) {
    let shown = painter.row_state(task, batch);
    let dots = painter.glyphs().cut;
    let time = if task.status.is_terminal() { painter.quiet(task) } else { painter.ran(task) };
    let inside = Rect { width: area.width.saturating_sub(1), ..area };
    let x = painter.row(
        area,
        0,
        &[mark(painter, is_selected), piece(column(&short_alias(task), 5, dots), Role::Text)],
    );
    let state = [piece(format!("{} {}", shown.glyph, shown.word), shown.role)];
    let state = painter.cut(&state, inside.width.saturating_sub(x));
    let x = painter.row_from(inside, (x, 0), &state);
    let used = painter.state.view.usage.of(&task.id).and_then(|used| used.cpu);
    let busy = used.filter(|cpu| *cpu > 0 && !task.status.is_terminal());
    let busy = busy.map(|cpu| piece(format!("{cpu}%"), Role::Text));
    let note = painter.note(task).filter(|_| !task.status.is_terminal());
    // To the right of the state, as far as there is room: its age, then what the user must know, then its CPU
    // usage.
    let mut right: Vec<StyledPiece> = Vec::new();
    let mut told_above = false;
    let parts = [
        (Some(piece(time, Role::Faint)), false),
        (note.clone(), true),
        (busy, false),
        (changes(task), false),
    ];
    for (part, is_note) in parts.into_iter().filter_map(|(part, is_note)| Some((part?, is_note))) {
        let gap = if right.is_empty() { Vec::new() } else { vec![piece(" ", Role::Text)] };
        let row: Vec<StyledPiece> = [part].into_iter().chain(gap).chain(right.iter().cloned()).collect();
        if x + columns(&row) < inside.width {
            right = row;
            told_above |= is_note;
        }
    }
    painter.row_right(inside, 0, &right);
    let has_name = painter.state.list.listing.columns.contains(&ListColumn::By);
    let by = if has_name { by(painter, task, by_columns(area.width)) } else { piece("", Role::Faint) };
    let x = painter.row(area, 1, &[piece("   ", Role::Faint), by]);
    let cmd = task_text(painter, short_command(task), batch);
    draw_command(painter, inside, (x, 1), &cmd, note.filter(|_| !told_above));
}
