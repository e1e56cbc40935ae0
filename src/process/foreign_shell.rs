//! The shell that an agent runs commands in, where that is one that cannot lead here.

use std::fs::{FileType, read_dir, read_link, read_to_string};
use std::os::unix::fs::FileTypeExt as _;
use std::path::PathBuf;

use super::kinship::{AgentKinship, SHELLS, kinship};
use super::tree::proc_file;

/// The most processes below an agent that are looked at.
const MOST: usize = 256;

/// Returns the shell in which a process below an agent runs a command, as it was called, if it is no bash, is bash called
/// `sh`, or is a bash that reads its commands from a pipe. `None` if no such shell runs now.
#[must_use]
pub fn foreign_shell(agent: u32) -> Option<String> {
    let mut below = children(agent);
    let mut at = 0;
    while let Some(&(pid, parent)) = below.get(at) {
        if kinship(parent, agent) == AgentKinship::Agent {
            if let Some(shell) = shell_of(pid) {
                return Some(shell);
            }
            below.extend(children(pid).into_iter().take(MOST.saturating_sub(below.len())));
        }
        at += 1;
    }
    None
}

/// Returns the children of a process, each with that process.
fn children(pid: u32) -> Vec<(u32, u32)> {
    let threads = read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    let lists = threads.filter_map(|thread| read_to_string(thread.path().join("children")).ok());
    lists
        .flat_map(|list| list.split_whitespace().filter_map(|pid| pid.parse().ok()).collect::<Vec<u32>>())
        .map(|child| (child, pid))
        .collect()
}

fn shell_of(pid: u32) -> Option<String> {
    let place = |name: &str| PathBuf::from(format!("/proc/{pid}/{name}"));
    let program = read_link(place("exe")).ok()?;
    if !SHELLS.iter().any(|shell| program.ends_with(shell)) {
        return None;
    }
    let line = proc_file(i32::try_from(pid).ok()?, "cmdline").ok()?;
    let args: Vec<_> = line.split(|byte| *byte == 0).map(String::from_utf8_lossy).collect();
    let (name, args) = args.split_first()?;
    let input = || place("fd/0").metadata().ok().map(|facts| facts.file_type());
    let is_sh = name.rsplit('/').next() == Some("sh");
    match read_from(args.iter().map(AsRef::as_ref))? {
        CommandSource::Argument if is_sh || !program.ends_with("bash") => Some(name.to_string()),
        CommandSource::Input if input().is_some_and(is_pipe) => Some(format!("{name} on a pipe")),
        _ => None,
    }
}

/// Where a shell has its commands from.
#[derive(Debug, PartialEq, Eq)]
enum CommandSource {
    Argument,
    Input,
}

/// Reads the arguments of a shell; `None` if it runs a script.
fn read_from<'a>(mut args: impl Iterator<Item = &'a str>) -> Option<CommandSource> {
    let first = args.find(|arg| !arg.starts_with("--"));
    match first.filter(|arg| !arg.is_empty()) {
        None => Some(CommandSource::Input),
        Some(options) if options.starts_with('-') && options.contains('c') => Some(CommandSource::Argument),
        Some(options) if options.starts_with('-') => read_from(args),
        Some(_) => None,
    }
}

fn is_pipe(kind: FileType) -> bool {
    kind.is_fifo() || kind.is_socket()
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};
    use std::time::Duration;

    use super::*;
    use crate::clock::Clock;

    #[test]
    fn a_shell_that_bash_env_does_not_reach_is_found_below_its_agent() {
        for (args, expected) in [
            (&["sh", "-c", "read x"][..], Some("sh")),
            (&["bash"], Some("bash on a pipe")),
            (&["bash", "--norc", "-i"], Some("bash on a pipe")),
            (&["bash", "-c", "read x"], None),
            (&["cat"], None),
        ] {
            // `timeout` plays the agent: it runs its arguments as a child process.
            let mut agent = Command::new("timeout");
            agent.arg("60").args(args).stdin(Stdio::piped()).stderr(Stdio::null());
            let mut agent = agent.spawn().expect("started");
            let clock = Clock::start();
            let is_started = |pid: u32| {
                children(pid).iter().any(|(child, _)| {
                    let exe = |pid: u32| read_link(format!("/proc/{pid}/exe")).ok();
                    exe(*child) != exe(pid)
                })
            };
            while !is_started(agent.id()) && clock.now().mono < Duration::from_secs(20) {
                std::thread::yield_now();
            }
            assert_eq!(foreign_shell(agent.id()).as_deref(), expected, "{args:?}");
            agent.kill().expect("ended");
            drop(agent.stdin.take());
            agent.wait().expect("reaped");
        }
    }

    #[test]
    fn a_shell_with_a_script_reads_neither_its_arguments_nor_its_input() {
        for (args, expected) in [
            (&["-c", "ls"][..], Some(CommandSource::Argument)),
            (&["-lc", "ls"], Some(CommandSource::Argument)),
            (&["-e", "-c", "ls"], Some(CommandSource::Argument)),
            (&[""], Some(CommandSource::Input)),
            (&["-i", ""], Some(CommandSource::Input)),
            (&["script.sh", "-c"], None),
        ] {
            assert_eq!(read_from(args.iter().copied()), expected, "{args:?}");
        }
    }
}
