//! The two bottom rows: a notice or the input line, and below it the mode, the driver, useful keys and the
//! follow flag.

pub mod hints;
mod news;
mod turn;

use ratatui::layout::Rect;
use ratatui::style::Modifier;

use crate::config::Mouse;
use crate::console::features::status::hints::{hints, is_finding};
use crate::console::features::status::news::news;
use crate::console::features::status::turn::{lists_nothing, turn};
use crate::console::keys::{Action, KeyContext};
use crate::console::state::{
    Column, LogSearch, Mode, Prompt, Screen, SearchOutcome, TextSearch, alias, wants_secret,
};
use crate::console::text::{self, StyledPiece, count, piece, visible};
use crate::console::theme::Role;
use crate::console::widgets::{Painter, columns};
use crate::envelope::Actor;
use crate::model::HISTORY_SECONDS;
use crate::terminal::SearchPattern;

/// Describes the number of matches and the position of the current one.
pub(in crate::console) fn match_count(finding: &TextSearch, needle: String) -> Vec<StyledPiece> {
    let what = match finding.count() {
        (_, 0) => "no match".to_owned(),
        (at, all) => format!("{}/{}", count(at as u64), count(all as u64)),
    };
    vec![piece(format!("{what} "), Role::Strong), piece(needle, Role::Text)]
}

/// What the bottom rows tell of other features.
#[derive(Debug, Clone, Default)]
pub struct StatusFacts {
    /// Which result of the search across all tasks is shown.
    pub found_at: Option<String>,
    /// Where the text or the replay over the screen stands.
    pub over_screen: Option<Vec<StyledPiece>>,
    /// Whether an answer is marked for comparison.
    pub has_marked_call: bool,
    /// How many things wait for an answer of the user.
    pub waiting: usize,
}

/// Maximum width of a search text, in columns.
const MOST_NEEDLE: usize = 24;

pub(in crate::console) fn draw(painter: &mut Painter<'_>, area: Rect, facts: &StatusFacts) {
    let state = painter.state;
    // Whatever reaches the task has the colour of input, and nothing else has.
    let reaches_task = state.typing_into().is_some() && !painter.focus.has_dialog;
    let role = if reaches_task { Role::Input } else { Role::Mode };
    let mut x = painter.row(area, 0, &[piece(format!(" {} ", mode_word(painter)), role)]);
    if reaches_task {
        painter.restyle_row(area, 0, 0..x, |cell| cell.modifier.insert(Modifier::REVERSED));
    }
    x = painter.row_from(area, (x, 0), &[piece("  ", Role::Text)]);
    let mut flag = flag(painter);
    if !state.outer.has_mouse && state.setup.ui.console.mouse != Mouse::Off {
        flag.insert(0, piece("MOUSE OFF  ", Role::Strong));
    }
    let flag_from = area.width.saturating_sub(columns(&flag) + 1);
    painter.row_from(area, (flag_from, 0), &flag);
    let driver = driver(painter, facts);
    let room = Rect { width: flag_from.saturating_sub(2), ..area };
    let hints = hints(painter, facts, room.width.saturating_sub(x + columns(&driver) + 3));
    x = painter.row_from(room, (x, 0), &driver);
    painter.row_from(room, (x + if driver.is_empty() { 0 } else { 3 }, 0), &hints);
}

fn mode_word(painter: &Painter<'_>) -> String {
    let state = painter.state;
    let of = |task| state.view.task(task).map(|task| alias(task)).unwrap_or_default();
    let word = match (painter.focus.context, &state.focus.mode) {
        _ if state.is_leaving => "STOPPING",
        _ if painter.focus.word.is_some() => painter.focus.word.unwrap_or_default(),
        (KeyContext::Stop, _) => "STOP?",
        (KeyContext::Signal, _) => "SIGNAL?",
        (KeyContext::Restart, _) => "RESTART?",
        (KeyContext::Quit, _) => "QUIT?",
        (KeyContext::Paste, _) => "PASTE?",
        (KeyContext::Undo, _) => "UNDO?",
        (KeyContext::Tell, _) => "TELL",
        (KeyContext::Held, _) => "APPROVE?",
        (KeyContext::Note, _) if painter.focus.has_dialog => "DENY?",
        (KeyContext::Attention, _) => "ATTENTION",
        (KeyContext::Gate, _) => "GATE?",
        (KeyContext::YesNo | KeyContext::Choice | KeyContext::Answer | KeyContext::InFlight, _) => "ANSWER?",
        (KeyContext::Reason, _) => "NOTE",
        (KeyContext::Settled, _) => "SETTLED",
        (KeyContext::List, _) => "CHOOSE",
        (_, Mode::Input(task)) => return format!("INPUT {}", of(task)),
        (_, Mode::Copy(_)) => "COPY",
        (_, Mode::Write(Prompt::Line(task), _)) => return format!("LINE {}", of(task)),
        (_, Mode::Write(Prompt::Rename(_), _)) => "NAME",
        (_, Mode::Write(Prompt::Watch(_), _)) => "WATCH",
        (_, Mode::Write(Prompt::Start, _)) => "START",
        (_, Mode::Write(Prompt::Search(_) | Prompt::SearchAll | Prompt::Find, _)) => "SEARCH",
        (_, Mode::Write(Prompt::FilterCalls | Prompt::FilterTasks, _)) => "FILTER",
        (_, Mode::Observe) if is_searching(painter) || is_finding(painter) => "SEARCH",
        (KeyContext::Replay, _) => {
            let task = state.replay.as_ref().map(|replay| of(&replay.task));
            return format!("REPLAY {}", task.unwrap_or_default());
        }
        (KeyContext::Tasks, Mode::Observe) if state.focus.in_pane => {
            let task = state.selected_task().map(|task| alias(task));
            return format!("PANE {}", task.unwrap_or_default());
        }
        (_, Mode::Observe) if state.setup.recording.is_some() => "RECORDING",
        (_, Mode::Observe) => "OBSERVE",
    };
    word.to_owned()
}

/// Tells whether a search is shown and the keys of its screen apply.
fn is_searching(painter: &Painter<'_>) -> bool {
    painter.state.reading.search.is_some()
        && matches!(painter.focus.context, KeyContext::Tasks | KeyContext::Focus | KeyContext::Program)
}

/// Describes the result of a search.
fn search_result(search: &LogSearch, dots: &str) -> Vec<StyledPiece> {
    let what = match (search.outcome, search.query.forward) {
        (SearchOutcome::Asked, _) => "searching",
        (SearchOutcome::At(_), _) => "found",
        (SearchOutcome::Nowhere(_), _) if SearchPattern::is_invalid(&search.query.needle) => {
            "no valid expression:"
        }
        (SearchOutcome::Nowhere(None), _) => "no match",
        (SearchOutcome::Nowhere(Some(_)), false) => "no older match",
        (SearchOutcome::Nowhere(Some(_)), true) => "no newer match",
    };
    let what = match search.counted.filter(|_| matches!(search.outcome, SearchOutcome::At(_))) {
        Some((at, all)) => format!("{} of {}", text::count(at), text::count(all)),
        None => what.to_owned(),
    };
    let needle = text::cut(&visible::one_line(&search.query.needle), MOST_NEEDLE, dots);
    vec![piece(format!("{what} "), Role::Strong), piece(needle, Role::Text)]
}

fn driver(painter: &mut Painter<'_>, facts: &StatusFacts) -> Vec<StyledPiece> {
    let state = painter.state;
    let is_written =
        matches!(state.focus.mode, Mode::Write(Prompt::Search(_), _)) && !painter.focus.has_dialog;
    if let Some(told) = facts.found_at.clone().filter(|_| !is_written && is_searching(painter)) {
        return vec![piece(told, Role::Strong)];
    }
    if let Some(search) = state.reading.search.as_ref().filter(|_| is_written || is_searching(painter)) {
        return search_result(search, painter.glyphs().cut);
    }
    if let Some(finding) = state.calls.finding.as_ref().filter(|_| is_finding(painter)) {
        let needle = text::cut(&visible::one_line(&finding.needle.text), MOST_NEEDLE, painter.glyphs().cut);
        return match_count(finding, needle);
    }
    if lists_nothing(state) {
        return vec![piece("no match", Role::Strong)];
    }
    if let Some(told) = &facts.over_screen {
        return told.clone();
    }
    match state.focus.screen {
        Screen::Receipts => {
            let Some(call) = state.shown_call() else { return Vec::new() };
            let at = state.call_name(call.seq);
            let all = match state.is_fleet() {
                true => String::new(),
                false => {
                    let newest = state.view.newest_calls().next().map_or(0, |call| call.seq);
                    format!(" of {}", text::count(newest))
                }
            };
            let mut said = vec![piece(format!("call {at}{all}"), Role::Text)];
            if let Some(budget) = state.calls.budget {
                said.push(piece(format!("  budget {}", text::count(budget)), Role::Strong));
            }
            return said;
        }
        Screen::Metrics => return vec![piece(format!("last {HISTORY_SECONDS} s"), Role::Text)],
        Screen::Program if state.programs.in_pane || state.typing_into().is_some() => {}
        Screen::Program => {
            let run = state.program().map(|program| format!("run {}", visible::one_line(&program.run)));
            return run.map(|run| piece(run, Role::Faint)).into_iter().collect();
        }
        Screen::Tasks | Screen::Focus if state.view.is_lost => return Vec::new(),
        Screen::Tasks | Screen::Focus => {}
    }
    let Some(task) = state.at_hand() else { return Vec::new() };
    if let Some(told) = state.refusal_at_hand() {
        return vec![piece(told, Role::Strong)];
    }
    if task.status.is_terminal() {
        return vec![piece(format!("{} has ended", alias(task)), Role::Faint)];
    }
    let types = matches!(&state.focus.mode, Mode::Input(typed) if *typed == task.id);
    let words = piece(turn(task, types), if types { Role::Input } else { Role::Text });
    let lease = task.lease.as_ref().filter(|lease| lease.holder == Actor::Operator);
    let left = lease.map(|lease| piece(format!("  {}", painter.time_left(lease.until)), Role::Text));
    std::iter::once(words).chain(left).collect()
}

fn flag(painter: &Painter<'_>) -> Vec<StyledPiece> {
    let state = painter.state;
    if let Some(scroll) = &state.reading.scroll {
        let lines = state.view.task(&scroll.task).map_or(0, |task| task.output.lines);
        let new = lines.saturating_sub(scroll.lines);
        // In the list, the keys of a text move the selection.
        let back = if state.focus.screen == Screen::Tasks && !state.focus.in_pane {
            Action::Back
        } else {
            Action::Bottom
        };
        let key = state.setup.keymap.key(state.view_context(), back).unwrap_or_default();
        let new = match new {
            0 => String::new(),
            // A running count would be motion too.
            _ if !state.setup.ui.console.motion => " new below".to_owned(),
            new => format!(" +{} new", text::count(new)),
        };
        let new = piece(format!("{new}  "), Role::Text);
        return vec![
            piece("scrolled back,", Role::Strong),
            new,
            piece(key, Role::Key),
            piece(" to follow", Role::Text),
        ];
    }
    if state.reader.is_some() || state.replay.is_some() {
        return Vec::new();
    }
    let follows = match state.focus.screen {
        Screen::Tasks => !state.list.is_held,
        Screen::Program if !state.programs.in_pane => state.programs.top.is_none(),
        Screen::Focus | Screen::Program => state.at_hand().is_some_and(|task| !task.status.is_terminal()),
        Screen::Receipts => state.calls.selected.is_none(),
        Screen::Metrics if painter.is_still() => {
            return vec![piece(format!("as of {}", painter.time(state.clock.now)), Role::Faint)];
        }
        Screen::Metrics => return vec![piece("live", Role::Faint)],
    };
    vec![piece(if follows { "follow" } else { "" }, Role::Faint)]
}

/// Draws the upper of the two rows: the input line, or else the current notice.
pub(in crate::console) fn notice(painter: &mut Painter<'_>, area: Rect, facts: &StatusFacts) {
    let state = painter.state;
    let task = state.focus.mode.task().and_then(|task| state.view.task(task));
    let is_secret = task.is_some_and(|task| wants_secret(task));
    let of = task.map(|task| alias(task)).unwrap_or_default();
    let Mode::Write(prompt, editor) = &state.focus.mode else {
        let pieces = news(painter, facts.waiting);
        return painter.line(Rect { width: area.width.saturating_sub(1), ..area }, 0, &pieces);
    };
    let label = match prompt {
        Prompt::Line(_) if task.is_none() => return,
        Prompt::Line(_) if is_secret => format!(" secret, not recorded to {of} "),
        Prompt::Line(_) => format!(" line to {of} "),
        Prompt::Start => state.start_label(),
        Prompt::Rename(_) => format!(" name for {of} "),
        Prompt::Watch(_) => format!(" ring for {of}: fail, 30 s, 90 %, or a pattern "),
        Prompt::Search(_) => format!(" search {of} "),
        Prompt::SearchAll => " search all tasks ".to_owned(),
        Prompt::Find if state.calls.column == Column::Envelope => " find in the envelope ".to_owned(),
        Prompt::Find => " find in the receipt ".to_owned(),
        Prompt::FilterCalls => " list calls with ".to_owned(),
        Prompt::FilterTasks => " list tasks with ".to_owned(),
    };
    let label = [piece(label, Role::Faint), painter.prompt()];
    let is_masked = is_secret && matches!(prompt, Prompt::Line(_));
    painter.editor(area, 0, &label, editor, is_masked, !painter.focus.has_dialog);
}
