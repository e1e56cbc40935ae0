//! The context of a command: its host, and the workspace's runtime, joined or embedded when first needed.

use std::io;
use std::sync::Arc;

use serde_json::{Value, json};

use super::code::Code;
use super::host::{Host, PrivateRuntime};
use super::response::Failure;
use crate::envelope::{Actor, CallOutcome, TaskId};
use crate::link::{Act, Error, Holder, Reply, Request, Scripts, answer};
use crate::model::{Metrics, StatusCounts, Subject, UndoReport, UndoRequest};
use crate::paths::Places;
use crate::runtime::StoredStreams;
use crate::tools::{self, CallAnswer, Caller, CutHandle};

/// The shared context of commands that run one after another.
pub struct CommandContext {
    /// The interface to the process's environment.
    pub host: Arc<dyn Host>,
    engine: Engine,
}

enum Engine {
    Unused,
    Joined(Scripts),
    Embedded(PrivateRuntime),
}

impl CommandContext {
    /// Returns a context that has not used a runtime yet.
    pub fn new(host: Arc<dyn Host>) -> Self {
        Self { host, engine: Engine::Unused }
    }

    /// Calls a tool as the actor `cli`, in the workspace's runtime. Requests with the same key `once` are executed at
    /// most once per recording. When `cut` is triggered, a command that is still in the foreground of the call is
    /// ended and its outcome is returned. Dropping the future abandons the call.
    ///
    /// # Errors
    /// When no runtime can be reached or started. A tool's own error is an answer.
    pub async fn call(
        &mut self,
        tool: &str,
        input: Value,
        once: Option<&str>,
        cut: &CutHandle,
    ) -> Result<CallAnswer, Failure> {
        self.engage(starts(tool)).await?;
        // Taken out during the call: a connection with an answer still to come cannot be used for the next one.
        match std::mem::replace(&mut self.engine, Engine::Unused) {
            Engine::Joined(mut scripts) => {
                let called = scripts.call(tool, input, once, cut).await;
                let answer = called.map_err(|error| call_failure(&error, tool))?;
                self.engine = Engine::Joined(scripts);
                Ok(answer)
            }
            Engine::Embedded(embedded) => {
                let PrivateRuntime { runtime, idempotency } = embedded.clone();
                self.engine = Engine::Embedded(embedded);
                let caller = Caller::new(Actor::Cli, self.host.cwd()?);
                let caller = Caller { begun: cut.call_number().clone(), ..caller };
                cut.mark_sent();
                let answer = tools::call_once(&runtime, &caller, &idempotency, once, tool, input, cut).await;
                let handle =
                    answer.envelope.result().and_then(|result| result.pointer("/task_handle/task_id"));
                if let Some(task) = handle.and_then(Value::as_str) {
                    self.host.note_promise(task);
                }
                Ok(answer)
            }
            Engine::Unused => Err(Failure::running(Code::InternalError, "No runtime was engaged.")),
        }
    }

    /// Returns where the exact output of a task is stored, byte for byte; the task must have been started through
    /// this context.
    ///
    /// # Errors
    /// When it is gone.
    pub async fn streams(&mut self, task: &TaskId) -> Result<StoredStreams, Failure> {
        match self.ask(Act::Streams.on(task.clone())).await? {
            Ok(Reply::Streams(streams)) => Ok(streams),
            odd => {
                let gone = Failure::running(Code::NotFound, "The command's output is gone.");
                Err(gone.detail(odd.err().unwrap_or(Error::Gone).to_string()))
            }
        }
    }

    /// Undoes what differs in the workspace's tree since a task began, or tells what that would do. A runtime is started if
    /// none runs.
    ///
    /// # Errors
    /// When nothing is known that could be undone.
    pub async fn undo(&mut self, request: UndoRequest) -> Result<UndoReport, Failure> {
        // It engages a runtime, and says if there is no such task.
        let status = json!({"task_id": request.task});
        let answer = self.call("TaskStatus", status, None, &CutHandle::default()).await?;
        if let CallOutcome::Error(error) = answer.envelope.outcome() {
            return Err(error.clone().into());
        }
        match self.ask(request.into()).await? {
            Ok(Reply::Undo(report)) => Ok(report),
            odd => {
                let refused = Failure::running(Code::Precondition, "It cannot be undone.");
                Err(refused.detail(odd.err().unwrap_or(Error::Gone).to_string()))
            }
        }
    }

    /// Reads the counters of the workspace's runtime; never starts one.
    ///
    /// # Errors
    /// When none runs, or it cannot be reached.
    pub async fn metrics(&mut self) -> Result<Metrics, Failure> {
        match self.ask(Act::Metrics.on(Subject::Runtime)).await? {
            Ok(Reply::Metrics(metrics)) => Ok(*metrics),
            Err(Error::NoRuntime { .. }) => {
                let none = "No runtime serves this workspace, so nothing is counted.";
                Err(Failure::new(Code::Precondition, none)
                    .fix("start `pilothouse` or `pilothouse serve` first"))
            }
            odd => Err(link_failure(&odd.err().unwrap_or(Error::Gone))),
        }
    }

    /// Returns how many tasks run and wait in the workspace's runtime; `None` if there is none.
    ///
    /// # Errors
    /// When it cannot be reached.
    pub async fn status_counts(&mut self) -> Result<Option<StatusCounts>, Failure> {
        match self.ask(Act::Standing.on(Subject::Runtime)).await? {
            Ok(Reply::Standing(standing)) => Ok(Some(standing)),
            Err(Error::NoRuntime { .. }) => Ok(None),
            odd => Err(link_failure(&odd.err().unwrap_or(Error::Gone))),
        }
    }

    /// Sends a request to the runtime that is used, or else to the one that serves the workspace; starts none.
    async fn ask(&mut self, request: Request) -> Result<Result<Reply, Error>, Failure> {
        let mut scripts = match std::mem::replace(&mut self.engine, Engine::Unused) {
            Engine::Joined(scripts) => scripts,
            Engine::Embedded(embedded) => {
                let runtime = embedded.runtime.clone();
                self.engine = Engine::Embedded(embedded);
                return Ok(answer(&runtime, &Actor::Cli, request).await);
            }
            Engine::Unused => {
                let places = self.host.places()?;
                match Scripts::dial(&places.agent_socket(), self.host.cwd()?).await {
                    Ok(scripts) => scripts,
                    Err(error) => return Ok(Err(Holder::of(&places).explain(error))),
                }
            }
        };
        let reply = scripts.ask(request).await;
        self.engine = Engine::Joined(scripts);
        Ok(reply)
    }

    /// Connects to the workspace's runtime, if there is one, to show something in it.
    pub(super) async fn join(&self) -> Option<Scripts> {
        if self.host.is_private() {
            return None;
        }
        let socket = self.host.places().ok()?.agent_socket();
        Scripts::dial(&socket, self.host.cwd().ok()?).await.ok()
    }

    /// Joins the workspace's runtime. If there is none, a command that starts something has one started in a process
    /// of its own, so that what others run there does not end with this command. For any other command there is
    /// nothing running to find: it reads recorded data through a runtime in this process, which leaves no recording.
    async fn engage(&mut self, starts: bool) -> Result<(), Failure> {
        match &self.engine {
            Engine::Joined(_) => return Ok(()),
            Engine::Embedded(_) if self.host.is_private() || !starts => return Ok(()),
            Engine::Embedded(_) | Engine::Unused => {}
        }
        let access = if self.host.is_private() { None } else { Some(self.host.access()?) };
        let Some(access) = access.filter(|access| starts || !access.is_vacant()) else {
            self.engine = Engine::Embedded(self.host.embed()?);
            return Ok(());
        };
        let cwd = self.host.cwd()?;
        let dial = |places: Places| {
            let cwd = cwd.clone();
            async move { Scripts::dial(&places.agent_socket(), cwd).await }
        };
        let (scripts, started) = access.join(true, dial).await.map_err(|error| link_failure(&error))?;
        if let Some(started) = started {
            self.host.announce_runtime(&started);
        }
        self.engine = Engine::Joined(scripts);
        Ok(())
    }
}

/// Returns whether a tool starts commands. All others concern running tasks or recorded data.
fn starts(tool: &str) -> bool {
    matches!(tool, "ExecCommand" | "ExecCommandBatch")
}

/// Converts a failure of a call that was sent to a runtime.
fn call_failure(error: &Error, tool: &str) -> Failure {
    let is_read = tools::find(tool).is_some_and(|tool| tool.hints.read_only);
    match error {
        Error::Gone | Error::Talk(_) if !is_read => {
            let message =
                "The runtime of this workspace went away during the call; the command may have run.";
            Failure::running(Code::Unavailable, message)
                .partial()
                .fix("before repeating it, see what became of it with `pilothouse task list --scope all`")
                .detail(link_failure(error).text())
        }
        _ => link_failure(error),
    }
}

/// Converts a failure to reach or start a runtime, or of a request that only reads.
pub fn link_failure(error: &Error) -> Failure {
    let failure = Failure::internal(error);
    let failure = match error {
        Error::Gone | Error::Talk(_) => {
            Failure::running(Code::Unavailable, "The runtime of this workspace went away during the call.")
                .again(": the next call starts another, or says why it cannot")
                .detail(failure.text())
        }
        Error::NoRoom { path } => {
            let text = format!("There is not enough space in {} for a runtime's record.", path.display());
            Failure::new(Code::LowDiskSpace, text).fix("free up some space")
        }
        Error::TooManyConnections { .. } => {
            Failure::new(Code::TooManyConnections, format!("{error}.")).again(", once some have ended")
        }
        Error::Handshake { .. } | Error::Silent { .. } => {
            Failure::new(Code::Unavailable, "Another runtime of this workspace is starting or ending.")
                .again(" in a moment")
                .detail(failure.text())
        }
        Error::Carried { .. } => Failure::new(Code::Unavailable, format!("{error}.")),
        Error::OtherVersion { .. } => Failure::new(Code::Precondition, format!("{error}.")),
        Error::NoHostName { .. } => Failure::new(Code::ArgError, format!("{error}.")),
        Error::Io { source, .. } if is_unwritable(source) => folder_failure(failure.text()),
        Error::Unreachable { .. } | Error::Failed { .. } => Failure::new(Code::Unavailable, failure.text()),
        _ => failure,
    };
    if error.may_pass() { failure.retryable(true) } else { failure }
}

/// Tells whether this user may not write where Pilothouse keeps its files: without a home, for example.
pub fn is_unwritable(error: &io::Error) -> bool {
    use io::ErrorKind::{NotADirectory, PermissionDenied, ReadOnlyFilesystem};
    matches!(error.kind(), PermissionDenied | ReadOnlyFilesystem | NotADirectory)
}

/// Creates the failure of a folder or file that this user may not write.
pub fn folder_failure(text: String) -> Failure {
    Failure::new(Code::Precondition, text).fix("`pilothouse doctor` says which folder, and what to do")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_home_that_cannot_be_written_is_not_an_error_of_ours() {
        let of = |kind: io::ErrorKind| {
            link_failure(&Error::Io { verb: "open", path: "/nonexistent/log".into(), source: kind.into() })
        };
        assert_eq!(of(io::ErrorKind::PermissionDenied).exit_code(), Code::Precondition.exit_code());
        assert!(of(io::ErrorKind::NotADirectory).text().contains("pilothouse doctor"));
        assert_eq!(of(io::ErrorKind::Other).exit_code(), Code::InternalError.exit_code());
    }
}
