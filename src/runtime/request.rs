//! What can be asked of the runtime, and what it answers.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tokio::sync::watch;

use super::{BatchItem, TaskView};
use crate::envelope::{Actor, TaskId};
use crate::facts::{RejectionReason, StopSignal};
use crate::process::Leftovers;
use crate::terminal::{KeyPress, Size};

/// Starts a command. Defaults and clamps are the tool's business; here every field is decided.
#[derive(Debug, Clone)]
pub struct ExecRequest {
    /// Who asks.
    pub actor: Actor,
    /// Number of the call this belongs to.
    pub call: u64,
    /// The command line, not blank.
    pub cmd: String,
    /// Shell to run it, or the default.
    pub shell: Option<String>,
    /// Run as a login shell.
    pub login: bool,
    /// Starting directory as asked.
    pub workdir: Option<String>,
    /// The caller's directory, used when `workdir` is absent.
    pub base: PathBuf,
    /// Give it a PTY.
    pub tty: bool,
    /// Size of the PTY when asked for.
    pub size: Option<Size>,
    /// Keep stdin open.
    pub accepts_input: bool,
    /// How long the caller waits before the command becomes a task; zero promotes at once, `None` never.
    pub yield_after: Option<Duration>,
    /// Ends the tree after this long.
    pub timeout: Option<Duration>,
    /// What to do with processes that outlive the shell.
    pub leftovers: Leftovers,
    /// Why, in one line, for the operator.
    pub description: Option<String>,
    /// Its place in a batch, if it is an item of one.
    pub item: Option<BatchItem>,
    /// What else holds for it as a step of a program, if it is one.
    pub step: Option<Step>,
    /// The id of the task, where it is a command of an agent's own shell: it may start in any directory (`base`).
    pub native: Option<TaskId>,
}

impl ExecRequest {
    /// Tells whether it may have a terminal beside its streams: a single command whose input is nobody's yet.
    pub(super) fn can_be_asked(&self) -> bool {
        !self.tty && !self.accepts_input && self.item.is_none() && self.step.is_none()
    }

    /// Returns the id that was chosen for its task, if one was.
    pub(super) fn chosen_id(&self) -> Option<&TaskId> {
        self.step.as_ref().map(|step| &step.id).or(self.native.as_ref())
    }
}

/// The task that a caller runs in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Within {
    /// The task.
    pub task: TaskId,
    /// It holds an agent (`PILOTHOUSE_TASK_KIND=agent`).
    pub is_agent: bool,
}

/// What holds for the command of a program: sourced by a shell without profiles, in any directory
/// (`base`), with the runtime's environment as it is, ended with [`STEP_GRACE`].
#[derive(Debug, Clone)]
pub struct Step {
    /// Its id, chosen by its caller, who may have to end it before it is known to have started.
    pub id: TaskId,
    /// Variables it gets beside those it inherits.
    pub variables: Vec<(String, String)>,
    /// The mark of the run, which is written while the command comes up: it does nothing before that is on disk.
    pub marked: Marked,
}

/// Something that is being written to disk. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Marked(watch::Receiver<Option<Result<(), String>>>);

impl Marked {
    /// Writes it, on another thread.
    #[must_use]
    pub fn by(write: impl FnOnce() -> io::Result<()> + Send + 'static) -> Self {
        let (done, marked) = watch::channel(None);
        tokio::task::spawn_blocking(move || {
            done.send_replace(Some(write().map_err(|error| error.to_string())))
        });
        Self(marked)
    }

    /// Waits until it is on disk.
    ///
    /// # Errors
    /// When it is not, and never will be.
    pub async fn on_disk(&self) -> Result<(), String> {
        let mut marked = self.0.clone();
        match marked.wait_for(Option::is_some).await {
            Ok(done) => done.clone().unwrap_or(Ok(())),
            Err(_) => Err("it was given up".to_owned()),
        }
    }
}

/// Time between TERM and KILL for the command of a program.
pub const STEP_GRACE: Duration = Duration::from_secs(2);

/// How the call that started a command ends.
#[derive(Debug, Clone)]
pub enum ExecOutcome {
    /// The command ended within the wait.
    Completed(Arc<TaskView>),
    /// It runs on as a managed task.
    Promoted(Arc<TaskView>),
    /// The operator has not released it within the wait: nothing has started.
    Held(Arc<TaskView>),
}

/// What a wait is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Until {
    /// The task is terminal and all its output is in.
    Terminal,
    /// More than `beyond` bytes are in the merged log, or the task is terminal.
    Output {
        /// A position in the merged log.
        beyond: u64,
    },
}

/// Something to send to a task.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Input {
    /// Text, verbatim.
    Text(String),
    /// Keys by name, encoded as the terminal's modes ask (tty only).
    Keys(Vec<KeyPress>),
    /// End of input: closes stdin, or types the terminal's end-of-file character.
    Eof,
    /// A new size (tty only).
    Resize(Size),
    /// Bytes already encoded, typed by a person.
    Raw(Vec<u8>),
    /// A paste, bracketed when the program asked for that.
    Paste(String),
}

/// Where input goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum InputTarget {
    /// The pipe to its standard input.
    Stdin,
    /// Its terminal.
    Tty,
}

/// What became of an input.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct InputOutcome {
    /// It was taken.
    pub accepted: bool,
    /// Where it went or would have gone.
    pub target: Option<InputTarget>,
    /// Bytes handed to the task.
    pub bytes_written: u64,
    /// Why it was refused.
    pub rejection: Option<Rejection>,
    /// The task after it.
    pub task: Arc<TaskView>,
}

/// Why an input was refused; the task is untouched.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rejection {
    /// The reason in one word.
    pub reason: RejectionReason,
    /// The reason in a sentence, with what to do next.
    pub message: String,
}

/// How a task is to be stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Stop {
    /// KILL at once.
    pub force: bool,
    /// Only send this signal; the state does not change by itself.
    pub signal: Option<StopSignal>,
}

/// What a stop did.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct StopOutcome {
    /// The effect so far.
    pub effect: StopEffect,
    /// The task after it.
    pub task: Arc<TaskView>,
}

/// The effect of a stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
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
