//! `pilothouse mcp`: the shim that an agent starts.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use color_eyre::eyre::{Result, eyre};

use super::program_start::{ProgramStart, places_of};
use super::remote::Destination;
use super::{remote, stdin, stdout};
use crate::agent::{Shim, ShimTarget};
use crate::config::LoadedSettings;
use crate::dispatch::cli_only::McpInput;
use crate::link::{ClientRole, Hello, RuntimeRoute};

/// Relays an agent's lines until it disconnects.
pub(super) async fn run(start: &ProgramStart, input: McpInput) -> Result<ExitCode> {
    // A client that replaces no variables leaves the name of one.
    let named = input.workspace.as_deref().filter(|named| !named.starts_with("${"));
    let moved = named.map(|named| start.moved_to(Path::new(named))).transpose()?;
    let start = moved.as_ref().unwrap_or(start);
    // A runtime that cannot start would only report that in its log; an agent reads its server's output.
    let loaded = LoadedSettings::read(&start.places.config_dir, &start.places.workspace)?;
    let (target, limits) = match &input.host {
        Some(to) => (elsewhere(start, to)?, None),
        None => (target(start, input.socket, named.is_some()), Some(loaded.settings.limits())),
    };
    let hello = Hello {
        profile: input.profile,
        label: input.label,
        ..Hello::new(ClientRole::Mcp, start.cwd.clone())
    };
    Shim { hello, target, limits }.run(stdin::StdinLines::new(), stdout::StdoutLines::new()).await?;
    Ok(ExitCode::SUCCESS)
}

/// Returns the runtime of a path on another machine.
fn elsewhere(start: &ProgramStart, to: &str) -> Result<ShimTarget> {
    let destination = Destination::parse(to)
        .ok_or_else(|| eyre!("--host {to} names no place: write HOST:/path, or HOST:ID with an id of `pilothouse relay list --host HOST`"))?;
    let host = remote::host(start, &destination.host)?;
    Ok(ShimTarget::Elsewhere(RuntimeRoute::agent(host, destination.place)))
}

fn target(start: &ProgramStart, asked: Option<String>, is_named: bool) -> ShimTarget {
    let given = || std::env::var_os("PILOTHOUSE_SOCKET").filter(|path| !path.is_empty()).map(PathBuf::from);
    match asked.map(PathBuf::from).or_else(given) {
        Some(socket) => ShimTarget::Socket(socket),
        None => ShimTarget::Workspace {
            places: start.places.clone(),
            program: start.program.clone(),
            elsewhere: (!is_named && !start.places.is_repository())
                .then_some(|folder| places_of(folder).ok()),
        },
    }
}
