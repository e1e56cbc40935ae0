//! `mcp install`, `mcp config` and `adopt`: what agents need in their configuration.

mod adopt;
mod config;
mod file;
mod install;
mod record;

pub(super) use adopt::Adopt;
pub(super) use config::McpConfig;
pub(super) use install::McpInstall;

use super::code::Code;
use super::response::Failure;
use crate::agents::{AgentProgram, InstallScope};
use crate::config::STARTER_COMMAND;

/// The consequence of running commands outside the agent's own shell.
const PROTECTION: &str = "Pilothouse runs each one with your rights and without a sandbox, and asks about \
    none until there are approval rules";

/// Returns the requested scope, or else the agent's usual one.
fn scope_of(agent: AgentProgram, asked: Option<InstallScope>) -> Result<InstallScope, Failure> {
    let row = agent.profile();
    if row.scopes.is_empty() {
        let message = format!("{} is not connected over MCP.", row.name);
        return Err(Failure::new(Code::Precondition, message)
            .fix(format!("start it with `pilothouse {}`", agent.as_str())));
    }
    match asked {
        Some(scope) if !row.scopes.contains(&scope) => {
            let known: Vec<&str> = row.scopes.iter().map(Into::into).collect();
            Err(Failure::new(Code::ArgError, format!("{} has no such scope.", row.name))
                .with("opt", "scope")
                .fix(format!("pass one of: {}", known.join(", "))))
        }
        Some(scope) => Ok(scope),
        None => Ok(row.scopes.first().copied().unwrap_or(InstallScope::User)),
    }
}

/// Describes which safeguards the settings remove, how to replace them or to keep them, and whether this was tried.
fn losses(agent: AgentProgram) -> Vec<String> {
    let profile = agent.profile();
    let mut told = vec![
        format!("what this takes away: {} to commands run here; {PROTECTION}", profile.loss),
        format!("approval rules to use instead: `{STARTER_COMMAND}`"),
    ];
    if profile.own_shell.is_some() {
        told.push(format!("`pilothouse {}` keeps them, and routes its own shell here", agent.as_str()));
    }
    if !profile.is_tested {
        told.push(format!("not tested with {} itself: this is what its manual says", profile.name));
    }
    told
}
