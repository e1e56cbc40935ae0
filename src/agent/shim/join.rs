//! Finding a runtime: the one that serves the workspace, else one that is started for the agent.

use super::{Error, Joined, Shim, Target};
use crate::envelope::SafeText;
use crate::link::{self, Access, dial};
use crate::paths::Places;

impl Shim {
    /// Joins the runtime, starting one when the workspace has none.
    pub(super) async fn join(&self) -> Result<Joined, Error> {
        let (places, program) = match &self.target {
            Target::Socket(socket) => return Ok(self.dial(socket).await?),
            Target::Workspace { places, program } => (places, program),
        };
        let access = Access { places: places.clone(), program: program.clone() };
        let dial = |places: Places| async move { self.dial(&places.agent_socket()).await };
        let (joined, started) = access.join(dial).await?;
        if let Some(started) = started {
            let said = format!("pilothouse: {}", started.notice(places));
            eprintln!("{}", SafeText::lines(&said));
        }
        Ok(joined)
    }

    async fn dial(&self, socket: &std::path::Path) -> Result<Joined, link::Error> {
        let (_, lines, writer) = dial(socket, &self.hello).await?;
        Ok(Joined { lines: lines.with_cap(super::MAX_LINE), writer })
    }
}
