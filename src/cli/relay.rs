//! `pilothouse relay operator|agent`: forwards bytes between standard input and output and a runtime on this machine.

use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use color_eyre::eyre::{Result, WrapErr};

use super::surroundings::surroundings;
use super::{print, stdin, stdout};
use crate::dispatch::RelayInput;
use crate::link::{Access, Door, Error, Relay, RunningRuntime, RuntimeAddress, refusal};
use crate::paths::{Error as PathError, Places};

/// Forwards bytes until the runtime disconnects.
pub(super) async fn run(input: RelayInput, door: Door) -> Result<ExitCode> {
    let relay = match access(&input.place) {
        // A terminal modifies the bytes, and one created by `docker exec -t` never reaches end of file.
        _ if std::io::stdin().is_terminal() => Err(Error::Terminal),
        Ok((access, may_start)) => Relay::to(&access, door, may_start).await,
        Err(error) => Err(error),
    };
    match relay {
        Ok(relay) => {
            relay
                .carry(stdin::StdinLines::new(), stdout::StdoutLines::new())
                .await
                .wrap_err("carry to a runtime")?;
            Ok(ExitCode::SUCCESS)
        }
        Err(error) => {
            // The client waiting for the runtime's answer reads the reason instead.
            let line = String::from_utf8_lossy(&refusal(&error)).into_owned();
            print::data(&line).wrap_err("write to standard output")?;
            Ok(ExitCode::from(4))
        }
    }
}

/// Returns how to reach the runtime of a place, and whether one may be started for it.
fn access(place: &str) -> Result<(Access, bool), Error> {
    let program = std::env::current_exe().map_err(|source| Error::Io {
        verb: "find this program",
        path: PathBuf::from("/proc/self/exe"),
        source,
    })?;
    let around = surroundings();
    let path = match place.strip_prefix("~/") {
        Some(rest) => around.home.clone().unwrap_or_default().join(rest),
        None if place == "~" => around.home.clone().unwrap_or_default(),
        None => PathBuf::from(place),
    };
    if path.is_absolute() {
        let places = Places::find(&path, &around).map_err(|error| match error {
            PathError::Workspace { path, source } => Error::Io { verb: "find the workspace", path, source },
            PathError::NoHome => Error::NoRuntime { path: path.clone() },
        })?;
        return Ok((Access { places, program, outlives_logout: true }, true));
    }
    let none = || Error::NoRuntime { path: path.clone() };
    // The locks are in the same folder for every workspace.
    let locks = Places::find(Path::new("/"), &around).map_err(|_| none())?.locks();
    let running =
        RunningRuntime::list(&locks).into_iter().find(|running| running.id == place).ok_or_else(none)?;
    let RuntimeAddress { runtime, state, config, .. } = running.address;
    let places = Places {
        workspace: PathBuf::from("/"),
        lock: locks.file(&running.id),
        id: running.id,
        runtime_dir: runtime,
        state_dir: state,
        config_dir: config,
    };
    Ok((Access { places, program, outlives_logout: true }, false))
}
