//! Calls that a bash below an agent started here has handed over (`BASH_ENV`): whether they are the agent's own.

use std::ffi::OsStr;
use std::os::fd::AsFd as _;

use rustix::fs::{FileType, fstat};

use super::{ShellInvocation, find};
use crate::agents::{AgentProgram, ShellRedirect};
use crate::process::{AgentKinship, kinship, parent, program_name};

/// The variable that names the file bash reads first.
pub(in crate::cli) const BASH_ENV: &str = "BASH_ENV";
/// What it was for the user.
pub(in crate::cli) const OWN_BASH_ENV: &str = "PILOTHOUSE_BASH_ENV";
/// The name the user gave the agent.
pub(in crate::cli) const AGENT_NAME: &str = "PILOTHOUSE_AGENT_NAME";
/// The process that was started as the agent.
pub(in crate::cli) const AGENT_PID: &str = "PILOTHOUSE_AGENT_PID";
/// The name by which the agent called its shell; set in calls that are handed over.
pub(super) const CALLED_AS: &str = "PILOTHOUSE_SHELL_NAME";
/// The `_` of the shell that handed the call over, which bash does not pass on.
pub(super) const LAST_WORD: &str = "PILOTHOUSE_LAST_WORD";
/// How many shells are above a process.
pub(in crate::cli) const LEVEL: &str = "SHLVL";
/// What that was before it was raised for an agent.
pub(in crate::cli) const RAISED_LEVEL: &str = "PILOTHOUSE_SHLVL";

/// Whose call it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum CallOwner {
    /// The agent's, for its model.
    Model,
    /// Nobody can tell: this program's.
    Unclear(String),
    /// Another program's, or the agent's for itself.
    Other,
}

/// Returns whose a call is.
pub(super) fn owner(call: &ShellInvocation) -> CallOwner {
    if find(&call.variables, CALLED_AS).is_none() {
        return CallOwner::Model;
    }
    let agent = find(&call.variables, AGENT_PID).and_then(OsStr::to_str).and_then(|pid| pid.parse().ok());
    let (Some(caller), Some(agent)) = (parent(std::process::id()), agent) else { return CallOwner::Other };
    match kinship(caller, agent) {
        AgentKinship::Agent if has_input() && !may_have_input(call.marks.agent) => CallOwner::Other,
        AgentKinship::Agent => CallOwner::Model,
        AgentKinship::Unclear => {
            CallOwner::Unclear(program_name(caller).unwrap_or_else(|| "a process".to_owned()))
        }
        AgentKinship::Other => CallOwner::Other,
    }
}

/// Returns whether the commands of an agent's model may have an input.
fn may_have_input(agent: Option<AgentProgram>) -> bool {
    agent.and_then(AgentProgram::own_shell).is_none_or(|shell| match shell.redirect {
        ShellRedirect::BashEnv { has_input, .. } => has_input,
        _ => true,
    })
}

/// Returns whether standard input is more than a terminal or nothing.
fn has_input() -> bool {
    let kind = fstat(std::io::stdin().as_fd()).map(|facts| FileType::from_raw_mode(facts.st_mode));
    kind.is_ok_and(|kind| kind != FileType::CharacterDevice)
}
