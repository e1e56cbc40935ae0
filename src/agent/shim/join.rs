//! An agent's shim and the runtime it joins: the one that serves the workspace, wherever its environment variables
//! placed it; one is started for the agent if there is none.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};

use crate::config::Limits;
use crate::envelope::SafeText;
use crate::link::{self, Access, CarrierLink, Hello, Holder, LineReader, RuntimeRoute};
use crate::paths::Places;

/// The maximum length of a line from either side, in bytes. The runtime itself accepts less, and the answer to a
/// large batch contains its envelope twice in the `structured` profile.
pub(super) const MAX_LINE: usize = 32 << 20;

/// Where the runtime is.
#[derive(Debug, Clone)]
pub enum ShimTarget {
    /// Behind this socket, started by another process.
    Socket(PathBuf),
    /// On another machine, where its command starts one if there is none.
    Elsewhere(RuntimeRoute),
    /// In this workspace; started if there is none.
    Workspace {
        /// The workspace's file locations.
        places: Places,
        /// The program that serves as the runtime: this one.
        program: PathBuf,
        /// Finds the locations for another directory, which the client may name: there is no repository in this one.
        elsewhere: Option<fn(&Path) -> Option<Places>>,
    },
}

/// One agent's shim.
#[derive(Debug, Clone)]
pub struct Shim {
    /// The hello message for the runtime.
    pub hello: Hello,
    /// Where it is.
    pub target: ShimTarget,
    /// Its limits, if its settings can be read here.
    pub limits: Option<Limits>,
}

/// Why the shim ended early.
#[derive(Debug, thiserror::Error)]
pub enum ShimError {
    /// The runtime could not be reached or refused.
    #[error(transparent)]
    Link(#[from] link::Error),
    /// Standard input or output failed.
    #[error("{0}")]
    Stdio(&'static str, #[source] io::Error),
}

pub(super) struct JoinedRuntime {
    pub(super) lines: LineReader<OwnedReadHalf>,
    pub(super) writer: OwnedWriteHalf,
    /// The transport of the connection.
    pub(super) link: CarrierLink,
}

impl Shim {
    /// Joins the workspace's runtime. If none is running, starts one if `is_needed`, and returns `None` otherwise.
    ///
    /// # Errors
    /// When one runs and refuses, or none can be started.
    pub(super) async fn join(&self, is_needed: bool) -> Result<Option<JoinedRuntime>, ShimError> {
        let joined = match &self.target {
            ShimTarget::Socket(socket) => self.dial(socket).await,
            ShimTarget::Elsewhere(way) if is_needed => self.dial_by(way).await,
            // Checking whether it is running would require a login each time.
            ShimTarget::Elsewhere(_) => return Ok(None),
            ShimTarget::Workspace { places, program, .. } if is_needed => self.start(places, program).await,
            ShimTarget::Workspace { places, .. } => {
                self.dial(&Holder::of(places).places(places).agent_socket()).await
            }
        };
        match joined {
            Err(error) if !is_needed && error.is_absence() => Ok(None),
            joined => Ok(Some(joined?)),
        }
    }

    async fn start(&self, places: &Places, program: &Path) -> Result<JoinedRuntime, link::Error> {
        let access = Access { places: places.clone(), program: program.to_owned(), outlives_logout: false };
        let dial = |places: Places| async move { self.dial(&places.agent_socket()).await };
        let (joined, started) = access.join(true, dial).await?;
        if let Some(started) = started {
            let said = format!("pilothouse: {}", started.notice(places));
            // A client may have closed standard error.
            let _ = writeln!(io::stderr(), "{}", SafeText::lines(&said));
        }
        Ok(joined)
    }

    async fn dial(&self, socket: &Path) -> Result<JoinedRuntime, link::Error> {
        self.dial_by(&RuntimeRoute::Socket(socket.to_owned())).await
    }

    async fn dial_by(&self, way: &RuntimeRoute) -> Result<JoinedRuntime, link::Error> {
        let mut dialed = way.dial(&self.hello).await?;
        let link = dialed.take_link();
        Ok(JoinedRuntime { lines: dialed.lines.with_cap(MAX_LINE), writer: dialed.writer, link })
    }
}
