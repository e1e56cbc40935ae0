//! How a place is reached.

use std::path::{Path, PathBuf};

use crate::link::operator::connection::RuntimeConnection;
use crate::link::operator::remote::RemoteRuntime;
use crate::link::operator::rules;
use crate::link::{Error, RemoteHost, RunningRuntime, RuntimeRoute};

/// The location of a place.
#[derive(Clone)]
pub(super) enum PlaceReach {
    /// Already connected, and lost for good when that connection ends: the runtime that the console was opened on.
    Held(RuntimeConnection),
    /// A runtime of this user on this machine.
    Local(RunningRuntime),
    /// A runtime on another machine.
    Far(FarRuntime),
    /// A machine whose runtimes could not be listed; its name stands for them.
    Unreached(String),
}

/// A runtime on another machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct FarRuntime {
    host: String,
    way: RuntimeRoute,
    workspace: PathBuf,
    /// Its process id there: another process is another runtime.
    pid: u32,
}

impl FarRuntime {
    /// Creates one for the workspace with this id or path; with process 0, whichever serves it.
    pub(super) fn new(host: &RemoteHost, place: &str, workspace: &Path, pid: u32) -> Self {
        let way = RuntimeRoute::operator(host.clone(), place);
        Self { host: host.name.clone(), way, workspace: workspace.to_owned(), pid }
    }
}

impl PlaceReach {
    /// Attaches to it; `config` is the folder of this person's settings. Commands that a person starts there without naming a directory start in its workspace.
    ///
    /// # Errors
    /// If nothing answers there or the runtime refuses.
    pub(super) async fn attach(&self, config: Option<&PathBuf>) -> Result<RuntimeConnection, Error> {
        match self {
            Self::Held(operator) => Ok(operator.clone()),
            Self::Local(running) => {
                let cwd = running.workspace().cloned().unwrap_or_else(|| PathBuf::from("/"));
                rules::attach(running, cwd, config).await
            }
            Self::Far(far) => RemoteRuntime::attach(&far.way, far.workspace.clone()).await,
            Self::Unreached(_) => Err(Error::Gone),
        }
    }

    /// Tells whether it is the runtime that the console was opened on.
    pub(super) fn is_home(&self) -> bool {
        matches!(self, Self::Held(_))
    }

    /// Tells whether it is one of the runtimes found on a machine: this one, or the one named `host`.
    pub(super) fn is_of(&self, host: Option<&str>) -> bool {
        matches!(self, Self::Local(_) | Self::Far(_)) && self.host() == host
    }

    /// Tells whether both lead to the same runtime.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Local(one), Self::Local(other)) => one == other,
            (Self::Far(one), Self::Far(other)) => one.pid == other.pid,
            _ => false,
        }
    }

    /// Returns the machine it is on; `None` for this one.
    pub(super) fn host(&self) -> Option<&str> {
        match self {
            Self::Held(_) | Self::Local(_) => None,
            Self::Far(far) => Some(&far.host),
            Self::Unreached(host) => Some(host),
        }
    }

    /// Returns its workspace, as far as known before it is attached.
    pub(super) fn workspace(&self) -> PathBuf {
        match self {
            Self::Held(operator) => operator.snapshot().borrow().workspace.clone(),
            Self::Local(running) => running.workspace().map_or_else(|| Path::new("").into(), Clone::clone),
            Self::Far(far) => far.workspace.clone(),
            Self::Unreached(_) => PathBuf::new(),
        }
    }
}
