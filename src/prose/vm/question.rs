//! Questions: to the answers that came with the program, else to whoever is there, else to nobody, and then
//! the program ends and says so. What was answered once is not asked again in a later walk.

use std::sync::atomic::Ordering;

use super::control_flow::{Halt, Thrown};
use super::effects::{Decided, Effects, NotAsked};
use super::file::{Site, binding_view};
use super::{Frame, Vm};
use crate::envelope::Actor;
use crate::prose::answers::{Asked, Reply};
use crate::prose::run::journal::Row;
use crate::runtime::{Answer, AnswerValue, Asking, Evidence, Origin, Principal, QuestionKind, StepState};

/// Values shown beside a question that names none.
const SHOWN: usize = 12;

/// A question as the walker puts it.
pub(super) struct Query {
    pub(super) site: Site,
    pub(super) name: Option<String>,
    /// The id of the gate that asks.
    pub(super) gate: Option<String>,
    pub(super) kind: QuestionKind,
    pub(super) text: String,
    pub(super) evidence: Evidence,
    pub(super) within: Option<std::time::Duration>,
    /// An agent may answer, if the run lets agents answer at all.
    pub(super) agents: bool,
}

impl<E: Effects> Vm<E> {
    /// Asks for yes or no.
    pub(super) async fn ask_yes_no(
        &self,
        frame: &Frame,
        site: Site,
        text: String,
        follows: (&str, &str),
    ) -> Result<bool, Halt> {
        let kind = QuestionKind::YesNo { yes: follows.0.to_owned(), no: follows.1.to_owned() };
        let query = self.query(frame, site, kind, text);
        Ok(self.answer(frame, query).await? == AnswerValue::Yes)
    }

    /// Asks for one of some labels; returns its place.
    pub(super) async fn ask_choice(
        &self,
        frame: &Frame,
        site: Site,
        text: String,
        labels: Vec<String>,
    ) -> Result<usize, Halt> {
        let query = self.query(frame, site, QuestionKind::Choice { labels: labels.clone() }, text);
        let AnswerValue::Choice(chosen) = self.answer(frame, query).await? else {
            return Err(Halt::Aborted { line: site.line });
        };
        let place = labels.iter().position(|label| *label == chosen);
        place.ok_or_else(|| Thrown::new(site.line, format!("no option is called {chosen}")).into())
    }

    /// Asks for a text.
    pub(super) async fn ask_text(
        &self,
        frame: &Frame,
        site: Site,
        name: Option<&str>,
        text: String,
        agents: bool,
    ) -> Result<String, Halt> {
        let mut query = self.query(frame, site, QuestionKind::Text { masked: false }, text);
        (query.name, query.agents) = (name.map(str::to_owned), agents);
        self.text_of(frame, query).await
    }

    /// Puts a question that wants a text.
    pub(super) async fn text_of(&self, frame: &Frame, query: Query) -> Result<String, Halt> {
        let line = query.site.line;
        match self.answer(frame, query).await? {
            AnswerValue::Text(text) => Ok(text),
            _ => Err(Halt::Aborted { line }),
        }
    }

    /// Asks about this very moment: an answer of an earlier walk does not count.
    pub(super) async fn ask_now(
        &self,
        frame: &Frame,
        site: Site,
        name: Option<String>,
        kind: QuestionKind,
        text: String,
        evidence: Evidence,
    ) -> Result<AnswerValue, Halt> {
        let query = Query { site, name, gate: None, kind, text, evidence, within: None, agents: false };
        let decided = self.put(frame, &query).await?;
        Self::settled(frame, &query, decided)
    }

    /// Returns a question with what there is to go by: the values its text names, else the latest ones.
    pub(super) fn query(&self, frame: &Frame, site: Site, kind: QuestionKind, text: String) -> Query {
        let visible = frame.scope.visible();
        let is_named = |name: &str| words(&text).any(|word| word == name);
        let mut shown: Vec<_> = visible.iter().filter(|(name, _)| is_named(name)).collect();
        if shown.is_empty() {
            shown = visible.iter().take(SHOWN).collect();
        }
        let bindings = shown.into_iter().map(|(name, bound)| binding_view(frame, name, bound)).collect();
        let evidence = Evidence { bindings, pass: frame.pass, ..Evidence::default() };
        Query { site, name: None, gate: None, kind, text, evidence, within: None, agents: true }
    }

    async fn answer(&self, frame: &Frame, query: Query) -> Result<AnswerValue, Halt> {
        let decided = self.decide(frame, &query).await?;
        Self::settled(frame, &query, decided)
    }

    fn settled(frame: &Frame, query: &Query, decided: Decided) -> Result<AnswerValue, Halt> {
        let line = query.site.line;
        match decided {
            Decided::Answered(Answer { value: AnswerValue::Abort, .. }) => Err(Halt::Aborted { line }),
            Decided::Answered(answer) => Ok(answer.value),
            Decided::Failed(message) => Err(Thrown::new(line, message).at(&frame.key).into()),
            Decided::TimedOut(_) => Err(Thrown::new(line, "nobody answered in time").at(&frame.key).into()),
        }
    }

    /// Settles a question: as an earlier walk did, else now.
    pub(super) async fn decide(&self, frame: &Frame, query: &Query) -> Result<Decided, Halt> {
        if let Some(decided) = self.journal.decided(&frame.key) {
            return Ok(decided.clone());
        }
        let decided = self.put(frame, query).await?;
        let is_abort = matches!(&decided, Decided::Answered(Answer { value: AnswerValue::Abort, .. }));
        if !is_abort {
            // Aborting is no answer to the question: resumed, it is asked again.
            self.journal.write(&Row::Decided { key: frame.key.clone(), decided: decided.clone() })?;
        }
        Ok(decided)
    }

    async fn put(&self, frame: &Frame, query: &Query) -> Result<Decided, Halt> {
        self.asked.fetch_add(1, Ordering::Relaxed);
        let line = query.site.line;
        let decided = match self.answered_beforehand(frame, query)? {
            Some(decided) => decided,
            None => self.answered_by_somebody(frame, query).await?,
        };
        let (text, ok) = match &decided {
            Decided::Answered(answer) => (format!("{} ({})", shown(&answer.value), answer.principal), None),
            Decided::TimedOut(_) => ("nobody answered in time".to_owned(), Some(false)),
            Decided::Failed(message) => (message.clone(), Some(false)),
        };
        self.tell(frame, "answer", line, text, ok, None).await;
        Ok(decided)
    }

    fn answered_beforehand(&self, frame: &Frame, query: &Query) -> Result<Option<Decided>, Halt> {
        let is_guarded = matches!(query.kind, QuestionKind::Gate { .. } | QuestionKind::Command);
        if is_guarded && !self.judge.gates_from_answers {
            return Ok(None);
        }
        let asked = Asked {
            name: query.name.as_deref(),
            line: query.site.line,
            kind: &query.kind,
            text: &query.text,
            pass: frame.pass.map(|(pass, _)| pass),
        };
        let at = self.effects.now();
        match self.judge.answers.take(&asked) {
            None => Ok(None),
            Some(Ok(Reply::Value(value))) => {
                Ok(Some(Decided::Answered(Answer { value, principal: Principal::File, at, note: None })))
            }
            Some(Ok(Reply::Fail(message))) => Ok(Some(Decided::Failed(message))),
            Some(Ok(Reply::TimeOut)) => Ok(Some(Decided::TimedOut(at))),
            Some(Err(reason)) => {
                let question = format!("{}: the answers file: {reason}", query.text);
                Err(Halt::Unanswered { line: query.site.line, question })
            }
        }
    }

    async fn answered_by_somebody(&self, frame: &Frame, query: &Query) -> Result<Decided, Halt> {
        let line = query.site.line;
        let may_agents = self.judge.agents && query.agents && !query.kind.is_operators();
        let present = self.effects.present();
        if !(present.operator || may_agents && present.agent) {
            return Err(Halt::Unanswered { line, question: query.text.clone() });
        }
        let lines = frame.module.lines(query.site.span);
        let asking = Asking {
            origin: Origin {
                run: Some(self.run.clone()),
                program: Some(frame.module.source.name().into()),
                lines: Some(lines),
                name: query.name.clone(),
                gate: query.gate.clone(),
                task: None,
            },
            asked_by: Actor::System,
            kind: query.kind.clone(),
            text: query.text.clone(),
            evidence: query.evidence.clone(),
            within: query.within,
            agents: may_agents,
        };
        self.tell(frame, "ask", line, query.text.clone(), None, None).await;
        let is_shown = frame.module.is_main;
        if is_shown {
            self.progress.step(lines, StepState::Asking);
        }
        let settled = tokio::select! {
            settled = self.effects.ask(asking) => settled,
            () = frame.cancel.cancelled() => return Err(Halt::Cancelled),
        };
        if is_shown {
            self.progress.step(lines, StepState::Running);
        }
        match settled {
            Ok(decided) => Ok(decided),
            Err(NotAsked::ShuttingDown) => Err(Halt::Cancelled),
            Err(NotAsked::Refused(reason)) => Err(Thrown::new(line, reason).into()),
        }
    }
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !(c.is_alphanumeric() || c == '_' || c == '-'))
}

fn shown(value: &AnswerValue) -> String {
    match value {
        AnswerValue::Choice(label) => label.clone(),
        AnswerValue::Text(text) => crate::envelope::one_line(text, 80),
        AnswerValue::Hidden(_) => "hidden".to_owned(),
        AnswerValue::Yes => "yes".to_owned(),
        AnswerValue::No => "no".to_owned(),
        AnswerValue::Approve => "approved".to_owned(),
        AnswerValue::Reject => "rejected".to_owned(),
        AnswerValue::Rerun => "rerun".to_owned(),
        AnswerValue::Skip => "skip".to_owned(),
        AnswerValue::Abort => "abort".to_owned(),
    }
}
