//! `pilothouse mcp`: the shim an agent starts, and the snippets that make it do so.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::ArgMatches;
use color_eyre::eyre::{Result, eyre};

use super::{Start, say};
use crate::agent::{Shim, Target, snippet};
use crate::link::{Hello, Profile, Role};

/// Carries an agent's lines until it leaves.
pub(super) async fn run(start: &Start, args: &ArgMatches) -> Result<ExitCode> {
    let profile = match args.get_one::<String>("profile").map(String::as_str) {
        Some("structured") => Profile::Structured,
        _ => Profile::Receipt,
    };
    let hello = Hello {
        profile,
        label: args.get_one::<String>("label").cloned(),
        ..Hello::new(Role::Mcp, start.cwd.clone())
    };
    Shim { hello, target: target(start, args) }.run(tokio::io::stdin(), tokio::io::stdout()).await?;
    Ok(ExitCode::SUCCESS)
}

fn target(start: &Start, args: &ArgMatches) -> Target {
    let asked = args.get_one::<PathBuf>("socket").cloned();
    let given = || std::env::var_os("PILOTHOUSE_SOCKET").filter(|path| !path.is_empty()).map(PathBuf::from);
    match asked.or_else(given) {
        Some(socket) => Target::Socket(socket),
        None => Target::Workspace { places: start.places.clone(), program: start.program.clone() },
    }
}

/// Prints an agent's snippet.
pub(super) fn config(args: &ArgMatches) -> Result<ExitCode> {
    let agent = args.get_one::<String>("agent").map_or("", String::as_str);
    let snippet = snippet(agent).ok_or_else(|| eyre!("no agent is called {agent}"))?;
    say(&snippet.to_string())
}
