//! Joins the runtime that serves the workspace, wherever its environment variables placed it, or starts one for the
//! agent.

use std::path::Path;

use super::{Error, Joined, Shim, Target};
use crate::envelope::SafeText;
use crate::link::{self, Access, Holder, RuntimeRoute};
use crate::paths::Places;

impl Shim {
    /// Joins the workspace's runtime. If none is running, starts one if `is_needed`, and returns `None` otherwise.
    ///
    /// # Errors
    /// When one runs and refuses, or none can be started.
    pub(super) async fn join(&self, is_needed: bool) -> Result<Option<Joined>, Error> {
        let joined = match &self.target {
            Target::Socket(socket) => self.dial(socket).await,
            Target::Elsewhere(way) if is_needed => self.dial_by(way).await,
            // Checking whether it is running would require a login each time.
            Target::Elsewhere(_) => return Ok(None),
            Target::Workspace { places, program } if is_needed => self.start(places, program).await,
            Target::Workspace { places, .. } => {
                self.dial(&Holder::of(places).places(places).agent_socket()).await
            }
        };
        match joined {
            Err(error) if !is_needed && error.is_absence() => Ok(None),
            joined => Ok(Some(joined?)),
        }
    }

    async fn start(&self, places: &Places, program: &Path) -> Result<Joined, link::Error> {
        let access = Access { places: places.clone(), program: program.to_owned(), outlives_logout: false };
        let dial = |places: Places| async move { self.dial(&places.agent_socket()).await };
        let (joined, started) = access.join(dial).await?;
        if let Some(started) = started {
            let said = format!("pilothouse: {}", started.notice(places));
            eprintln!("{}", SafeText::lines(&said));
        }
        Ok(joined)
    }

    async fn dial(&self, socket: &Path) -> Result<Joined, link::Error> {
        self.dial_by(&RuntimeRoute::Socket(socket.to_owned())).await
    }

    async fn dial_by(&self, way: &RuntimeRoute) -> Result<Joined, link::Error> {
        let mut dialed = way.dial(&self.hello).await?;
        let link = dialed.take_link();
        Ok(Joined { lines: dialed.lines.with_cap(super::MAX_LINE), writer: dialed.writer, link })
    }
}
