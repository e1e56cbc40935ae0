//! Finds out which task of this user's other runtimes holds a port, for a console: agents learn nothing of other workspaces.

use std::path::PathBuf;
use std::time::Duration;

use tokio::time::timeout;

use super::{Act, Reply, RunningRuntime, Scripts};
use crate::model::{PortHolder, Subject};
use crate::paths::Locks;

/// How long one runtime may take to answer.
const PATIENCE: Duration = Duration::from_secs(2);

/// A task of another workspace that holds a port.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ForeignHolder {
    pub workspace: PathBuf,
    /// The task.
    pub holder: PortHolder,
}

impl ForeignHolder {
    /// Asks every runtime of this user but that of `own`, one after the other, for the task that holds a port.
    pub async fn find(port: u16, locks: Locks, own: PathBuf) -> Option<Self> {
        let all = tokio::task::spawn_blocking(move || RunningRuntime::list(&locks)).await.ok()?;
        for running in all {
            let Some(workspace) = running.workspace().filter(|workspace| **workspace != own).cloned() else {
                continue;
            };
            if let Ok(Some(holder)) = timeout(PATIENCE, ask(&running, port)).await {
                return Some(Self { workspace, holder });
            }
        }
        None
    }
}

async fn ask(running: &RunningRuntime, port: u16) -> Option<PortHolder> {
    let mut scripts = Scripts::over(running.dial().await.ok()?);
    match scripts.ask(Act::Holder(port).on(Subject::Runtime)).await {
        Ok(Reply::Holder(holder)) => holder,
        _ => None,
    }
}
