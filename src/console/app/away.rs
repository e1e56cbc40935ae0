//! The user comes back: what happened meanwhile is put on a sheet, and each line leads there.

use jiff::Timestamp;

use crate::console::app::App;
use crate::console::app::layer::Layer;
use crate::console::features::approval::card::Card;
use crate::console::features::attention::item::{AttentionItem, AttentionSubject};
use crate::console::features::away::away_before_opening;
use crate::console::features::away::sheet::{AwayLine, AwayReason, AwaySheet, AwayTarget};
use crate::console::state::{Mode, Screen};
use crate::terminal::{Key, KeyPress};

impl App {
    /// Shows what happened before this console was opened; the last one of this workspace was closed at `left_at`.
    pub(in crate::console) fn tell_of_earlier(&mut self, left_at: Option<Timestamp>) {
        if let Some(since) = away_before_opening(&self.state, left_at) {
            self.come_back(since);
        }
    }

    /// Shows what happened since then, unless there is nothing to tell. Users who left while typing or in a dialog get a
    /// message instead, so that the sheet takes none of their keys.
    pub fn come_back(&mut self, since: Timestamp) {
        let asked = self.attention.items(&self.state).into_iter().filter(|item| item.since >= since);
        let asked = asked.filter_map(asked_line).collect();
        let watching = &self.attention.watching;
        let sheet = AwaySheet::of(&self.state, since, asked, |task| watching.has_rule(task));
        let Some(sheet) = sheet else { return };
        if self.layers.is_empty() && matches!(self.state.focus.mode, Mode::Observe) {
            self.open(Layer::Away(Box::new(sheet.clone())));
        } else {
            self.state.say(format!("while you were away: {}", sheet.summary()));
        }
        self.absence.sheet = Some(sheet);
        self.state.touch();
    }

    /// Closes the sheet, whatever the key; that of a line leads there.
    pub(in crate::console) fn leave_sheet(&mut self, key: KeyPress) {
        let Some(Layer::Away(sheet)) = self.layers.pop() else { return };
        let Key::Char(letter) = key.key else { return };
        match sheet.target(letter).filter(|_| !key.ctrl && !key.alt) {
            Some(AwayTarget::Task(task)) => {
                let is_over = self.state.view.task(task).is_some_and(|task| task.status.is_terminal());
                self.state.select(task.clone());
                self.state.show(if is_over { Screen::Focus } else { Screen::Tasks });
            }
            Some(AwayTarget::Held(ticket)) => self.open(Layer::Approval(Card::of(*ticket))),
            Some(AwayTarget::Question(id)) => {
                let question = self.state.view.question(id).cloned();
                question.into_iter().for_each(|question| self.open_question(question));
            }
            None => {}
        }
    }
}

/// Returns the line of something that waits for an answer.
fn asked_line(item: AttentionItem) -> Option<AwayLine> {
    let target = match item.subject {
        AttentionSubject::Input(task) => AwayTarget::Task(task),
        AttentionSubject::Held(ticket) => AwayTarget::Held(ticket),
        AttentionSubject::Question(id) | AttentionSubject::AgentPrompt(id) => AwayTarget::Question(id),
        _ => return None,
    };
    let AttentionItem { since: at, name, what, said, .. } = item;
    Some(AwayLine { reason: AwayReason::Asked, at, name, what, said, target })
}
