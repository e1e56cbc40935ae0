//! Joining a runtime that is there already, wherever its variables have put it; none is started.

use super::{Error, Joined, Shim, Target};
use crate::link::{Holder, dial};

impl Shim {
    /// Joins the runtime that runs, if one does.
    ///
    /// # Errors
    /// When one runs and refuses.
    pub(super) async fn find(&self) -> Result<Option<Joined>, Error> {
        let socket = match &self.target {
            Target::Socket(socket) => socket.clone(),
            Target::Workspace { places, .. } => Holder::of(places).places(places).agent_socket(),
        };
        match dial(&socket, &self.hello).await {
            Ok((_, lines, writer)) => Ok(Some(Joined { lines: lines.with_cap(super::MAX_LINE), writer })),
            Err(error) if error.is_absence() => Ok(None),
            Err(error) => Err(error.into()),
        }
    }
}
