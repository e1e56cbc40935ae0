//! Keeps the approval rules of a running runtime as the person's file says. What else stands in the file is
//! read when a runtime starts.

use std::path::PathBuf;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use crate::config::{ApprovalRule, Loaded, Watch};
use crate::paths::Places;
use crate::runtime::Handle;

/// Editors write in several steps: the file is read after this long without a change.
const SETTLING: Duration = Duration::from_millis(150);

/// The rules of a runtime and where they come from.
pub(super) struct Rules {
    config: PathBuf,
    workspace: PathBuf,
    now: Vec<ApprovalRule>,
    /// Those of the workspace when the runtime started, and those handed over by consoles: removing them from a file
    /// later does not take them away from a running runtime.
    added: Vec<ApprovalRule>,
}

impl Rules {
    /// Starts from what was read when the runtime started.
    pub(super) fn new(places: &Places, loaded: &Loaded) -> Self {
        Self {
            config: places.config_dir.clone(),
            workspace: places.workspace.clone(),
            now: loaded.settings.approvals.clone(),
            added: loaded.added.clone(),
        }
    }

    /// Reads them again whenever the file changes, until `close`.
    pub(super) async fn follow(mut self, runtime: Handle, close: CancellationToken) {
        let mut watch = Watch::new(Some(&self.config));
        let mut handed = runtime.handed();
        loop {
            tokio::select! {
                () = close.cancelled() => return,
                () = watch.changed() => {}
                Ok(()) = handed.changed() => {
                    let rules = handed.borrow_and_update().clone();
                    self.take_over(&runtime, rules).await;
                    continue;
                }
            }
            let settled = async { while tokio::time::timeout(SETTLING, watch.changed()).await.is_ok() {} };
            tokio::select! {
                () = close.cancelled() => return,
                () = settled => {}
            }
            self.read_again(&runtime).await;
        }
    }

    /// Adds the rules of a console to those that hold. That they do was said when they were handed over.
    async fn take_over(&mut self, runtime: &Handle, rules: Vec<ApprovalRule>) {
        let new = rules.into_iter().filter(|rule| !self.added.contains(rule)).collect::<Vec<_>>();
        self.now.extend(new.iter().filter(|rule| !self.now.contains(rule)).cloned().collect::<Vec<_>>());
        self.added.extend(new);
        runtime.ask_by(self.now.clone()).await;
    }

    async fn read_again(&mut self, runtime: &Handle) {
        let (config, workspace) = (self.config.clone(), self.workspace.clone());
        let read = tokio::task::spawn_blocking(move || Loaded::read(&config, &workspace)).await;
        let loaded = match read {
            Ok(Ok(loaded)) => loaded,
            Ok(Err(faults)) => {
                // The console says what is wrong with the file; until it is mended the rules stay.
                tracing::warn!(%faults, "approval rules stay as they are");
                return;
            }
            Err(error) => return tracing::warn!(%error, "the settings are not read again"),
        };
        let mut rules = loaded.settings.approvals;
        let kept = self.added.iter().filter(|rule| !rules.contains(rule)).cloned().collect::<Vec<_>>();
        rules.extend(kept);
        if rules == self.now {
            return;
        }
        let gone = self.now.iter().filter(|rule| !rules.contains(rule)).count();
        runtime.ask_by(rules.clone()).await;
        // Fewer questions is what a person must not miss: anything with their rights can write the file.
        runtime.notice(told(rules.len(), gone), gone > 0);
        self.now = rules;
    }
}

fn told(now: usize, gone: usize) -> String {
    let noun = if now == 1 { "approval rule holds" } else { "approval rules hold" };
    match gone {
        0 => format!("settings changed: {now} {noun} for new calls"),
        gone => format!("settings changed: {gone} taken away, {now} {noun} for new calls"),
    }
}

#[cfg(test)]
mod tests {
    use super::told;

    #[test]
    fn what_is_taken_away_is_said() {
        assert_eq!(told(2, 0), "settings changed: 2 approval rules hold for new calls");
        assert_eq!(told(1, 2), "settings changed: 2 taken away, 1 approval rule holds for new calls");
    }
}
