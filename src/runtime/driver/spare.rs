//! Keeps spare hosts and the folders of their future tasks ready for the next commands while some are likely: while an
//! agent is connected, a program runs, or an agent's own shell has run a command
//! (docs/decisions/24-process-tree.md).

use std::time::Duration;

use super::Driver;
use super::start::spare_folder;
use crate::envelope::TaskId;
use crate::runtime::supervisor::SupervisedTask;

/// How long spare hosts are kept after a start.
const IDLE: Duration = Duration::from_secs(30);
/// How long after a start the next one may come before other hosts are started for it. Most commands end earlier; starting
/// a host while they run would only delay them.
const SHORT: Duration = Duration::from_millis(5);

impl Driver {
    /// Expects more commands after a task that was started. Their hosts are made ready in a moment, or while the row of
    /// the next start is being synced.
    pub(super) fn expect_more(&mut self, id: &TaskId) {
        let follows = |task: &SupervisedTask| task.request.step.is_some() || task.request.native.is_some();
        if self.supervisor.get(id).is_some_and(follows) || self.shared.session().has_agent() {
            self.spawner.expect_more();
            let now = self.now().mono;
            self.spares.due = Some(now + SHORT);
            self.spares.until = Some(now + IDLE);
        }
    }

    /// Prepares spare hosts if they are due by `now`.
    pub(super) fn prepare_spares(&mut self, now: Duration) {
        if self.spares.due.take_if(|due| *due <= now).is_none() || !self.is_open() {
            return;
        }
        self.spawner.keep_spares(spare_folder(&self.shared));
    }

    /// Drops the spare hosts when their time is up.
    pub(super) fn expect_no_more(&mut self, now: Duration) {
        if self.spares.until.take_if(|until| *until <= now).is_some() {
            self.spawner.give_up_spares();
            let shared = self.shared.clone();
            self.blocking_job(move || shared.spare_folders.clear());
        }
    }
}
