//! The most useful keys for the current context, hints for newcomers until they have used the key, and what
//! the console remembers between runs (none of it essential: an unreadable file counts as empty).

use crate::console::features::status::StatusFacts;
use crate::console::keys::{Action, KeyContext};
use crate::console::state::{Column, HINTED, Mode, Prompt, State, takes_input};
use crate::console::text::{StyledPiece, piece};
use crate::console::theme::Role;
use crate::console::widgets::{Painter, columns, join_groups};

/// What newcomers should learn first: the action, and what it is good for.
pub(in crate::console) const HINTS: [(Action, &str); 4] = [
    (Action::Help, "lists the keys that work here"),
    (Action::Input, "types into the task"),
    (Action::ShowReceipts, "shows what the agent was told"),
    (Action::Palette, "finds everything by name"),
];

/// Maximum number of keys shown at once.
const MOST_HINTS: usize = 5;

/// The actions worth a hint in each context, most useful first.
fn candidates(painter: &Painter<'_>, facts: &StatusFacts) -> &'static [Action] {
    use Action::*;
    let state = painter.state;
    match painter.focus.context {
        KeyContext::Tasks | KeyContext::Focus | KeyContext::Program if state.reading.search.is_some() => {
            &[NextMatch, PreviousMatch, Back]
        }
        KeyContext::Tasks | KeyContext::Focus if state.view.is_lost => {
            &[Quit, ShowFocus, Search, ShowReceipts]
        }
        KeyContext::Tasks if state.view.snapshot.tasks.is_empty() => &[Input, ToAgent, Start],
        KeyContext::Tasks if state.focus.in_pane => &[Up, PageUp, FindText, Top, Bottom, Back],
        KeyContext::Tasks => {
            &[Approvals, Input, ToAgent, LetPass, SendLine, Release, Stop, Restart, ShowFocus, Start, Dismiss]
        }
        KeyContext::Focus | KeyContext::Program if state.reading.scroll.is_some() => {
            &[Bottom, Up, Down, Search, Back]
        }
        KeyContext::Focus => &[
            Approvals, Input, LetPass, SendLine, Release, Stop, Restart, Fit, Search, PageUp, NextTask,
            ShowTasks,
        ],
        KeyContext::Receipts => receipt_candidates(painter, facts),
        KeyContext::Text if is_finding(painter) => &[NextFound, PreviousFound, Back],
        KeyContext::Replay => &[Play, StepForward, Faster, NextPart, Back],
        KeyContext::Text => &[NextPart, FindText, Down, Back],
        KeyContext::Metrics => &[Up, Down, ShowFocus, ShowTasks],
        KeyContext::Program => {
            &[AnswerQuestion, Input, SendLine, Release, NextPane, OpenTask, Bottom, NextProgram, ShowTasks]
        }
        KeyContext::Left => &[Stop, Dismiss, Choose, Back],
        KeyContext::Answer | KeyContext::Reason => &[Send, Back],
        KeyContext::Input => &[Leave],
        KeyContext::Copy => &[Select, SelectLines, SelectBlock, Yank, Back],
        KeyContext::Line => &[Send, Newline, Raw, Leave],
        KeyContext::Start => &[Run, Leave],
        KeyContext::Search => &[Find, Leave],
        KeyContext::Undo => &[Confirm, Back],
        KeyContext::Held => &[Approve, Deny, NextHeld, Back],
        KeyContext::Note | KeyContext::Tell => &[Send, Leave],
        KeyContext::Attention | KeyContext::List => &[Choose, Up, Down, Back],
        KeyContext::Gate
        | KeyContext::YesNo
        | KeyContext::InFlight
        | KeyContext::Choice
        | KeyContext::Settled
        | KeyContext::Observe
        | KeyContext::Stop
        | KeyContext::Restart
        | KeyContext::Signal
        | KeyContext::Quit
        | KeyContext::Paste => &[Back],
    }
}

fn receipt_candidates(painter: &Painter<'_>, facts: &StatusFacts) -> &'static [Action] {
    use Action::*;
    let calls = &painter.state.calls;
    if is_finding(painter) {
        &[NextFound, PreviousFound, Back, NextColumn, FindText]
    } else if calls.budget.is_some() {
        &[SmallerBudget, LargerBudget, FullBudget, NextColumn, CopyText]
    } else if facts.has_marked_call {
        &[Compare, Up, Down, NextColumn, Fold]
    } else if calls.column == Column::Envelope {
        &[Fold, NextColumn, CopyText, SmallerBudget, Compare]
    } else {
        &[NextColumn, CopyText, ModelSaw, Share, SmallerBudget, OpenTask, Zoom, ShowTasks]
    }
}

/// Tells whether `Enter` shows the card of what is selected.
fn decides(state: &State) -> bool {
    state.batch_at_hand().is_some() || state.at_hand().is_some_and(|task| task.held.is_some())
}

/// Tells whether a key would do something useful now; on an ended task, `Enter` merely opens it.
fn is_useful(painter: &Painter<'_>, action: Action) -> bool {
    let state = painter.state;
    let types = state.at_hand().is_some_and(|task| takes_input(task));
    let is_worth = match action {
        Action::Input => types || decides(state) || state.agent_pointed_at().is_some(),
        Action::ToAgent => state.agent_pointed_at().is_some(),
        Action::SendLine => types,
        Action::Restart => state.at_hand().is_some_and(|task| task.status.is_terminal()),
        _ => true,
    };
    let is_answer = matches!(action, Action::Approve | Action::Deny);
    painter.focus.has_dialog && !is_answer || painter.can(action) && is_worth
}

pub(in crate::console) fn hints(painter: &Painter<'_>, facts: &StatusFacts, room: u16) -> Vec<StyledPiece> {
    let state = painter.state;
    if state.is_leaving {
        return vec![piece("ending the tasks, then leaving", Role::Text)];
    }
    let context = painter.focus.context;
    let is_kept = matches!(state.focus.mode, Mode::Write(Prompt::Rename(_) | Prompt::Watch(_), _));
    let word = |action: Action| match action {
        Action::Send if is_kept => "save",
        Action::Input if decides(state) => "decide",
        Action::Input if state.agent_pointed_at().is_some() => match state.list.filters.whose {
            Some(_) => "show all",
            None => "only this agent",
        },
        // The same key filters tasks, or searches the output once keys go to the pane.
        Action::FindText if context == KeyContext::Tasks && state.focus.in_pane => "search",
        _ => action.hint(),
    };
    let hint = |action: Action| painter.key(context, action, word(action));
    let gap = piece("  ", Role::Text);
    let help = hint(Action::Help);
    let mut groups: Vec<Vec<StyledPiece>> = Vec::new();
    for action in candidates(painter, facts).iter().filter(|action| is_useful(painter, **action)) {
        let tried = [&groups[..], &[hint(*action)]].concat();
        let shown = |tried: &[Vec<StyledPiece>]| {
            tried.iter().chain([&help]).filter(|group| !group.is_empty()).count()
        };
        let whole = join_groups([&tried[..], std::slice::from_ref(&help)].concat(), &gap);
        if shown(&tried) <= MOST_HINTS && columns(&whole) <= room {
            groups = tried;
        }
    }
    let whole = join_groups([groups, vec![help]].concat(), &gap);
    if columns(&whole) <= room { whole } else { Vec::new() }
}

/// Returns the hint for a newcomer; empty once its key has been used.
pub(in crate::console) fn hint(painter: &Painter<'_>) -> Vec<StyledPiece> {
    let state = painter.state;
    let is_over = state.clock.now.duration_since(state.clock.opened) >= HINTED;
    // While something is typed, these keys are text.
    let is_typing = !matches!(state.focus.mode, Mode::Observe);
    if !state.setup.ui.console.hints || state.setup.recording.is_some() || is_over || is_typing {
        return Vec::new();
    }
    let next = HINTS.iter().filter(|(action, _)| !state.memory.learnt.contains(action.name()));
    let context = state.view_context();
    let key = |action: Action| state.setup.keymap.key(context, action).filter(|_| painter.can(action));
    let Some((key, use_of)) = next.filter_map(|(action, use_of)| Some((key(*action)?, use_of))).next() else {
        return Vec::new();
    };
    let chord = state.setup.keymap.key(KeyContext::Input, Action::Leave).unwrap_or_default();
    let back = if use_of.starts_with("types") { format!(", {chord} comes back") } else { String::new() };
    vec![
        piece(" new here?  ", Role::Faint),
        piece(key, Role::Key),
        piece(format!(" {use_of}{back}"), Role::Text),
    ]
}

/// Tells whether a search is active and the keys of its text apply.
pub(in crate::console) fn is_finding(painter: &Painter<'_>) -> bool {
    let is_text = matches!(painter.focus.context, KeyContext::Receipts | KeyContext::Text);
    painter.state.calls.finding.is_some() && is_text
}
