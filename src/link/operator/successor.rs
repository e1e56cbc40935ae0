//! The next runtime of a workspace, for a console whose runtime is gone.

use std::path::PathBuf;
use std::time::Duration;

use tokio::time::timeout;

use super::connection::RuntimeConnection;
use super::rules;
use crate::link::running::{RunningRuntime, arrivals};
use crate::paths::Locks;

/// How long to wait before a runtime that is there and cannot be attached is tried again.
const RETRY: Duration = Duration::from_secs(1);

/// Where a console finds the next runtime of its workspace.
#[derive(Debug, Clone)]
pub struct Successors {
    /// The locks of this user's runtimes.
    pub locks: Locks,
    /// The id of the workspace.
    pub workspace: String,
    /// Where commands start that the person starts, unless they name another directory.
    pub cwd: PathBuf,
    /// The folder of this person's settings, whose approval rules apply to it too.
    pub config: Option<PathBuf>,
}

impl Successors {
    /// Waits for the next runtime, attaches to it and returns the connection. Starts none.
    pub(super) async fn connect(self) -> RuntimeConnection {
        let mut arrivals = arrivals(&self.locks);
        loop {
            let (locks, workspace) = (self.locks.clone(), self.workspace.clone());
            let look = tokio::task::spawn_blocking(move || RunningRuntime::of(&locks, workspace));
            let found = look.await.ok().flatten();
            if let Some(running) = &found {
                match rules::attach(running, self.cwd.clone(), self.config.as_ref()).await {
                    Ok(next) => return next,
                    Err(error) => tracing::info!(%error, "the next runtime is not attached yet"),
                }
            }
            // One that is there may be about to begin, or to end.
            let patience = if found.is_some() { RETRY } else { Duration::MAX };
            let _ = timeout(patience, arrivals.wait_for_change()).await;
        }
    }
}
