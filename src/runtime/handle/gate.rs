//! `Handle` methods for calls that wait for the operator.

use std::path::Path;

use tokio::sync::watch;

use super::Handle;
use super::costs::ComputingCall;
use crate::clock::Clock;
use crate::config::ApprovalRule;
use crate::envelope::{TaskId, mask};
use crate::model::{BatchRequest, ConsoleProcess, Decision, Error, ExecRequest, ShownCall};
use crate::runtime::driver::DriverOrder;
use crate::runtime::record_row::Fact;
use crate::runtime::supervisor::SupervisorInput;

impl Handle {
    /// Lets a task pass that waits for its turn in a lane; it then counts as running.
    pub async fn let_pass(&self, id: &TaskId) {
        self.tell(DriverOrder::Pass { id: id.clone() }).await;
    }

    /// Holds new calls from agents from now on, or releases those that only the pause holds; `from` is the console
    /// the person used.
    pub async fn pause(&self, paused: bool, from: Option<&ConsoleProcess>) {
        self.tell(DriverOrder::Pause { paused, from: from.cloned() }).await;
    }

    /// Tells whether no rule and no pause concerns a command that was not started, so that its caller may run it by
    /// itself. A runtime that has ended does not give its word.
    pub async fn is_free(&self, request: ExecRequest) -> bool {
        let within = self.within.clone();
        let at = (&*request.base, request.shell.as_deref().unwrap_or_default());
        let (cost, _computing) = self.cost_of(&request, at, &self.environment).await;
        let run = Box::new(request);
        let asked = self.order(|reply| DriverOrder::IsFree { run, within, cost, reply }).await;
        asked.unwrap_or(false)
    }

    /// Applies these approval rules to new calls from now on.
    pub async fn ask_by(&self, rules: Vec<ApprovalRule>) {
        self.shared.cost_rules.set(&rules);
        self.tell(DriverOrder::Step(SupervisorInput::Rules { rules })).await;
    }

    /// Adds the approval rules of a console whose settings are stored elsewhere: they apply in addition to this
    /// runtime's rules until the runtime ends.
    pub fn hand_over(&self, config: &Path, rules: &[ApprovalRule]) {
        if rules.is_empty() {
            return;
        }
        self.shared.note(&Fact::Rules { config: config.into(), rules: rules.into() });
        self.shared.handed.send_if_modified(|handed| {
            let before = handed.len();
            let new = rules.iter().filter(|rule| !handed.contains(rule)).cloned().collect::<Vec<_>>();
            handed.extend(new);
            handed.len() > before
        });
        let (noun, verb) = if rules.len() == 1 { ("rule", "holds") } else { ("rules", "hold") };
        let count = rules.len();
        let text = format!(
            "{count} approval {noun} of a console {verb} here too: its settings are in {}",
            config.display()
        );
        self.notice(text, false);
    }

    /// Returns a live view of the rules that were handed over.
    #[must_use]
    pub fn handed_rules(&self) -> watch::Receiver<Vec<ApprovalRule>> {
        self.shared.handed.subscribe()
    }

    /// Applies the operator's decision to a held call as they were shown it; `from` is the console that showed it.
    ///
    /// # Errors
    /// If that request is no longer held, or would now cost something else.
    pub async fn decide(
        &self,
        shown: ShownCall,
        decision: Decision,
        from: Option<&ConsoleProcess>,
    ) -> Result<(), Error> {
        let from = from.cloned();
        let decision = match decision {
            Decision::Deny { note } => Decision::Deny { note: mask(&note).into_owned() },
            decision => decision,
        };
        self.order(|reply| DriverOrder::Decide { shown, decision, from, reply }).await
    }

    /// Shows a notice about an action in one console to the person at the others.
    pub fn notice_of(&self, console: &ConsoleProcess, text: impl Into<String>) {
        self.shared.notice_of(console, text.into());
    }

    /// Returns the clock of this runtime.
    pub fn clock(&self) -> &Clock {
        &self.shared.clock
    }

    /// Waits until a batch may start. To stop waiting, cancel the foreground of its call.
    ///
    /// # Errors
    /// If the operator denied it or did not decide in time.
    pub async fn admit(&self, mut batch: BatchRequest) -> Result<(), Error> {
        let (cost, computing) = self.cost_of_batch(&batch).await;
        batch.cost = cost;
        let (within, env) = (self.within.clone(), self.environment.clone());
        let batch = Box::new(batch);
        let answer = self.send(|reply| DriverOrder::Admit { batch, within, env, reply }).await?;
        computing.into_iter().for_each(ComputingCall::catch_up);
        answer.await.map_err(|_| Error::ShuttingDown)?
    }
}
