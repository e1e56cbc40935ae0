//! The command line: the only reader of argv and environment; composes everything below.

mod args;
#[cfg(feature = "console")]
mod console;
#[cfg(feature = "console")]
mod demo;
mod house;
mod log;
mod mcp;
mod serve;
mod signals;
mod tool;

use std::ffi::OsString;
use std::io::{self, Write};
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::ArgMatches;
use color_eyre::eyre::{Result, WrapErr, eyre};

use crate::paths::Places;
use crate::process;
use crate::tools;

/// How long blocking work (a read of standard input) may hold up the end of the program.
const LINGER: Duration = Duration::from_millis(100);

/// Where the program was started, and as what.
struct Start {
    /// The working directory.
    cwd: PathBuf,
    /// The folders of its workspace.
    places: Places,
    /// This very program, to start again.
    program: PathBuf,
}

/// Runs the program with `argv` (program name first) and returns its exit code.
pub fn run(argv: impl IntoIterator<Item = OsString>) -> ExitCode {
    let argv: Vec<OsString> = argv.into_iter().collect();
    // The stages of a task's start come before everything: no thread, no allocation to spare.
    match argv.get(1).and_then(|word| word.to_str()) {
        Some("__host") => return process::host_main(),
        Some("__exec") => return process::exec_main(),
        _ => {}
    }
    let matches = match args::command().try_get_matches_from(argv) {
        Ok(matches) => matches,
        Err(refusal) => {
            // Nobody is left to tell when this cannot be printed.
            let _ = refusal.print();
            return ExitCode::from(u8::try_from(refusal.exit_code()).unwrap_or(1));
        }
    };
    match prepared(&matches) {
        Ok(code) => code,
        Err(error) => {
            let _ = writeln!(io::stderr(), "pilothouse: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// Does what needs no place and no runtime; hands the rest on.
fn prepared(matches: &ArgMatches) -> Result<ExitCode> {
    color_eyre::install()?;
    match matches.subcommand() {
        Some(("version", _)) => return say(concat!("pilothouse ", env!("CARGO_PKG_VERSION"))),
        Some(("mcp", mcp)) => {
            if let Some(("config", config)) = mcp.subcommand() {
                return mcp::config(config);
            }
        }
        _ => {}
    }
    let start = Start::find()?;
    log::start(&start.places.state_dir)?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .wrap_err("start the async runtime")?;
    let ended = runtime.block_on(dispatch(matches, &start));
    runtime.shutdown_timeout(LINGER);
    ended
}

async fn dispatch(matches: &ArgMatches, start: &Start) -> Result<ExitCode> {
    match matches.subcommand() {
        None => open(start).await,
        Some(("mcp", args)) => mcp::run(start, args).await,
        Some(("serve", args)) => serve::run(start, args).await,
        #[cfg(feature = "console")]
        Some(("demo", _)) => demo::run(start).await,
        Some((group, rest)) => {
            let (tool, args) =
                args::tool(group, rest).ok_or_else(|| eyre!("no command is called {group}"))?;
            tool::run(start, tool, args).await
        }
    }
}

#[cfg(feature = "console")]
async fn open(start: &Start) -> Result<ExitCode> {
    console::run(start).await
}

#[cfg(not(feature = "console"))]
async fn open(_start: &Start) -> Result<ExitCode> {
    Err(eyre!("this program was built without the console; see `pilothouse help`"))
}

impl Start {
    fn find() -> Result<Self> {
        let cwd = std::env::current_dir().wrap_err("find the working directory")?;
        let named = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from).filter(|dir| dir.is_absolute());
        let places = Places::find(&cwd, named.or_else(usual_runtime_dir).as_deref())?;
        let program = std::env::current_exe().wrap_err("find this program")?;
        Ok(Self { cwd, places, program })
    }
}

/// Returns the folder `XDG_RUNTIME_DIR` names where it is set. Many agents start their servers
/// without that variable, and agent and console must meet in the same folder all the same.
fn usual_runtime_dir() -> Option<PathBuf> {
    let me = rustix::process::geteuid().as_raw();
    let dir = PathBuf::from(format!("/run/user/{me}"));
    let facts = dir.symlink_metadata().ok()?;
    (facts.is_dir() && facts.uid() == me && facts.mode() & 0o077 == 0).then_some(dir)
}

/// Prints a line for the caller.
fn say(line: &str) -> Result<ExitCode> {
    match writeln!(io::stdout(), "{}", line.trim_end_matches('\n')) {
        // Whoever read enough has closed the pipe.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(ExitCode::from(141)),
        Err(error) => Err(error).wrap_err("write to standard output"),
        Ok(()) => Ok(ExitCode::SUCCESS),
    }
}
