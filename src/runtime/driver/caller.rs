//! The driver's handling of the caller of a command from an agent's own shell: progress reports, and the caller's
//! disappearance.

use super::Driver;
use crate::envelope::{Actor, TaskId};
use crate::model::{InputNeed, InputWait, Signal, TaskFact, TaskView};
use crate::process::SignalScope;
use crate::runtime::bytes::TaskIo;
use crate::runtime::caller_command::{CallerStage, Intervention};
use crate::runtime::supervisor::SupervisorInput;

impl Driver {
    /// Called when a task's shell has ended: its caller learns of that once all earlier output is delivered.
    pub(super) fn deliver(&mut self, id: &TaskId) {
        if let Some(caller) = self.live.get_mut(id).and_then(|live| live.caller.as_mut()) {
            caller.terminal = None;
            self.shared.pump.deliver(id);
        }
    }

    /// Tells whether a program waits for the task's output.
    pub(super) fn has_caller(&self, id: &TaskId) -> bool {
        self.live.get(id).is_some_and(|live| live.caller.is_some())
    }

    /// Called when the caller has received everything.
    pub(super) fn note_delivery(&self, id: &TaskId) {
        let (Some(view), Some(live)) = (self.view(id), self.live.get(id)) else { return };
        self.tell_caller(id, stage_at_end(&view, &live.io));
    }

    /// Reports a task's progress to its caller.
    pub(super) fn tell_caller(&self, id: &TaskId, stage: CallerStage) {
        if let Some(caller) = self.live.get(id).and_then(|live| live.caller.as_ref()) {
            caller.tell(stage);
        }
    }

    /// Passes a signal of a task's caller on to those who would have received it.
    pub(super) fn pass_on(&mut self, by: &Actor, id: &TaskId, signal: Signal, scope: SignalScope) {
        self.step(SupervisorInput::PassedOn { id: id.clone(), by: by.clone(), signal });
        if let Some(host) = self.live.get(id).and_then(|live| live.host.as_ref()) {
            host.signal(signal, scope);
        }
    }

    /// Called when the terminal of a task's caller has got another size: the task's follows.
    pub(super) fn caller_resized(&mut self, by: &Actor, id: &TaskId) {
        let Some(live) = self.live.get(id) else { return };
        let terminal = live.caller.as_ref().and_then(|caller| caller.terminal.as_ref());
        let Some((terminal, pty)) = terminal.zip(live.io.pty.get()) else { return };
        let size = terminal.size();
        // The screen first, as for every other change of size.
        size.into_iter().for_each(|size| live.io.resize(size));
        if let Err(error) = pty.follow(terminal) {
            tracing::warn!(%error, task = %id, "resize a terminal like its caller's");
        }
        if let Some(size) = size {
            self.step(SupervisorInput::Resized { id: id.clone(), by: by.clone(), size });
        }
    }

    /// Called when the caller of a task is gone.
    pub(super) fn caller_gone(&mut self, id: &TaskId) {
        self.shared.pump.detach(id);
        self.step(SupervisorInput::CallerGone { id: id.clone() });
    }

    /// Handles a question that nobody answered in time: sends the program end-of-input and informs its caller once. A
    /// program that reads key by key has no end-of-input, and goes on waiting.
    pub(super) fn end_input(&mut self, id: &TaskId, seconds: u64) {
        let Some(live) = self.live.get_mut(id) else { return };
        let mode = live.io.pty.get().and_then(|pty| pty.input_mode().ok());
        let Some(end) = mode.filter(|mode| mode.canonical).and_then(|mode| mode.eof) else { return };
        if live.io.queue(&[end]).is_err() {
            return;
        }
        let is_first = !std::mem::replace(&mut live.is_told, true);
        live.looks.again();
        self.shared.pump.write(id);
        if is_first {
            let waiting = self.supervisor.get(id).and_then(|task| task.waiting.clone());
            self.shared.pump.say(id, no_input_message(waiting.as_ref(), seconds).into_bytes());
        }
        self.step(SupervisorInput::Unanswered { id: id.clone() });
    }
}

/// Returns the stage that reports a task's end to its caller.
pub(super) fn stage_at_end(task: &TaskView, io: &TaskIo) -> CallerStage {
    let unwritten = io.unwritten.get().cloned();
    let mut own = task.events.iter().filter(|event| event.actor == Actor::Operator);
    let is_signalled = own.clone().any(|event| matches!(event.fact, TaskFact::Signal(_)));
    let by_operator = match task.is_stopped_by_operator() || is_signalled {
        true => Intervention::Stopped,
        false if own.any(|event| matches!(event.fact, TaskFact::Input(_))) => Intervention::Typed,
        false => Intervention::Nothing,
    };
    CallerStage::Ended {
        exit: task.shell_end().cloned(),
        closing: task.ended_with_runtime().map(|why| task.with_unended(why)),
        unwritten,
        ceiling: task.ceiling,
        unended: task.unended_phrase(),
        by_operator,
    }
}

/// Returns the message for the command's standard error that explains why its program got no input.
fn no_input_message(waiting: Option<&InputWait>, seconds: u64) -> String {
    let program = waiting.and_then(|waiting| waiting.program.as_deref()).unwrap_or("a program");
    let what = waiting.map_or(InputNeed::Line, |waiting| waiting.kind).word();
    format!(
        "pilothouse: {program} asked for {what} on its terminal, nobody answered within {seconds} s: it got the end of input\n"
    )
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::*;
    use crate::model::InputEvidence;

    #[test]
    fn a_caller_is_told_which_program_asked_for_which_input() {
        let waiting = InputWait {
            kind: InputNeed::Secret,
            evidence: InputEvidence::EchoOff,
            since: Timestamp::UNIX_EPOCH,
            program: Some("sudo".into()),
            question: None,
        };
        let line = "sudo asked for a password on its terminal, nobody answered within 90 s: it got the end of input\n";
        assert_eq!(no_input_message(Some(&waiting), 90), format!("pilothouse: {line}"));
        assert!(no_input_message(None, 5).contains("a program asked for input"));
    }
}
