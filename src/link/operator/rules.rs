//! Attaches to a runtime of this machine, whose settings may be others than this person's: their approval rules are
//! handed over to it.

use std::path::PathBuf;

use super::connection::RuntimeConnection;
use super::remote::RemoteRuntime;
use crate::config::LoadedSettings;
use crate::link::protocol::Act;
use crate::link::{Error, RunningRuntime, RuntimeRoute};
use crate::model::Subject;

/// Attaches to a runtime. This person's approval rules, in the folder `config`, apply to it too, whatever settings it was
/// started with.
///
/// # Errors
/// If nothing answers there or the runtime refuses.
pub(super) async fn attach(
    running: &RunningRuntime,
    cwd: PathBuf,
    config: Option<&PathBuf>,
) -> Result<RuntimeConnection, Error> {
    let runtime = RemoteRuntime::attach(&RuntimeRoute::Socket(running.operator_socket()), cwd).await?;
    let Some(config) = config.filter(|config| running.address.config != **config).cloned() else {
        return Ok(runtime);
    };
    let workspace = runtime.snapshot().borrow().workspace.clone();
    let folder = config.clone();
    let read = tokio::task::spawn_blocking(move || LoadedSettings::read(&folder, &workspace)).await;
    let rules = read.ok().and_then(Result::ok).map(|loaded| loaded.settings.approvals).unwrap_or_default();
    if let Err(error) = runtime.ask_at(None, Act::Rules { config, rules }.on(Subject::Runtime)).await {
        tracing::warn!(%error, "the approval rules are not handed over");
    }
    Ok(runtime)
}
