//! The driver's part of approvals: who waits for one, who is answered, and what goes on record.

use std::sync::Arc;

use super::Driver;
use super::order::Reply;
use crate::envelope::{Actor, TaskId};
use crate::process::ConsoleProcess;
use crate::runtime::Error;
use crate::runtime::approval::{BatchRequest, Decision};
use crate::runtime::events::Row;
use crate::runtime::request::Within;
use crate::runtime::supervisor::{Action, GateEvent, Verdict};
use crate::runtime::view::TaskView;

impl Driver {
    /// Lets a batch begin, at once or when the operator says so.
    pub(super) fn admit(&mut self, batch: BatchRequest, within: Option<&Within>, reply: Reply<()>) {
        let no_room = || self.supervisor.no_room_for_batch(&batch);
        if let Some(refusal) = self.supervisor.refusal().or_else(no_room) {
            // The caller may have gone away meanwhile; nothing was started.
            let _ = reply.send(Err(refusal));
            return;
        }
        let now = self.now();
        let (ticket, actions) = self.supervisor.admit_batch(now, batch, within);
        match ticket {
            Some(ticket) => drop(self.batches.insert(ticket, reply)),
            None => {
                let _ = reply.send(Ok(()));
            }
        }
        self.carry_out(actions);
    }

    /// Carries out the operator's decision about a held call.
    pub(super) fn decide(
        &mut self,
        ticket: u64,
        hash: &str,
        decision: &Decision,
        from: Option<&ConsoleProcess>,
    ) -> Result<(), Error> {
        let now = self.now();
        let actions = self.supervisor.decide(now, ticket, hash, decision).ok_or(Error::NotHeld)?;
        self.carry_out(at_console(actions, from));
        Ok(())
    }

    /// Holds new calls of agents from now on, or lets those go that only the pause holds.
    pub(super) fn pause(&mut self, paused: bool, from: Option<&ConsoleProcess>) {
        let now = self.now();
        let actions = self.supervisor.pause(now, paused);
        self.carry_out(at_console(actions, from));
    }

    pub(super) fn tell_batch(&mut self, ticket: u64, verdict: Verdict) {
        let Some(reply) = self.batches.remove(&ticket) else { return };
        let answer = match verdict {
            Verdict::Go => Ok(()),
            Verdict::Denied { note } => Err(Error::Denied { note }),
            Verdict::Pending => Err(Error::Pending),
        };
        // The caller may have gone away; nothing was started.
        let _ = reply.send(answer);
    }

    /// Puts a task on record that waits to be started.
    pub(super) fn queue(&self, id: &TaskId) {
        if let Some(view) = self.view(id) {
            // What has happened to it has rows of its own.
            let task = TaskView { events: Vec::new(), ..Arc::unwrap_or_clone(view) };
            self.shared.note(&Row::Queued { task: &task });
        }
    }

    /// Keeps the denial as the answer for whoever waits for a task.
    pub(super) fn refuse(&mut self, id: &TaskId, note: String) {
        if let Some(live) = self.live.get_mut(id) {
            live.start_error = Some(Error::Denied { note });
        }
    }

    /// The row of an approval stands before that of the start, which is synced before anything runs.
    pub(super) fn note_gate(&self, event: &GateEvent) {
        if let Some(console) = &event.console {
            self.shared.notice_of(console, told(event, console));
        }
        self.shared.note(&Row::Gate(event));
    }
}

/// Adds to the operator's decisions the console they were made in.
fn at_console(mut actions: Vec<Action>, from: Option<&ConsoleProcess>) -> Vec<Action> {
    for action in &mut actions {
        if let Action::Gate(event) = action
            && event.actor == Actor::Operator
        {
            event.console = from.cloned();
        }
    }
    actions
}

/// Returns what the other consoles show of a decision.
fn told(event: &GateEvent, console: &ConsoleProcess) -> String {
    let what: &str = event.what.into();
    match event.call {
        Some(call) => format!("call {call} was {what} in another console: {console}"),
        None => format!("agent calls were {what} in another console: {console}"),
    }
}
