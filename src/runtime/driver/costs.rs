//! What the commands that wait for the operator would cost: computed outside the loop when they begin to wait, and again
//! when they are about to be let run.

use super::Driver;
use super::order::DriverOrder;
use crate::consequence::{Consequence, ConsequenceRequest};
use crate::envelope::TaskId;
use crate::ledger;
use crate::model::{HeldCall, HeldCommand, ItemKey, NewQuestion, QuestionId, QuestionKind, Subject};
use crate::process::environment::Environment;

impl Driver {
    /// Computes what a new task would cost, if it waits for the operator; what is `known` was computed before.
    pub(super) fn cost_task(&mut self, id: &TaskId, known: Vec<Consequence>) {
        let Some(task) = self.supervisor.get(id) else { return };
        let Some(ticket) = task.operator_hold().map(|hold| hold.ticket) else { return };
        let Some(kit) = self.live.get(id).and_then(|live| live.kit.as_ref()) else { return };
        let at = (&*task.workdir, &*task.shell);
        let request = self.shared.command_place().ask(&task.request, at, &kit.environment);
        self.begin_cost(Subject::Held(ticket), vec![request], known);
    }

    /// Computes what a held batch would cost; what is `known` was computed before.
    pub(super) fn cost_batch(
        &mut self,
        ticket: u64,
        commands: &[HeldCommand],
        (environment, known): (&Environment, Vec<Consequence>),
    ) {
        let place = self.shared.command_place();
        let requests = commands.iter().map(|command| place.ask_item(command, environment)).collect();
        self.begin_cost(Subject::Held(ticket), requests, known);
    }

    /// Computes what the command of an agent's prompt would cost; what is `known` was computed before.
    pub(super) fn cost_prompt(
        &mut self,
        id: &QuestionId,
        asking: &NewQuestion,
        (environment, known): (Option<&Environment>, Vec<Consequence>),
    ) {
        if let (QuestionKind::AgentPrompt(prompt), Some(workdir)) = (&asking.kind, &asking.evidence.workdir)
            && let Some(cmd) = &prompt.command
        {
            let request = self.shared.command_place().ask_prompt(cmd, workdir, environment);
            self.begin_cost(Subject::Question(id.clone()), vec![request], known);
        }
    }

    fn begin_cost(&mut self, of: Subject, requests: Vec<ConsequenceRequest>, known: Vec<Consequence>) {
        let is_known = known.len() == requests.len();
        self.costs.add(of.clone(), requests);
        match is_known {
            true => self.apply_costs(&of, &known),
            false => self.compute_costs(vec![of], None),
        }
    }

    /// Computes what some of what waits would cost, and then carries out an order.
    pub(super) fn compute_costs(&mut self, of: Vec<Subject>, then: Option<DriverOrder>) {
        let (own, then) = (self.own.clone(), then.map(Box::new));
        let spawner = self.spawner.clone();
        let requests: Vec<_> = of.iter().map(|of| self.costs.requests(of).unwrap_or_default()).collect();
        self.job(async move {
            let mut found = ledger::consequences(spawner.program(), requests.concat()).await.into_iter();
            let of = of.into_iter().zip(&requests);
            let found =
                of.map(|(of, requests)| (of, found.by_ref().take(requests.len()).collect())).collect();
            // Once the driver is gone, nobody waits any more.
            let _ = own.send(DriverOrder::Costs { found, then }).await;
        });
    }

    /// Takes what something that waits would cost. Consoles are told of a change, and its reading time begins again.
    pub(super) fn apply_costs(&mut self, of: &Subject, found: &[Consequence]) {
        let found = found.iter().map(Consequence::sentences).collect();
        if !self.costs.take(self.now(), of, found) {
            return;
        }
        let key = match of {
            Subject::Held(ticket) => Some(ItemKey::Held(*ticket)),
            Subject::Question(id) => {
                let cost = self.costs.cost(of).cloned().unwrap_or_default();
                self.questions.machine.costs(id, cost);
                self.questions.machine.number(id).map(ItemKey::Question)
            }
            _ => None,
        };
        if let Some(key) = key {
            self.shared.session().changes.note(key);
        }
    }

    /// Forgets what nothing that waits would cost any more.
    pub(super) fn keep_costs(&mut self, held: &[HeldCall]) {
        let Self { costs, questions, .. } = self;
        costs.keep(|of| match of {
            Subject::Held(ticket) => held.iter().any(|held| held.ticket == *ticket),
            Subject::Question(id) => questions.machine.question(id).is_some(),
            _ => false,
        });
    }
}
