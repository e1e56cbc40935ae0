//! The terminal UI, for people. ratatui and crossterm are used only here.
//!
//! `App::update` makes the decisions (pure), `app::draw` draws the state (pure), and the driver carries out
//! the effects. Key bindings are in `assets/keymap.toml`, the styles of roles in `themes/default.toml`.

pub mod app;
pub mod effect;
mod error;
pub mod features;
pub mod io;
pub mod keys;
pub mod msg;
mod options;
pub mod plain;
pub mod state;
pub mod text;
pub mod theme;
pub mod widgets;

use std::sync::Arc;
use std::time::Duration;

use jiff::tz::TimeZone;
use tokio::task::JoinSet;

use crate::clock::Clock;
use crate::config::{Mouse, watched_places};
use crate::console::state::arrangement::Arrangement;
use crate::link::Operator;
use crate::process::FileWatch;

use app::App;
use io::display::Display;
use io::driver::{Driver, LoopEnd, Times};
use io::effects::Effects;
use io::frames::Frames;
use io::kept;
use io::leaving::{GIVING_BACK, LEAVING};
use io::output::{BufferedSink, ByteSink};
use io::settings::Source;
use io::signals::Signals;
use io::stop_request::PendingStop;
use state::focus::Screen;
use state::setup::Setup;
use theme::Preferences;

pub use error::ConsoleError;
pub use io::clipboard::tools as clipboard_tools;
use options::RuntimeFate;
pub use options::{
    ConsoleExit, ConsoleOptions, DemoCue, DemoView, EmbeddedRuntime, FIRST_PLACE, FIRST_WAY, PlainReason,
};

/// Runs the console until the user leaves, the terminal goes away or a signal arrives. The terminal is
/// restored before this returns. Ending an embedded runtime is left to the caller.
///
/// # Errors
/// When there is no terminal, or when using it fails.
pub async fn run(operator: Operator, options: ConsoleOptions) -> Result<ConsoleExit, ConsoleError> {
    if let Some(because) = options.spoken {
        return io::plain::run(operator, because, &options).await;
    }
    let signals = Signals::listen().map_err(ConsoleError::Signals)?;
    let terminal = io::tty::open().map_err(ConsoleError::NoTerminal)?;
    let shown = show(&operator, &options, signals, terminal).await;
    io::tty::give_back(shown.as_ref().map_or(Duration::ZERO, |(ending, _)| ending.patience()));
    io::tty::close();
    let (ending, runtime) = shown?;
    let code = match ending {
        LoopEnd::Left | LoopEnd::Detached | LoopEnd::Stopped => 0,
        LoopEnd::Signal(code) => code,
        LoopEnd::Gone => 129,
    };
    let snapshot = operator.snapshot();
    let last = snapshot.borrow();
    Ok(ConsoleExit::new(code, &last, runtime))
}

/// Prints the last lines of a console that has closed. A terminal or a pipe that takes nothing delays the end of the
/// program only for a moment, and least after a signal.
pub fn say_farewell(exit: &ConsoleExit) {
    if exit.farewell.is_empty() {
        return;
    }
    let patience = if exit.code == 0 && !exit.is_detached { LEAVING } else { GIVING_BACK };
    match ByteSink::of_stdout() {
        Ok(sink) => sink.print(&format!("{}\n", exit.farewell), patience),
        Err(error) => tracing::info!(%error, "the last lines are not printed"),
    }
}

async fn show(
    operator: &Operator,
    options: &ConsoleOptions,
    signals: Signals,
    terminal: ByteSink,
) -> Result<(LoopEnd, RuntimeFate), ConsoleError> {
    let clock = Clock::start();
    let capabilities = options.capabilities.clone();
    let (preferences, faults) = Preferences::read(options.config.as_deref(), &options.flags, &capabilities);
    let mouse = preferences.ui.console.mouse;
    let mut output = BufferedSink::new(terminal).map_err(ConsoleError::Terminal)?;
    io::tty::take(&mut output, mouse).map_err(ConsoleError::Terminal)?;
    // The first frame does not wait for the terminal's answers; it is redrawn if they change something.
    if capabilities.answers {
        io::tty::ask(&mut output).map_err(ConsoleError::Terminal)?;
    }
    let heard = io::keyboard::listen(output.sink().file(), capabilities.answers, &clock);
    let (keys, ended) = heard.map_err(ConsoleError::Terminal)?;
    let display = Display::new(output, clock.clone());
    let setup = Setup {
        theme: preferences.theme,
        keymap: preferences.keymap,
        theme_set: preferences.theme_set,
        ui: preferences.ui,
        program: options.program.clone(),
        agents: options.agents.clone(),
        zone: TimeZone::system(),
        is_root: rustix::process::geteuid().is_root(),
        is_remote: operator.is_remote(),
        can_detach: options.can_detach,
        shows_run: options.opens == Screen::Program,
        is_fleet: operator.fleet().is_some(),
        recording: operator.recording().map(str::to_owned),
    };
    let size = io::tty::size(options.capabilities.usual_size).map_err(ConsoleError::Terminal)?;
    let snapshot = Arc::clone(&operator.snapshot().borrow());
    let mut app = App::new(setup, snapshot, size, clock.now().wall);
    app.state.focus.screen = options.opens;
    app.state.outer.has_mouse = mouse != Mouse::Off;
    app.state.memory =
        options.state.as_deref().map(|state| kept::read(&state.join(kept::MEMORY))).unwrap_or_default();
    let commands: Vec<String> = options.commands.as_deref().map(kept::read).unwrap_or_default();
    commands.iter().for_each(|cmd| app.state.composer.commands.keep(cmd));
    for fault in faults {
        app.state.toasts.fail(text::visible::one_line(&fault.to_string()), None);
    }
    let watch = FileWatch::over(options.config.as_deref().map(watched_places).unwrap_or_default());
    let source = Source { options: options.clone(), capabilities, watch, has_distinct_keys: false };
    if let Some(path) = &options.layout {
        let arrangement = kept::read::<Arrangement>(path);
        let left_at = arrangement.saved_at;
        arrangement.apply(&mut app.state);
        app.tell_of_earlier(left_at);
    }
    let effects = Effects::new(operator.clone(), options.clipboard.clone(), options.exports.clone());
    let operator = operator.clone();
    // Outside a demonstration, no cue ever arrives.
    let cues = options.cues.clone().unwrap_or_else(|| tokio::sync::watch::channel(DemoCue::default()).1);
    let stop = PendingStop::new(options.stop_requests());
    let (times, next_runtime) = (Times::default(), JoinSet::new());
    let frames = Frames::default();
    let mut driver = Driver {
        app,
        display,
        clock,
        operator,
        effects,
        keys,
        cues,
        signals,
        stop,
        next_runtime,
        source,
        times,
        frames,
    };
    // tokio's cooperative budget forces a yield, but a loop whose screen always has something new never
    // yields: keys, signals and timers would starve.
    let ending = tokio::task::unconstrained(driver.run()).await?;
    driver.display.output().finish(ending.patience());
    driver.frames.log();
    driver.keep_arrangement(&Arrangement::of(&driver.app.state));
    let runtime = match &driver.app {
        app if app.state.view.is_lost => RuntimeFate::Lost,
        _ if ending == LoopEnd::Detached => RuntimeFate::Detached,
        _ if ending == LoopEnd::Stopped => RuntimeFate::Stopped,
        app if app.state.setup.recording.is_some() => RuntimeFate::Read,
        app if app.state.setup.is_remote && !app.state.is_leaving => RuntimeFate::GoesOn,
        _ => RuntimeFate::Ends,
    };
    // Nothing receives keys any more, so input typed ahead must not block the reader thread.
    drop(driver);
    match ending {
        // Keep the watcher's deadline: ending the tasks may take longer than the hang-up allows.
        LoopEnd::Gone => std::mem::forget(ended),
        LoopEnd::Detached => ended.stop_reading(),
        LoopEnd::Left | LoopEnd::Stopped | LoopEnd::Signal(_) => {}
    }
    Ok((ending, runtime))
}
