//! The environment that commands run in: variables, file locations, access to the runtime, and a runtime in this
//! process for `--private` and for reading recordings.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::io::{IsTerminal, Read};
use std::path::PathBuf;
use std::sync::{Mutex, OnceLock, PoisonError};

use super::program_start::ProgramStart;
use super::server::RuntimeServer;
use super::{args, log, print, probe, remote};
#[cfg(feature = "console")]
use crate::config::Fault;
use crate::config::{Faults, LoadedSettings};
use crate::dispatch::{self, Code, Failure, Host, PrivateRuntime, Probe, Shell};
use crate::link::{Access, RemoteHost, RunningRuntime, StartedRuntime};
use crate::model::CloseReason;
use crate::paths::Places;

/// The process's environment, read on demand.
#[derive(Default)]
pub(super) struct ProcessHost {
    start: OnceLock<ProgramStart>,
    server: Mutex<Option<RuntimeServer>>,
    promised: Mutex<BTreeSet<String>>,
    /// Whether standard input carries lines of `exec`.
    is_stream: bool,
    /// Whether commands run in this process, without sockets.
    is_private: bool,
}

impl ProcessHost {
    /// Creates an environment. `is_stream`: standard input carries lines of `exec`. `is_private`: commands run in
    /// this process and end with it.
    pub(super) fn new(is_stream: bool, is_private: bool) -> Self {
        Self { is_stream, is_private, ..Self::default() }
    }

    /// Returns where the program was started, finding it on first use.
    pub(super) fn start(&self) -> Result<&ProgramStart, Failure> {
        if let Some(start) = self.start.get() {
            return Ok(start);
        }
        let start =
            ProgramStart::find().map_err(|error| Failure::new(Code::Precondition, format!("{error:#}")))?;
        Ok(self.start.get_or_init(|| start))
    }

    /// Shuts down this process's runtime, if there is one, and reports the tasks that end with it.
    pub(super) async fn close(&self) {
        let server = self.server.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(server) = server else { return };
        let snapshot = server.runtime.snapshot().borrow().clone();
        let is_over =
            |id: &str| snapshot.tasks.iter().any(|task| task.id.as_str() == id && task.status.is_terminal());
        let promised = self.promised.lock().unwrap_or_else(PoisonError::into_inner).clone();
        for task in promised.iter().filter(|id| !is_over(id)) {
            // A failure to report this must not prevent the shutdown.
            let _ = print::say(format_args!("{task} ends with this command, because of --private"));
        }
        if let Err(error) = server.close(CloseReason::CommandOver).await {
            let _ = print::say(format_args!("{error:#}"));
        }
    }
}

impl Host for ProcessHost {
    fn variable(&self, name: &str) -> Option<OsString> {
        std::env::var_os(name)
    }

    fn variables(&self) -> Vec<(String, OsString)> {
        std::env::vars_os().filter_map(|(name, value)| Some((name.into_string().ok()?, value))).collect()
    }

    fn places(&self) -> Result<Places, Failure> {
        self.start().map(ProgramStart::served_places)
    }

    fn runtime_dirs(&self) -> Vec<PathBuf> {
        self.start().map(ProgramStart::runtime_dirs).unwrap_or_default()
    }

    fn program(&self) -> Option<PathBuf> {
        self.start().ok().map(|start| start.program.clone())
    }

    fn cwd(&self) -> Result<PathBuf, Failure> {
        self.start().map(|start| start.cwd.clone())
    }

    fn access(&self) -> Result<Access, Failure> {
        let start = self.start()?;
        // A runtime that cannot start would only report that in its log; the caller reads this command's output.
        LoadedSettings::read(&start.places.config_dir, &start.places.workspace)
            .map_err(|Faults(faults)| dispatch::invalid_settings(&faults))?;
        Ok(start.access())
    }

    fn embed(&self) -> Result<PrivateRuntime, Failure> {
        let start = self.start()?;
        let failed = |error| Failure::running(Code::InternalError, format!("{error:#}"));
        LoadedSettings::read(&start.places.config_dir, &start.places.workspace)
            .map_err(|Faults(faults)| dispatch::invalid_settings(&faults))?;
        let mut kept = self.server.lock().unwrap_or_else(PoisonError::into_inner);
        let server = match kept.take() {
            Some(server) => server,
            None => {
                log::start(&start.places.state_dir).map_err(failed)?;
                RuntimeServer::private(&start.places).map_err(|error| match error.downcast_ref() {
                    Some(error) => dispatch::link_failure(error),
                    None => failed(error),
                })?
            }
        };
        let embedded =
            PrivateRuntime { runtime: server.runtime.clone(), idempotency: server.idempotency.clone() };
        *kept = Some(server);
        Ok(embedded)
    }

    fn is_private(&self) -> bool {
        self.is_private
    }

    fn announce_runtime(&self, runtime: &StartedRuntime) {
        if let Ok(start) = self.start() {
            // A failure to report this is not a reason to fail.
            let _ = print::say(runtime.notice(&start.places));
        }
    }

    fn remote_host(&self, name: &str) -> Result<RemoteHost, Failure> {
        remote::host(self.start()?, name).map_err(|error| dispatch::link_failure(&error))
    }

    fn runtimes(&self) -> Vec<RunningRuntime> {
        self.start().map(|start| RunningRuntime::list(&start.places.locks())).unwrap_or_default()
    }

    fn machine(&self) -> String {
        remote::machine()
    }

    fn probe_terminal(&self) -> Option<Probe> {
        probe::probe()
    }

    fn note_promise(&self, task: &str) {
        self.promised.lock().unwrap_or_else(PoisonError::into_inner).insert(task.to_owned());
    }

    fn completions(&self, shell: Shell) -> String {
        let (shell, more) = match shell {
            Shell::Bash => (clap_complete::Shell::Bash, String::new()),
            Shell::Zsh => (clap_complete::Shell::Zsh, String::new()),
            Shell::Fish => (clap_complete::Shell::Fish, super::fish::values()),
        };
        let mut script = Vec::new();
        clap_complete::generate(shell, &mut args::tree(), "pilothouse", &mut script);
        String::from_utf8_lossy(&script).into_owned() + &more
    }

    #[cfg(feature = "console")]
    fn keys(&self) -> Result<Result<Vec<dispatch::KeyRow>, Faults>, Failure> {
        Ok(super::console_flags::keys(&self.start()?.places.config_dir))
    }

    #[cfg(feature = "console")]
    fn check_console_files(&self) -> Result<(Vec<String>, Vec<Fault>), Failure> {
        Ok(crate::console::theme::check(&self.start()?.places.config_dir))
    }

    fn standard_input(&self, limit: u64) -> Result<Vec<u8>, Failure> {
        if self.is_stream || std::io::stdin().is_terminal() {
            let owner = if self.is_stream { "the stream of commands" } else { "the terminal" };
            return Err(Failure::new(Code::ArgError, format!("Standard input belongs to {owner}."))
                .fix("give the path of a file, or pipe the input in"));
        }
        let mut bytes = Vec::new();
        let read = std::io::stdin().lock().take(limit + 1).read_to_end(&mut bytes);
        let failed = |error: std::io::Error| {
            Failure::new(Code::InputFileUnreadable, "Standard input cannot be read.")
                .detail(error.to_string())
        };
        read.map(|_| bytes).map_err(failed)
    }

    fn man_pages(&self) -> Vec<(String, String)> {
        let mut tree = args::tree().disable_help_subcommand(true);
        tree.build();
        let mut pages = Vec::new();
        man_pages(tree, &mut pages);
        pages
    }
}

/// Adds the manual pages of a command: those of its subcommands, then its own.
fn man_pages(command: clap::Command, pages: &mut Vec<(String, String)>) {
    for inner in command.get_subcommands().cloned() {
        man_pages(inner, pages);
    }
    let page = clap_mangen::Man::new(command);
    let mut text = Vec::new();
    // Writing to a vector cannot fail.
    let _ = page.render(&mut text);
    pages.push((page.get_filename(), String::from_utf8_lossy(&text).into_owned()));
}
