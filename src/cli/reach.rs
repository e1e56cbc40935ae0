//! Opens a workspace's runtime in this process, or joins the one already running. Timeouts are defined in
//! [`Access`](crate::link::Access).

use color_eyre::eyre::Result;

use super::program_start::ProgramStart;
use super::server::RuntimeServer;
use crate::link::Error;
use crate::paths::Places;

/// The runtime of a workspace.
pub(super) enum ReachedRuntime<T> {
    /// Opened in this process.
    Opened(RuntimeServer),
    /// Joined in another process, which serves the workspace.
    Joined(T),
}

/// Opens a runtime in this process or, if another process holds the lock, joins that one using `dial`. If a runtime
/// is just ending, waits for it and takes its place.
pub(super) async fn open_or_join<T, D, F>(
    start: &ProgramStart,
    headless: bool,
    dial: D,
) -> Result<ReachedRuntime<T>>
where
    D: Fn(Places) -> F,
    F: Future<Output = Result<T, Error>>,
{
    loop {
        if let Some(server) = RuntimeServer::open(&start.places, headless)? {
            return Ok(ReachedRuntime::Opened(server));
        }
        match start.access().join(false, &dial).await {
            Err(Error::NoRuntime { .. }) => {}
            joined => return Ok(ReachedRuntime::Joined(joined?.0)),
        }
    }
}
