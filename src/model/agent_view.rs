//! An agent's connection, as it is recorded and as consoles show it.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// The format of results of an agent that runs its commands in its own shell: it reads what they write, and no receipts.
pub const SHELL_PROFILE: &str = "shell";

/// The other end of an agent's connection, as it is recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentPeer {
    /// Its name and version, as it reports them.
    pub client: String,
    /// Process id of its shim, as reported by the kernel.
    pub pid: u32,
    /// The user it runs as, as reported by the kernel.
    pub uid: u32,
    /// The format of its results: `receipt`, `structured` or [`SHELL_PROFILE`].
    pub profile: &'static str,
}

/// An agent's connection.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentView {
    /// Its label.
    pub label: String,
    /// Its name and version, as it reports them, e.g. `claude-code 2.1.330`.
    pub client: String,
    /// Process id of its shim.
    pub pid: u32,
    /// Whether it is connected now.
    pub connected: bool,
    /// When it first called a tool.
    #[serde(default)]
    pub first_call: Option<Timestamp>,
    /// When it last called a tool.
    pub last_call: Option<Timestamp>,
    /// Calls so far.
    pub calls: u64,
    /// Whether it runs its commands in its own shell: it reads nothing but what they write.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub by_shell: bool,
    /// What the person has written to it and it has not read, oldest first; secrets are masked.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unread: Vec<String>,
}
