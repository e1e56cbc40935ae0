//! Calls that wait for the operator: what a console is shown of them, what it may answer, and how a request is
//! told from every other. Plain values; what becomes of them is decided by the supervisor.

use std::path::PathBuf;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::request::ExecRequest;
use crate::config::Prefix;
use crate::envelope::{Actor, TaskId};
use crate::terminal::Size;

/// What waits for the operator, and whether everything new does.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct GateView {
    /// Since when new calls of agents are held, while they are.
    pub paused: Option<Timestamp>,
    /// The calls held, oldest first.
    pub held: Vec<HeldCall>,
    /// Requests, and beginnings of commands, that the operator has allowed for the rest of this recording.
    pub allowed: usize,
}

/// A call that is held: nothing of it has started.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HeldCall {
    /// Names it among those that were ever held.
    pub ticket: u64,
    /// The call.
    pub call: u64,
    /// Who called.
    pub actor: Actor,
    /// The agent whose task the call came out of, when a script called.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub behind: Option<Actor>,
    /// The tool called.
    pub tool: String,
    /// The task that waits in state `queued`; a batch has none.
    pub task: Option<TaskId>,
    /// What would run, in order.
    pub commands: Vec<HeldCommand>,
    /// Why, in the words of whoever called.
    pub description: Option<String>,
    /// Why it is held.
    pub reason: HoldReason,
    /// Since when.
    pub since: Timestamp,
    /// SHA-256 of the exact request, in hexadecimal: an answer is bound to it.
    pub hash: String,
}

/// One command of a held call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HeldCommand {
    /// The command line, whole.
    pub cmd: String,
    /// Where it would start: as resolved, or as asked where that happens later.
    pub workdir: PathBuf,
    /// The shell, when it is not the usual one.
    pub shell: Option<String>,
    /// It would run in a login shell.
    pub login: bool,
    /// It would get a terminal.
    pub tty: bool,
}

/// Why a call is held.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HoldReason {
    /// The operator has paused agent calls.
    Paused,
    /// An approval rule asks; its words.
    Rule(String),
}

/// What the operator says to a held call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Decision {
    /// Run it.
    Once,
    /// Run it, and ask no more about the very same request.
    Exact,
    /// Run it, and ask no more about commands that begin so, from the same caller in the same place and shell.
    Prefix(Prefix),
    /// Do not run it; the note goes to whoever called.
    Deny {
        /// In the operator's words; may be empty.
        note: String,
    },
}

impl Decision {
    /// Returns the word of the timeline.
    #[must_use]
    pub fn word(&self) -> &'static str {
        match self {
            Self::Once | Self::Exact | Self::Prefix(_) => "approved",
            Self::Deny { .. } => "denied",
        }
    }
}

/// A batch about to run, as far as the gate is concerned.
#[derive(Debug, Clone)]
pub struct BatchRequest {
    /// Who asks.
    pub actor: Actor,
    /// Number of the call.
    pub call: u64,
    /// The commands, in order.
    pub commands: Vec<HeldCommand>,
    /// The rest would be skipped after a failure.
    pub stop_on_error: bool,
}

/// Returns the hash of a command that would be started so.
pub(super) fn hash_of(request: &ExecRequest, command: &HeldCommand) -> String {
    let size = request.size.map_or_else(String::new, |size: Size| format!("{}x{}", size.cols(), size.rows()));
    let timeout = request.timeout.map_or_else(String::new, |timeout| timeout.as_millis().to_string());
    let flags = format!("{} {:?} {size} {timeout}", u8::from(request.accepts_input), request.leftovers);
    hash("ExecCommand", &request.actor, std::slice::from_ref(command), &flags)
}

/// Returns the hash of a batch.
pub(super) fn hash_of_batch(batch: &BatchRequest) -> String {
    let flags = u8::from(batch.stop_on_error).to_string();
    hash("ExecCommandBatch", &batch.actor, &batch.commands, &flags)
}

/// Each part is led by its length: no two requests run into one another.
fn hash(tool: &str, actor: &Actor, commands: &[HeldCommand], flags: &str) -> String {
    let mut digest = Sha256::new();
    let mut part = |bytes: &[u8]| {
        digest.update((bytes.len() as u64).to_be_bytes());
        digest.update(bytes);
    };
    part(tool.as_bytes());
    part(actor.to_string().as_bytes());
    part(flags.as_bytes());
    for command in commands {
        part(command.cmd.as_bytes());
        part(command.workdir.as_os_str().as_encoded_bytes());
        part(command.shell.as_deref().unwrap_or_default().as_bytes());
        part(&[u8::from(command.login), u8::from(command.tty)]);
    }
    digest.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn batch(cmds: &[&str]) -> BatchRequest {
        let command = |cmd: &&str| HeldCommand {
            cmd: (*cmd).to_owned(),
            workdir: "/w".into(),
            shell: None,
            login: true,
            tty: false,
        };
        let commands = cmds.iter().map(command).collect();
        BatchRequest { actor: Actor::Agent("a".into()), call: 1, commands, stop_on_error: false }
    }

    #[test]
    fn every_part_of_a_request_is_in_its_hash() {
        let one = batch(&["ab", "c"]);
        let mut others = vec![batch(&["a", "bc"]), batch(&["ab", "c", ""]), batch(&["ab"])];
        let change = |change: fn(&mut BatchRequest)| {
            let mut other = one.clone();
            change(&mut other);
            other
        };
        others.push(change(|batch| batch.stop_on_error = true));
        others.push(change(|batch| batch.actor = Actor::Cli));
        others.push(change(|batch| batch.commands[0].workdir = "/".into()));
        others.push(change(|batch| batch.commands[0].login = false));
        others.push(change(|batch| batch.commands[0].shell = Some("/bin/sh".into())));
        let hashes: std::collections::BTreeSet<_> = others.iter().map(hash_of_batch).collect();
        assert_eq!(hashes.len(), others.len());
        assert!(!hashes.contains(&hash_of_batch(&one)));
        assert_eq!(hash_of_batch(&BatchRequest { call: 9, ..one.clone() }), hash_of_batch(&one));
    }
}
