//! Joining a runtime that is there already; none is started.

use super::{Joined, Shim, Target};
use crate::agent::shim::Error;
use crate::link::{self, dial};

impl Shim {
    /// Joins the runtime that runs, if one does.
    pub(super) async fn find(&self) -> Result<Option<Joined>, Error> {
        use link::Error::{Gone, Handshake, NoRuntime, Talk};
        let socket = match &self.target {
            Target::Socket(socket) => socket.clone(),
            Target::Workspace { places, .. } => places.agent_socket(),
        };
        match dial(&socket, &self.hello).await {
            Ok((_, lines, writer)) => Ok(Some(Joined { lines: lines.with_cap(super::MAX_LINE), writer })),
            Err(NoRuntime { .. } | Handshake { .. } | Talk(_) | Gone) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }
}
