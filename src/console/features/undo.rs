//! Undoing what differs since a task began, or bringing it back: first a card with the files and the limits, then, on its
//! key, the undo.

use std::sync::Arc;

use crate::console::effect::{Effect, FeatureReply};
use crate::console::keys::{Action, KeyContext};
use crate::console::state::State;
use crate::console::text::{StyledPiece, grouped_amount, piece, visible, wrap_lines};
use crate::console::theme::Role;

use crate::console::widgets::{CardReading, Painter, places, scrolled_rows};
use crate::model::phrases::{READ_FIRST, TASK_GOES_ON};
use crate::model::{TaskView, UndoReport, UndoRequest};

/// The rows below the text: a blank one and the keys.
const FOOT: u16 = 2;

/// The card of what an undo would do.
#[derive(Debug, Clone)]
pub struct UndoCard {
    request: UndoRequest,
    report: UndoReport,
    pub(in crate::console) reading: CardReading,
}

/// Asks the runtime what an undo of the current task would do.
pub(in crate::console) fn ask(state: &State) -> Option<FeatureReply> {
    let request = candidate(state).map(|task| UndoRequest {
        task: task.id.clone(),
        is_redo: task.changes.as_ref().is_some_and(|changes| changes.undone),
        is_dry: true,
    });
    request.map(|request| FeatureReply::Do(Effect::Ask(request.into())))
}

/// Returns why the current task cannot be undone, in a clause.
pub(in crate::console) fn obstacle(state: &State) -> Option<&'static str> {
    if candidate(state).is_some() {
        return None;
    }
    match state.at_hand() {
        Some(task) if !task.status.is_terminal() => Some(TASK_GOES_ON),
        _ => Some("nothing is known to differ since it began"),
    }
}

fn candidate(state: &State) -> Option<&TaskView> {
    let differs = |task: &&Arc<TaskView>| task.changes.as_ref().is_some_and(|it| it.total() > 0);
    state.at_hand().filter(|task| task.status.is_terminal()).filter(differs).map(Arc::as_ref)
}

/// Says what was undone.
pub(in crate::console) fn tell(state: &State, request: &UndoRequest, report: &UndoReport) -> String {
    let name = name(state, request, report);
    let done = if request.is_redo { "brought back" } else { "undone" };
    format!("{name} {done}: {}", files(report))
}

fn name(state: &State, request: &UndoRequest, report: &UndoReport) -> String {
    state.together(&report.together).unwrap_or_else(|| state.name_of(&request.task))
}

fn files(report: &UndoReport) -> String {
    grouped_amount(report.steps.len() as u64, "file")
}

impl UndoCard {
    pub(in crate::console) fn new(request: UndoRequest, report: UndoReport) -> Self {
        Self { request, report, reading: CardReading::default() }
    }

    /// Handles a key; returns the card if it stays open.
    pub(in crate::console) fn act(&mut self, state: &State, action: Action) -> Option<FeatureReply> {
        if let Some(motion) = action.motion() {
            self.reading.scroll(motion, self.extent(state));
            return None;
        }
        Some(match action {
            Action::Confirm if !self.is_possible() => FeatureReply::Decline("it cannot be undone".to_owned()),
            Action::Confirm if !self.reading.has_settled(state.clock.now) => {
                FeatureReply::Decline(READ_FIRST.to_owned())
            }
            Action::Confirm if self.reading.is_too_early(state.clock.now) => {
                FeatureReply::Decline("read it to its end first".to_owned())
            }
            Action::Confirm => {
                let request = UndoRequest { is_dry: false, ..self.request.clone() };
                FeatureReply::Do(Effect::Ask(request.into()))
            }
            other => FeatureReply::Decline(format!("{}: nothing to do with it here", other.name())),
        })
    }

    /// Returns the number of rows, and how many of them are shown.
    fn extent(&self, state: &State) -> (usize, usize) {
        let rows = self.rows(state.outer.size).len();
        (rows, usize::from(places(state.outer.size, rows, FOOT).1.height))
    }

    /// Tells whether its last row is on screen.
    pub(in crate::console) fn is_at_end(&self, state: &State) -> bool {
        self.reading.is_at_end(self.extent(state))
    }

    fn is_possible(&self) -> bool {
        self.report.refused.is_empty() && !self.report.steps.is_empty()
    }

    fn rows(&self, size: (u16, u16)) -> Vec<Vec<StyledPiece>> {
        let line = |text: &String, role| vec![piece(visible::one_line(text), role)];
        let mut lines: Vec<_> = self.report.refused.iter().map(|why| line(why, Role::Failed)).collect();
        lines.extend(self.report.steps.iter().map(|step| line(step, Role::Text)));
        if lines.is_empty() {
            lines.push(vec![piece("nothing to do", Role::Text)]);
        }
        lines.extend([Vec::new(), vec![piece(UndoReport::LIMITS, Role::Faint)]]);
        wrap_lines(&lines, usize::from(places(size, 0, 0).1.width))
    }
}

pub(in crate::console) fn draw(painter: &mut Painter<'_>, card: &UndoCard) {
    let rows = card.rows(painter.size());
    let (whole, text, foot) = places(painter.size(), rows.len(), FOOT);
    let name = name(painter.state, &card.request, &card.report);
    let (verb, done) = if card.request.is_redo { ("bring back", "brought back") } else { ("undo", "undone") };
    let title = match card.is_possible() {
        true => format!("{verb} {name}: {}?", files(&card.report)),
        false => format!("{name} cannot be {done}; nothing was touched"),
    };
    painter.draw_box(whole, &title);
    let below = scrolled_rows(painter, (whole, text), &rows, card.reading.top);
    let confirm = format!("{verb} all of it");
    let mut ways = vec![(Action::Confirm, &*confirm), (Action::Back, "leave it")];
    ways.retain(|(action, _)| *action == Action::Back || card.is_possible());
    let keys = match card.reading.is_read || below == 0 {
        true => painter.keys(KeyContext::Undo, &ways),
        false => card.reading.unread(painter, KeyContext::Undo, (below, &ways[ways.len() - 1..])),
    };
    painter.line(foot, 1, &keys);
}
