//! Keeps the approval rules of a running runtime in sync with the user's settings file. Other settings in it are read
//! only when a runtime starts.

use std::path::PathBuf;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use crate::config::{ApprovalRule, LoadedSettings, watched_places};
use crate::paths::Places;
use crate::process::FileWatch;
use crate::runtime::Handle;

/// Editors write in several steps: the file is read once it has not changed for this long.
const SETTLING: Duration = Duration::from_millis(150);

/// The rules of a runtime and their sources.
pub(super) struct Rules {
    config: PathBuf,
    workspace: PathBuf,
    now: Vec<ApprovalRule>,
    /// The workspace's rules at the time the runtime started, and those provided by consoles: removing one from a
    /// file later does not remove it from a running runtime.
    added: Vec<ApprovalRule>,
}

impl Rules {
    /// Starts with the rules that were read when the runtime started.
    pub(super) fn new(places: &Places, loaded: &LoadedSettings) -> Self {
        Self {
            config: places.config_dir.clone(),
            workspace: places.workspace.clone(),
            now: loaded.settings.approvals.clone(),
            added: loaded.added.clone(),
        }
    }

    /// Reads the rules again whenever the file changes, until `close` is cancelled.
    pub(super) async fn follow(mut self, runtime: Handle, close: CancellationToken) {
        let mut watch = FileWatch::over(watched_places(&self.config));
        let mut handed = runtime.handed_rules();
        loop {
            tokio::select! {
                () = close.cancelled() => return,
                () = watch.wait_for_change() => {}
                Ok(()) = handed.changed() => {
                    let rules = handed.borrow_and_update().clone();
                    self.take_over(&runtime, rules).await;
                    continue;
                }
            }
            let settled =
                async { while tokio::time::timeout(SETTLING, watch.wait_for_change()).await.is_ok() {} };
            tokio::select! {
                () = close.cancelled() => return,
                () = settled => {}
            }
            self.read_again(&runtime).await;
        }
    }

    /// Adds a console's rules to those in effect. That they apply was reported when the console provided them.
    async fn take_over(&mut self, runtime: &Handle, rules: Vec<ApprovalRule>) {
        let new = rules.into_iter().filter(|rule| !self.added.contains(rule)).collect::<Vec<_>>();
        self.now.extend(new.iter().filter(|rule| !self.now.contains(rule)).cloned().collect::<Vec<_>>());
        self.added.extend(new);
        runtime.ask_by(self.now.clone()).await;
    }

    async fn read_again(&mut self, runtime: &Handle) {
        let (config, workspace) = (self.config.clone(), self.workspace.clone());
        let read = tokio::task::spawn_blocking(move || LoadedSettings::read(&config, &workspace)).await;
        let loaded = match read {
            Ok(Ok(loaded)) => loaded,
            Ok(Err(faults)) => {
                // The console reports what is wrong with the file; the rules stay as they are until it is fixed.
                tracing::warn!(%faults, "approval rules stay as they are");
                return;
            }
            Err(error) => return tracing::warn!(%error, "the settings were not read again"),
        };
        let mut rules = loaded.settings.approvals;
        let kept = self.added.iter().filter(|rule| !rules.contains(rule)).cloned().collect::<Vec<_>>();
        rules.extend(kept);
        if rules == self.now {
            return;
        }
        let gone = self.now.iter().filter(|rule| !rules.contains(rule)).count();
        runtime.ask_by(rules.clone()).await;
        // A person must not miss that rules were removed: any process with their permissions can write the file.
        runtime.notice(change_notice(rules.len(), gone), gone > 0);
        self.now = rules;
    }
}

fn change_notice(now: usize, gone: usize) -> String {
    let noun = if now == 1 { "approval rule holds" } else { "approval rules hold" };
    match gone {
        0 => format!("settings changed: {now} {noun} for new calls"),
        gone => format!("settings changed: {gone} removed, {now} {noun} for new calls"),
    }
}

#[cfg(test)]
mod tests {
    use super::change_notice;

    #[test]
    fn a_notice_of_changed_settings_counts_the_removed_rules() {
        assert_eq!(change_notice(2, 0), "settings changed: 2 approval rules hold for new calls");
        assert_eq!(change_notice(1, 2), "settings changed: 2 removed, 1 approval rule holds for new calls");
    }
}
