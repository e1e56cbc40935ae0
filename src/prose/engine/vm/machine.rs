//! The machine: a program being executed, with its effects, its journal and what is known of it.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use jiff::Timestamp;
use tokio::sync::Semaphore;

use super::answer_policy::AnswerPolicy;
use super::budget::SessionSpending;
use super::control_flow::{Flow, Halt};
use super::effects::{Effects, RunEvent};
use super::frame::VmFrame;
use super::progress::Progress;
use crate::model::StepState;
use crate::prose::engine::record::decision::RecordedDecision;
use crate::prose::engine::record::journal::{ProgramKey, RunJournal};
use crate::prose::syntax::Span;

/// The maximum number of commands of one program that run at the same time; others wait.
const AT_ONCE: usize = 32;

/// The decision about a command under `once`; locked while the question is open.
pub(super) type ApprovalTurn = Arc<tokio::sync::Mutex<Option<RecordedDecision>>>;

/// A program being executed.
pub struct Vm<E> {
    /// The implementation of its effects.
    pub effects: E,
    /// The journal of the run.
    pub journal: RunJournal,
    pub(super) policy: AnswerPolicy,
    /// The view that others see of it.
    pub progress: Progress,
    pub(super) permits: Semaphore,
    /// Decisions on commands that are asked about only once.
    pub(super) turns: Mutex<HashMap<ProgramKey, ApprovalTurn>>,
    /// The sessions of answering programs themselves, by the agent's memory and the program.
    pub(super) own_sessions: Mutex<HashMap<(PathBuf, String), String>>,
    /// The cost of session commands.
    pub spent: SessionSpending,
    pub(super) home: Option<PathBuf>,
    pub(super) run: String,
    /// When this execution was prepared.
    pub(super) began: Timestamp,
}

impl<E: Effects> Vm<E> {
    /// Creates an engine that has not started.
    pub fn new(
        effects: E,
        journal: RunJournal,
        policy: AnswerPolicy,
        progress: Progress,
        run: String,
        home: Option<PathBuf>,
    ) -> Self {
        let permits = Semaphore::new(AT_ONCE);
        let (turns, own_sessions, spent) = (Mutex::default(), Mutex::default(), SessionSpending::default());
        let began = effects.now();
        Self { effects, journal, policy, progress, permits, turns, own_sessions, spent, home, run, began }
    }

    pub(super) fn own_sessions(&self) -> MutexGuard<'_, HashMap<(PathBuf, String), String>> {
        self.own_sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes a line to `state.md` and reports it, unless an earlier execution has.
    pub(super) async fn mark(&self, frame: &VmFrame, line: u32, text: String) -> Flow<()> {
        if self.journal.mark(&frame.key, &text, frame.module.folder.path())? {
            frame.module.folder.note(&text)?;
            self.tell(frame, "mark", line, text).await;
        }
        Ok(())
    }

    /// Reports the warnings of the checks, before anything runs.
    pub async fn warn(&self, frame: &VmFrame) {
        for (line, text) in &frame.module.library.warnings {
            self.tell(frame, "warn", *line, text.clone()).await;
        }
    }

    /// Accounts for the start of a session, unless the budget is used up.
    pub(super) fn afford(&self, line: u32) -> Flow<()> {
        let elapsed = self.effects.now().as_millisecond().saturating_sub(self.began.as_millisecond());
        self.spent.begin(self.policy.budget, elapsed).map_err(|budget| Halt::OverBudget { line, budget })
    }

    /// Updates the state of a step of the run's own program.
    pub(super) fn show_step(&self, frame: &VmFrame, span: Span, state: StepState) {
        if frame.module.is_main {
            self.progress.step(frame.module.lines(span), state);
        }
    }

    /// Reports an event to those who follow the run.
    pub(super) async fn tell(&self, frame: &VmFrame, what: &str, line: u32, text: String) {
        self.tell_end(frame, what, line, text, None, None).await;
    }

    /// Reports an event with whether it went well, and more over several lines.
    pub(super) async fn tell_end(
        &self,
        frame: &VmFrame,
        what: &str,
        line: u32,
        text: String,
        ok: Option<bool>,
        detail: Option<String>,
    ) {
        let number = frame.number.to_string();
        let event =
            RunEvent { at: self.effects.now(), what: what.to_owned(), number, line, text, ok, detail };
        self.effects.tell(event).await;
    }
}
