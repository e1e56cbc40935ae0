//! `pilothouse`: the console, with an embedded runtime or attached to the running one.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use color_eyre::eyre::{Result, WrapErr};

use super::program_start::ProgramStart;
use super::reach::{ReachedRuntime, open_or_join};
use super::serve;
use super::server::RuntimeServer;
use super::signals::EndSignals;
use crate::agents::AgentProgram;
use crate::config::{ConsoleSettings, LoadedSettings, RuntimeMode, Settings};
use crate::console::theme::Capabilities;
use crate::console::{self, ConsoleExit, ConsoleOptions, EmbeddedRuntime};
use crate::dispatch::cli_only::IDLE_SECONDS;
use crate::link::{Act, Holder, Operator};
use crate::model::{CloseReason, Subject};
use crate::paths::{Locks, Places};
use crate::process;

/// Opens the workspace's console.
pub(super) async fn run(start: &ProgramStart) -> Result<ExitCode> {
    let attach =
        |places: Places| async move { Operator::attach(&places.operator_socket(), start.cwd.clone()).await };
    // Reports invalid settings.
    settings(start)?;
    if is_background(start) {
        let (operator, _) = start.access().join(true, attach).await?;
        return show_attached(start, operator).await;
    }
    match open_or_join(start, false, attach).await? {
        ReachedRuntime::Opened(server) => embed(start, server, process::can_detach()).await.map(leave),
        ReachedRuntime::Joined(operator) => show_attached(start, operator).await,
    }
}

async fn show_attached(start: &ProgramStart, operator: Operator) -> Result<ExitCode> {
    if let Some(address) = Holder::of(&start.places).address()
        && address.config != start.places.config_dir
    {
        // This person's own approval rules apply, whichever settings the runtime was started with.
        let rules = readable_settings(start).approvals;
        let rules = Act::Rules { config: start.places.config_dir.clone(), rules };
        operator.ask(rules.on(Subject::Runtime)).await?;
    }
    show(start, operator, Some(start.places.layout())).await.map(leave)
}

/// Returns whether the settings ask for a runtime in a separate process.
pub(super) fn is_background(start: &ProgramStart) -> bool {
    matches!(settings(start), Ok(Some(settings)) if settings.runtime == RuntimeMode::Background)
}

/// Reads the settings; `None` if they are invalid but a runtime is already running: a typo must not prevent anyone
/// from stopping a task.
fn settings(start: &ProgramStart) -> Result<Option<Settings>> {
    match LoadedSettings::read(&start.places.config_dir, &start.places.workspace) {
        Ok(loaded) => Ok(Some(loaded.settings)),
        Err(_) if !start.access().is_vacant() => Ok(None),
        Err(faults) => Err(faults.into()),
    }
}

/// Runs the console on a runtime in this process; its tasks end with it unless the person detaches.
pub(super) async fn embed(
    start: &ProgramStart,
    server: RuntimeServer,
    can_detach: bool,
) -> Result<ConsoleExit> {
    embed_with(start, server, ConsoleOptions { can_detach, ..ConsoleOptions::default() }).await
}

/// Like [`embed`], but uses the cues from `more` and its setting of whether the person may detach.
pub(super) async fn embed_with(
    start: &ProgramStart,
    server: RuntimeServer,
    more: ConsoleOptions,
) -> Result<ConsoleExit> {
    let operator = Operator::local(server.runtime.clone(), start.cwd.clone());
    let snapshot = operator.snapshot();
    let ConsoleOptions { cues, can_detach, .. } = more;
    let embedded = EmbeddedRuntime {
        snapshot: snapshot.clone(),
        clients: server.clients(),
        stop_requests: server.stop_requests.listen(),
    };
    let layout = Some(start.places.layout());
    let options = ConsoleOptions { layout, can_detach, cues, embedded: Some(embedded), ..options(start) };
    let shown = console::run(operator, options).await.map_err(Into::into);
    let shown = match shown {
        Ok(exit) if exit.is_detached => return go_on(server, exit).await,
        shown => shown,
    };
    server.close(closing(&shown)).await?;
    // All tasks have ended by now, so their outcomes are known.
    shown.map(|exit| exit.with_summary(&snapshot.borrow()))
}

/// Leaves the terminal, which the console has already restored, and continues as a runtime without a console.
async fn go_on(server: RuntimeServer, mut exit: ConsoleExit) -> Result<ConsoleExit> {
    // Must happen before the launcher exits: the signal from a closing terminal must not end this process from now
    // on.
    let mut ending = EndSignals::without_hangup()?;
    console::say_farewell(&exit);
    // Must happen before the shell shows its prompt: the next command run there may end this runtime.
    server.runtime.set_headless(true);
    let _ = server.runtime.snapshot().wait_for(|snapshot| snapshot.headless).await;
    if let Err(error) = process::detach() {
        // The launcher, or the process waiting for it, sees this process end a little later.
        tracing::error!(%error, "leave the terminal");
        server.close(CloseReason::TerminalGone).await?;
        return Err(error).wrap_err("leave the terminal");
    }
    tracing::info!("detached: the runtime keeps running without its console");
    let code = serve::until_ended(server, &mut ending, Duration::from_secs(IDLE_SECONDS)).await?;
    (exit.code, exit.farewell) = (code, String::new());
    Ok(exit)
}

/// Returns the reason to give when the runtime ends with its console.
pub(super) fn closing(shown: &Result<ConsoleExit>) -> CloseReason {
    shown.as_ref().map_or(CloseReason::ConsoleClosed, ConsoleExit::closing)
}

fn options(start: &ProgramStart) -> ConsoleOptions {
    let variable = |name: &str| std::env::var_os(name);
    let settings = readable_settings(start);
    ConsoleOptions {
        config: Some(start.places.config_dir.clone()),
        state: Some(start.places.state_dir.clone()),
        commands: Some(start.places.commands()),
        program: Some(start.program.clone()),
        agents: agents_here(),
        flags: start.flags.clone(),
        capabilities: Capabilities::from_environment(variable),
        spoken: console::PlainReason::of(start.flags.accessible, variable),
        clipboard: console::clipboard_tools(variable),
        exports: Some(exports(start, &settings.console)),
        locks: Some(locks(start, settings.fleet.here)),
        cwd: Some(start.cwd.clone()),
        ..ConsoleOptions::default()
    }
}

/// Returns the agents found in the PATH, by the word that starts each with its own shell led here.
fn agents_here() -> Vec<&'static str> {
    let is_here = |agent: &AgentProgram| {
        agent.profile().programs.iter().any(|program| which::which_global(program).is_ok())
    };
    AgentProgram::routed_programs()
        .map(|(agent, _)| agent)
        .filter(is_here)
        .map(AgentProgram::as_str)
        .collect()
}

/// Returns the settings, or those that apply without any if they cannot be read.
pub(super) fn readable_settings(start: &ProgramStart) -> Settings {
    let loaded = LoadedSettings::read(&start.places.config_dir, &start.places.workspace);
    loaded.map(|loaded| loaded.settings).unwrap_or_default()
}

/// Returns the locks of the runtimes that may be shown: all of this user's, or only those in this runtime folder.
pub(super) fn locks(start: &ProgramStart, here: bool) -> Locks {
    start.places.locks().only_in(start.places.runtime_dir.parent().filter(|_| here))
}

/// Returns the folder for exports: beside the recordings unless the settings specify one, and never in an agent's
/// repository.
fn exports(start: &ProgramStart, settings: &ConsoleSettings) -> PathBuf {
    let named = Some(settings.exports.as_str()).filter(|named| !named.is_empty());
    start.places.state_dir.join(named.unwrap_or("exports"))
}

pub(super) async fn show(
    start: &ProgramStart,
    operator: Operator,
    layout: Option<PathBuf>,
) -> Result<ConsoleExit> {
    Ok(console::run(operator, ConsoleOptions { layout, ..options(start) }).await?)
}

/// Opens the console on its programs screen.
pub(super) async fn show_program(start: &ProgramStart, operator: Operator) -> Result<ConsoleExit> {
    let options = ConsoleOptions { opens: console::state::focus::Screen::Program, ..options(start) };
    Ok(console::run(operator, options).await?)
}

/// Prints the closing message on the normal screen.
pub(super) fn leave(exit: ConsoleExit) -> ExitCode {
    console::say_farewell(&exit);
    ExitCode::from(exit.code)
}
