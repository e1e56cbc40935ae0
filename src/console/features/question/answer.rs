//! What keys do in the dialog of a question.

use std::sync::Arc;

use crate::console::effect::{Effect, FeatureReply};
use crate::console::features::question::QuestionDialog;
use crate::console::features::question::draw::rows;
use crate::console::features::question::permission::{ANSWERED_THERE, can_permit};
use crate::console::keys::{Action, KeyContext};
use crate::console::state::State;
use crate::console::widgets::CardReading;
use crate::link::Act;
use crate::model::{AnswerInput, QuestionKind, Snapshot, Subject};

impl QuestionDialog {
    /// Handles a key that is an action; the dialog stays open.
    pub(in crate::console) fn act(&mut self, state: &State, action: Action) -> Option<FeatureReply> {
        use Action::*;
        let answers = matches!(action, Note | Send | Choose | LetAgents) || self.answer_for(action).is_some();
        if answers
            && !self.is_over
            && let Some(told) = state.refusal_of_question(&self.question)
        {
            return Some(FeatureReply::Say(told));
        }
        if matches!(action, ApproveGate | RejectGate | Note)
            && matches!(&self.question.kind, QuestionKind::AgentPrompt(prompt) if prompt.is_shown_only)
        {
            return Some(FeatureReply::Say(ANSWERED_THERE.to_owned()));
        }
        if let (ApproveTurn | ApproveAlike, Err(why)) = (action, can_permit(&self.question)) {
            return Some(FeatureReply::Say(why.to_string()));
        }
        let lets = !matches!(action, RejectGate | Abort) && self.answer_for(action).is_some();
        if lets
            && !self.is_noting
            && self.is_ready(state.clock.now)
            && self.reading.is_too_early(state.clock.now)
        {
            return None;
        }
        match action {
            Note if !self.is_sent => self.is_noting = true,
            // A refusal is sent with the words that the agent is told.
            RejectGate if self.is_agents_prompt() && !self.is_noting => {
                match self.is_ready(state.clock.now) {
                    true => (self.is_noting, self.is_denying) = (true, true),
                    false => return self.decide(state, action),
                }
            }
            Action::Send | Action::Choose if self.is_noting => {
                self.is_noting = false;
                if std::mem::take(&mut self.is_denying) {
                    return self.decide(state, RejectGate);
                }
            }
            Up | Down if self.context() == KeyContext::Choice => {
                self.point(if action == Up { -1 } else { 1 });
            }
            LetAgents if !self.question.kind.is_operators() && self.is_ready(state.clock.now) => {
                let question = Subject::Question(self.question.id.clone());
                let request = Act::LetAgents(!self.question.agents).on(question);
                return Some(FeatureReply::Do(Effect::Ask(request)));
            }
            Choose if self.chosen.is_none() => {
                return Some(FeatureReply::Say("point at a label first".to_owned()));
            }
            action => match action.motion() {
                Some(motion) => self.reading.scroll(motion, rows(state, self)),
                None => return self.decide(state, action),
            },
        }
        None
    }

    /// Tells whether its last row is on screen.
    pub(in crate::console) fn is_at_end(&self, state: &State) -> bool {
        self.reading.is_at_end(rows(state, self))
    }

    /// Returns the revision of what it says that the command would cost.
    pub(in crate::console) fn cost(&self) -> u32 {
        self.question.kind.cost().map(|cost| cost.revision).unwrap_or_default()
    }

    /// Returns what answers its question.
    pub(in crate::console) fn answer(&self, given: AnswerInput) -> Effect {
        let act = Act::Answer { cost: self.cost(), given };
        Effect::Ask(act.on(Subject::Question(self.question.id.clone())))
    }

    fn is_agents_prompt(&self) -> bool {
        matches!(self.question.kind, QuestionKind::AgentPrompt(_))
    }

    fn decide(&mut self, state: &State, action: Action) -> Option<FeatureReply> {
        let given = self.answer_for(action)?;
        if self.is_sent || self.is_over {
            return None;
        }
        if state.setup.recording.is_some() || state.view.is_lost {
            return Some(FeatureReply::Say("nobody is there to take it".to_owned()));
        }
        if !self.is_ready(state.clock.now) {
            return Some(FeatureReply::Say("that key came too early: read, then press it again".to_owned()));
        }
        self.is_sent = true;
        Some(FeatureReply::Do(self.answer(given)))
    }

    /// Takes the current state of its question; tells whether the dialog looks different. A dialog whose question was
    /// settled by somebody else stays open, so that a key meant for it does not act on the screen below.
    pub(in crate::console) fn refresh(&mut self, snapshot: &Snapshot) -> bool {
        match snapshot.questions.iter().find(|question| question.id == self.question.id) {
            Some(question) => {
                let before = self.cost();
                self.question = Arc::clone(question);
                if self.cost() != before {
                    // What was shown is not what would happen: it is read anew, and answered anew.
                    (self.reading, self.is_sent) = (CardReading::default(), false);
                }
                self.cost() != before
            }
            None if !self.is_over => {
                (self.is_over, self.is_noting, self.is_denying) = (true, false, false);
                self.in_agent = snapshot.in_agents.contains(&self.question.id);
                true
            }
            None => false,
        }
    }
}
