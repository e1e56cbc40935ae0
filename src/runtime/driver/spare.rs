//! Keeps a spare host ready for the next command while one is likely: while an agent is connected or a program runs.

use std::time::Duration;

use super::Driver;
use crate::envelope::TaskId;

/// How long a spare host is kept after a start.
const IDLE: Duration = Duration::from_secs(30);

impl Driver {
    /// Prepares a spare host after a task was started.
    pub(super) fn expect_more(&mut self, id: &TaskId) {
        let is_step = self.supervisor.get(id).is_some_and(|task| task.request.step.is_some());
        if self.is_open() && (is_step || self.shared.session().has_agent()) {
            self.spawner.keep_spare();
            self.spare_until = Some(self.now().mono + IDLE);
        }
    }

    /// Drops the spare host when its time is up.
    pub(super) fn expect_no_more(&mut self, now: Duration) {
        if self.spare_until.is_some_and(|until| until <= now) {
            self.spare_until = None;
            self.spawner.give_up_spare();
        }
    }
}
