//! `Handle` methods for programs and the questions they ask.

use std::borrow::Cow;
use std::sync::Arc;

use tokio_util::sync::CancellationToken;
use tokio_util::task::task_tracker::TaskTrackerToken;

use super::Handle;
use crate::envelope::Actor;
use crate::model::{
    AgentPrompt, AnswerInput, AnsweredPrompts, ConsoleProcess, Error, NewQuestion, ProgramView, Question,
    QuestionId, QuestionKind, QuestionOutcome, RecordedAnswer,
};
use crate::process::environment::Environment;
use crate::runtime::driver::{DriverOrder, QuestionOrder, Reply};
use crate::runtime::record_row::Fact;

/// The most bytes that a question's texts may have together: what can be sent to a console.
const QUESTION_BYTES: usize = 512 << 10;

impl Handle {
    /// Asks a question and waits until it is settled. Dropping the future withdraws the question.
    ///
    /// # Errors
    /// If it is too long or cannot be recorded, or the runtime shuts down.
    pub async fn ask(&self, asking: NewQuestion) -> Result<QuestionOutcome, Error> {
        self.ask_about(asking, None).await
    }

    /// Like `ask`, for a question about a command: what it would cost is computed for the environment in which it would
    /// run, if that is known.
    ///
    /// # Errors
    /// As `ask`.
    pub async fn ask_about(
        &self,
        asking: NewQuestion,
        environment: Option<Environment>,
    ) -> Result<QuestionOutcome, Error> {
        let bytes = asking.text.len() + asking.evidence.command.as_ref().map_or(0, String::len);
        if bytes > QUESTION_BYTES {
            return Err(Error::QuestionTooLong { bytes, limit: QUESTION_BYTES });
        }
        let waits = CancellationToken::new();
        let _waiting = waits.clone().drop_guard();
        let cost = match (&asking.kind, &asking.evidence.workdir) {
            // What is only shown is asked by no rule.
            (
                QuestionKind::AgentPrompt(AgentPrompt { command: Some(cmd), is_shown_only: false, .. }),
                Some(workdir),
            ) => self.cost_of_prompt(&asking.asked_by, (cmd, workdir), environment.as_ref()).await,
            _ => Vec::new(),
        };
        let asking = Box::new(asking);
        self.about(|reply| QuestionOrder::Ask { asking, environment, cost, reply, waits }).await
    }

    /// Returns the open questions, in the order they were asked.
    pub fn questions(&self) -> Vec<Arc<Question>> {
        self.shared.snapshot.borrow().questions.clone()
    }

    /// Answers a question, at a console that told the operator what its command would cost, by its revision; or elsewhere.
    /// When this returns, the answer is recorded and final.
    ///
    /// # Errors
    /// If the answer is rejected, or the command would now cost something else; an open question stays open.
    pub async fn answer(
        &self,
        by: &Actor,
        at: Option<(&ConsoleProcess, u32)>,
        id: &QuestionId,
        given: AnswerInput,
    ) -> Result<RecordedAnswer, Error> {
        let (by, id) = (by.clone(), id.clone());
        let (from, cost) = at.map(|(from, cost)| (from.clone(), cost)).unzip();
        self.about(|reply| QuestionOrder::Answer { by, from, id, cost, given, reply }).await
    }

    /// Comments on a question.
    ///
    /// # Errors
    /// If the question is not open.
    pub async fn comment(&self, by: &Actor, id: &QuestionId, text: String) -> Result<(), Error> {
        let (by, id) = (by.clone(), id.clone());
        self.about(|reply| QuestionOrder::Comment { by, id, text, reply }).await
    }

    /// Allows agents to answer a question, or no longer; for the operator.
    ///
    /// # Errors
    /// If the question is not open, or reserved for the operator.
    pub async fn let_agents(&self, id: &QuestionId, may: bool) -> Result<(), Error> {
        let id = id.clone();
        self.about(|reply| QuestionOrder::LetAgents { id, may, reply }).await
    }

    /// Withdraws prompts of an agent that were answered there; an answer given here that is being recorded stands.
    pub async fn answered_in_agent(&self, answered: AnsweredPrompts) {
        self.tell(DriverOrder::Question(QuestionOrder::AnsweredInAgent(answered))).await
    }

    /// Ends what is permitted of agents' further prompts; for the operator.
    pub async fn revoke_permissions(&self, console: &ConsoleProcess) {
        self.tell(DriverOrder::Question(QuestionOrder::Revoke { from: console.clone() })).await
    }

    /// Notes that a program is running until the returned token is dropped: a runtime that shuts down briefly waits
    /// for the program's last rows.
    pub fn program_under_way(&self) -> TaskTrackerToken {
        self.shared.programs.token()
    }

    /// Shows a program's state. Its start and its end are recorded.
    pub fn show_program(&self, view: Arc<ProgramView>) {
        let turns = self.shared.session().show_program(view.clone());
        if turns {
            self.shared.note(&Fact::Program { program: Cow::Borrowed(&view) });
        }
        self.shared.nudge.notify_one();
    }

    /// Tells whether a console is open, embedded or attached, so that someone can answer.
    pub fn is_watched(&self) -> bool {
        self.shared.viewers.is_anyone()
    }

    /// Waits until no console is open.
    pub async fn wait_until_unwatched(&self) {
        self.shared.viewers.nobody().await
    }

    async fn about<T>(&self, order: impl FnOnce(Reply<T>) -> QuestionOrder) -> Result<T, Error> {
        self.order(|reply| DriverOrder::Question(order(reply))).await
    }
}
