//! Whether the process that calls a shell is an agent that was started here: the process that was started, or the one it
//! started in its place. Read from `/proc`; decided without guessing.

use std::os::unix::fs::MetadataExt as _;
use std::path::PathBuf;

use super::tree::ProcessEntry;

/// How many processes may stand between an agent and the process that was started for it.
const MOST_STEPS: usize = 8;
/// Programs that run somebody's script: what they call, no agent calls.
pub(super) const SHELLS: [&str; 8] = ["sh", "bash", "dash", "zsh", "ksh", "fish", "ash", "busybox"];

/// What a process is to an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AgentKinship {
    /// It is the agent.
    Agent,
    /// It runs the agent's program or has its streams, and cannot be told from a helper of the agent.
    Unclear,
    /// It is another program.
    Other,
}

/// What is known of a process.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct ProcessFacts {
    parent: i32,
    session: i32,
    /// The devices and inodes of its standard streams.
    streams: Option<[(u64, u64); 3]>,
    /// The device and inode of its program.
    program: Option<(u64, u64)>,
    is_shell: bool,
}

/// Returns what process `caller` is to the agent that was started as process `agent`.
#[must_use]
pub fn kinship(caller: u32, agent: u32) -> AgentKinship {
    let number = |pid: u32| i32::try_from(pid).unwrap_or(i32::MAX);
    of(number(caller), number(agent), inspect)
}

/// A launcher hands its streams to the process that it starts in its place, and stays in its session; to servers and hooks
/// it hands pipes.
fn of(caller: i32, agent: i32, inspect: impl Fn(i32) -> Option<ProcessFacts>) -> AgentKinship {
    if caller == agent {
        return AgentKinship::Agent;
    }
    let (Some(own), Some(first)) = (inspect(caller), inspect(agent)) else { return AgentKinship::Other };
    if own.is_shell {
        return AgentKinship::Other;
    }
    let is_of_it = |facts: &ProcessFacts| {
        facts.streams.is_some() && facts.streams == first.streams && facts.session == first.session
    };
    let (mut pid, mut at) = (caller, own.clone());
    for _ in 0..MOST_STEPS {
        if pid == agent {
            return AgentKinship::Agent;
        }
        if !is_of_it(&at) {
            break;
        }
        pid = at.parent;
        match inspect(pid) {
            Some(above) => at = above,
            None => break,
        }
    }
    let is_alike = own.streams.is_some() && own.streams == first.streams
        || own.program.is_some() && own.program == first.program;
    if is_alike { AgentKinship::Unclear } else { AgentKinship::Other }
}

fn inspect(pid: i32) -> Option<ProcessFacts> {
    let ProcessEntry { parent, session, .. } = ProcessEntry::read(pid)?;
    let place = |name: &str| PathBuf::from(format!("/proc/{pid}/{name}"));
    let file = |name: &str| place(name).metadata().ok().map(|facts| (facts.dev(), facts.ino()));
    let streams = file("fd/0").zip(file("fd/1")).zip(file("fd/2"));
    let program = std::fs::read_link(place("exe")).ok();
    let is_shell = program.is_some_and(|program| SHELLS.iter().any(|shell| program.ends_with(shell)));
    Some(ProcessFacts {
        parent,
        session,
        streams: streams.map(|((input, output), error)| [input, output, error]),
        program: file("exe"),
        is_shell,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 10 was started as the agent, 11 and 12 by it in its place, 13 a script in its terminal. 20 is a server below 10, 21
    /// below 12; 30 another program with pipes; 40 a helper that left the session.
    fn family(pid: i32) -> Option<ProcessFacts> {
        let terminal = Some([(1, 1), (1, 1), (1, 1)]);
        let pipes = Some([(2, 1), (2, 2), (1, 1)]);
        let facts = ProcessFacts {
            parent: 1,
            session: 10,
            streams: terminal,
            program: Some((9, 1)),
            is_shell: false,
        };
        Some(match pid {
            10 => facts,
            11 => ProcessFacts { parent: 10, ..facts },
            12 => ProcessFacts { parent: 11, program: Some((9, 2)), ..facts },
            13 => ProcessFacts { parent: 10, program: Some((9, 3)), is_shell: true, ..facts },
            20 => ProcessFacts { parent: 10, streams: pipes, ..facts },
            21 => ProcessFacts { parent: 12, streams: pipes, program: Some((9, 2)), ..facts },
            30 => ProcessFacts { parent: 20, streams: terminal, program: Some((9, 4)), ..facts },
            40 => ProcessFacts { parent: 10, session: 40, program: Some((9, 4)), ..facts },
            50 => ProcessFacts { parent: 51, ..facts },
            51 => ProcessFacts { parent: 50, ..facts },
            _ => return None,
        })
    }

    #[test]
    fn an_agent_is_the_started_process_or_one_that_replaced_it_with_the_same_streams() {
        use AgentKinship::{Agent, Other, Unclear};
        for (caller, expected) in [
            (10, Agent),
            (11, Agent),
            (12, Agent),
            (13, Other),
            (20, Unclear),
            (21, Other),
            (30, Unclear),
            (40, Unclear),
            (50, Unclear),
            (99, Other),
        ] {
            assert_eq!(of(caller, 10, family), expected, "{caller}");
        }
        assert_eq!(of(11, 99, family), Other);
        assert_eq!(kinship(std::process::id(), std::process::id()), Agent);
    }
}
