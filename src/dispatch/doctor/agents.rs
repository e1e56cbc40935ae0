//! The agents on this machine: which are there, and whether their configuration names us.

use std::ffi::OsString;
use std::fs::File;
use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use super::{Area, Finding};
use crate::dispatch::context::Host;
use crate::dispatch::snippet::{AGENTS, Agent};

/// Most of a configuration that is read.
const CONFIG_BYTES: u64 = 8 << 20;

/// What is known of one agent that is installed.
#[derive(Debug)]
pub(super) struct Installed {
    agent: Agent,
    program: PathBuf,
    /// The configuration that names us.
    named_in: Option<PathBuf>,
}

/// The agents of this machine.
#[derive(Debug)]
pub(super) struct Facts {
    installed: Vec<Installed>,
}

impl Facts {
    pub(super) fn gather(host: &dyn Host) -> Self {
        let installed = AGENTS.into_iter().filter_map(|agent| {
            let program = programs(agent).iter().find_map(|name| on_path(host, name))?;
            Some(Installed {
                agent,
                program,
                named_in: configs(agent, host).into_iter().find(|path| names_us(path)),
            })
        });
        Self { installed: installed.collect() }
    }
}

/// Judges what is known.
pub(super) fn findings(facts: &Facts) -> Vec<Finding> {
    if facts.installed.is_empty() {
        let fix = "pilothouse mcp config claude (or another agent) prints what to put where";
        return vec![Finding::note(Area::Agents, "agents", "none found on PATH").fix(fix)];
    }
    facts.installed.iter().map(judge).collect()
}

fn judge(installed: &Installed) -> Finding {
    let Installed { agent, program, named_in } = installed;
    match named_in {
        Some(path) => {
            Finding::ok(Area::Agents, agent.as_str(), format!("{} names pilothouse", path.display()))
        }
        None => {
            let found = format!("{}: no configuration of it names pilothouse", program.display());
            Finding::problem(Area::Agents, agent.as_str(), found, fix(*agent))
        }
    }
}

fn fix(agent: Agent) -> String {
    match agent {
        Agent::Claude => "claude mcp add pilothouse -- pilothouse mcp".to_owned(),
        Agent::Codex => "codex mcp add pilothouse -- pilothouse mcp".to_owned(),
        Agent::Gemini => "gemini mcp add --scope user --trust pilothouse pilothouse mcp".to_owned(),
        other => format!("pilothouse mcp config {} prints what to put where", other.as_str()),
    }
}

/// The names an agent's program has.
fn programs(agent: Agent) -> &'static [&'static str] {
    match agent {
        Agent::Claude => &["claude"],
        Agent::Codex => &["codex"],
        Agent::Gemini => &["gemini"],
        Agent::Opencode => &["opencode"],
        Agent::Cursor => &["cursor-agent", "cursor"],
        Agent::Vscode => &["code"],
        Agent::Zed => &["zed", "zeditor"],
        Agent::Goose => &["goose"],
    }
}

/// Files an agent is configured by: below the home, below its own folder, below the workspace.
fn configs(agent: Agent, host: &dyn Host) -> Vec<PathBuf> {
    let (home, workspace): (&[&str], &[&str]) = match agent {
        Agent::Claude => (&[".claude.json"], &[".mcp.json"]),
        Agent::Codex => (&[".codex/config.toml"], &[".codex/config.toml"]),
        Agent::Gemini => (&[".gemini/settings.json"], &[".gemini/settings.json"]),
        Agent::Opencode => (
            &[".config/opencode/opencode.json", ".config/opencode/opencode.jsonc"],
            &["opencode.json", "opencode.jsonc"],
        ),
        Agent::Cursor => (&[".cursor/mcp.json"], &[".cursor/mcp.json"]),
        Agent::Vscode => (&[".config/Code/User/mcp.json"], &[".vscode/mcp.json"]),
        Agent::Zed => (&[".config/zed/settings.json"], &[".zed/settings.json"]),
        Agent::Goose => (&[".config/goose/config.yaml"], &[]),
    };
    let folder = |variable: &str| host.variable(variable).filter(|path| !path.is_empty()).map(PathBuf::from);
    let mut found: Vec<PathBuf> = Vec::new();
    found.extend(
        (agent == Agent::Codex).then(|| folder("CODEX_HOME")).flatten().map(|own| own.join("config.toml")),
    );
    found.extend(folder("HOME").into_iter().flat_map(|base| home.iter().map(move |name| base.join(name))));
    let root = host.places().ok().map(|places| places.workspace);
    found.extend(root.into_iter().flat_map(|base| workspace.iter().map(move |name| base.join(name))));
    found
}

fn names_us(path: &Path) -> bool {
    let mut text = Vec::new();
    let read = File::open(path).and_then(|file| file.take(CONFIG_BYTES).read_to_end(&mut text));
    read.is_ok() && memchr::memmem::find(&text, b"pilothouse").is_some()
}

/// Finds a program on PATH.
pub(super) fn on_path(host: &dyn Host, name: &str) -> Option<PathBuf> {
    let path: OsString = host.variable("PATH")?;
    let is_program = |path: &PathBuf| {
        path.metadata().is_ok_and(|facts| facts.is_file() && facts.permissions().mode() & 0o111 != 0)
    };
    std::env::split_paths(&path).map(|folder| folder.join(name)).find(is_program)
}

#[cfg(test)]
mod tests {
    use super::super::State;
    use super::*;

    #[test]
    fn an_agent_that_does_not_know_us_gets_its_exact_fix() {
        let installed = |agent, named_in| Installed { agent, program: "/bin/x".into(), named_in };
        let facts = Facts {
            installed: vec![installed(Agent::Claude, None), installed(Agent::Zed, Some("/c".into()))],
        };
        let found = findings(&facts);
        assert_eq!(found[0].fix.as_deref(), Some("claude mcp add pilothouse -- pilothouse mcp"));
        assert_eq!((found[0].state, found[1].state), (State::Problem, State::Ok));
        assert_eq!(findings(&Facts { installed: Vec::new() })[0].state, State::Note);
    }
}
