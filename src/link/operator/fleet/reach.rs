//! How a place is reached.

use std::path::{Path, PathBuf};

use crate::link::{Error, Operator, Running};

/// Where a place is.
#[derive(Clone)]
pub(super) enum Reach {
    /// It is held already, and lost for good when that ends: the runtime that a console was opened on.
    Held(Operator),
    /// A runtime of this user on this machine.
    Local(Running),
}

impl Reach {
    /// Attaches to it. What a person starts there without another directory starts in its workspace.
    ///
    /// # Errors
    /// When nobody answers there, or it refuses.
    pub(super) async fn attach(&self) -> Result<Operator, Error> {
        match self {
            Self::Held(operator) => Ok(operator.clone()),
            Self::Local(running) => {
                let cwd = running.workspace().cloned().unwrap_or_else(|| PathBuf::from("/"));
                Operator::attach(&running.operator_socket(), cwd).await
            }
        }
    }

    /// Tells whether it is the runtime that the console was opened on.
    pub(super) fn is_home(&self) -> bool {
        matches!(self, Self::Held(_))
    }

    /// Returns the machine it is on; none for this one.
    pub(super) fn host(&self) -> Option<&str> {
        match self {
            Self::Held(_) | Self::Local(_) => None,
        }
    }

    /// Returns the runtime of this machine that it is.
    pub(super) fn local(&self) -> Option<&Running> {
        match self {
            Self::Local(running) => Some(running),
            Self::Held(_) => None,
        }
    }

    /// Returns its workspace, as far as is known before it is attached.
    pub(super) fn workspace(&self) -> PathBuf {
        match self {
            Self::Held(operator) => operator.snapshot().borrow().workspace.clone(),
            Self::Local(running) => running.workspace().map_or_else(|| Path::new("").into(), Clone::clone),
        }
    }
}
