//! Serving a workspace, or joining the runtime that serves it already. How long each may take is decided in
//! [`Access`](crate::link::Access).

use color_eyre::eyre::Result;

use super::Start;
use super::server::RuntimeServer;
use crate::link::Error;
use crate::paths::Places;

/// The runtime of a workspace.
pub(super) enum Reached<T> {
    /// It was opened in this process.
    Opened(RuntimeServer),
    /// Another process serves the workspace, and was joined.
    Joined(T),
}

/// Opens a runtime in this process or, where another one holds the lock, joins that one by `dial`. A runtime that is
/// just ending is waited for and succeeded.
pub(super) async fn open_or_join<T, D, F>(start: &Start, headless: bool, dial: D) -> Result<Reached<T>>
where
    D: Fn(Places) -> F,
    F: Future<Output = Result<T, Error>>,
{
    loop {
        if let Some(server) = RuntimeServer::open(&start.places, headless)? {
            return Ok(Reached::Opened(server));
        }
        match start.access().join_running(&dial).await {
            Err(Error::NoRuntime { .. }) => {}
            joined => return Ok(Reached::Joined(joined?)),
        }
    }
}
