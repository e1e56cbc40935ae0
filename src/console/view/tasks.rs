//! The task list: one row a task where there is width, two where the list is a column.

use ratatui::layout::Rect;

use crate::runtime::TaskView;

use super::super::app::alias;
use super::super::app::filter::Filter;
use super::super::keys::action::Action;
use super::super::keys::keymap::Context;
use super::super::looks::theme::Role;
use super::super::plan::{Plan, cut_top};
use super::super::text::document::{Piece, piece};
use super::super::text::{column, right};
use super::brush::{Brush, columns, cut};
use super::state::{command, short_command, why};

const STATE: usize = 13;
const LEAST_NOTE: usize = 8;
const LEAST_WHY: usize = 12;

pub(super) fn draw(brush: &mut Brush<'_>, plan: &Plan) {
    if plan.list.is_empty() {
        return;
    }
    let (head, _) = cut_top(plan.list, 1);
    let is_narrow = plan.item_rows > 1;
    if is_narrow {
        let filter = filtered(brush);
        match filter.is_empty() {
            true => brush.row(head, 0, &[piece(narrow_head(brush, plan), Role::Faint)]),
            false => brush.row_from(head, (3, 0), &filter),
        };
    } else {
        let [ran, quiet] = if brush.is_still() { ["TIME", "LAST"] } else { ["AGE", "QUIET"] };
        let times = format!("{}{}", right(ran, 7), right(quiet, 7));
        let names = format!("   TASK  {} BY  {times}   CPU", column("STATE", STATE, ""));
        let x = brush.row(head, 0, &[piece(names, Role::Faint)]);
        let filter = filtered(brush);
        // Where there is little room, what the commands are is plain from themselves.
        let last = piece("  COMMAND", Role::Faint);
        if columns(&filter) + columns(std::slice::from_ref(&last)) + x < head.width {
            brush.row_from(head, (x, 0), &[last]);
        }
        brush.row_right(head, 0, &filter);
    }
    let body = plan.list_body();
    let app = brush.app;
    for (at, task) in app.tasks().into_iter().skip(app.list.top).take(plan.list_items()).enumerate() {
        let offset = u16::try_from(at).unwrap_or(u16::MAX).saturating_mul(plan.item_rows);
        let item = cut_top(cut_top(body, offset).1, plan.item_rows).0;
        let is_selected = app.list.selected.as_ref() == Some(&task.id);
        if is_narrow {
            narrow(brush, item, task, is_selected)
        } else {
            wide(brush, item, task, is_selected)
        }
        if is_selected {
            brush.select(item);
        }
    }
}

/// Which tasks are listed, unless that is all of them, and how to see all.
fn filtered(brush: &Brush<'_>) -> Vec<Piece> {
    let app = brush.app;
    let filter = app.list.filter;
    if filter == Filter::All {
        return Vec::new();
    }
    let listed = app.snapshot.tasks.iter().filter(|task| filter.holds(task)).count();
    let key = app.setup.keymap.key(Context::Tasks, Action::Back).unwrap_or_default();
    vec![
        piece(filter.word(), Role::Strong),
        piece(format!("  {listed} of {}  ", app.snapshot.tasks.len()), Role::Text),
        piece(key, Role::Key),
        piece(" all ", Role::Faint),
    ]
}

fn narrow_head(brush: &Brush<'_>, plan: &Plan) -> String {
    let count = brush.app.tasks().len();
    let (from, to) = (brush.app.list.top, brush.app.list.top + plan.list_items());
    if count <= plan.list_items() {
        return "   TASK STATE".to_owned();
    }
    format!("   TASK STATE   {}-{} of {count}", from + 1, to.min(count))
}

fn mark(brush: &Brush<'_>, is_selected: bool) -> Piece {
    let mark = if is_selected { brush.glyphs().selected } else { " " };
    piece(format!(" {mark} "), Role::Accent)
}

fn wide(brush: &mut Brush<'_>, area: Rect, task: &TaskView, is_selected: bool) {
    let shown = brush.state(task);
    let dots = brush.glyphs().cut;
    let word = column(&format!("{} {}", shown.glyph, shown.word), STATE, dots);
    let (ran, quiet) = (brush.ran(task), brush.quiet(task));
    let fixed = [
        mark(brush, is_selected),
        piece(column(&alias(task), 6, dots), Role::Text),
        piece(format!("{word} "), shown.role),
        piece(column(task.started_by.short(), 4, dots), Role::Faint),
        piece(right(&ran, 7), Role::Text),
        piece(right(&quiet, 7), Role::Faint),
        piece(format!("{}  ", right(&cpu(brush, task), 6)), Role::Text),
    ];
    let x = brush.row(area, 0, &fixed);
    let inside = Rect { width: area.width.saturating_sub(1), ..area };
    let room = usize::from(inside.width.saturating_sub(x));
    let cmd = command(task);
    let note: Vec<_> = brush.note(task).into_iter().collect();
    let note = beside(&cmd, &note, room, dots);
    let taken = if note.is_empty() { 0 } else { usize::from(columns(&note)) + 2 };
    brush.row_right(inside, 0, &note);
    let x = brush.row_from(inside, (x, 0), &cut(&cmd, room.saturating_sub(taken), dots));
    // Why it runs stands behind the command where both fit, never instead of a part of it.
    let left = usize::from(inside.width.saturating_sub(x)).saturating_sub(taken + 2);
    let why = why(task);
    if !why.is_empty() && left >= LEAST_WHY.min(usize::from(columns(&why))) {
        brush.row_from(inside, (x + 2, 0), &cut(&why, left, dots));
    }
}

/// Percent of a processor; a dot where it is not known, which is not nothing.
fn cpu(brush: &Brush<'_>, task: &TaskView) -> String {
    let used = brush.app.usage.of(&task.id).filter(|_| !task.status.is_terminal());
    used.and_then(|used| used.cpu).map_or_else(|| brush.glyphs().dot.to_owned(), |cpu| cpu.to_string())
}

/// Returns what there is room for of a note beside a command: a short one stands whole, of a longer one what the
/// command leaves. The command is never left out.
fn beside(cmd: &[Piece], note: &[Piece], room: usize, dots: &str) -> Vec<Piece> {
    let [cmd, wanted] = [cmd, note].map(|pieces| usize::from(columns(pieces)));
    let left = room.saturating_sub(cmd.min(room * 2 / 3) + 2);
    match wanted {
        _ if wanted <= left.max((room * 3 / 5).saturating_sub(2)) => note.to_vec(),
        _ if left >= LEAST_NOTE => cut(note, left, dots),
        _ => Vec::new(),
    }
}

/// Two rows: the state before everything else in the first, the command in the second.
fn narrow(brush: &mut Brush<'_>, area: Rect, task: &TaskView, is_selected: bool) {
    let shown = brush.state(task);
    let dots = brush.glyphs().cut;
    let time = if task.status.is_terminal() { brush.quiet(task) } else { brush.ran(task) };
    let inside = Rect { width: area.width.saturating_sub(1), ..area };
    let x = brush.row(area, 0, &[mark(brush, is_selected), piece(column(&alias(task), 5, dots), Role::Text)]);
    let state = [piece(format!("{} {}", shown.glyph, shown.word), shown.role)];
    let state = cut(&state, usize::from(inside.width.saturating_sub(x)), dots);
    let x = brush.row_from(inside, (x, 0), &state);
    let used = brush.app.usage.of(&task.id).and_then(|used| used.cpu);
    let busy = used.filter(|cpu| *cpu > 0 && !task.status.is_terminal());
    let busy = busy.map(|cpu| piece(format!("{cpu}%"), Role::Text));
    let note = brush.note(task).filter(|_| !task.status.is_terminal());
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
    brush.row_right(inside, 0, &right);
    brush.row(area, 1, &[piece(format!("   {}  ", task.started_by.short()), Role::Faint)]);
    let room = usize::from(area.width.saturating_sub(9));
    let cmd = short_command(task);
    let note: Vec<Piece> = note.filter(|_| !told_above).into_iter().collect();
    let note = beside(&cmd, &note, room, dots);
    let taken = if note.is_empty() { 0 } else { usize::from(columns(&note)) + 2 };
    brush.row_right(inside, 1, &note);
    brush.row_from(area, (8, 1), &cut(&cmd, room.saturating_sub(taken), dots));
}
