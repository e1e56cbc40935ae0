//! Questions of a program: answered from the journal, from the answers file, or by a person or an agent that is present.

use super::answerer::context_value;
use super::control_flow::{Flow, Halt, ThrownError};
use super::effects::{Effects, NoEffect};
use super::file::binding_view;
use super::frame::Site;
use super::query::{ProgramQuestion, QuestionEnd};
use super::{Vm, VmFrame};
use crate::envelope::{Actor, names_secret};
use crate::model::{
    AnswerValue, Evidence, ExpectedAnswerer, NewQuestion, Principal, QuestionKind, QuestionOrigin,
    RecordedAnswer, StepState,
};
use crate::prose::engine::answers::{AskedQuestion, SuppliedAnswer};
use crate::prose::engine::record::decision::RecordedDecision;
use crate::prose::engine::record::journal::RunRow;

/// The number of values shown with a question that names none.
const SHOWN: usize = 12;

impl<E: Effects> Vm<E> {
    /// Asks for a yes or a no; `follows` describes the consequences of each.
    pub(super) async fn ask_yes_no(
        &self,
        frame: &VmFrame,
        site: Site,
        text: String,
        follows: (&str, &str),
    ) -> Flow<bool> {
        let kind = QuestionKind::YesNo { yes: follows.0.to_owned(), no: follows.1.to_owned() };
        Ok(self.answer(frame, self.query(frame, site, kind, text)).await? == AnswerValue::Yes)
    }

    /// Asks for one of several labels and returns its index.
    pub(super) async fn ask_choice(
        &self,
        frame: &VmFrame,
        site: Site,
        text: String,
        labels: Vec<String>,
    ) -> Flow<usize> {
        let query = self.query(frame, site, QuestionKind::Choice { labels: labels.clone() }, text);
        let AnswerValue::Choice(chosen) = self.answer(frame, query).await? else {
            return Err(Halt::Aborted { line: site.line });
        };
        let place = labels.iter().position(|label| *label == chosen);
        place.ok_or_else(|| ThrownError::new(site.line, format!("no option is called {chosen}")).into())
    }

    /// Asks for a text; `agents` may answer it too.
    pub(super) async fn ask_text(
        &self,
        frame: &VmFrame,
        site: Site,
        name: Option<&str>,
        text: String,
        agents: bool,
    ) -> Flow<String> {
        // A secret is for the operator to type, and is not recorded.
        let masked = name.is_some_and(names_secret);
        let agents = agents && !masked;
        let mut query = self.query(frame, site, QuestionKind::Text { masked }, text);
        (query.asking.origin.name, query.asking.agents) = (name.map(str::to_owned), agents);
        if name.is_some() {
            // An input has to come from the caller.
            (query.work, query.is_for_agents) = (None, false);
            let by = if agents { self.somebody() } else { "a person".to_owned() };
            query.asking.expected = Some(ExpectedAnswerer { by, ..ExpectedAnswerer::default() });
        }
        self.text_of(frame, query).await
    }

    /// Asks a question that expects a text.
    pub(super) async fn text_of(&self, frame: &VmFrame, query: Box<ProgramQuestion>) -> Flow<String> {
        let line = query.site.line;
        match self.answer(frame, query).await? {
            AnswerValue::Text(text) => Ok(text),
            _ => Err(Halt::Aborted { line }),
        }
    }

    /// Asks a question again, ignoring any answer from an earlier execution.
    pub(super) async fn answer_now(&self, frame: &VmFrame, query: &ProgramQuestion) -> Flow<AnswerValue> {
        let put = self.put(frame, query).await?;
        answer_or_halt(frame, query, put.decided)
    }

    /// Prepares a question that agents may answer, with the values it names.
    pub(super) fn query(
        &self,
        frame: &VmFrame,
        site: Site,
        kind: QuestionKind,
        text: String,
    ) -> Box<ProgramQuestion> {
        let visible = frame.scope.visible();
        let is_named = |name: &str| words(&text).any(|word| word == name);
        let mut shown: Vec<_> = visible.iter().filter(|(name, _)| is_named(name)).collect();
        if shown.is_empty() {
            shown = visible.iter().take(SHOWN).collect();
        }
        let bindings = shown.iter().map(|(name, bound)| binding_view(frame, name, bound)).collect();
        let mut query = self.operators_query(frame, site, kind, text);
        query.asking.evidence = Evidence { bindings, pass: frame.pass, ..Evidence::default() };
        query.asking.agents = true;
        if !query.asking.kind.is_operators() {
            self.judged_by(
                &mut query,
                shown.iter().map(|(name, bound)| context_value(name, bound)).collect(),
            );
        }
        query
    }

    /// Prepares a question for the operator alone, without values.
    pub(super) fn operators_query(
        &self,
        frame: &VmFrame,
        site: Site,
        kind: QuestionKind,
        text: String,
    ) -> Box<ProgramQuestion> {
        let origin = QuestionOrigin {
            run: Some(self.run.clone()),
            program: Some(frame.module.library.source.name().into()),
            lines: Some(frame.module.lines(site.span)),
            ..QuestionOrigin::default()
        };
        let (asked_by, evidence) = (Actor::System, Evidence::default());
        let (within, agents, expected) = (None, false, None);
        let asking = NewQuestion { origin, asked_by, kind, text, evidence, within, agents, expected };
        Box::new(ProgramQuestion { site, asking, work: None, is_for_agents: false })
    }

    async fn answer(&self, frame: &VmFrame, query: Box<ProgramQuestion>) -> Flow<AnswerValue> {
        let decided = self.decide(frame, &query).await?;
        answer_or_halt(frame, &query, decided)
    }

    /// Decides a question, once across all executions of a run.
    pub(super) async fn decide(&self, frame: &VmFrame, query: &ProgramQuestion) -> Flow<RecordedDecision> {
        if let Some(decided) = self.journal.decision(&frame.key) {
            return Ok(decided.clone());
        }
        let QuestionEnd { decided, is_on_record } = self.put(frame, query).await?;
        let is_abort =
            matches!(&decided, RecordedDecision::Answered(RecordedAnswer { value: AnswerValue::Abort, .. }));
        if !is_abort && !is_on_record {
            // Aborting does not answer the question: it is asked again on resume.
            let decided = match &decided {
                RecordedDecision::Answered(answer) => {
                    RecordedDecision::Answered(answer.as_recorded(&query.asking.kind))
                }
                other => other.clone(),
            };
            self.journal.write(&RunRow::Decided { key: frame.key.clone(), decided })?;
        }
        Ok(decided)
    }

    async fn put(&self, frame: &VmFrame, query: &ProgramQuestion) -> Flow<QuestionEnd> {
        let put = match (self.answered_by_file(frame, query)?, &query.work) {
            (Some(decided), _) => Some(QuestionEnd { decided, is_on_record: false }),
            (None, Some(work)) => Box::pin(self.by_command(frame, query, work)).await?,
            (None, None) => None,
        };
        let put = match put {
            Some(put) => put,
            None => {
                QuestionEnd { decided: self.answered_by_somebody(frame, query).await?, is_on_record: false }
            }
        };
        let (text, ok) = match &put.decided {
            RecordedDecision::Answered(answer) => {
                let answer = answer.as_recorded(&query.asking.kind);
                (format!("{} ({})", answer_text(&answer.value), answer.principal), None)
            }
            RecordedDecision::TimedOut(_) => ("nobody answered in time".to_owned(), Some(false)),
            RecordedDecision::Failed(message) => (message.clone(), Some(false)),
        };
        self.tell_end(frame, "answer", query.site.line, text, ok, None).await;
        Ok(put)
    }

    fn answered_by_file(&self, frame: &VmFrame, query: &ProgramQuestion) -> Flow<Option<RecordedDecision>> {
        let ProgramQuestion { site, asking: NewQuestion { origin, kind, text, .. }, .. } = query;
        let is_guarded = matches!(kind, QuestionKind::Gate { .. } | QuestionKind::Command);
        if is_guarded && !self.policy.gates_from_answers {
            return Ok(None);
        }
        let pass = frame.pass.map(|(pass, _)| pass);
        let asked = AskedQuestion { name: origin.name.as_deref(), line: site.line, kind, text, pass };
        let at = self.effects.now();
        match self.policy.answers.take(&asked) {
            None => Ok(None),
            Some(Ok(SuppliedAnswer::Value(value))) => Ok(Some(RecordedDecision::Answered(RecordedAnswer {
                value,
                principal: Principal::File,
                at,
                note: None,
            }))),
            Some(Ok(SuppliedAnswer::Fail(message))) => Ok(Some(RecordedDecision::Failed(message))),
            Some(Ok(SuppliedAnswer::TimeOut)) => Ok(Some(RecordedDecision::TimedOut(at))),
            Some(Err(reason)) => {
                let question = format!("{text}: the answers file: {reason}");
                Err(Halt::Unanswered { line: site.line, question })
            }
        }
    }

    async fn answered_by_somebody(&self, frame: &VmFrame, query: &ProgramQuestion) -> Flow<RecordedDecision> {
        let ProgramQuestion { site, asking, is_for_agents, .. } = query;
        let agents = (self.policy.agents || *is_for_agents) && asking.agents && !asking.kind.is_operators();
        let asking = NewQuestion { agents, ..asking.clone() };
        let present = self.effects.present();
        if !(present.operator || agents && present.agent) {
            return Err(Halt::Unanswered { line: site.line, question: asking.text });
        }
        self.tell(frame, "ask", site.line, asking.text.clone()).await;
        self.show_step(frame, site.span, StepState::Asking);
        let settled = tokio::select! {
            settled = self.effects.ask(asking) => settled,
            () = frame.cancel.cancelled() => return Err(Halt::Cancelled),
        };
        self.show_step(frame, site.span, StepState::Running);
        match settled {
            Ok(decided) => Ok(decided),
            Err(NoEffect::Cancelled) => Err(Halt::Cancelled),
            Err(NoEffect::Refused(reason)) => Err(ThrownError::new(site.line, reason).into()),
        }
    }
}

/// Returns the answer to a question, or the halt that it caused.
fn answer_or_halt(frame: &VmFrame, query: &ProgramQuestion, decided: RecordedDecision) -> Flow<AnswerValue> {
    let line = query.site.line;
    match decided {
        RecordedDecision::Answered(RecordedAnswer { value: AnswerValue::Abort, .. }) => {
            Err(Halt::Aborted { line })
        }
        RecordedDecision::Answered(answer) => Ok(answer.value),
        RecordedDecision::Failed(message) => Err(ThrownError::new(line, message).at(&frame.key).into()),
        RecordedDecision::TimedOut(_) => {
            Err(ThrownError::new(line, "nobody answered in time").at(&frame.key).into())
        }
    }
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !(c.is_alphanumeric() || c == '_' || c == '-'))
}

/// Returns an answer as shown on a line of the run's output.
fn answer_text(value: &AnswerValue) -> String {
    match value {
        AnswerValue::Choice(label) => label.clone(),
        AnswerValue::Text(text) => crate::envelope::one_line(text, 80),
        AnswerValue::Hidden(_) => "hidden".to_owned(),
        AnswerValue::Yes => "yes".to_owned(),
        AnswerValue::No => "no".to_owned(),
        AnswerValue::Approve | AnswerValue::ApproveTurn | AnswerValue::ApproveAlike => "approved".to_owned(),
        AnswerValue::Reject => "rejected".to_owned(),
        AnswerValue::Rerun => "rerun".to_owned(),
        AnswerValue::Skip => "skip".to_owned(),
        AnswerValue::Abort => "abort".to_owned(),
    }
}
