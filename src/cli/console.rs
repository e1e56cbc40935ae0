//! `pilothouse`: the console, with the runtime inside or attached to the one that runs.

use std::path::PathBuf;
use std::process::ExitCode;

use color_eyre::eyre::Result;

use super::Start;
use super::reach::{Reached, open_or_join};
use super::server::RuntimeServer;
use crate::config::{Loaded, RuntimeMode, Settings};
use crate::console::theme::Capabilities;
use crate::console::{self, Exit, Options};
use crate::link::{Holder, Operator, Request};
use crate::paths::Places;
use crate::runtime::Closing;

/// Opens the console of the workspace.
pub(super) async fn run(start: &Start) -> Result<ExitCode> {
    let attach =
        |places: Places| async move { Operator::attach(&places.operator_socket(), start.cwd.clone()).await };
    // What is wrong with the settings is said here.
    settings(start)?;
    if is_background(start) {
        let (operator, _) = start.access().join(attach).await?;
        return attached(start, operator).await;
    }
    match open_or_join(start, false, attach).await? {
        Reached::Opened(server) => embed(start, server).await.map(leave),
        Reached::Joined(operator) => attached(start, operator).await,
    }
}

async fn attached(start: &Start, operator: Operator) -> Result<ExitCode> {
    if let Some(address) = Holder::of(&start.places).address()
        && address.config != start.places.config_dir
    {
        // What this person wants to be asked about holds whatever the runtime was started with.
        let own = Loaded::read(&start.places.config_dir, &start.places.workspace);
        let rules = own.map(|loaded| loaded.settings.approvals).unwrap_or_default();
        operator.ask(Request::Rules { config: start.places.config_dir.clone(), rules }).await?;
    }
    show(start, operator, Some(start.places.layout())).await.map(leave)
}

/// Returns whether the settings ask for a runtime in a separate process.
pub(super) fn is_background(start: &Start) -> bool {
    matches!(settings(start), Ok(Some(settings)) if settings.runtime == RuntimeMode::Background)
}

/// Reads the settings; `None` when they are invalid but a runtime is already running: a typo must not keep anybody
/// from stopping a task.
fn settings(start: &Start) -> Result<Option<Settings>> {
    match Loaded::read(&start.places.config_dir, &start.places.workspace) {
        Ok(loaded) => Ok(Some(loaded.settings)),
        Err(_) if !start.access().is_vacant() => Ok(None),
        Err(faults) => Err(faults.into()),
    }
}

/// Runs the console on a runtime of this process; its tasks end with it.
pub(super) async fn embed(start: &Start, server: RuntimeServer) -> Result<Exit> {
    let operator = Operator::local(server.runtime.clone(), start.cwd.clone());
    let shown = show(start, operator, Some(start.places.layout())).await;
    server.close(closing(&shown)).await?;
    shown
}

/// Returns the reason given when the runtime ends with its console.
pub(super) fn closing(shown: &Result<Exit>) -> Closing {
    let code = shown.as_ref().map_or(0, |exit| exit.code);
    Closing::of_exit(code, Closing::ConsoleClosed)
}

fn options(start: &Start) -> Options {
    let variable = |name: &str| std::env::var_os(name);
    Options {
        config: Some(start.places.config_dir.clone()),
        state: Some(start.places.state_dir.clone()),
        program: Some(start.program.clone()),
        flags: start.flags.clone(),
        capabilities: Capabilities::from_environment(variable),
        spoken: console::Because::of(start.flags.accessible, variable),
        clipboard: console::clipboard_tools(variable),
        // Not the workspace of the demo, which goes with it.
        exports: std::env::current_dir().ok(),
        ..Options::default()
    }
}

pub(super) async fn show(start: &Start, operator: Operator, layout: Option<PathBuf>) -> Result<Exit> {
    Ok(console::run(operator, Options { layout, ..options(start) }).await?)
}

/// Opens the console on the screen of programs.
pub(super) async fn show_program(start: &Start, operator: Operator) -> Result<Exit> {
    let options = Options { opens: console::app::Screen::Program, ..options(start) };
    Ok(console::run(operator, options).await?)
}

/// Prints the closing line on the normal screen.
pub(super) fn leave(exit: Exit) -> ExitCode {
    if !exit.farewell.is_empty() {
        // Nobody reads it when the terminal is gone; the exit code still tells.
        let _ = super::say(&exit.farewell);
    }
    ExitCode::from(exit.code)
}
