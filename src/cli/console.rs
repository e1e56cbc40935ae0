//! `pilothouse`: the console, with the runtime inside or attached to the one that runs.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use color_eyre::eyre::{Result, eyre};
use tokio::time::{Instant, sleep};

use super::Start;
use super::house::House;
use crate::agent::start_headless;
use crate::config::{Dwelling, Loaded, Settings};
use crate::console::looks::Facts;
use crate::console::{self, Exit, Options};
use crate::link::{Error, Operator};

/// How long a runtime that is starting or ending may keep the console waiting.
const PATIENCE: Duration = Duration::from_secs(8);
/// Pause between two attempts meanwhile.
const RETRY: Duration = Duration::from_millis(20);

/// Opens the console of the workspace.
pub(super) async fn run(start: &Start) -> Result<ExitCode> {
    let deadline = Instant::now() + PATIENCE;
    // What is wrong with the settings is said here.
    settings(start)?;
    if is_lodging(start) {
        lodge(start).await?;
    }
    loop {
        if let Some(house) = House::open(&start.places, false)? {
            return embed(start, house).await.map(leave);
        }
        // The lock is held: its holder answers, or is on its way in or out.
        match Operator::attach(&start.places.operator_socket(), start.cwd.clone()).await {
            Ok(operator) => return show(start, operator, Some(start.places.layout())).await.map(leave),
            Err(error) if Instant::now() >= deadline || !is_passing(&error) => return Err(error.into()),
            Err(_) => sleep(RETRY).await,
        }
    }
}

/// Tells whether the settings want the runtime to be a process of its own.
pub(super) fn is_lodging(start: &Start) -> bool {
    matches!(settings(start), Ok(Some(settings)) if settings.runtime == Dwelling::Background)
}

/// Reads the settings; none when they cannot be used but a runtime is there to be looked at: whoever has to
/// stop a task must not be kept out by a slip of the pen.
fn settings(start: &Start) -> Result<Option<Settings>> {
    match Loaded::read(&start.places.config_dir, &start.places.workspace) {
        Ok(loaded) => Ok(Some(loaded.settings)),
        Err(_) if std::os::unix::net::UnixStream::connect(start.places.operator_socket()).is_ok() => Ok(None),
        Err(faults) => Err(faults.into()),
    }
}

/// Starts a runtime of its own process unless one serves the workspace, and waits until it answers.
async fn lodge(start: &Start) -> Result<()> {
    let socket = start.places.operator_socket();
    let answers = || std::os::unix::net::UnixStream::connect(&socket).is_ok();
    if answers() {
        return Ok(());
    }
    let (_, log) = start_headless(&start.places, &start.program)?;
    let deadline = Instant::now() + PATIENCE;
    while !answers() {
        if Instant::now() >= deadline {
            return Err(eyre!("the runtime that was started does not answer; see {}", log.display()));
        }
        sleep(RETRY).await;
    }
    Ok(())
}

/// Runs the console on a runtime of this process; its tasks end with it.
pub(super) async fn embed(start: &Start, house: House) -> Result<Exit> {
    let operator = Operator::local(house.runtime.clone(), start.cwd.clone());
    let shown = show(start, operator, Some(start.places.layout())).await;
    house.close().await?;
    shown
}

fn options(start: &Start) -> Options {
    let variable = |name: &str| std::env::var_os(name);
    Options {
        config: Some(start.places.config_dir.clone()),
        state: Some(start.places.state_dir.clone()),
        program: Some(start.program.clone()),
        flags: start.flags.clone(),
        facts: Facts::from_environment(variable),
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
    let options = Options { opens: console::app::View::Program, ..options(start) };
    Ok(console::run(operator, options).await?)
}

/// Says goodbye on the normal screen.
pub(super) fn leave(exit: Exit) -> ExitCode {
    if !exit.farewell.is_empty() {
        // Nobody reads it when the terminal is gone; the exit code still tells.
        let _ = super::say(&exit.farewell);
    }
    ExitCode::from(exit.code)
}

fn is_passing(error: &Error) -> bool {
    matches!(error, Error::NoRuntime { .. } | Error::Handshake { .. } | Error::Talk(_) | Error::Gone)
}
