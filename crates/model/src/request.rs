//! Requests to a runtime and their results.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::{BatchItem, RejectionReason, StopSignal, TaskView};
use pilothouse_envelope::{Actor, TaskId};
use pilothouse_terminal::{KeyPress, Size};

/// A request to start a command. The tools apply defaults and limits; here every field is final.
#[derive(Debug, Clone)]
pub struct ExecRequest {
    /// Who makes the request.
    pub actor: Actor,
    /// Number of the call this belongs to.
    pub call: u64,
    /// The command line, not blank.
    pub cmd: String,
    /// The shell to run it; `None` for the default.
    pub shell: Option<String>,
    /// Run as a login shell.
    pub login: bool,
    /// The starting directory as requested.
    pub workdir: Option<String>,
    /// The caller's directory, used when `workdir` is absent.
    pub base: PathBuf,
    /// Whether to give it a PTY.
    pub tty: bool,
    /// The size of the PTY, if specified.
    pub size: Option<Size>,
    /// Whether to keep stdin open.
    pub accepts_input: bool,
    /// How long the caller waits before the command becomes a task; zero promotes immediately, `None` never.
    pub yield_after: Option<Duration>,
    /// The time limit, after which the tree is ended.
    pub timeout: Option<Duration>,
    /// What to do with processes that outlive the shell.
    pub leftovers: Leftovers,
    /// The reason, in one line, for the operator.
    pub description: Option<String>,
    /// Its place in a batch, if it is an item of one.
    pub item: Option<BatchItem>,
    /// Further settings for a step of a program, if it is one.
    pub step: Option<ProgramStep>,
    /// Set if it is a command from an agent's own shell; such a command may start in any directory (`base`).
    pub native: Option<NativeTask>,
}

/// The task of a command from an agent's own shell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NativeTask {
    pub id: TaskId,
    /// Whether its terminal stands for one of its caller, which types there and reads what the command writes.
    pub has_callers_terminal: bool,
    /// The agent's session that runs it, as the agent names it.
    pub session: Option<String>,
}

impl ExecRequest {
    /// Tells whether it may have a terminal beside its streams: a single command without input of its own.
    pub fn can_be_asked(&self) -> bool {
        !self.tty && !self.accepts_input && self.item.is_none() && self.step.is_none()
    }

    /// Tells whether it may run outside the workspace: as a program's, or in place of an agent's own shell.
    pub fn runs_anywhere(&self) -> bool {
        self.step.is_some() || self.native.is_some()
    }

    /// Tells whether its terminal stands for one of its caller.
    pub fn has_callers_terminal(&self) -> bool {
        self.native.as_ref().is_some_and(|native| native.has_callers_terminal)
    }

    /// Tells whether its caller runs many commands, one after another: the items of a batch, or a program's.
    pub fn is_one_of_many(&self) -> bool {
        self.item.is_some() || self.step.is_some()
    }

    /// Returns the id chosen for its task, if any.
    pub fn chosen_id(&self) -> Option<&TaskId> {
        self.step.as_ref().map(|step| &step.id).or(self.native.as_ref().map(|native| &native.id))
    }
}

/// The task that a caller runs in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParentTask {
    pub task: TaskId,
    /// Whether the task holds an agent (`PILOTHOUSE_TASK_KIND=agent`).
    pub is_agent: bool,
}

/// Settings for a command of a program: it is sourced by a shell without profiles, in any directory (`base`), with
/// the runtime's environment unchanged, and is ended with a grace period of [`STEP_GRACE`].
#[derive(Debug, Clone)]
pub struct ProgramStep {
    /// The task's id, chosen by the caller, which may have to end the command before it is known to have started.
    pub id: TaskId,
    /// Variables it gets in addition to those it inherits.
    pub variables: Vec<(String, String)>,
}

/// Time between TERM and KILL for the command of a program.
pub const STEP_GRACE: Duration = Duration::from_secs(2);

/// How the call that started a command ended.
#[derive(Debug, Clone)]
pub enum ExecOutcome {
    /// The command ended within the wait.
    Completed(Arc<TaskView>),
    /// It continues as a managed task.
    Promoted(Arc<TaskView>),
    /// The operator did not release it within the wait, or its turn in its lane did not come; nothing was started.
    Held(Arc<TaskView>),
}

/// The condition a wait is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Until {
    /// The task is terminal and all its output has arrived.
    Terminal,
    /// The merged log has more than `beyond` bytes, or the task is terminal.
    Output {
        /// A position in the merged log.
        beyond: u64,
    },
    /// The task listens on a port, or is terminal.
    Listening,
}

/// The most bytes that may be sent to a task at once, and that may wait for it to read them.
pub const MOST_INPUT: usize = 1 << 20;

/// Input to send to a task.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TypedInput {
    /// Text, unchanged but that CR LF is one end of a line to a terminal.
    Text(String),
    /// Keys by name, encoded as the terminal's modes require (tty only).
    Keys(Vec<KeyPress>),
    /// Text, then keys (tty only).
    TextThenKeys(String, Vec<KeyPress>),
    /// End of input: closes stdin, or types the terminal's end-of-file character.
    Eof,
    /// A new size (tty only).
    Resize(Size),
    /// Bytes already encoded, typed by a person.
    Raw(Vec<u8>),
    /// What the person's terminal reports by itself, already encoded: its focus, or the mouse passing over the pane. It
    /// counts as nobody's typing.
    Report(Vec<u8>),
    /// A paste, bracketed if the program enabled that.
    Paste(String),
}

/// Destination of input.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum InputTarget {
    /// The pipe to its standard input.
    Stdin,
    /// Its terminal.
    Tty,
}

/// The outcome of sending input.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct InputOutcome {
    /// Whether the input was accepted.
    pub accepted: bool,
    /// Where it went, or would have gone.
    pub target: Option<InputTarget>,
    /// Bytes handed to the task.
    pub bytes_written: u64,
    /// Why it was refused.
    pub rejection: Option<InputRejection>,
    /// The task afterwards.
    pub task: Arc<TaskView>,
}

/// Why input was rejected; the task is unaffected.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct InputRejection {
    /// The reason in one word.
    pub reason: RejectionReason,
    /// The reason in a sentence, with what to do next.
    pub message: String,
}

/// How to stop a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Stop {
    /// Whether to KILL immediately.
    pub force: bool,
    /// Send only this signal; the state does not change by itself.
    pub signal: Option<StopSignal>,
}

/// The result of a stop.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct StopOutcome {
    /// The effect so far.
    pub effect: StopEffect,
    /// The task afterwards.
    pub task: Arc<TaskView>,
}

/// The effect of a stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum StopEffect {
    /// Its tree is being ended.
    Cancelling,
    /// It has ended.
    Cancelled,
    /// The signal was sent.
    Signalled,
    /// It had ended before.
    Noop,
}

/// Action taken on processes that outlive their shell.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Leftovers {
    /// Pilothouse ends them.
    #[default]
    End,
    /// They keep running; the host stays with them.
    Keep,
}
