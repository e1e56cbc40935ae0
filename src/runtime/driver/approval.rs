//! The driver's handling of approvals: who waits for one, who gets a reply, and what is recorded.

use std::borrow::Cow;
use std::sync::Arc;

use super::Driver;
use super::order::{DriverOrder, Reply};
use crate::envelope::{Actor, TaskId};
use crate::model::{
    BatchRequest, ConsoleProcess, Decision, Error, GateEvent, HoldReason, ParentTask, ShownCall, Subject,
    TaskView,
};
use crate::process::environment::Environment;
use crate::runtime::call_costs::CostCheck;
use crate::runtime::record_row::Fact;
use crate::runtime::supervisor::{BatchVerdict, SupervisorAction, SupervisorInput};

impl Driver {
    /// Admits a batch, immediately or once the operator approves it.
    pub(super) fn admit(
        &mut self,
        batch: BatchRequest,
        within: Option<&ParentTask>,
        environment: &Environment,
        reply: Reply<()>,
    ) {
        if let Some(refusal) = self.supervisor.refusal_of_batch(&batch, within) {
            // The caller may be gone by now; nothing was started.
            let _ = reply.send(Err(refusal));
            return;
        }
        let (call, cost) = (batch.call, batch.cost.clone());
        let actions =
            self.supervisor.step(self.now(), SupervisorInput::Batch { batch, within: within.cloned() });
        let held = self.supervisor.held_batch(call).map(|held| (held.ticket, held.commands.clone()));
        match held {
            Some((ticket, commands)) => {
                self.batches.insert(ticket, reply);
                self.cost_batch(ticket, &commands, (environment, cost));
            }
            None => {
                let _ = reply.send(Ok(()));
            }
        }
        self.carry_out(actions);
    }

    /// Applies the operator's decision on a held call, unless what they were told of its cost is old.
    pub(super) fn check_decision(
        &mut self,
        shown: ShownCall,
        decision: Decision,
        from: Option<ConsoleProcess>,
        reply: Reply<()>,
    ) {
        let of = Subject::Held(shown.ticket);
        let check = match decision {
            Decision::Deny { .. } => CostCheck::Counts,
            _ => self.costs.check(self.now(), &of, shown.cost),
        };
        match check {
            CostCheck::Counts => {
                let _ = reply.send(self.decide(shown, decision, from.as_ref()));
            }
            CostCheck::Changed => {
                // Whoever answered is to see what has changed.
                self.publish();
                let _ = reply.send(Err(Error::CostChanged));
            }
            CostCheck::Old => {
                let decide = DriverOrder::Decide { shown, decision, from, reply };
                self.compute_costs(vec![of], Some(decide));
            }
        }
    }

    fn decide(
        &mut self,
        ShownCall { ticket, hash, .. }: ShownCall,
        decision: Decision,
        from: Option<&ConsoleProcess>,
    ) -> Result<(), Error> {
        if !self.supervisor.can_decide(ticket, &hash, &decision) {
            return Err(Error::NotHeld);
        }
        let actions = self.supervisor.step(self.now(), SupervisorInput::Decide { ticket, hash, decision });
        self.carry_out(at_console(actions, from));
        Ok(())
    }

    /// Ends a pause. What the calls would cost that this releases is computed again first, where it is old.
    pub(super) fn end_pause(&mut self, from: Option<ConsoleProcess>) {
        let now = self.now();
        let held = self.supervisor.gate().held.into_iter();
        let held = held.filter(|held| held.reason == HoldReason::Paused);
        let old = held.filter_map(|held| {
            let of = Subject::Held(held.ticket);
            let shown = self.costs.cost(&of)?.revision;
            (self.costs.check(now, &of, Some(shown)) == CostCheck::Old).then_some((of, shown))
        });
        let shown: Vec<(Subject, u32)> = old.collect();
        if shown.is_empty() {
            return self.pause(false, from.as_ref());
        }
        let of = shown.iter().map(|(of, _)| of.clone()).collect();
        self.ends_pause = true;
        self.compute_costs(of, Some(DriverOrder::EndPause { shown, from }));
    }

    /// Ends a pause, unless one of these calls would cost something else by now than was `shown`, or agents were paused again.
    pub(super) fn end_pause_of(&mut self, shown: &[(Subject, u32)], from: Option<&ConsoleProcess>) {
        let is_paused = self.supervisor.gate().paused.is_some();
        if !self.ends_pause {
            // Unless another order has ended it meanwhile.
            return if is_paused {
                self.stay_paused("they were paused again")
            };
        }
        let is_other = |(of, shown): &&(Subject, u32)| {
            *shown > 0 && self.costs.cost(of).is_some_and(|cost| cost.revision != *shown)
        };
        let others = shown.iter().filter(is_other).count();
        if others == 0 {
            return self.pause(false, from);
        }
        let calls = if others == 1 { "a held call" } else { "some held calls" };
        self.stay_paused(&format!("what {calls} would cost has changed; look, then resume again"));
    }

    fn stay_paused(&mut self, why: &str) {
        self.ends_pause = false;
        self.shared.session().notice(self.now().wall, format!("agents stay paused: {why}"), false);
    }

    /// Holds new calls from agents from now on, or releases those that only the pause holds.
    pub(super) fn pause(&mut self, paused: bool, from: Option<&ConsoleProcess>) {
        self.ends_pause = false;
        self.pause_permissions(paused, from);
        let actions = self.supervisor.step(self.now(), SupervisorInput::Pause { paused });
        self.carry_out(at_console(actions, from));
    }

    pub(super) fn tell_batch(&mut self, ticket: u64, verdict: BatchVerdict) {
        let Some(reply) = self.batches.remove(&ticket) else { return };
        let answer = match verdict {
            BatchVerdict::Go => Ok(()),
            BatchVerdict::Denied { note } => Err(Error::Denied { note }),
            BatchVerdict::Pending => Err(Error::Pending),
        };
        // The caller may be gone; nothing was started.
        let _ = reply.send(answer);
    }

    /// Records a task that waits to be started.
    pub(super) fn queue(&self, id: &TaskId) {
        if let Some(view) = self.view(id) {
            // Its events have rows of their own.
            let task = TaskView { events: Vec::new(), ..Arc::unwrap_or_clone(view) };
            self.shared.note(&Fact::Queued { task: Cow::Borrowed(&task) });
        }
    }

    /// Keeps the denial as the answer for the caller that waits for the task.
    pub(super) fn refuse(&mut self, id: &TaskId, note: String) {
        if let Some(live) = self.live.get_mut(id) {
            live.start_error = Some(Error::Denied { note });
        }
    }

    /// Records an approval event. Its row precedes that of the start, which is synced before anything runs.
    pub(super) fn note_gate(&self, event: &GateEvent) {
        if let Some(console) = &event.console {
            self.shared.notice_of(console, decision_notice(event, console));
        }
        self.shared.note(&Fact::Gate(Cow::Borrowed(event)));
    }
}

/// Adds the console that the operator's decisions were made in.
fn at_console(mut actions: Vec<SupervisorAction>, from: Option<&ConsoleProcess>) -> Vec<SupervisorAction> {
    for action in &mut actions {
        if let SupervisorAction::Gate(event) = action
            && event.actor == Actor::Operator
        {
            event.console = from.cloned();
        }
    }
    actions
}

/// Returns the notice that other consoles show for a decision.
fn decision_notice(event: &GateEvent, console: &ConsoleProcess) -> String {
    let what: &str = event.what.into();
    match event.call {
        Some(call) => format!("call {call} was {what} in another console: {console}"),
        None => format!("agent calls were {what} in another console: {console}"),
    }
}
