//! An agent's connection, as it is recorded and as consoles show it.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// The format of results of an agent that runs its commands in its own shell: it reads what they write, and no receipts.
pub const SHELL_PROFILE: &str = "shell";
/// In place of that format: the process was launched here, and has asked for nothing yet.
pub const LAUNCH_PROFILE: &str = "launch";

/// In place of that format: hooks of the agent report what it does.
pub const HOOK_PROFILE: &str = "hook";

/// The ways in which an agent is connected; at most one connection of each kind is open.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct AgentRoutes {
    /// A command of ours started it, and its process lives.
    pub launch: bool,
    /// It runs commands in its own shell, and reads nothing but what they write.
    pub shell: bool,
    /// It calls tools, and reads receipts.
    pub tools: bool,
    /// Its hooks report what it does.
    pub hook: bool,
    /// Its last command ran in a sandbox of its own: nothing can be added to what such a command writes.
    pub is_fenced: bool,
}

impl AgentRoutes {
    /// Opens or closes the way that a profile stands for.
    pub fn set(&mut self, profile: &str, is_open: bool) {
        match profile {
            LAUNCH_PROFILE => self.launch = is_open,
            SHELL_PROFILE => self.shell = is_open,
            HOOK_PROFILE => self.hook = is_open,
            _ => self.tools = is_open,
        }
    }

    /// Tells whether the way that a profile stands for is open.
    #[must_use]
    pub fn has(self, profile: &str) -> bool {
        match profile {
            LAUNCH_PROFILE => self.launch,
            SHELL_PROFILE => self.shell,
            HOOK_PROFILE => self.hook,
            _ => self.tools,
        }
    }

    /// Tells whether any way is open.
    #[must_use]
    pub fn is_any(self) -> bool {
        self.launch || self.shell || self.tools || self.hook
    }
}

/// The other end of an agent's connection, as it is recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentPeer {
    /// Its name and version, as it reports them.
    pub client: String,
    /// Process id of its shim, or of the agent itself if it has none, as reported by the kernel.
    pub pid: u32,
    /// The user it runs as, as reported by the kernel.
    pub uid: u32,
    /// The format of its results: `receipt`, `structured`, [`SHELL_PROFILE`], [`LAUNCH_PROFILE`] or [`HOOK_PROFILE`].
    pub profile: &'static str,
}

/// What an agent does, as its hooks report it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AgentActivity {
    /// A turn runs.
    Working,
    /// It asks its user something.
    NeedsYou,
    /// Its turn is over.
    Idle,
    /// Its session is over.
    Ended,
}

impl AgentActivity {
    /// Returns the word for it, the same on every surface.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Working => "working",
            Self::NeedsYou => "needs you",
            Self::Idle => "idle",
            Self::Ended => "ended",
        }
    }

    /// Tells whether nothing goes on.
    #[must_use]
    pub fn is_still(self) -> bool {
        matches!(self, Self::Idle | Self::Ended)
    }
}

/// What an agent does, and since when.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentWork {
    /// What it does.
    pub activity: AgentActivity,
    /// Since when.
    pub since: Timestamp,
}

/// An agent, and how it is connected.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentView {
    pub label: String,
    /// Its name and version, as it reports them, e.g. `claude-code 2.1.330`.
    pub client: String,
    /// Process id of its shim, or its own if it has none.
    pub pid: u32,
    /// Whether it is connected now.
    pub connected: bool,
    /// How many times it has connected or disconnected.
    #[serde(default)]
    pub turns: u64,
    /// When it first called a tool.
    #[serde(default)]
    pub first_call: Option<Timestamp>,
    /// When it last called a tool.
    pub last_call: Option<Timestamp>,
    /// Calls so far.
    pub calls: u64,
    /// What it does, if its hooks report that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub work: Option<AgentWork>,
    /// How many turns of its session have begun, as its hooks report.
    #[serde(default)]
    pub session_turns: u64,
    /// How it decides what needs no question, in its own word, as its hooks report.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<String>,
    /// How many of its commands ran without coming here, as its hooks report.
    #[serde(default)]
    pub unrouted: u64,
    /// The shell below it in which it was seen to run a command, if that cannot lead here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub foreign_shell: Option<String>,
    /// How it is connected, or was.
    #[serde(default)]
    pub routes: AgentRoutes,
    /// What the person has written to it and it has not read, oldest first; secrets are masked.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unread: Vec<String>,
}
