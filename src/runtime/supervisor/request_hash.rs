//! Hashes requests, so that an approval is bound to the exact request.

use crate::envelope::Actor;
use crate::files;
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

fn hash(tool: &str, actor: &Actor, commands: &[HeldCommand], flags: &str) -> String {
    let mut parts: Vec<Vec<u8>> = vec![tool.into(), actor.to_string().into(), flags.into()];
    for command in commands {
        parts.extend([
            command.cmd.as_bytes().to_vec(),
            command.workdir.as_os_str().as_encoded_bytes().to_vec(),
            command.shell.as_deref().unwrap_or_default().into(),
            vec![u8::from(command.login), u8::from(command.tty)],
        ]);
    }
    files::digest_of_parts(parts)
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
        BatchRequest {
            actor: Actor::Agent("a".into()),
            call: 1,
            commands,
            stop_on_error: false,
            cost: Vec::new(),
        }
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
