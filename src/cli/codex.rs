//! `pilothouse codex-executor`: the program that Codex starts to run its commands.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use color_eyre::eyre::{Result, WrapErr as _};

use super::program_start::ProgramStart;
use super::shell::{DOOR, SWITCH};
use super::surroundings::surroundings;
use super::{print, stdout};
use crate::agent::codex::{Executor, RuntimeAccess};
use crate::config::{LoadedSettings, OnFailure};
use crate::dispatch::cli_only::CodexExecutorInput;
use crate::paths::Places;
use crate::process::{is_in_command, parent};

/// The exit code for an unmet precondition, as in all commands.
const PRECONDITION: u8 = 4;
/// The arguments for starting Codex's own server.
const SERVER: [&str; 3] = ["exec-server", "--listen", "stdio"];

/// Serves Codex until it disconnects.
pub(super) async fn run(input: CodexExecutorInput) -> Result<ExitCode> {
    let Some(codex) = input.codex.map(PathBuf::from).or_else(codex) else {
        let _ = print::say("codex is not in your PATH; name it with --codex");
        return Ok(ExitCode::from(PRECONDITION));
    };
    let server = [codex.into_os_string()].into_iter().chain(SERVER.map(OsString::from)).collect();
    let executor = Executor { server, reach: reach() };
    let ended = executor.run(tokio::io::stdin(), stdout::StdoutLines::new()).await;
    let ended = ended.wrap_err("talk with Codex and its own server")?;
    let code = ended.and_then(|status| u8::try_from(status.code()?).ok());
    Ok(code.map_or(ExitCode::SUCCESS, ExitCode::from))
}

/// Returns how processes become tasks, or `None` to leave all of them to Codex's own server.
fn reach() -> Option<RuntimeAccess> {
    let is_off = std::env::var_os(SWITCH).is_some_and(|switch| switch == "off");
    if is_off || is_in_command(std::process::id()) {
        return None;
    }
    let door = std::env::var_os(DOOR).map(PathBuf::from).filter(|door| door.is_absolute());
    let found = ProgramStart::find().and_then(|start| match door {
        Some(door) => Ok(ProgramStart { places: Places::find(&door, &surroundings())?, ..start }),
        None => Ok(start),
    });
    let say = |text: &str| drop(print::say(text));
    match found {
        Ok(ProgramStart { places, program, .. }) => Some(RuntimeAccess { places, program, say, on_failure }),
        Err(error) => {
            say(&format!("commands run without Pilothouse: {error:#}"));
            None
        }
    }
}

fn on_failure(places: &Places) -> OnFailure {
    let loaded = LoadedSettings::read(&places.config_dir, &places.workspace);
    loaded.map(|loaded| loaded.settings.shell.on_failure).unwrap_or_default()
}

/// Finds the Codex in use: the one that started this process, so that both have the same version, or else the one in
/// PATH.
fn codex() -> Option<PathBuf> {
    let starter = parent(std::process::id())?;
    let starter = std::fs::read_link(Path::new("/proc").join(starter.to_string()).join("exe")).ok();
    let is_codex = |path: &PathBuf| path.file_name().is_some_and(|name| name == "codex") && path.is_file();
    starter.filter(is_codex).or_else(|| which::which("codex").ok())
}
