//! What the caller of an agent's own command is told, and what becomes of the command when that caller goes away.

use super::Driver;
use crate::envelope::TaskId;
use crate::runtime::native::Stage;
use crate::runtime::supervisor::Input;
use crate::runtime::view::TaskView;

impl Driver {
    /// The shell of a task has ended: its caller hears of it once it has everything that was written before.
    pub(super) fn deliver(&self, id: &TaskId) {
        if self.has_caller(id) {
            self.shared.pump.deliver(id);
        }
    }

    /// Tells whether a program waits for what a task writes.
    pub(super) fn has_caller(&self, id: &TaskId) -> bool {
        self.live.get(id).is_some_and(|live| live.caller.is_some())
    }

    /// Its caller has everything.
    pub(super) fn delivered(&self, id: &TaskId) {
        let Some(view) = self.view(id) else { return };
        self.tell_caller(id, stage_at_end(&view));
    }

    /// Tells the caller of a task how far it is.
    pub(super) fn tell_caller(&self, id: &TaskId, stage: Stage) {
        if let Some(caller) = self.live.get(id).and_then(|live| live.caller.as_ref()) {
            caller.tell(stage);
        }
    }

    /// The caller of a task has gone.
    pub(super) fn caller_gone(&mut self, id: &TaskId) {
        self.shared.pump.detach(id);
        self.step(Input::CallerGone { id: id.clone() });
    }
}

/// Returns what the caller of a task is told of its end.
pub(super) fn stage_at_end(task: &TaskView) -> Stage {
    Stage::Ended { exit: task.shell_end().cloned(), closing: task.ended_with_runtime() }
}
