//! Hashes requests, so that an approval is bound to the exact request.

use sha2::{Digest, Sha256};

use crate::envelope::Actor;
use crate::model::{BatchRequest, ExecRequest, HeldCommand};
use crate::terminal::Size;

/// Returns the hash of a request to run a command.
pub(super) fn hash_of(request: &ExecRequest, command: &HeldCommand) -> String {
    let size = request.size.map_or_else(String::new, |size: Size| format!("{}x{}", size.cols(), size.rows()));
    let timeout = request.timeout.map_or_else(String::new, |timeout| timeout.as_millis().to_string());
    let flags = format!("{} {:?} {size} {timeout}", u8::from(request.accepts_input), request.leftovers);
    hash("ExecCommand", &request.actor, std::slice::from_ref(command), &flags)
}

/// Returns the hash of a request to run a batch.
pub(super) fn hash_of_batch(batch: &BatchRequest) -> String {
    let flags = u8::from(batch.stop_on_error).to_string();
    hash("ExecCommandBatch", &batch.actor, &batch.commands, &flags)
}

/// Hashes each part after its length, so that no two different requests have the same encoding.
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
