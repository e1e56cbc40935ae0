//! What keys do in the dialogs. The safe key is always `Esc`; nothing is stopped by one stray key.

use serde_json::json;

use crate::envelope::TaskId;
use crate::runtime::Input;

use super::super::app::{App, Layer, alias};
use super::super::keys::action::Action;
use super::super::msg::{Effect, Leave};
use super::super::plan::Class;
use super::scroll::moved;

impl App {
    pub(super) fn act_in_dialog(&mut self, action: Action) -> Vec<Effect> {
        let Some(layer) = self.layers.pop() else { return Vec::new() };
        if action == Action::Back {
            return Vec::new();
        }
        if let Layer::Stop { task, .. } | Layer::Signal(task) = &layer
            && !self.guard.admits(action, self.now)
        {
            let name = self.task(task).map_or_else(|| task.to_string(), |task| alias(task));
            self.toasts.say(format!("{name} is another task than before: press again"), None, self.now);
            return self.open(layer);
        }
        match layer {
            Layer::Stop { task, kill } => self.stop(task, kill, action),
            Layer::Signal(task) => signal(&task, action),
            Layer::Quit => self.quit(action),
            Layer::Why(task) => {
                // Any other key leaves it open.
                self.open(Layer::Why(task))
            }
            // Its keys never come here: letters are written in it.
            Layer::List(chooser) => self.open(Layer::List(chooser)),
            Layer::Held(card) => self.act_on_card(card, action),
            Layer::Question(inquiry) => self.inquire(inquiry, action),
            Layer::Attention(queue) => self.attend(queue, action),
            Layer::Paste(task, text) => vec![Effect::Send { task, input: Input::Paste(text) }],
            Layer::Help { about, top } => {
                let rows = super::super::view::help_rows(self, about);
                let shown = usize::from(self.size.1.saturating_sub(4));
                let top = moved(top, action, shown.max(2) - 1, rows.saturating_sub(shown));
                self.open(Layer::Help { about, top })
            }
        }
    }

    fn stop(&mut self, task: TaskId, kill: bool, action: Action) -> Vec<Effect> {
        match action {
            // A dialog opened to kill has no gentle way: `s` there is a slip, and keeps it open.
            Action::Stop if kill => self.open(Layer::Stop { task, kill }),
            Action::Stop => vec![stop_of(&task, false)],
            Action::Kill => vec![stop_of(&task, true)],
            Action::Signal => self.open(Layer::Signal(task)),
            _ => self.open(Layer::Stop { task, kill }),
        }
    }

    fn quit(&mut self, action: Action) -> Vec<Effect> {
        match action {
            Action::StopAll if self.can(action) => self.stop_all(),
            Action::LeaveRunning if self.can(action) => vec![Effect::Quit(Leave::LeaveRunning)],
            _ => self.open(Layer::Quit),
        }
    }

    /// Closes dialogs about tasks that have ended meanwhile.
    pub(super) fn close_outdated(&mut self) {
        let ended = |task: &TaskId| self.task(task).is_none_or(|task| task.status.is_terminal());
        let is_outdated = match self.layers.last() {
            Some(Layer::Stop { task, .. } | Layer::Signal(task) | Layer::Paste(task, _)) => ended(task),
            Some(Layer::Why(task)) => self.task(task).is_none(),
            Some(Layer::Quit) => self.is_lost,
            Some(Layer::Held(_)) => self.is_lost || self.plan().class == Class::Sentence,
            Some(Layer::Help { .. } | Layer::List(_)) => self.plan().class == Class::Sentence,
            Some(Layer::Question(_) | Layer::Attention(_)) | None => false,
        };
        if is_outdated {
            self.layers.pop();
            self.is_dirty = true;
        }
    }
}

/// Stops a task: TERM and then KILL, or KILL at once.
pub(in super::super) fn stop_of(task: &TaskId, kill: bool) -> Effect {
    let input = if kill { json!({"task_id": task, "force": true}) } else { json!({"task_id": task}) };
    Effect::Call { tool: "TaskStop", input }
}

/// The signals that can be sent, by their actions.
pub(in super::super) const SIGNALS: [(Action, &str); 6] = [
    (Action::Interrupt, "INT"),
    (Action::Terminate, "TERM"),
    (Action::HangUp, "HUP"),
    (Action::QuitSignal, "QUIT"),
    (Action::User1, "USR1"),
    (Action::User2, "USR2"),
];

/// Sends a signal to a task.
pub(in super::super) fn signal_of(task: &TaskId, name: &str) -> Effect {
    Effect::Call { tool: "TaskStop", input: json!({"task_id": task, "signal": name}) }
}

pub(super) fn signal(task: &TaskId, action: Action) -> Vec<Effect> {
    let known = SIGNALS.iter().find(|(known, _)| *known == action);
    known.map(|(_, name)| signal_of(task, name)).into_iter().collect()
}
