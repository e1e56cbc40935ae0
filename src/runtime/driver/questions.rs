//! Carries out the decisions of the question state machine: records facts and answers waiting callers.

use std::borrow::Cow;

use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

use super::Driver;
use super::order::{DriverOrder, QuestionOrder, Reply};
use crate::consequence::Consequence;
use crate::envelope::Actor;
use crate::journal::Durability;
use crate::model::{
    AnswerInput, AnswerRefusal, AnswerValue, ConsoleProcess, Error, ItemKey, NewQuestion, Principal,
    Question, QuestionFact, QuestionId, QuestionKind, QuestionOutcome, RecordedAnswer, Subject,
};
use crate::process::environment::Environment;
use crate::runtime::call_costs::CostCheck;
use crate::runtime::question::FactReply;
use crate::runtime::record_row::Fact;
use crate::runtime::supervisor::{PromptedCommand, SupervisorInput};

impl Driver {
    /// Carries out an order about questions.
    pub(super) fn question(&mut self, order: QuestionOrder) {
        let now = self.now();
        match order {
            QuestionOrder::Ask { asking, environment, cost, reply, waits } => {
                self.ask(*asking, (environment, cost), reply, waits);
            }
            QuestionOrder::Answer { by, from, id, cost, given, reply } => {
                match self.check_prompt(&id, cost, &given) {
                    CostCheck::Counts => match self.questions.machine.answer(now, &by, &id, given) {
                        Ok(fact) => self.record_answer(id, fact, from, reply),
                        Err(refusal) => refuse(reply, refusal),
                    },
                    CostCheck::Changed => {
                        self.publish();
                        let _ = reply.send(Err(Error::CostChanged));
                    }
                    CostCheck::Old => {
                        let of = Subject::Question(id.clone());
                        let answer = QuestionOrder::Answer { by, from, id, cost, given, reply };
                        self.compute_costs(vec![of], Some(DriverOrder::Question(answer)));
                    }
                }
            }
            QuestionOrder::Comment { by, id, text, reply } => {
                let said = self.questions.machine.comment(now, &by, &id, &text);
                self.note_fact(&id, said, reply);
            }
            QuestionOrder::LetAgents { id, may, reply } => {
                let said = self.questions.machine.let_agents(&id, may);
                self.note_fact(&id, said, reply);
            }
            QuestionOrder::Recorded { id, written } => self.apply_record(&id, written),
            QuestionOrder::Withdraw { id } => self.withdraw(&id, false),
            QuestionOrder::AnsweredInAgent(answered) => {
                let ended = self.questions.machine.end_permissions(now, &answered);
                self.note_ended(ended, None);
                for id in self.questions.machine.prompts(&answered) {
                    self.withdraw(&id, true);
                }
            }
            QuestionOrder::AgentGone { label } => {
                let ended = self.questions.machine.agent_gone(now, &label);
                self.note_ended(ended, None);
            }
            QuestionOrder::Revoke { from } => {
                let ended = self.questions.machine.revoke(now);
                if !ended.is_empty() {
                    let text = format!("what prompts were permitted was ended in another console: {from}");
                    self.shared.notice_of(&from, text);
                }
                self.note_ended(ended, Some(&from));
            }
        }
    }

    /// Records an answer that counts; its caller hears of it then.
    fn record_answer(
        &mut self,
        id: QuestionId,
        fact: QuestionFact,
        from: Option<ConsoleProcess>,
        reply: Reply<RecordedAnswer>,
    ) {
        if let Some(console) = &from {
            let number = self.questions.machine.number(&id).unwrap_or_default();
            let text = format!("question {number} was answered in another console: {console}");
            self.shared.notice_of(console, text);
        }
        self.questions.answerers.insert(id.clone(), reply);
        self.record(id, fact.given_in(from));
    }

    /// Tells whether an answer may count, given what its command would cost. A refusal always may.
    fn check_prompt(&self, id: &QuestionId, cost: Option<u32>, given: &AnswerInput) -> CostCheck {
        let allows = matches!(
            given.value,
            AnswerValue::Approve | AnswerValue::ApproveTurn | AnswerValue::ApproveAlike
        );
        if !allows {
            return CostCheck::Counts;
        }
        self.costs.check(self.now(), &Subject::Question(id.clone()), cost)
    }

    /// Settles the questions that have timed out, and ends the permissions that have expired.
    pub(super) fn late_questions(&mut self) {
        let (late, ended): (Vec<_>, Vec<_>) = self
            .questions
            .machine
            .due(self.now())
            .into_iter()
            .partition(|fact| matches!(fact, QuestionFact::TimedOut { .. }));
        for fact in late {
            if let QuestionFact::TimedOut { id, .. } = &fact {
                self.record(id.clone(), fact);
            }
        }
        self.note_ended(ended, None);
    }

    /// Ends what is permitted of agents' further prompts while they are paused.
    pub(super) fn pause_permissions(&mut self, is_paused: bool, from: Option<&ConsoleProcess>) {
        let ended = self.questions.machine.pause(self.now(), is_paused);
        self.note_ended(ended, from);
    }

    /// Records the ends of permissions.
    fn note_ended(&self, ended: Vec<QuestionFact>, from: Option<&ConsoleProcess>) {
        for fact in ended {
            self.shared.note(&Fact::Question(Cow::Owned(fact.given_in(from.cloned()))));
        }
    }

    /// Withdraws every open question because the runtime shuts down.
    pub(super) fn withdraw_questions(&mut self) {
        for id in self.questions.machine.unsettled_ids() {
            self.withdraw(&id, false);
        }
    }

    fn ask(
        &mut self,
        mut asking: NewQuestion,
        (environment, cost): (Option<Environment>, Vec<Consequence>),
        reply: Reply<QuestionOutcome>,
        waits: CancellationToken,
    ) {
        if !self.is_open() {
            // The asker may be gone as well.
            let _ = reply.send(Err(Error::ShuttingDown));
            return;
        }
        if let (QuestionKind::AgentPrompt(prompt), Some(workdir)) =
            (&mut asking.kind, &asking.evidence.workdir)
            && let Some(cmd) = prompt.command.as_ref().filter(|_| !prompt.is_shown_only)
        {
            // Where a rule holds what is only shown, that has a card of its own.
            prompt.rule = self.supervisor.rule_of_prompt(&asking.asked_by, (cmd, workdir), cost.first());
        }
        let id = new_id();
        self.cost_prompt(&id, &asking, (environment.as_ref(), cost));
        let fact = self.questions.machine.ask(self.now(), id.clone(), asking);
        self.questions.askers.insert(id.clone(), reply);
        let (own, name) = (self.own.clone(), id.clone());
        self.job(async move {
            waits.cancelled().await;
            // Once the driver is gone, there is nothing to withdraw.
            let _ = own.send(DriverOrder::Question(QuestionOrder::Withdraw { id: name })).await;
        });
        self.record(id, fact);
    }

    /// Records a fact outside the loop, then continues with the question.
    fn record(&mut self, id: QuestionId, fact: QuestionFact) {
        let (shared, own) = (self.shared.clone(), self.own.clone());
        self.job(async move {
            let written = shared.write(&Fact::Question(Cow::Borrowed(&fact)), Durability::Synced).await;
            // Once the driver is gone, nobody waits any more.
            let _ = own.send(DriverOrder::Question(QuestionOrder::Recorded { id, written })).await;
        });
    }

    fn apply_record(&mut self, id: &QuestionId, written: Result<(), Error>) {
        let answerer = self.questions.answerers.remove(id);
        let question = self.questions.machine.question(id);
        match self.questions.machine.apply_record(self.now(), id, written.is_ok()) {
            FactReply::Nobody => {}
            FactReply::Opened => {
                // Without a console, nobody could take it back.
                let is_watched = self.shared.viewers.is_anyone();
                let permitted = is_watched.then(|| self.questions.machine.permit(self.now(), id)).flatten();
                if let Some(fact) = permitted {
                    self.record(id.clone(), fact);
                }
            }
            FactReply::NotAsked => {
                if let (Some(asker), Err(error)) = (self.questions.askers.remove(id), written) {
                    let _ = asker.send(Err(error));
                }
            }
            FactReply::NotAnswered => {
                if let (Some(answerer), Err(error)) = (answerer, written) {
                    let _ = answerer.send(Err(error));
                }
            }
            FactReply::Asker(settled) => {
                let prompted = question.and_then(|question| prompted_command(&question, &settled));
                if let Some(command) = prompted.map(Box::new) {
                    self.step(SupervisorInput::Prompted { command });
                }
                if let (QuestionOutcome::Answered(answer), Some(answerer)) = (&settled, answerer) {
                    let _ = answerer.send(Ok(answer.clone()));
                }
                if let Some(asker) = self.questions.askers.remove(id) {
                    let _ = asker.send(Ok(settled));
                }
            }
        }
    }

    fn withdraw(&mut self, id: &QuestionId, in_agent: bool) {
        let fact = self.questions.machine.withdraw(self.now(), id, in_agent);
        if let Some(fact) = &fact {
            self.shared.note(&Fact::Question(Cow::Borrowed(fact)));
        }
        let is_over = fact.is_some() || !in_agent;
        // One that is gone takes no answer. Another one keeps an answer that is being recorded.
        if let Some(asker) = is_over.then(|| self.questions.askers.remove(id)).flatten() {
            // The asker is already gone, unless the runtime itself or an agent withdraws the question.
            let _ = asker.send(Err(Error::ShuttingDown));
        }
    }

    fn note_fact(&self, id: &QuestionId, said: Result<QuestionFact, AnswerRefusal>, reply: Reply<()>) {
        match said {
            Ok(fact) => {
                if let Some(number) = self.questions.machine.number(id) {
                    self.shared.session().changes.note(ItemKey::Question(number));
                }
                self.shared.note(&Fact::Question(Cow::Borrowed(&fact)));
                let _ = reply.send(Ok(()));
            }
            Err(refusal) => refuse(reply, refusal),
        }
    }
}

/// Returns the command that the operator has allowed with this answer to its agent's prompt, if a rule of ours asks about it
/// as well.
fn prompted_command(question: &Question, settled: &QuestionOutcome) -> Option<PromptedCommand> {
    let (QuestionKind::AgentPrompt(prompt), QuestionOutcome::Answered(answer)) = (&question.kind, settled)
    else {
        return None;
    };
    let is_persons =
        answer.principal == Principal::Actor(Actor::Operator) && answer.value == AnswerValue::Approve;
    prompt.rule.as_ref().filter(|_| is_persons)?;
    Some(PromptedCommand {
        agent: question.asked_by.clone(),
        session: prompt.session.clone(),
        cmd: prompt.command.clone()?,
        workdir: question.evidence.workdir.clone()?,
        question: question.number,
    })
}

/// Reports the refusal to the caller, if it is still there.
fn refuse<T>(reply: oneshot::Sender<Result<T, Error>>, refusal: AnswerRefusal) {
    let _ = reply.send(Err(Error::Question(refusal)));
}

fn new_id() -> QuestionId {
    let mut random = [0; 8];
    // Only an interrupted call early during boot leaves bytes unfilled.
    let _ = rustix::rand::getrandom(&mut random, rustix::rand::GetRandomFlags::empty());
    QuestionId::from_random(random)
}
