//! What a command has at hand: the outside world through one trait, and the runtime of the
//! workspace, joined or embedded when the first command needs it.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;

use serde_json::Value;

use super::code::Code;
use super::response::Failure;
use crate::envelope::Actor;
use crate::link::{Access, Error, Scripts, Started};
use crate::paths::Places;
use crate::runtime::{Handle, Metrics};
use crate::tools::{self, Answer, Caller, IdempotencyKeys};

/// What lies outside: implemented where argv and environment are read.
pub trait Host: Send + Sync {
    /// Returns an environment variable.
    fn variable(&self, name: &str) -> Option<OsString>;

    /// Returns the folders of the workspace.
    ///
    /// # Errors
    /// When there is no working directory or no home.
    fn places(&self) -> Result<Places, Failure>;

    /// Returns the folders in which a runtime of this workspace may have its sockets, whatever its variables were.
    fn runtime_dirs(&self) -> Vec<PathBuf> {
        Vec::new()
    }

    /// Returns the directory commands start in.
    ///
    /// # Errors
    /// When it is gone.
    fn cwd(&self) -> Result<PathBuf, Failure>;

    /// Returns how the runtime of the workspace is reached.
    ///
    /// # Errors
    /// When there is no working directory, or the settings are such that none could start.
    fn access(&self) -> Result<Access, Failure>;

    /// Starts a runtime in this process that nobody else can join, and whose tasks end with it.
    ///
    /// # Errors
    /// When it cannot be started.
    fn embed(&self) -> Result<Embedded, Failure>;

    /// Tells whether the caller asked for a runtime of this process.
    fn is_private(&self) -> bool {
        false
    }

    /// Takes note of a runtime that was started for this command and goes on after it.
    fn started(&self, _runtime: &Started) {}

    /// Asks the terminal what it can; `None` when there is none.
    fn probe_terminal(&self) -> Option<super::Probe>;

    /// Takes note of a task that the caller has been given a handle of, and that ends with this process.
    fn promised(&self, task: &str);

    /// Returns the completion script for a shell.
    fn completions(&self, shell: super::completions::Shell) -> String;

    /// Returns the manual page.
    fn man_page(&self) -> String;

    /// Returns the keys of the console; a fault in their files instead.
    ///
    /// # Errors
    /// When there is no place for them, or no console.
    fn keys(&self) -> Result<Result<Vec<super::KeyRow>, crate::config::Faults>, Failure> {
        Err(Failure::new(Code::Precondition, "This program was built without the console, and has no keys."))
    }

    /// Checks the files that keys and themes stand in.
    ///
    /// # Errors
    /// When there is no place for them.
    fn check_looks(&self) -> Result<super::Looks, Failure> {
        Ok((Vec::new(), Vec::new()))
    }

    /// Reads standard input to its end, at most so many bytes and one more. Blocks.
    ///
    /// # Errors
    /// When it belongs to something else: a stream of commands, or a terminal.
    fn standard_input(&self, _limit: u64) -> Result<Vec<u8>, Failure> {
        let message = "Standard input is not this command's to read.";
        Err(Failure::new(Code::ArgError, message).fix("give the path of a file"))
    }
}

/// A runtime in this process.
#[derive(Debug, Clone)]
pub struct Embedded {
    /// The runtime.
    pub runtime: Handle,
    /// Its answers to requests that must not be done twice.
    pub idempotency: Arc<IdempotencyKeys>,
}

/// What commands run with, one after the other.
pub struct Context {
    /// The outside world.
    pub host: Arc<dyn Host>,
    engine: Engine,
}

enum Engine {
    Unused,
    Joined(Scripts),
    Embedded(Embedded),
}

impl Context {
    /// Returns a context that has not needed a runtime yet.
    #[must_use]
    pub fn new(host: Arc<dyn Host>) -> Self {
        Self { host, engine: Engine::Unused }
    }

    /// Calls a tool as the actor `cli`, in the runtime of the workspace. With `once`, a request with the same key has been or is done at most once in its recording.
    /// Dropping the future gives the call up, and ends a command still in the foreground of it.
    ///
    /// # Errors
    /// When no runtime can be reached or started. A tool's own error is an answer.
    pub async fn call(&mut self, tool: &str, input: Value, once: Option<&str>) -> Result<Answer, Failure> {
        self.engage(starts(tool)).await?;
        // Taken out for the call: a connection with an answer still to come is of no use to the next.
        match std::mem::replace(&mut self.engine, Engine::Unused) {
            Engine::Joined(mut scripts) => {
                let answer = scripts.call(tool, input, once).await.map_err(|error| broken(&error))?;
                self.engine = Engine::Joined(scripts);
                Ok(answer)
            }
            Engine::Embedded(embedded) => {
                let Embedded { runtime, idempotency } = embedded.clone();
                self.engine = Engine::Embedded(embedded);
                let caller = Caller { actor: Actor::Cli, cwd: self.host.cwd()? };
                let answer = tools::call_once(&runtime, &caller, &idempotency, once, tool, input).await;
                let handle =
                    answer.envelope.result().and_then(|result| result.pointer("/task_handle/task_id"));
                if let Some(task) = handle.and_then(Value::as_str) {
                    self.host.promised(task);
                }
                Ok(answer)
            }
            Engine::Unused => Err(Failure::running(Code::InternalError, "No runtime was engaged.")),
        }
    }

    /// Reads the counters of the runtime that serves the workspace; starts none.
    ///
    /// # Errors
    /// When none runs, or it cannot be reached.
    pub async fn metrics(&mut self) -> Result<Metrics, Failure> {
        match std::mem::replace(&mut self.engine, Engine::Unused) {
            Engine::Embedded(embedded) => {
                let metrics = embedded.runtime.metrics();
                self.engine = Engine::Embedded(embedded);
                Ok(metrics)
            }
            Engine::Joined(scripts) => self.read_metrics(scripts).await,
            Engine::Unused => {
                let socket = self.host.places()?.agent_socket();
                match Scripts::dial(&socket, self.host.cwd()?).await {
                    Ok(scripts) => self.read_metrics(scripts).await,
                    Err(Error::NoRuntime { .. }) => Err(Failure::new(
                        Code::Precondition,
                        "No runtime serves this workspace, so nothing is counted.",
                    )
                    .fix("start `pilothouse` or `pilothouse serve` first")),
                    Err(error) => Err(broken(&error)),
                }
            }
        }
    }

    async fn read_metrics(&mut self, mut scripts: Scripts) -> Result<Metrics, Failure> {
        let metrics = scripts.metrics().await.map_err(|error| broken(&error))?;
        self.engine = Engine::Joined(scripts);
        Ok(metrics)
    }

    /// Connects to the runtime of the workspace, if one serves it, to show something there.
    pub(super) async fn join(&self) -> Option<Scripts> {
        if self.host.is_private() {
            return None;
        }
        let socket = self.host.places().ok()?.agent_socket();
        Scripts::dial(&socket, self.host.cwd().ok()?).await.ok()
    }

    /// Joins the runtime of the workspace. Where none serves it, a command that starts something has one started, in a
    /// process of its own: what others run there does not end with this command. Anything else finds nothing that
    /// runs, and reads what is on record from a runtime of this process, which leaves no recording.
    async fn engage(&mut self, starts: bool) -> Result<(), Failure> {
        match &self.engine {
            Engine::Joined(_) => return Ok(()),
            Engine::Embedded(_) if self.host.is_private() || !starts => return Ok(()),
            Engine::Embedded(_) | Engine::Unused => {}
        }
        if self.host.is_private() || !starts && self.is_alone().await? {
            self.engine = Engine::Embedded(self.host.embed()?);
            return Ok(());
        }
        let (access, cwd) = (self.host.access()?, self.host.cwd()?);
        let dial = |places: Places| {
            let cwd = cwd.clone();
            async move { Scripts::dial(&places.agent_socket(), cwd).await }
        };
        let (scripts, started) = access.join(dial).await.map_err(|error| broken(&error))?;
        if let Some(started) = started {
            self.host.started(&started);
        }
        self.engine = Engine::Joined(scripts);
        Ok(())
    }

    /// Tells whether no runtime serves the workspace.
    async fn is_alone(&self) -> Result<bool, Failure> {
        let access = self.host.access()?;
        Ok(tokio::task::spawn_blocking(move || access.is_vacant()).await.unwrap_or(false))
    }
}

/// Tells whether a tool starts commands. All others are about what already runs or is on record.
fn starts(tool: &str) -> bool {
    matches!(tool, "ExecCommand" | "ExecCommandBatch")
}

/// Tells that the way to the runtime is broken, or that none can be started.
#[must_use]
pub fn broken(error: &Error) -> Failure {
    let failure = Failure::internal(error);
    match error {
        Error::Gone | Error::Talk(_) => {
            Failure::running(Code::Unavailable, "The runtime of this workspace went away during the call.")
                .fix("try again: another runtime takes over")
                .detail(failure.text())
        }
        Error::NoRoom { path } => {
            let text = format!("There is no room in {} for the record of a runtime.", path.display());
            Failure::running(Code::LowDiskSpace, text).fix("free some space")
        }
        Error::TooManyConnections { .. } => {
            Failure::running(Code::TooManyConnections, format!("{error}.")).fix("try again in a moment")
        }
        Error::Handshake { .. } | Error::Silent { .. } => {
            Failure::running(Code::Unavailable, "Another runtime of this workspace is starting or ending.")
                .fix("try again in a moment")
                .detail(failure.text())
        }
        Error::Unreachable { .. } | Error::Failed { .. } => {
            Failure::running(Code::Unavailable, failure.text())
        }
        _ => failure,
    }
}
