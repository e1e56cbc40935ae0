//! `pilothouse __detach`: leaves its session, starts the server and exits immediately. The server is then not a
//! descendant of the process that requested it, and survives if that process tree is killed.

use std::ffi::{OsStr, OsString};
use std::io;
use std::process::{Command, ExitCode, Stdio};

use super::print;

/// Variables that a detached runtime keeps. Its commands get those of their callers.
const KEPT: [&str; 10] = [
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "PATH",
    "LANG",
    "TZ",
    "DBUS_SESSION_BUS_ADDRESS",
    "PILOTHOUSE_LOCK_DIR",
    "PILOTHOUSE_LOG",
];
/// Prefixes of further variables that it keeps.
const KEPT_PREFIXES: [&str; 2] = ["LC_", "XDG_"];

/// Starts the server and prints its process id. The server inherits standard error.
pub(super) fn run() -> ExitCode {
    match start() {
        Ok(pid) => {
            // The requester may be gone; the server runs regardless.
            let _ = print::data(&pid.to_string());
            ExitCode::SUCCESS
        }
        Err(error) => {
            let _ = print::say(format_args!("start the server: {error}"));
            ExitCode::FAILURE
        }
    }
}

fn start() -> io::Result<u32> {
    rustix::process::setsid()?;
    let server = Command::new(std::env::current_exe()?)
        .args(["serve", "--detached"])
        .env_clear()
        .envs(kept_variables(std::env::vars_os()))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::inherit())
        .spawn()?;
    Ok(server.id())
}

fn kept_variables(
    all: impl Iterator<Item = (OsString, OsString)>,
) -> impl Iterator<Item = (OsString, OsString)> {
    let is_kept = |name: &OsStr| {
        let name = name.to_string_lossy();
        KEPT.contains(&&*name) || KEPT_PREFIXES.iter().any(|prefix| name.starts_with(prefix))
    };
    all.filter(move |(name, _)| is_kept(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_detached_runtime_keeps_where_things_are_and_no_secret_of_whoever_started_it() {
        let names =
            ["HOME", "LC_ALL", "XDG_STATE_HOME", "API_TOKEN", "LD_PRELOAD", "TMUX", "PILOTHOUSE_TASK_ID"];
        let all = names.iter().map(|name| (OsString::from(name), OsString::from("x")));
        let left: Vec<_> = kept_variables(all).map(|(name, _)| name).collect();
        assert_eq!(left, ["HOME", "LC_ALL", "XDG_STATE_HOME"]);
    }
}
