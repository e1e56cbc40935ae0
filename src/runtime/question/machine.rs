//! The state machine of questions: decides which are open, who may answer, and when they time out.
//!
//! Pure: it takes events and the current time, and returns the facts to record. It waits for no one and reads no
//! clock; the driver carries out its decisions.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use super::permissions::PromptPermissions;
use crate::clock::Moment;
use crate::envelope::{Actor, mask};
use crate::model::{
    AnswerInput, AnswerRefusal, AnswerValue, AnsweredPrompts, CallCost, Comment, NewQuestion, Principal,
    PromptPermission, Question, QuestionFact, QuestionId, QuestionKind, QuestionOutcome, RecordedAnswer,
};

/// Settled questions that are remembered, so that a late answer can be told how they were settled.
const SETTLED_KEPT: usize = 256;
/// Comments kept per question.
const COMMENTS: usize = 16;
/// Length limit of a comment, in characters.
const COMMENT_CHARS: usize = 2_000;

/// How a prompt is settled that was answered in the agent.
const IN_AGENT: &str = "answered in the agent";
/// Prompts of which a snapshot says that they were answered so.
const IN_AGENT_SHOWN: usize = 16;

/// Who gets a reply once a fact is recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::runtime) enum FactReply {
    Nobody,
    /// The asker: the question was not asked, because it could not be recorded.
    NotAsked,
    /// The asker, with this outcome.
    Asker(QuestionOutcome),
    /// Nobody: the question is open from now on, and may be permitted already.
    Opened,
    /// The answerer: the answer could not be recorded, and the question is open again.
    NotAnswered,
}

/// The questions of a recording.
#[derive(Debug, Default)]
pub(in crate::runtime) struct QuestionMachine {
    open: BTreeMap<QuestionId, QuestionEntry>,
    settled: VecDeque<(QuestionId, String)>,
    numbers: u32,
    permissions: PromptPermissions,
}

#[derive(Debug)]
struct QuestionEntry {
    question: Arc<Question>,
    due: Option<Duration>,
    state: QuestionStage,
}

#[derive(Debug, PartialEq, Eq)]
enum QuestionStage {
    /// Being recorded; not visible to anyone yet.
    Announced,
    Open,
    /// Its outcome is being recorded and can no longer change.
    Settling(QuestionOutcome),
}

impl QuestionMachine {
    /// Adds a question. It is open once the returned fact is recorded.
    pub(in crate::runtime) fn ask(
        &mut self,
        now: Moment,
        id: QuestionId,
        asking: NewQuestion,
    ) -> QuestionFact {
        self.numbers += 1;
        let NewQuestion { origin, asked_by, mut kind, text, evidence, within, agents, expected } = asking;
        if let QuestionKind::AgentPrompt(prompt) = &mut kind {
            prompt.before = self.permissions.before(&asked_by, prompt);
        }
        let question = Arc::new(Question {
            id: id.clone(),
            number: self.numbers,
            origin,
            asked_by,
            agents: agents && !kind.is_operators(),
            kind,
            text,
            evidence,
            asked_at: now.wall,
            deadline: within.map(|within| now.wall_after(within)),
            comments: Vec::new(),
            expected,
            place: None,
        });
        let due = within.map(|within| now.mono.saturating_add(within));
        self.open
            .insert(id, QuestionEntry { question: question.clone(), due, state: QuestionStage::Announced });
        QuestionFact::Asked { question: Arc::new(mask_question(&question)) }
    }

    /// Accepts an answer. It is final once the returned fact is recorded.
    ///
    /// # Errors
    /// If the answer is rejected.
    pub(in crate::runtime) fn answer(
        &mut self,
        now: Moment,
        by: &Actor,
        id: &QuestionId,
        given: AnswerInput,
    ) -> Result<QuestionFact, AnswerRefusal> {
        let is_paused = self.permissions.is_paused();
        let entry = self.entry(id)?;
        entry.admit(by)?;
        if is_paused && matches!(given.value, AnswerValue::ApproveTurn | AnswerValue::ApproveAlike) {
            return Err(AnswerRefusal::Paused { id: id.clone() });
        }
        if !entry.question.kind.accepts(&given.value) || (given.value == AnswerValue::Abort && !is_person(by))
        {
            return Err(AnswerRefusal::DoesNotFit {
                id: id.clone(),
                expected: entry.question.kind.answer_form(),
            });
        }
        let AnswerInput { value, note } = given;
        let note = note.filter(|note| !note.trim().is_empty()).map(|note| cut(&note));
        let answer = RecordedAnswer { value, principal: Principal::Actor(by.clone()), at: now.wall, note };
        let recorded = answer.as_recorded(&entry.question.kind);
        entry.state = QuestionStage::Settling(QuestionOutcome::Answered(answer));
        Ok(QuestionFact::Answered { id: id.clone(), answer: recorded, console: None })
    }

    /// Answers a prompt that has just become open, if a permission covers it. Like any answer, it is final once the returned
    /// fact is recorded.
    pub(in crate::runtime) fn permit(&mut self, now: Moment, id: &QuestionId) -> Option<QuestionFact> {
        let entry = self.open.get_mut(id).filter(|entry| entry.state == QuestionStage::Open)?;
        let permission = self.permissions.covering(now, &entry.question)?;
        let answer = RecordedAnswer {
            value: AnswerValue::Approve,
            principal: Principal::Permission(permission.number),
            at: now.wall,
            note: Some(permission.describe()),
        };
        entry.state = QuestionStage::Settling(QuestionOutcome::Answered(answer.clone()));
        Some(QuestionFact::Answered { id: id.clone(), answer, console: None })
    }

    /// Notes what the command of an agent's prompt would cost.
    pub(in crate::runtime) fn costs(&mut self, id: &QuestionId, cost: CallCost) {
        if let Some(entry) = self.open.get_mut(id)
            && let QuestionKind::AgentPrompt(prompt) = &mut Arc::make_mut(&mut entry.question).kind
        {
            prompt.cost = cost;
        }
    }

    /// Adds a comment to a question.
    ///
    /// # Errors
    /// If the question is not open.
    pub(in crate::runtime) fn comment(
        &mut self,
        now: Moment,
        by: &Actor,
        id: &QuestionId,
        text: &str,
    ) -> Result<QuestionFact, AnswerRefusal> {
        let entry = self.entry(id)?;
        let comment = Comment { by: by.clone(), at: now.wall, text: cut(text) };
        let comments = &mut Arc::make_mut(&mut entry.question).comments;
        if comments.len() >= COMMENTS {
            comments.remove(0);
        }
        comments.push(comment.clone());
        Ok(QuestionFact::Commented { id: id.clone(), comment })
    }

    /// Allows agents to answer a question, or no longer.
    ///
    /// # Errors
    /// If the question is not open, or only the operator may answer it.
    pub(in crate::runtime) fn let_agents(
        &mut self,
        id: &QuestionId,
        may: bool,
    ) -> Result<QuestionFact, AnswerRefusal> {
        let entry = self.entry(id)?;
        if entry.question.kind.is_operators() {
            return Err(AnswerRefusal::OperatorOnly { id: id.clone() });
        }
        Arc::make_mut(&mut entry.question).agents = may;
        Ok(QuestionFact::Agents { id: id.clone(), may })
    }

    /// Withdraws a question because the asker is gone, or has its answer in its own prompt. An answer that is already
    /// being recorded stands.
    pub(in crate::runtime) fn withdraw(
        &mut self,
        now: Moment,
        id: &QuestionId,
        in_agent: bool,
    ) -> Option<QuestionFact> {
        let is_final = matches!(self.open.get(id)?.state, QuestionStage::Settling(_));
        if is_final {
            return None;
        }
        self.open.remove(id);
        self.remember(id.clone(), if in_agent { IN_AGENT } else { "withdrawn" });
        Some(QuestionFact::Withdrawn { id: id.clone(), at: now.wall, in_agent })
    }

    /// Returns the agents' prompts among the open questions that have been answered there.
    pub(in crate::runtime) fn prompts(&self, answered: &AnsweredPrompts) -> Vec<QuestionId> {
        let open = self.open.iter().filter(|(_, entry)| answered.has(&entry.question));
        open.map(|(id, _)| id.clone()).collect()
    }

    /// Returns the prompts that were last answered in their agents.
    pub(in crate::runtime) fn answered_in_agents(&self) -> Vec<QuestionId> {
        let answered = self.settled.iter().rev().filter(|(_, how)| how == IN_AGENT);
        answered.take(IN_AGENT_SHOWN).map(|(id, _)| id.clone()).collect()
    }

    /// Settles every question whose deadline has passed, and ends the permissions whose time is over.
    pub(in crate::runtime) fn due(&mut self, now: Moment) -> Vec<QuestionFact> {
        let mut over = self.permissions.due(now);
        let late = |entry: &QuestionEntry| {
            entry.state == QuestionStage::Open && entry.due.is_some_and(|due| due <= now.mono)
        };
        let late = self.open.iter_mut().filter(|(_, entry)| late(entry));
        let settle = |(id, entry): (&QuestionId, &mut QuestionEntry)| {
            entry.state = QuestionStage::Settling(QuestionOutcome::TimedOut { at: now.wall });
            QuestionFact::TimedOut { id: id.clone(), at: now.wall }
        };
        over.extend(late.map(settle));
        over
    }

    /// Returns when the next question times out, or the next permission expires.
    pub(in crate::runtime) fn next_due(&self) -> Option<Duration> {
        let open = self.open.values().filter(|entry| entry.state == QuestionStage::Open);
        open.filter_map(|entry| entry.due).chain(self.permissions.next_due()).min()
    }

    /// Returns what is permitted of agents' further prompts.
    pub(in crate::runtime) fn permissions(&self) -> Vec<PromptPermission> {
        self.permissions.list()
    }

    /// Ends the permissions that an event of their session ends.
    pub(in crate::runtime) fn end_permissions(
        &mut self,
        now: Moment,
        event: &AnsweredPrompts,
    ) -> Vec<QuestionFact> {
        self.permissions.end_by_event(now, event)
    }

    /// Ends what was permitted to an agent that is gone.
    pub(in crate::runtime) fn agent_gone(&mut self, now: Moment, agent: &str) -> Vec<QuestionFact> {
        self.permissions.agent_gone(now, agent)
    }

    /// Takes note that agents were paused, which ends all permissions, or resumed.
    pub(in crate::runtime) fn pause(&mut self, now: Moment, is_paused: bool) -> Vec<QuestionFact> {
        self.permissions.pause(now, is_paused)
    }

    /// Ends all permissions because the operator says so.
    pub(in crate::runtime) fn revoke(&mut self, now: Moment) -> Vec<QuestionFact> {
        self.permissions.revoke(now)
    }

    /// Applies whether the last fact about a question was recorded.
    pub(in crate::runtime) fn apply_record(
        &mut self,
        now: Moment,
        id: &QuestionId,
        is_recorded: bool,
    ) -> FactReply {
        let Some(entry) = self.open.get_mut(id) else { return FactReply::Nobody };
        match (std::mem::replace(&mut entry.state, QuestionStage::Open), is_recorded) {
            (QuestionStage::Announced, true) => FactReply::Opened,
            (QuestionStage::Open, _) => FactReply::Nobody,
            (QuestionStage::Announced, false) => {
                self.open.remove(id);
                FactReply::NotAsked
            }
            // An answer that is not recorded has no effect. A timeout takes effect regardless.
            (QuestionStage::Settling(QuestionOutcome::Answered(_)), false) => FactReply::NotAnswered,
            (QuestionStage::Settling(settled), _) => {
                if let (Some(entry), QuestionOutcome::Answered(answer)) = (self.open.remove(id), &settled) {
                    self.permissions.apply_answer(now, &entry.question, &answer.value);
                }
                self.remember(id.clone(), &how(&settled));
                FactReply::Asker(settled)
            }
        }
    }

    /// Returns the open questions, in the order they were asked.
    pub(in crate::runtime) fn questions(&self) -> Vec<Arc<Question>> {
        let open = self.open.values().filter(|entry| entry.state == QuestionStage::Open);
        let mut questions: Vec<Arc<Question>> = open.map(|entry| entry.question.clone()).collect();
        questions.sort_by_key(|question| question.number);
        questions
    }

    /// Returns a question that is not settled yet.
    pub(in crate::runtime) fn question(&self, id: &QuestionId) -> Option<Arc<Question>> {
        self.open.get(id).map(|entry| Arc::clone(&entry.question))
    }

    /// Returns the number of a question that is not settled yet.
    pub(in crate::runtime) fn number(&self, id: &QuestionId) -> Option<u32> {
        self.open.get(id).map(|entry| entry.question.number)
    }

    /// Returns the ids of all questions that are not settled yet.
    pub(in crate::runtime) fn unsettled_ids(&self) -> Vec<QuestionId> {
        self.open.keys().cloned().collect()
    }

    fn entry(&mut self, id: &QuestionId) -> Result<&mut QuestionEntry, AnswerRefusal> {
        let past = self.settled.iter().find(|(settled, _)| settled == id).map(|(_, how)| how.clone());
        let refused = |how| AnswerRefusal::Settled { id: id.clone(), how };
        match self.open.get_mut(id) {
            Some(entry) => match &entry.state {
                QuestionStage::Open => Ok(entry),
                QuestionStage::Settling(settled) => Err(refused(how(settled))),
                QuestionStage::Announced => Err(AnswerRefusal::Unknown(id.clone())),
            },
            None => Err(past.map_or_else(|| AnswerRefusal::Unknown(id.clone()), refused)),
        }
    }

    fn remember(&mut self, id: QuestionId, how: &str) {
        if self.settled.len() == SETTLED_KEPT {
            self.settled.pop_front();
        }
        self.settled.push_back((id, how.to_owned()));
    }
}

impl QuestionEntry {
    fn admit(&self, by: &Actor) -> Result<(), AnswerRefusal> {
        let id = self.question.id.clone();
        match by {
            Actor::Operator => Ok(()),
            _ if self.question.kind.is_operators() => Err(AnswerRefusal::OperatorOnly { id }),
            // Anyone can run a command line, including a managed task: it may do no more than agents may.
            _ if !self.question.agents => Err(AnswerRefusal::NotForAgents { id }),
            _ => Ok(()),
        }
    }
}

fn is_person(by: &Actor) -> bool {
    *by == Actor::Operator
}

fn how(settled: &QuestionOutcome) -> String {
    match settled {
        QuestionOutcome::Answered(answer) => format!("answered by {}", answer.principal),
        QuestionOutcome::TimedOut { .. } => "not answered in time".to_owned(),
    }
}

/// Returns a note or a comment as everybody gets it: cut, and secrets masked.
fn cut(text: &str) -> String {
    mask(text.trim()).chars().take(COMMENT_CHARS).collect()
}

/// Returns a question with the secrets in its texts masked, for the record.
fn mask_question(question: &Question) -> Question {
    let mut question = question.clone();
    question.text = mask(&question.text).into_owned();
    question.evidence.command = question.evidence.command.map(|command| mask(&command).into_owned());
    question
}
