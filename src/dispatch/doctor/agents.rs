//! The agents on this machine: which are there, and whether their configuration names us.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use super::Area::Agents;
use super::{Finding, on_path};
use crate::dispatch::agents::Agent;
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
        let named_in = agent.configurations(host).into_iter().find(|path| names_us(path));
        Some(Installed { agent, program, named_in })
    });
    installed.collect()
}

/// Judges what is known.
pub(super) fn findings(installed: &[Installed]) -> Vec<Finding> {
    if installed.is_empty() {
        let fix = "pilothouse mcp install claude, or another agent";
        return vec![Agents.note("agents", "none found on PATH").fix(fix)];
    }
    installed.iter().map(judge).collect()
}

fn judge(Installed { agent, program, named_in }: &Installed) -> Finding {
    match named_in {
        Some(path) => Agents.ok(agent.as_str(), format!("{} names pilothouse", path.display())),
        None => {
            let found = format!("{}: no configuration of it names pilothouse", program.display());
            Agents.problem(agent.as_str(), found, format!("pilothouse mcp install {}", agent.as_str()))
        }
    }
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
        assert_eq!(found[0].fix.as_deref(), Some("pilothouse mcp install claude"));
        assert_eq!((found[0].state, found[1].state), (State::Problem, State::Ok));
        assert_eq!(findings(&[])[0].state, State::Note);
    }
}
