//! The most useful keys for the current context, hints for newcomers until they have used the key, and what
//! the console remembers between runs (none of it essential: an unreadable file counts as empty).

use std::collections::BTreeSet;

use jiff::SignedDuration;
use serde::{Deserialize, Serialize};

use super::{App, Column, Mode, Painter, Prompt, columns, joined, takes_input};
use crate::console::keys::{Action, Context};
use crate::console::msg::Effect;
use crate::console::text::{Piece, piece};
use crate::console::theme::Role;

/// What newcomers should learn first: the action, and what it is good for.
const HINTS: [(Action, &str); 4] = [
    (Action::Help, "lists the keys that work here"),
    (Action::Type, "types into the task"),
    (Action::ShowReceipts, "shows what the agent was told"),
    (Action::Palette, "finds everything by name"),
];
/// How long after it is opened a console shows hints.
pub(super) const HINTED: SignedDuration = SignedDuration::from_mins(2);
/// Maximum number of keys shown at once.
const MOST_HINTS: usize = 5;

/// What the console remembers between runs.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Memory {
    /// Choices made in the palette, most recent first.
    pub recent: Vec<String>,
    /// Hints whose keys have been used.
    pub learnt: BTreeSet<String>,
}

impl Memory {
    /// Moves an entry to the front, and drops those beyond `most`.
    pub fn use_now(&mut self, name: &str, most: usize) {
        self.recent.retain(|other| other != name);
        self.recent.insert(0, name.to_owned());
        self.recent.truncate(most);
    }
}

impl App {
    /// Returns the hint for a newcomer; empty once its key has been used.
    pub fn hint(&self) -> Vec<Piece> {
        let is_over = self.now.duration_since(self.opened) >= HINTED;
        if !self.setup.ui.hints || self.setup.recording.is_some() || is_over {
            return Vec::new();
        }
        let next = HINTS.iter().filter(|(action, _)| !self.memory.learnt.contains(&action.name()));
        let context = self.view_context();
        let key = |action: Action| self.setup.keymap.key(context, action).filter(|_| self.can(action));
        let Some((key, use_of)) = next.filter_map(|(action, use_of)| Some((key(*action)?, use_of))).next()
        else {
            return Vec::new();
        };
        let chord = self.setup.keymap.key(Context::Input, Action::Leave).unwrap_or_default();
        let back = if use_of.starts_with("types") { format!(", {chord} comes back") } else { String::new() };
        vec![
            piece(" new here?  ", Role::Faint),
            piece(key, Role::Key),
            piece(format!(" {use_of}{back}"), Role::Text),
        ]
    }

    /// Marks the hint about this key as learnt.
    pub(super) fn learn(&mut self, action: Option<Action>) {
        let hinted = action.filter(|action| HINTS.iter().any(|(hint, _)| hint == action));
        if hinted.is_some_and(|action| self.setup.ui.hints && self.memory.learnt.insert(action.name())) {
            self.effects.push(Effect::Remember(self.memory.clone()));
        }
    }

    /// Changes what is remembered, and saves it.
    pub(super) fn remember(&mut self, change: impl FnOnce(&mut Memory)) {
        change(&mut self.memory);
        self.effects.push(Effect::Remember(self.memory.clone()));
    }
}

/// The actions worth a hint in each context, most useful first.
fn candidates(app: &App) -> &'static [Action] {
    use Action::*;
    match app.context() {
        Context::Tasks | Context::Focus | Context::Program if app.search.is_some() => {
            &[NextMatch, PreviousMatch, Back]
        }
        Context::Tasks | Context::Focus if app.view.is_lost => &[Quit, ShowFocus, Search, ShowReceipts],
        Context::Tasks if app.view.snapshot.tasks.is_empty() => &[Start],
        Context::Tasks if app.in_pane => &[Up, PageUp, FindText, First, Last, Back],
        Context::Tasks => &[Approvals, Type, Line, Release, Stop, Restart, ShowFocus, Start, Dismiss],
        Context::Focus | Context::Program if app.scroll.is_some() => &[Last, Up, Down, Search, Back],
        Context::Focus => {
            &[Approvals, Type, Line, Release, Stop, Restart, Fit, Search, PageUp, NextTask, ShowTasks]
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
        Context::Help => &[Palette, Up, Down, Back],
        Context::Held => &[Approve, Deny, NextHeld, Back],
        Context::Note | Context::Tell => &[Send, Leave],
        Context::List => &[Choose, Up, Down, Back],
        Context::Observe
        | Context::Stop
        | Context::Restart
        | Context::Signal
        | Context::Quit
        | Context::Paste => &[Back],
    }
}

/// Tells whether a key would do something useful now; on an ended task, `Enter` merely opens it.
fn is_useful(app: &App, action: Action) -> bool {
    let types = app.at_hand().is_some_and(|task| takes_input(task));
    let is_worth = match action {
        Action::Type | Action::Line => types,
        Action::Restart => app.at_hand().is_some_and(|task| task.status.is_terminal()),
        _ => true,
    };
    let is_answer = matches!(action, Action::Approve | Action::Deny);
    !app.layers.is_empty() && !is_answer || app.can(action) && is_worth
}

pub(super) fn hints(painter: &Painter<'_>, room: u16) -> Vec<Piece> {
    let app = painter.app;
    if app.is_leaving {
        return vec![piece("ending the tasks, then leaving", Role::Text)];
    }
    let context = app.context();
    let is_kept = matches!(app.mode, Mode::Write(Prompt::Rename(_) | Prompt::Watch(_) | Prompt::Layout, _));
    let word = |action: Action| match action {
        Action::Send if is_kept => "save",
        // The same key filters tasks, or searches the output once keys go to the pane.
        Action::FindText if context == Context::Tasks && app.in_pane => "search",
        _ => action.hint(),
    };
    let hint = |action: Action| painter.key(context, action, word(action));
    let gap = piece("  ", Role::Text);
    let help = hint(Action::Help);
    let mut groups: Vec<Vec<Piece>> = Vec::new();
    for action in candidates(app).iter().filter(|action| is_useful(app, **action)) {
        let tried = [&groups[..], &[hint(*action)]].concat();
        let shown =
            |tried: &[Vec<Piece>]| tried.iter().chain([&help]).filter(|group| !group.is_empty()).count();
        let whole = joined([&tried[..], std::slice::from_ref(&help)].concat(), &gap);
        if shown(&tried) <= MOST_HINTS && columns(&whole) <= room {
            groups = tried;
        }
    }
    let whole = joined([groups, vec![help]].concat(), &gap);
    if columns(&whole) <= room { whole } else { Vec::new() }
}
