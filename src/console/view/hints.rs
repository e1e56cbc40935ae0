//! The keys worth knowing now: at most five beside the mode, the most useful first.

use super::super::app::calls::Column;
use super::super::app::{App, takes_input};
use super::super::keys::action::Action;
use super::super::keys::keymap::Context;
use super::super::looks::theme::Role;
use super::super::text::document::{Piece, piece};
use super::brush::{columns, joined};

/// Keys shown at once.
const MOST_HINTS: usize = 5;

/// The actions worth a hint in each context, most useful first.
fn candidates(app: &App) -> &'static [Action] {
    use Action::{
        AllRoom, AnswerQuestion, Approvals, Approve, Back, Choose, CopyText, Deny, Dismiss, Down, Find,
        FindText, Fit, Last, Leave, LessRoom, Line, MoreRoom, Newline, NextColumn, NextFound, NextHeld,
        NextMatch, NextPane, NextProgram, NextTask, OpenTask, PageUp, PreviousFound, PreviousMatch, Quit,
        Raw, Release, Rerun, Run, Search as SearchFor, Select, SelectBlock, SelectLines, Send, ShowFocus,
        ShowReceipts, ShowTasks, Start, Stop, Type, Up, Yank, Zoom,
    };
    use Action::{Compare, Faster, Fold, NextPart, Play, Seen, StepForward};
    match app.context() {
        Context::Tasks | Context::Focus | Context::Program if app.search.is_some() => {
            &[NextMatch, PreviousMatch, Back]
        }
        Context::Tasks | Context::Focus if app.is_lost => &[Quit, ShowFocus, SearchFor, ShowReceipts],
        Context::Tasks if app.snapshot.tasks.is_empty() => &[Start],
        Context::Tasks => &[Approvals, Type, Line, Release, Stop, Rerun, ShowFocus, Start, Dismiss],
        Context::Focus | Context::Program if app.scroll.is_some() => &[Last, Up, Down, SearchFor, Back],
        Context::Focus => {
            &[Approvals, Type, Line, Release, Stop, Rerun, Fit, SearchFor, PageUp, NextTask, ShowTasks]
        }
        Context::Receipts if app.is_finding() => &[NextFound, PreviousFound, Back, NextColumn, FindText],
        Context::Receipts if app.calls.budget.is_some() => {
            &[LessRoom, MoreRoom, AllRoom, NextColumn, CopyText]
        }
        Context::Receipts if app.calls.marked.is_some() => &[Compare, Up, Down, NextColumn, Fold],
        Context::Receipts if app.calls.column == Column::Envelope => {
            &[Fold, NextColumn, CopyText, LessRoom, Compare]
        }
        Context::Receipts => &[NextColumn, CopyText, Seen, LessRoom, OpenTask, Zoom, ShowTasks],
        Context::Text if app.is_finding() => &[NextFound, PreviousFound, Back],
        Context::Replay => &[Play, StepForward, Faster, NextPart, Back],
        Context::Text => &[NextPart, FindText, Down, Back],
        Context::Metrics => &[Up, Down, ShowFocus, ShowTasks],
        Context::Program => {
            &[AnswerQuestion, Type, Line, Release, NextPane, OpenTask, Last, NextProgram, ShowTasks]
        }
        Context::Attention => &[Choose, Up, Down, Back],
        Context::Gate | Context::YesNo | Context::InFlight | Context::Choice | Context::Settled => &[Back],
        Context::Answer | Context::Reason => &[Send, Back],
        Context::Input => &[Leave],
        Context::Copy => &[Select, SelectLines, SelectBlock, Yank, Back],
        Context::Line => &[Send, Newline, Raw, Leave],
        Context::Start => &[Run, Leave],
        Context::Search => &[Find, Leave],
        Context::Help => &[Up, Down, Back],
        Context::Held => &[Approve, Deny, NextHeld, Back],
        Context::Note => &[Send, Leave],
        Context::List => &[Choose, Up, Down, Back],
        Context::Observe | Context::Stop | Context::Signal | Context::Quit | Context::Paste => &[Back],
    }
}

/// Tells whether a key would do something now; on an ended task `Enter` merely opens it.
fn is_useful(app: &App, action: Action) -> bool {
    let types = app.at_hand().is_some_and(|task| takes_input(task));
    !app.layers.is_empty() || app.can(action) && (types || !matches!(action, Action::Type | Action::Line))
}

pub(super) fn hints(app: &App, room: u16) -> Vec<Piece> {
    if app.is_leaving {
        return vec![piece("ending the tasks, then leaving", Role::Text)];
    }
    let context = app.context();
    let keymap = &app.setup.keymap;
    let hint = |action: Action| -> Option<Vec<Piece>> {
        let key = keymap.key(context, action)?;
        Some(vec![piece(key, Role::Key), piece(format!(" {}", action.hint()), Role::Text)])
    };
    let gap = piece("  ", Role::Text);
    let help = hint(Action::Help).into_iter().collect::<Vec<_>>();
    let mut groups: Vec<Vec<Piece>> = Vec::new();
    for action in candidates(app).iter().filter(|action| is_useful(app, **action)) {
        let Some(next) = hint(*action) else { continue };
        let mut tried = groups.clone();
        tried.push(next);
        let whole = joined([tried.clone(), help.clone()].concat(), &gap);
        if tried.len() + help.len() <= MOST_HINTS && columns(&whole) <= room {
            groups = tried;
        }
    }
    let whole = joined([groups, help].concat(), &gap);
    if columns(&whole) <= room { whole } else { Vec::new() }
}
