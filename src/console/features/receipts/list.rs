//! Draws the list of calls: who called which tool when, what came of it, and the command.

use crate::console::features::receipts::Receipts;
use crate::console::keys::{Action, KeyContext};
use crate::console::state::call_rows::{held_of, items_of, subject, task_of};
use crate::console::state::calls::RulingFilter;
use crate::console::state::listing::heads::StateCounts;
use crate::console::state::rulings::ruling;
use crate::console::state::{CallRow, CallState, Layout, actor_name, cut_top, outcome, short, short_alias};
use crate::console::text::{StyledPiece, column, millis, piece, right, visible, width};
use crate::console::theme::Role;
use crate::console::widgets::pieces::cut;
use crate::console::widgets::{Painter, columns};

/// Width of the selection mark and of a call's number.
const MARK: usize = 3;

const NUMBER: usize = 5;

/// Width of a duration.
const TOOK: usize = 8;

pub(super) fn list(painter: &mut Painter<'_>, layout: &Layout, receipts: &Receipts) {
    if layout.list.is_empty() {
        return;
    }
    let state = painter.state;
    let (head, body) = (cut_top(layout.list, 1).0, layout.list_body());
    let at = state.call_at();
    let rows = state.call_rows();
    let place = place(painter, at, rows.len());
    // Drop headings from the end where the filter and the count need their room.
    let room = usize::from(head.width.saturating_sub(columns(&place)));
    let heading = heading(layout.list.width, state.alias_columns(NUMBER));
    let mut headings = heading.as_str();
    while width(headings) >= room && !headings.is_empty() {
        headings = headings.rsplit_once(' ').map_or("", |(first, _)| first.trim_end());
    }
    painter.row(head, 0, &[piece(headings, Role::Faint)]);
    painter.row_right(head, 0, &place);
    let calls = rows.iter().enumerate().skip(state.calls.top).take(layout.list_items());
    painter.list(body, calls, |painter, (place, call)| {
        let is_marked = receipts.marked.as_ref().is_some_and(|marked| marked.seq == call.call.seq);
        let row = row(painter, call, layout.list.width, (place == at, is_marked));
        (painter.cut(&row, body.width.saturating_sub(1)), place == at)
    });
}

/// Returns how the calls are filtered, and where the selected row is in the list.
fn place(painter: &Painter<'_>, at: usize, count: usize) -> Vec<StyledPiece> {
    let calls = &painter.state.calls;
    let position = (count > 0).then(|| piece(format!("{} of {count} ", at + 1), Role::Faint));
    let mut pieces = Vec::new();
    let narrowed = painter.state.calls_of();
    let filter = (!calls.filter.is_empty()).then(|| format!("/{}", visible::one_line(&calls.filter)));
    let ruling = Some(calls.ruling).filter(|ruling| *ruling != RulingFilter::All);
    let filter =
        ruling.map(|ruling| ruling.word().to_owned()).into_iter().chain(filter).reduce(|a, b| a + " " + &b);
    if narrowed.is_some() || filter.is_some() {
        let key = painter.state.setup.keymap.key(KeyContext::Receipts, Action::Back).unwrap_or_default();
        let all = painter.state.view.snapshot.calls.len();
        let held: Vec<String> = narrowed.into_iter().chain(filter).collect();
        pieces.push(piece(held.join(" "), Role::Strong));
        pieces.push(piece(format!("  {count} of {all}  "), Role::Text));
        pieces.extend([piece(key, Role::Key), piece(" all ", Role::Faint)]);
    }
    pieces.into_iter().chain(position).collect()
}

/// The widths of the columns between the call's number and its command, each with a blank; 0 if there is no
/// room for the column.
struct CallColumns {
    by: usize,
    tool: usize,
    task: usize,
    time: usize,
    took: usize,
    result: usize,
}

impl CallColumns {
    /// Returns the columns of a list of this width.
    fn of(list: u16) -> Self {
        match list {
            120.. => Self { by: 13, tool: 17, task: 6, time: 9, took: TOOK + 2, result: 14 },
            100.. => Self { by: 10, tool: 13, task: 5, time: 9, took: TOOK + 2, result: 14 },
            76.. => Self { by: 7, tool: 13, task: 5, time: 0, took: TOOK + 1, result: 13 },
            50.. => Self { by: 7, tool: 0, task: 5, time: 0, took: 0, result: 13 },
            _ => Self { by: 0, tool: 0, task: 5, time: 0, took: 0, result: 6 },
        }
    }
}

fn heading(list: u16, number: usize) -> String {
    let CallColumns { by, tool, task, time, took, result } = CallColumns::of(list);
    let names = [("BY", by), ("TOOL", tool), ("TASK", task), ("TIME", time)];
    let names: String = names.iter().map(|(name, columns)| column(name, *columns, "")).collect();
    let took = if took > 0 { column(&right("TOOK", TOOK), took, "") } else { String::new() };
    let result = column("RESULT", result, "");
    // The key that shows it, and what it lists.
    let call = right("CALL", (MARK + number).saturating_sub(4));
    format!("[3] {call} {names}{took}{result}COMMAND")
}

fn row(
    painter: &Painter<'_>,
    row: &CallRow<'_>,
    list: u16,
    (is_selected, is_marked): (bool, bool),
) -> Vec<StyledPiece> {
    let (state, call, dots) = (painter.state, row.call, painter.glyphs().cut);
    let CallColumns { by, tool, task, time, took, result } = CallColumns::of(list);
    let mark = painter.marker(is_selected);
    let number = right(&state.call_name(call.seq), state.alias_columns(NUMBER));
    let name = actor_name(&call.actor);
    // The whole name where it fits, as in the list of tasks.
    let actor = if width(&name) < by { name } else { short(&call.actor, by.saturating_sub(1), dots) };
    let alias = task_of(&state.view, call).map(|task| short_alias(task)).unwrap_or_default();
    let duration = right(&call.duration_ms.map(millis).unwrap_or_default(), TOOK);
    let mut pieces = vec![
        piece(format!("{}{mark} ", if is_marked { "=" } else { " " }), Role::Accent),
        piece(format!("{number} "), Role::Text),
    ];
    let cells = [
        (actor, by, Role::Text),
        (visible::one_line(&call.tool).into_owned(), tool, Role::Text),
        (alias, task, Role::Text),
        (painter.time(call.at), time, Role::Faint),
        (duration, took, Role::Faint),
    ];
    let cells = cells.into_iter().filter(|(_, columns, _)| *columns > 0);
    pieces.extend(
        cells.map(|(text, columns, role)| piece(format!("{} ", column(&text, columns - 1, dots)), role)),
    );
    let came_of = came_of(painter, row, result);
    let left = usize::from(list).saturating_sub(usize::from(columns(&pieces)) + result);
    pieces.extend(pad(came_of, (result, left * 2 / 3), dots));
    let by = ruling(&state.view, call).filter(|_| state.calls.ruling != RulingFilter::All);
    let by = by.map(|by| by.strip_prefix("nobody was asked: ").unwrap_or(&by).to_owned());
    pieces.extend(by.map(|by| piece(format!("{by}  "), Role::Faint)));
    pieces.extend(subject(&state.view, row));
    pieces
}

/// Returns what came of a call: of a batch how many of its items are in which state, as in the list of tasks.
fn came_of(painter: &Painter<'_>, row: &CallRow<'_>, room: usize) -> Vec<StyledPiece> {
    let (view, states) = (&painter.state.view, painter.glyphs().states);
    let (state, how) = outcome(view, row.call);
    let (glyph, role) = match state {
        CallState::Held => (states[0], Role::Waiting),
        CallState::Running => (states[1], Role::Running),
        CallState::Waiting => (states[2], Role::Waiting),
        CallState::Done => (states[4], Role::Completed),
        CallState::Stopped => (states[3], Role::Cancelled),
        CallState::Failed => (states[5], Role::Failed),
    };
    let counts = StateCounts::of(items_of(view, row.call).map(|item| &**item));
    if counts.all > 0 && held_of(view, row.call).is_none() {
        let mut counted = painter.state_counts(counts);
        counted.iter_mut().take(1).for_each(|first| first.text = first.text.trim_start().to_owned());
        // Items that were never started have no task to count.
        if state == CallState::Failed && counts.failed == 0 {
            counted.insert(0, piece(format!("{glyph} "), role));
        }
        return counted;
    }
    // With little room, the glyph tells that it failed, and the number how.
    let how = if room < 10 { how.strip_prefix("exit ").unwrap_or_default() } else { how.as_str() };
    let word = if state == CallState::Done { Role::Faint } else { role };
    vec![piece(format!("{glyph} "), role), piece(how, word)]
}

/// Fills up pieces to a column of this width, which ends with a blank. If they are longer, they take up to so much `more`,
/// end with two blanks, and are cut beyond.
fn pad(mut pieces: Vec<StyledPiece>, (room, more): (usize, usize), dots: &str) -> Vec<StyledPiece> {
    pieces = cut(&pieces, (room + more).saturating_sub(2).max(room.saturating_sub(1)), dots);
    let taken = usize::from(columns(&pieces));
    let missing = if taken < room { room - taken } else { 2 };
    pieces.push(piece(" ".repeat(missing), Role::Text));
    pieces
}
