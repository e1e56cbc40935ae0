//! What a task listens on, as results show it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::envelope::units::millis;
use crate::model::{ListenAddress, Listener, PortHolder, TaskView};

/// An address at which a task accepts connections. It may not be ready to answer yet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ListeningNote {
    /// IP address, or path of a unix socket.
    address: String,
    /// Its port; null for a unix socket.
    port: Option<u16>,
    /// URL of the address, as the task printed it or derived from the port; null if there is none.
    url: Option<String>,
    /// Milliseconds after the task's start.
    after_ms: u64,
    /// Whether the address is inside a container of the task; absent if not.
    #[serde(default, skip_serializing_if = "super::task::is_false")]
    in_container: bool,
}

impl ListeningNote {
    pub(super) fn of(task: &TaskView) -> Vec<Self> {
        task.listening.iter().map(Self::new).collect()
    }

    fn new(listener: &Listener) -> Self {
        let (address, port) = match &listener.at {
            ListenAddress::Tcp(at) | ListenAddress::Contained(at) => (at.ip().to_string(), Some(at.port())),
            ListenAddress::Unix(path) => (path.clone(), None),
        };
        let in_container = matches!(listener.at, ListenAddress::Contained(_));
        Self { address, port, url: listener.url.clone(), after_ms: listener.after_ms, in_container }
    }

    /// Returns its port; `None` for a unix socket.
    pub(super) fn port(&self) -> Option<u16> {
        self.port
    }

    /// Returns the line for a receipt.
    pub(super) fn sentence(&self) -> String {
        let place = match self.port {
            Some(port) if self.address.contains(':') => format!("[{}]:{port}", self.address),
            Some(port) => format!("{}:{port}", self.address),
            None => self.address.clone(),
        };
        let inside = if self.in_container { " in a container" } else { "" };
        let after = millis(self.after_ms);
        let url = self.url.as_ref().map(|url| format!(": {url}")).unwrap_or_default();
        format!("Listening on {place}{inside}, seen after {after}{url}")
    }

    /// Returns the words for a list: `listening on :5173`.
    pub(super) fn brief(notes: &[Self]) -> Option<String> {
        let mut ports: Vec<u16> = notes.iter().filter_map(|note| note.port).collect();
        ports.sort_unstable();
        ports.dedup();
        let ports: Vec<String> = ports.iter().map(|port| format!(":{port}")).collect();
        (!ports.is_empty()).then(|| format!("listening on {}", ports.join(" ")))
    }
}

/// Says who held the port that a task could not have, and what its caller can do. Of tasks of other workspaces a model
/// learns nothing.
pub(super) fn taken_phrase(task: &TaskView) -> Option<String> {
    let ended = task.ended.as_ref()?;
    let taken = ended.taken_port.as_ref()?;
    let holder = |one: &PortHolder| one.describe(&one.task.to_string(), &one.by.to_string(), ended.at);
    Some(format!("{}; {}", taken.sentence(holder, |_| None), taken.advice(&task.started_by)))
}
