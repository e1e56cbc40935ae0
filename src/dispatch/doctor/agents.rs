//! The agents on this machine: which are there, and whether their configuration names us.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use super::Area::Agents;
use super::{Finding, on_path};
use crate::dispatch::agents::{Agent, Configuration};
use crate::dispatch::host::Host;

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

/// Looks for the agents of this machine.
pub(super) fn installed(host: &dyn Host) -> Vec<Installed> {
    let installed = Agent::ALL.into_iter().filter_map(|agent| {
        let program = agent.row().programs.iter().find_map(|name| on_path(host, name))?;
        let named_in = configurations(agent, host).into_iter().find(|path| names_us(path));
        Some(Installed { agent, program, named_in })
    });
    installed.collect()
}

/// Judges what is known.
pub(super) fn findings(installed: &[Installed]) -> Vec<Finding> {
    if installed.is_empty() {
        let fix = "pilothouse mcp config claude (or another agent) prints what to put where";
        return vec![Agents.note("agents", "none found on PATH").fix(fix)];
    }
    installed.iter().map(judge).collect()
}

fn judge(Installed { agent, program, named_in }: &Installed) -> Finding {
    match named_in {
        Some(path) => Agents.ok(agent.as_str(), format!("{} names pilothouse", path.display())),
        None => {
            let found = format!("{}: no configuration of it names pilothouse", program.display());
            let command = agent.row().command().map(str::to_owned);
            let fix = command.unwrap_or_else(|| {
                format!("pilothouse mcp config {} prints what to put where", agent.as_str())
            });
            Agents.problem(agent.as_str(), found, fix)
        }
    }
}

/// The files that an agent may be configured by, whether they are there or not.
fn configurations(agent: Agent, host: &dyn Host) -> Vec<PathBuf> {
    let folder = |variable: &str| host.variable(variable).filter(|path| !path.is_empty()).map(PathBuf::from);
    let workspace = host.places().ok().map(|places| places.workspace);
    let path = |configuration: &Configuration| match *configuration {
        Configuration::Own(variable, path) => Some(folder(variable)?.join(path)),
        Configuration::Home(path) => Some(folder("HOME")?.join(path)),
        Configuration::Workspace(path) => Some(workspace.as_ref()?.join(path)),
    };
    agent.row().configurations.iter().filter_map(path).collect()
}

fn names_us(path: &Path) -> bool {
    let mut text = Vec::new();
    let read = File::open(path).and_then(|file| file.take(CONFIG_BYTES).read_to_end(&mut text));
    read.is_ok() && memchr::memmem::find(&text, b"pilothouse").is_some()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dispatch::doctor::State;

    #[test]
    fn an_agent_that_does_not_know_us_gets_its_exact_fix() {
        let installed = |agent, named_in| Installed { agent, program: "/bin/x".into(), named_in };
        let found = findings(&[installed(Agent::Claude, None), installed(Agent::Zed, Some("/c".into()))]);
        assert_eq!(found[0].fix.as_deref(), Some("claude mcp add pilothouse -- pilothouse mcp"));
        assert_eq!((found[0].state, found[1].state), (State::Problem, State::Ok));
        assert_eq!(findings(&[])[0].state, State::Note);
    }
}
