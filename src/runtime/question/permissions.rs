//! What the person has permitted of agents' further prompts: which prompts it covers, and what ends it. It is kept in memory
//! only, so none outlives its runtime.

use std::collections::VecDeque;
use std::time::Duration;

use crate::clock::Moment;
use crate::envelope::Actor;
use crate::model::{
    ALIKE_FOR, AgentPrompt, AlikeAnswers, AnswerValue, AnsweredPrompts, AnsweredWhich, PermissionEnd,
    PermittedPrompts, PromptPermission, Question, QuestionFact, QuestionId, QuestionKind,
};

/// Permissions at once; the oldest goes for another.
const MOST: usize = 32;
/// Kinds of calls whose answers are counted; the oldest go first.
const MOST_COUNTED: usize = 1_024;

/// The permissions in force, and how prompts were answered.
#[derive(Debug, Default)]
pub(super) struct PromptPermissions {
    given: VecDeque<GivenPermission>,
    counted: VecDeque<CountedAnswers>,
    is_paused: bool,
}

#[derive(Debug)]
struct GivenPermission {
    shown: PromptPermission,
    /// When it expires, on the monotonic clock.
    due: Option<Duration>,
}

/// How prompts like each other were answered in a session.
#[derive(Debug)]
struct CountedAnswers {
    agent: String,
    session: String,
    hash: String,
    answers: AlikeAnswers,
}

impl PromptPermissions {
    /// Tells whether agents are paused, so that nothing is permitted beyond a single call.
    pub(super) fn is_paused(&self) -> bool {
        self.is_paused
    }

    /// Returns those in force, the oldest first.
    pub(super) fn list(&self) -> Vec<PromptPermission> {
        self.given.iter().map(|given| given.shown.clone()).collect()
    }

    /// Returns how prompts like this one were answered.
    pub(super) fn before(&self, agent: &Actor, prompt: &AgentPrompt) -> AlikeAnswers {
        let Actor::Agent(agent) = agent else { return AlikeAnswers::default() };
        let is_it = |counted: &&CountedAnswers| counted.is_of(agent, prompt);
        self.counted.iter().find(is_it).map(|counted| counted.answers).unwrap_or_default()
    }

    /// Takes note of an answer that is on record: of how it was answered, and of what else the person permits with it.
    pub(super) fn apply_answer(&mut self, now: Moment, question: &Question, value: &AnswerValue) {
        let (QuestionKind::AgentPrompt(prompt), Actor::Agent(agent)) = (&question.kind, &question.asked_by)
        else {
            return;
        };
        self.count(agent, prompt, *value != AnswerValue::Reject);
        let Some(which) = value.permits(prompt).filter(|_| !self.is_paused) else { return };
        let time = (which != PermittedPrompts::Turn).then_some(ALIKE_FOR);
        let shown = PromptPermission {
            question: question.id.clone(),
            number: question.number,
            agent: agent.clone(),
            session: prompt.session.clone(),
            which,
            asked_at: question.asked_at,
            until: time.map(|time| now.wall_after(time)),
        };
        // The same one again begins anew.
        let is_same = |given: &GivenPermission| {
            let given = &given.shown;
            given.agent == shown.agent && given.session == shown.session && given.which == shown.which
        };
        self.given.retain(|given| !is_same(given));
        if self.given.len() == MOST {
            self.given.pop_front();
        }
        self.given.push_back(GivenPermission { shown, due: time.map(|time| now.mono.saturating_add(time)) });
    }

    fn count(&mut self, agent: &str, prompt: &AgentPrompt, is_allowed: bool) {
        let at = self.counted.iter().position(|counted| counted.is_of(agent, prompt));
        let mut counted = at.and_then(|at| self.counted.remove(at)).unwrap_or_else(|| CountedAnswers {
            agent: agent.to_owned(),
            session: prompt.session.clone(),
            hash: prompt.alike.hash.clone(),
            answers: AlikeAnswers::default(),
        });
        let answers = &mut counted.answers;
        let number = if is_allowed { &mut answers.allowed } else { &mut answers.refused };
        *number = number.saturating_add(1);
        if self.counted.len() == MOST_COUNTED {
            self.counted.pop_front();
        }
        self.counted.push_back(counted);
    }

    /// Returns the permission that covers a prompt now.
    pub(super) fn covering(&self, now: Moment, question: &Question) -> Option<&PromptPermission> {
        let (QuestionKind::AgentPrompt(prompt), Actor::Agent(agent)) = (&question.kind, &question.asked_by)
        else {
            return None;
        };
        let covers = |given: &&GivenPermission| !given.is_over(now) && given.shown.covers(agent, prompt);
        self.given.iter().find(covers).map(|given| &given.shown).filter(|_| !self.is_paused)
    }

    /// Ends those that an event of their session ends.
    pub(super) fn end_by_event(&mut self, now: Moment, event: &AnsweredPrompts) -> Vec<QuestionFact> {
        if event.which == AnsweredWhich::All {
            let is_of =
                |counted: &CountedAnswers| counted.agent == event.agent && counted.session == event.session;
            self.counted.retain(|counted| !is_of(counted));
        }
        self.end(now, |given| given.shown.ended_by(event))
    }

    /// Ends those of an agent that is gone.
    pub(super) fn agent_gone(&mut self, now: Moment, agent: &str) -> Vec<QuestionFact> {
        self.counted.retain(|counted| counted.agent != agent);
        self.end(now, |given| (given.shown.agent == agent).then_some(PermissionEnd::Session))
    }

    /// Takes note of a pause, which ends all.
    pub(super) fn pause(&mut self, now: Moment, is_paused: bool) -> Vec<QuestionFact> {
        self.is_paused = is_paused;
        self.end(now, |_| is_paused.then_some(PermissionEnd::Paused))
    }

    /// Ends all because the person says so.
    pub(super) fn revoke(&mut self, now: Moment) -> Vec<QuestionFact> {
        self.end(now, |_| Some(PermissionEnd::Revoked))
    }

    /// Ends those whose time is over.
    pub(super) fn due(&mut self, now: Moment) -> Vec<QuestionFact> {
        self.end(now, |given| given.is_over(now).then_some(PermissionEnd::Expired))
    }

    /// Returns when the next one expires.
    pub(super) fn next_due(&self) -> Option<Duration> {
        self.given.iter().filter_map(|given| given.due).min()
    }

    fn end(
        &mut self,
        now: Moment,
        why: impl Fn(&GivenPermission) -> Option<PermissionEnd>,
    ) -> Vec<QuestionFact> {
        let mut ended = Vec::new();
        self.given.retain(|given| {
            let why = why(given);
            ended.extend(why.map(|why| ended_fact(&given.shown.question, why, now)));
            why.is_none()
        });
        ended
    }
}

fn ended_fact(id: &QuestionId, why: PermissionEnd, now: Moment) -> QuestionFact {
    QuestionFact::PermissionEnded { id: id.clone(), why, at: now.wall, console: None }
}

impl GivenPermission {
    /// Tells whether its time is over, by either clock: one stands still while the machine sleeps, the other can be set.
    fn is_over(&self, now: Moment) -> bool {
        self.due.is_some_and(|due| due <= now.mono) || self.shown.until.is_some_and(|until| until <= now.wall)
    }
}

impl CountedAnswers {
    fn is_of(&self, agent: &str, prompt: &AgentPrompt) -> bool {
        self.agent == agent && self.session == prompt.session && self.hash == prompt.alike.hash
    }
}
