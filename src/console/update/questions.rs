//! Questions and the queue of what waits: what opens them, and what keys do in them. A key that decides
//! counts only once the question has been on screen for a moment.

use std::sync::Arc;

use jiff::Timestamp;

use crate::runtime::{Question, QuestionId, READING};
use crate::terminal::KeyPress;

use super::super::app::attention::{self, Queue, Subject};
use super::super::app::held::Card;
use super::super::app::inquiry::{self, Inquiry};
use super::super::app::{App, Layer, View};
use super::super::keys::action::Action;
use super::super::msg::Effect;
use super::scroll::moved;

impl App {
    /// Opens a question in its dialog.
    pub(super) fn open_question(&mut self, question: Arc<Question>) -> Vec<Effect> {
        self.open(Layer::Question(Box::new(Inquiry::new(question))))
    }

    /// Opens what waits.
    pub(super) fn open_attention(&mut self) -> Vec<Effect> {
        self.open(Layer::Attention(Queue::default()))
    }

    /// Takes note that the topmost question is on screen.
    pub(in crate::console) fn mark_shown(&mut self) {
        let now = self.now;
        if let Some(Layer::Question(inquiry)) = self.layers.last_mut() {
            inquiry.shown_at.get_or_insert(now);
        }
    }

    /// Does what a key means in the dialog of a question, which is open again after it.
    pub(super) fn inquire(&mut self, mut inquiry: Box<Inquiry>, action: Action) -> Vec<Effect> {
        use Action::{Choose, Down, First, Last, LetAgents, Note, PageDown, PageUp, Up};
        let mut effects = Vec::new();
        match action {
            Note if !inquiry.is_sent => inquiry.is_noting = true,
            Action::Send | Action::Choose if inquiry.is_noting => inquiry.is_noting = false,
            Up | Down if inquiry.context() == super::super::keys::keymap::Context::Choice => {
                inquiry.point(if action == Up { -1 } else { 1 });
            }
            Up | Down | PageUp | PageDown | First | Last => {
                let (rows, page) = super::super::view::question_rows(self, &inquiry);
                inquiry.top = moved(inquiry.top, action, page.max(2) - 1, rows.saturating_sub(page));
            }
            LetAgents if !inquiry.question.kind.is_operators() && inquiry.is_ready(self.now) => {
                let (question, may) = (inquiry.question.id.clone(), !inquiry.question.agents);
                effects.push(Effect::LetAgents { question, may });
            }
            Choose if inquiry.chosen.is_none() => self.toasts.say("point at a label first", None, self.now),
            _ => effects = self.decide(&mut inquiry, action),
        }
        self.layers.push(Layer::Question(inquiry));
        effects
    }

    fn decide(&mut self, inquiry: &mut Inquiry, action: Action) -> Vec<Effect> {
        let Some(given) = inquiry.given(action) else { return Vec::new() };
        if inquiry.is_sent || inquiry.is_over {
            return Vec::new();
        }
        if self.setup.recording.is_some() || self.is_lost {
            self.toasts.say("nobody is there to take it", None, self.now);
            return Vec::new();
        }
        if !inquiry.is_ready(self.now) {
            self.toasts.say("that key came too early: read, then press it again", None, self.now);
            return Vec::new();
        }
        inquiry.is_sent = true;
        vec![Effect::Answer { question: inquiry.question.id.clone(), given }]
    }

    /// Handles a key while a text is written in a dialog; `None` when keys mean actions there.
    pub(super) fn type_in_dialog(&mut self, key: KeyPress, action: Option<Action>) -> Option<Vec<Effect>> {
        let Some(Layer::Question(inquiry)) = self.layers.last_mut() else { return None };
        use super::super::keys::keymap::Context::{Answer, Reason};
        if !matches!(inquiry.context(), Answer | Reason) {
            return None;
        }
        match action {
            Some(Action::Back) if inquiry.is_noting => {
                inquiry.is_noting = false;
                Some(Vec::new())
            }
            Some(Action::Newline) => {
                self.edit(tui_input::InputRequest::InsertChar('\n'));
                Some(Vec::new())
            }
            Some(_) => None,
            None => {
                self.edit_key(key);
                Some(Vec::new())
            }
        }
    }

    /// Does what a key means in the queue.
    pub(super) fn attend(&mut self, mut queue: Queue, action: Action) -> Vec<Effect> {
        let items = attention::items(self);
        match action {
            Action::Choose => {
                let Some(item) = items.get(queue.at.min(items.len().saturating_sub(1))) else {
                    return Vec::new();
                };
                return self.resolve(item.subject.clone());
            }
            _ => queue.at = moved(queue.at, action, 10, items.len().saturating_sub(1)),
        }
        self.open(Layer::Attention(queue))
    }

    fn resolve(&mut self, subject: Subject) -> Vec<Effect> {
        match subject {
            Subject::Question(id) => {
                let question = self.question(&id).cloned();
                question.map(|question| self.open_question(question)).unwrap_or_default()
            }
            Subject::Input(id) => {
                self.select(id);
                self.act(Action::Type)
            }
            Subject::Held(ticket) => self.open(Layer::Held(Card::of(ticket))),
            Subject::Capped(id) | Subject::Orphans(id) | Subject::Lost(id) => {
                self.select(id);
                self.show(View::Focus)
            }
        }
    }

    /// Returns an open question.
    #[must_use]
    pub fn question(&self, id: &QuestionId) -> Option<&Arc<Question>> {
        self.snapshot.questions.iter().find(|question| question.id == *id)
    }

    /// The runtime took an answer, or did not.
    pub(super) fn answer_taken(&mut self, id: &QuestionId, refused: Option<String>) {
        let at = self
            .layers
            .iter()
            .position(|layer| matches!(layer, Layer::Question(inquiry) if inquiry.question.id == *id));
        match (refused, at) {
            (Some(reason), at) => {
                self.toasts.fail(super::super::text::visible::one_line(&reason), None);
                if let Some(Layer::Question(inquiry)) = at.and_then(|at| self.layers.get_mut(at)) {
                    inquiry.is_sent = false;
                }
            }
            (None, Some(at)) => {
                if let Layer::Question(inquiry) = self.layers.remove(at) {
                    let said = format!("{} answered", inquiry::alias(&inquiry.question));
                    self.toasts.say(said, None, self.now);
                }
            }
            (None, None) => {}
        }
    }

    /// Brings dialogs of questions up to what is known. One that was settled by somebody else stays, so
    /// that a key meant for it does nothing to the screen below.
    pub(super) fn renew_inquiries(&mut self) {
        let questions = self.snapshot.questions.clone();
        for layer in &mut self.layers {
            let Layer::Question(inquiry) = layer else { continue };
            match questions.iter().find(|question| question.id == inquiry.question.id) {
                Some(question) => inquiry.question = question.clone(),
                None if !inquiry.is_over => {
                    (inquiry.is_over, inquiry.is_noting) = (true, false);
                    self.is_dirty = true;
                }
                None => {}
            }
        }
    }

    /// Rings for what is new while the person looks elsewhere.
    pub(super) fn ring(&mut self) -> Vec<Effect> {
        let items = attention::items(self);
        self.bell.ring(&items, self.now)
    }

    /// Tells whether the moment has come from which on keys count, for a frame that says so.
    #[must_use]
    pub fn ready_at(&self) -> Option<Timestamp> {
        let Some(Layer::Question(inquiry)) = self.layers.last() else { return None };
        inquiry.shown_at.and_then(|shown| shown.checked_add(READING).ok())
    }
}
