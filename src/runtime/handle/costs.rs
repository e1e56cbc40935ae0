//! `Handle` methods for what commands would cost before they start, if a rule asks by that. Without such a rule, nothing
//! is computed.

use std::path::Path;

use super::Handle;
use crate::consequence::{Consequence, ConsequenceRequest};
use crate::envelope::{Actor, TaskId};
use crate::ledger;
use crate::model::{BatchRequest, Error, ExecOutcome, ExecRequest, HeldCommand};
use crate::process::environment::Environment;
use crate::runtime::driver::{DriverOrder, PreparedStart};

/// A call for which something is being computed; the driver does not know it yet.
pub(super) struct ComputingCall<'a> {
    handle: &'a Handle,
    call: u64,
}

impl Drop for ComputingCall<'_> {
    fn drop(&mut self) {
        self.handle.shared.cost_rules.end(self.call);
    }
}

impl ComputingCall<'_> {
    /// Ends the call, which the driver has been sent by now, if somebody wanted that meanwhile.
    pub(super) fn catch_up(self) {
        if let Some((by, why)) = self.handle.shared.cost_rules.end(self.call) {
            self.handle.cancel_foreground(self.call, &by, &why);
        }
    }
}

impl Handle {
    /// Starts a prepared command, of which it is computed first what it would cost, if a rule asks by that.
    pub(super) async fn exec_prepared(&self, mut prepared: PreparedStart) -> Result<ExecOutcome, Error> {
        let (new, environment) = prepared.to_cost();
        let (cost, computing) = self.cost_of(&new.request, (&new.workdir, &new.shell), environment).await;
        prepared.costs(cost);
        let (prepared, within) = (Box::new(prepared), self.within.clone());
        let answer = self.send(|reply| DriverOrder::Exec { prepared, within, reply }).await?;
        computing.into_iter().for_each(ComputingCall::catch_up);
        answer.await.map_err(|_| Error::ShuttingDown)?
    }

    /// Computes what a command would cost in a directory and a shell, if a rule asks by it.
    pub(super) async fn cost_of(
        &self,
        exec: &ExecRequest,
        at: (&Path, &str),
        environment: &Environment,
    ) -> (Vec<Consequence>, Option<ComputingCall<'_>>) {
        let is_asked = exec.step.is_some() && self.shared.cost_rules.concern(&Actor::Cli);
        if exec.item.is_some() || !(is_asked || self.shared.cost_rules.concern(&exec.actor)) {
            return (Vec::new(), None);
        }
        self.compute(exec.call, vec![self.shared.command_place().ask(exec, at, environment)]).await
    }

    /// Computes what the commands of a batch would cost, if a rule asks by it.
    pub(super) async fn cost_of_batch(
        &self,
        batch: &BatchRequest,
    ) -> (Vec<Consequence>, Option<ComputingCall<'_>>) {
        if !self.shared.cost_rules.concern(&batch.actor) {
            return (Vec::new(), None);
        }
        let place = self.shared.command_place();
        let requests = batch.commands.iter().map(|item| place.ask_item(item, &self.environment));
        self.compute(batch.call, requests.collect()).await
    }

    /// Computes what the command of an agent's prompt would cost, if a rule asks by it.
    pub(super) async fn cost_of_prompt(
        &self,
        agent: &Actor,
        (cmd, workdir): (&str, &Path),
        environment: Option<&Environment>,
    ) -> Vec<Consequence> {
        if !self.shared.cost_rules.concern(agent) {
            return Vec::new();
        }
        let request = self.shared.command_place().ask_prompt(cmd, workdir, environment);
        ledger::consequences(self.spawner.program(), vec![request]).await
    }

    async fn compute(
        &self,
        call: u64,
        requests: Vec<ConsequenceRequest>,
    ) -> (Vec<Consequence>, Option<ComputingCall<'_>>) {
        self.shared.cost_rules.begin(call);
        let computing = ComputingCall { handle: self, call };
        (ledger::consequences(self.spawner.program(), requests).await, Some(computing))
    }

    /// Returns in sentences what the command of a task would cost if it were run now, in the runtime's environment.
    pub async fn cost_of_task(&self, id: &TaskId) -> Option<Vec<String>> {
        let task = self.task(id).filter(|task| task.cmd_chars.is_none())?;
        let command = HeldCommand {
            cmd: task.cmd.clone(),
            workdir: task.workdir.clone(),
            shell: Some(task.shell.clone()),
            login: task.login,
            tty: task.tty,
        };
        let request = self.shared.command_place().ask_item(&command, &self.environment);
        let found = ledger::consequences(self.spawner.program(), vec![request]).await;
        found.first().map(Consequence::sentences)
    }
}
