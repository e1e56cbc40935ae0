//! What is known about a program: how it is found on a machine and connected.

use serde_json::Value;

use super::client::McpClient;
use super::config_file::{Addition, Connection, InstallScope};
use super::hook::AgentHook;
use super::own_shell::OwnShell;
use super::session::SessionPreset;

/// The loss for a program whose rules have no name of their own.
const OWN_TERMINAL: &str = "the agent's own terminal rules no longer apply";

/// What is known about a program.
#[derive(Debug, Clone, Copy)]
pub struct AgentProfile {
    /// Its display name.
    pub name: &'static str,
    /// The names its executable may have.
    pub programs: &'static [&'static str],
    /// What the command that starts it here does; empty if there is none.
    pub start: &'static str,
    /// Its scopes, the usual one first; none if it is not connected over MCP.
    pub scopes: &'static [InstallScope],
    /// Whether it is started from a desktop, without a shell's PATH.
    pub is_graphical: bool,
    /// Whether it was connected and used with the program itself; otherwise what is known is what its manual says.
    pub is_tested: bool,
    /// Which of its own safeguards no longer apply once its commands run here.
    pub loss: &'static str,
    /// What is left to do by hand, and how to check that it is connected.
    pub next: &'static str,
    /// Which variables its servers get.
    pub environment: PassedVariables,
    /// Returns the files that connect it, the one with the server entry first, and the settings to add to each.
    pub connect: fn(Connection<'_>) -> Vec<Addition>,
    /// How it identifies itself to servers, and what it passes to its model.
    pub client: Option<McpClient>,
    /// What our tools say in `_meta` for its sake.
    pub tool_meta: fn() -> Vec<(&'static str, Value)>,
    /// Its own shell, if that can lead here.
    pub own_shell: Option<OwnShell>,
    /// How it runs hooks, if ours can be one of them.
    pub hook: Option<AgentHook>,
    /// How it answers the sessions of a program of ours.
    pub session: Option<SessionPreset>,
}

/// The environment that a program passes on to a server.
#[derive(Debug, Clone, Copy)]
pub enum PassedVariables {
    Whole,
    /// These variables, and those that the server's entry names.
    Listed(&'static [&'static str]),
    /// All variables except those whose names contain one of these words.
    Without(&'static [&'static str]),
}

impl AgentProfile {
    /// Returns the profile of a program that is started in a terminal.
    pub(super) const fn terminal(name: &'static str, connect: fn(Connection<'_>) -> Vec<Addition>) -> Self {
        Self {
            name,
            programs: &[],
            start: "",
            scopes: &[InstallScope::User, InstallScope::Project],
            is_graphical: false,
            is_tested: true,
            loss: OWN_TERMINAL,
            next: "",
            environment: PassedVariables::Whole,
            connect,
            client: None,
            tool_meta: Vec::new,
            own_shell: None,
            hook: None,
            session: None,
        }
    }

    /// Returns the profile of a program that is not connected over MCP, only started here.
    pub(super) const fn shell_only(name: &'static str, own_shell: OwnShell) -> Self {
        Self { scopes: &[], own_shell: Some(own_shell), ..Self::terminal(name, |_| Vec::new()) }
    }

    /// Returns the profile of a program that is started from a desktop, and that none of us has run.
    pub(super) const fn editor(name: &'static str, connect: fn(Connection<'_>) -> Vec<Addition>) -> Self {
        Self { is_graphical: true, is_tested: false, ..Self::terminal(name, connect) }
    }
}
