//! This person's approval rules, handed over to a runtime that was started with other settings.

use std::path::PathBuf;

use super::connection::RuntimeConnection;
use crate::config::LoadedSettings;
use crate::link::RunningRuntime;
use crate::link::protocol::Act;
use crate::model::Subject;

/// Hands over this person's approval rules, which apply to every runtime on this machine whatever settings it was
/// started with.
pub(super) async fn hand_over_rules(
    config: Option<&PathBuf>,
    running: &RunningRuntime,
    runtime: &RuntimeConnection,
) {
    let Some(config) = config.filter(|config| running.address.config != **config).cloned() else {
        return;
    };
    let workspace = runtime.snapshot().borrow().workspace.clone();
    let folder = config.clone();
    let read = tokio::task::spawn_blocking(move || LoadedSettings::read(&folder, &workspace)).await;
    let rules = read.ok().and_then(Result::ok).map(|loaded| loaded.settings.approvals).unwrap_or_default();
    if let Err(error) = runtime.ask_at(None, Act::Rules { config, rules }.on(Subject::Runtime)).await {
        tracing::warn!(%error, "the approval rules are not handed over");
    }
}
