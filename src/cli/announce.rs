//! Announces that this process is about to become an agent: the workspace's runtime lists it from then until it ends,
//! before its first command. The runtime watches the process itself; nothing of this stays open in the agent.

use std::path::Path;
use std::time::Duration;

use super::surroundings::surroundings;
use crate::link::{ClientName, ClientRole, Hello, announce_at_once};
use crate::paths::Places;

/// How long a runtime may take to start, or to have room: then the agent starts unannounced, and is listed with its first
/// command.
const BUDGET: Duration = Duration::from_secs(2);

/// Announces this process to the runtime of the workspace of `cwd`, which is started if there is none. `program` is the
/// agent's name on the command line, or that of its program; `label` is what its user calls it. If that fails, the
/// agent's first command reports it.
pub(super) fn announce(cwd: &Path, program: &str, label: Option<&str>) {
    let client = ClientName { name: program.to_owned(), version: String::new() };
    let hello = Hello::new(ClientRole::Launch, cwd.to_owned()).without_environment();
    let hello = Hello { client: Some(client), label: label.map(str::to_owned), ..hello };
    if let Ok(places) = Places::find(cwd, &surroundings())
        && let Ok(own) = std::env::current_exe()
        && let Err(error) = announce_at_once(&places, &own, BUDGET, &hello)
    {
        tracing::debug!(%error, "announce an agent");
    }
}
