//! A console's connection to one runtime, in this process or another one.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use tokio::sync::{Notify, watch};

use super::cards::CardId;
use super::local::LocalRuntime;
use super::remote::RemoteRuntime;
use crate::envelope::TaskId;
use crate::link::protocol::{ConsoleView, Reply, Request};
use crate::link::{Error, RuntimeRoute};
use crate::model::Snapshot;
use crate::terminal::Contents;

/// A connection to one runtime. Clones share it.
#[derive(Clone)]
pub enum RuntimeConnection {
    /// To a runtime in this process.
    Local(LocalRuntime),
    /// To a runtime in another process of this user, on any machine.
    Remote(RemoteRuntime),
}

impl RuntimeConnection {
    /// Attaches to the runtime at an operator socket and waits for its first snapshot.
    pub(super) async fn attach(socket: &Path, cwd: PathBuf) -> Result<Self, Error> {
        Self::attach_by(&RuntimeRoute::Socket(socket.to_owned()), cwd).await
    }

    /// Attaches to a runtime on any machine, and waits for its first snapshot.
    pub(super) async fn attach_by(way: &RuntimeRoute, cwd: PathBuf) -> Result<Self, Error> {
        RemoteRuntime::attach(way, cwd).await.map(Self::Remote)
    }

    /// Returns why the connection broke, if it did and a program carried it.
    pub(super) fn why_lost(&self) -> Option<String> {
        match self {
            Self::Local(_) => None,
            Self::Remote(remote) => remote.why_lost(),
        }
    }

    /// Returns a live view of whether the runtime can be reached: false for good once it is gone.
    pub(super) fn connected(&self) -> watch::Receiver<bool> {
        match self {
            Self::Local(local) => local.connected(),
            Self::Remote(remote) => remote.connected(),
        }
    }

    /// Returns a live view of everything a console shows except the screens.
    pub(super) fn snapshot(&self) -> watch::Receiver<Arc<Snapshot>> {
        match self {
            Self::Local(local) => local.runtime.snapshot(),
            Self::Remote(remote) => remote.snapshot(),
        }
    }

    /// Returns a number that changes when a task's screen has something new to draw.
    pub(super) fn screen_generation(&self, task: &TaskId) -> Option<u64> {
        match self {
            Self::Local(local) => local.screen_generation(task),
            Self::Remote(remote) => remote.screen_generation(task),
        }
    }

    /// Returns a task's screen, at its pane's width if one was set; `None` while it is busy or in mid-frame.
    pub(super) fn screen(&self, task: &TaskId) -> Option<Contents> {
        match self {
            Self::Local(local) => local.screen(task),
            Self::Remote(remote) => remote.screen(task),
        }
    }

    /// Returns the notification for changes of shown screens.
    pub(super) fn screens_changed(&self) -> Arc<Notify> {
        match self {
            Self::Local(local) => local.screens_changed(),
            Self::Remote(remote) => remote.screens_changed(),
        }
    }

    /// Sets what the console shows.
    pub(super) fn show(&self, shown: ConsoleView) {
        match self {
            Self::Local(local) => {
                local.show(&shown);
                local.set_columns(shown.columns);
            }
            Self::Remote(remote) => remote.show(shown),
        }
    }

    /// Returns the nonce of a card that was sent on this connection.
    fn nonce(&self, card: &CardId) -> Option<String> {
        match self {
            Self::Local(local) => local.cards().nonce(card),
            Self::Remote(remote) => remote.nonce(card),
        }
    }

    /// Sends a request; an answer to a card carries the nonce sent with it on this connection.
    ///
    /// # Errors
    /// If the runtime refuses or the connection is lost.
    pub(super) async fn ask(&self, mut request: Request) -> Result<Reply, Error> {
        match &mut request {
            Request::Pause { nonce, .. } => *nonce = self.nonce(&CardId::Pause),
            Request::Decide { ticket, nonce, .. } => *nonce = self.nonce(&CardId::Held(*ticket)),
            Request::Answer { question, nonce, .. } | Request::LetAgents { question, nonce, .. } => {
                *nonce = self.nonce(&CardId::Question(question.clone()));
            }
            _ => {}
        }
        match self {
            Self::Local(local) => local.handle(request).await,
            Self::Remote(remote) => remote.ask(request).await,
        }
    }
}
