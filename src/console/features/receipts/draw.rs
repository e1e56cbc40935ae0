//! Draws the receipt exactly as sent and the canonical envelope, and what the call asked for; also beside a task.

use ratatui::layout::Rect;

use crate::console::features::receipts::Receipts;
use crate::console::features::receipts::list::list;
use crate::console::features::receipts::progress::{draw_batch, draw_stream, is_under_way, stream_under_way};
use crate::console::features::receipts::sheet::CallSheet;
use crate::console::state::call_rows::task_of;
use crate::console::state::rulings::ruling;
use crate::console::state::{Column, Layout, Screen, State, Term, actor_name, cut_left, cut_top};
use crate::console::text::{StyledPiece, count, millis, piece, tokens, visible, wrap_lines};
use crate::console::theme::Role;
use crate::console::widgets::painter::AROUND_HEAD;
use crate::console::widgets::text::{highlight_matches, reading};
use crate::console::widgets::{Painter, columns};
use crate::envelope::Actor;
use crate::model::calls::SHELL_CALL;
use crate::model::{CallSummary, NativeCall};

pub(crate) fn draw(painter: &mut Painter<'_>, layout: &Layout, receipts: &Receipts) {
    if painter.state.focus.screen == Screen::Receipts {
        list(painter, layout, receipts);
        draw_call(painter, layout.asked, receipts.sheet.as_ref());
    }
    let state = painter.state;
    // What was not answered yet has no texts, and so no sizes.
    let sheet = receipts.sheet.as_ref().filter(|sheet| sheet.is_answered);
    let is_reading = |column| state.focus.screen == Screen::Receipts && state.calls.column == column;
    for column in [Column::Receipt, Column::Envelope] {
        let area = layout.text(column);
        if area.is_empty() {
            continue;
        }
        let (head, body) = cut_top(area, 1);
        let mut title = title(painter, column, is_reading(column));
        let native = sheet.filter(|_| column == Column::Receipt).and_then(|sheet| model_share(state, sheet));
        let sizes = || sheet.map(|sheet| sizes(sheet.chars(column))).unwrap_or_default();
        let mut facts = native.unwrap_or_else(sizes);
        // What a person or a script was answered, no model read.
        let is_answer = |call: &CallSummary| matches!(call.actor, Actor::Agent(_)) && call.tool != SHELL_CALL;
        let is_agents = state.shown_call().is_some_and(|call| is_answer(call));
        let term = match column {
            Column::Envelope => Some(Term::Envelope),
            _ => Some(Term::Receipt).filter(|_| is_agents),
        };
        if let Some(line) = term.and_then(|term| painter.explanation(term)) {
            title.extend([piece("  ", Role::Text), line]);
            // If both do not fit, leave out the sizes until the term is known.
            facts.retain(|fact| {
                columns(&title) + columns(std::slice::from_ref(fact)) + AROUND_HEAD <= head.width
            });
        }
        painter.head(head, &title, &facts);
        match sheet {
            Some(sheet) if state.focus.screen == Screen::Receipts => {
                let text = sheet.text(column);
                reading(painter, body, text, text.top);
                if is_reading(column) {
                    state
                        .calls
                        .finding
                        .iter()
                        .for_each(|finding| highlight_matches(painter, body, text, finding));
                }
                mark(painter, body, sheet, column);
            }
            Some(sheet) => reading(painter, body, sheet.text(column), 0),
            None if column == Column::Receipt && is_under_way(state) => draw_batch(painter, body),
            None if column == Column::Receipt && stream_under_way(state).is_some() => {
                draw_stream(painter, body)
            }
            None => nothing_yet(painter, body),
        }
    }
}

fn title(painter: &Painter<'_>, column: Column, is_reading: bool) -> Vec<StyledPiece> {
    let state = painter.state;
    let mark = if is_reading { format!("{} ", painter.glyphs().selected) } else { String::new() };
    let name = match column {
        Column::Envelope => "envelope",
        _ if state.focus.screen == Screen::Receipts => "receipt",
        _ => "[3] receipt",
    };
    let mut title = vec![piece(mark, Role::Accent), piece(name, Role::Title)];
    if state.focus.screen != Screen::Receipts
        && let Some(call) = state.shown_call()
    {
        title.push(piece(
            format!("  call {} {}", painter.state.call_name(call.seq), visible::one_line(&call.tool)),
            Role::Text,
        ));
    }
    title
}

fn sizes(chars: u64) -> Vec<StyledPiece> {
    vec![piece(format!("{} chars, ~{} tokens", count(chars), count(tokens(chars))), Role::Faint)]
}

/// Returns what a model was given of a command of its agent's own shell, of all that the command wrote: in bytes and in
/// tokens, first that the agent has cut it.
fn model_share(state: &State, sheet: &CallSheet) -> Option<Vec<StyledPiece>> {
    let native = sheet.native.as_ref()?;
    let task = state.shown_call().and_then(|call| task_of(&state.view, call))?;
    let (read, wrote) = (sheet.receipt_text.len() as u64, task.output.bytes);
    let (bytes, about) = ([read, wrote].map(count), [read, wrote].map(|bytes| count(tokens(bytes))));
    let mut facts = Vec::from_iter(native.facts.is_cut.then(|| piece("cut", Role::Strong)));
    // What the agent or a stop adds is in no output.
    let of = |all: &str| if read > wrote { String::new() } else { format!(" of {all}") };
    facts.push(piece(format!("{}{} bytes", bytes[0], of(&bytes[1])), Role::Faint));
    let all = of(&format!("~{}", about[1]));
    let tokens = piece(format!("~{}{all} tokens", about[0]), Role::Faint);
    facts.extend(Some(tokens).filter(|_| !native.is_of_script()));
    Some(facts)
}

fn nothing_yet(painter: &mut Painter<'_>, area: Rect) {
    let text = match painter.state.shown_call() {
        Some(call) if call.status.is_none() => "not answered yet",
        Some(call) if call.status.as_deref() == Some("abandoned") => "the client stopped waiting",
        Some(_) => "",
        None => "nothing was told about this task yet",
    };
    painter.row(area, 0, &[piece(format!(" {text}"), Role::Faint)]);
}

/// Marks the current row, and its counterpart in the other column.
fn mark(painter: &mut Painter<'_>, area: Rect, sheet: &CallSheet, column: Column) {
    let (text, read) = (sheet.text(column), painter.state.calls.column);
    let Some(y) = text.row_on_screen(text.at) else { return };
    let glyphs = painter.glyphs();
    let mark = match read == column {
        true if !sheet.is_linked(column, text.at) => piece(glyphs.dot, Role::Faint),
        false if read == Column::Calls || !sheet.are_linked() => return,
        _ => piece(glyphs.selected, Role::Accent),
    };
    painter.row(area, y, &[mark]);
}

/// Draws what the call asked for: its input as received.
fn draw_call(painter: &mut Painter<'_>, area: Rect, sheet: Option<&CallSheet>) {
    let state = painter.state;
    let Some(call) = state.shown_call().filter(|_| !area.is_empty()) else { return };
    let (head, body) = cut_top(area, 1);
    let title = [
        piece(format!("call {}", state.call_name(call.seq)), Role::Title),
        piece(format!("  {}", visible::one_line(&call.tool)), Role::Text),
    ];
    let mut facts = format!("{}  {}", actor_name(&call.actor), painter.time(call.at));
    if let Some(ms) = call.duration_ms {
        facts.push_str(&format!("  {}", millis(ms)));
    }
    let mut facts = vec![piece(facts, Role::Faint)];
    facts.extend(ruling(&state.view, call).filter(|_| call.native.is_some()).map(|by| piece(by, Role::Text)));
    let sheet = sheet.filter(|sheet| sheet.is_answered && sheet.seq == call.seq);
    let read = sheet.and_then(|sheet| model_share(state, sheet)).and_then(|facts| facts.last().cloned());
    // First, because the last facts are dropped where there is no room for all.
    let is_of_script = call.native.as_ref().is_some_and(NativeCall::is_of_script);
    let words = if is_of_script { "given to its model's script:" } else { "its model read" };
    let read = read.map(|read| piece(format!("{words} {}", read.text), Role::Faint));
    facts.splice(0..0, read);
    painter.head(head, &title, &facts);
    let Some(record) = state.view.records.get(&call.seq) else { return };
    let text = record.input.to_string();
    let inside = cut_left(body, 1).1;
    let text = vec![piece(visible::in_text(&text), Role::Faint)];
    let mut rows = wrap_lines(&[text], usize::from(inside.width.saturating_sub(1)));
    let (shown, dots) = (usize::from(inside.height), painter.glyphs().cut);
    if rows.len() > shown {
        rows.truncate(shown);
        rows.last_mut().into_iter().for_each(|last| last.push(piece(dots, Role::Faint)));
    }
    painter.rows(inside, &rows);
}
