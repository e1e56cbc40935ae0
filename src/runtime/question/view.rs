//! A question as everybody sees it: plain data.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::envelope::{Actor, TaskId};
use crate::runtime::place::PlaceName;
use crate::runtime::program::Lines;

/// An answer sooner than this after its question was shown is no person's: what was typed before, or at that moment, was
/// meant for something else.
pub const READING: Duration = Duration::from_millis(400);

/// The name of a question: `question_` and 8 random base-32 characters.
#[derive(
    Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(try_from = "String", into = "String")]
pub struct QuestionId(String);

/// A string that is no question id.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("a question id is `question_` and 8 characters of 0-9 and a-z")]
pub struct InvalidQuestionId;

impl QuestionId {
    /// Makes an id from 8 random bytes.
    #[must_use]
    pub fn from_random(random: [u8; 8]) -> Self {
        let task = TaskId::from_random(random);
        Self(task.as_str().replacen("task_", "question_", 1))
    }

    /// Borrows the id as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for QuestionId {
    type Err = InvalidQuestionId;

    fn from_str(text: &str) -> Result<Self, InvalidQuestionId> {
        let tail = text.strip_prefix("question_").ok_or(InvalidQuestionId)?;
        // The same alphabet and length as a task's.
        let is_id = format!("task_{tail}").parse::<TaskId>().is_ok();
        if is_id { Ok(Self(text.to_owned())) } else { Err(InvalidQuestionId) }
    }
}

impl TryFrom<String> for QuestionId {
    type Error = InvalidQuestionId;

    fn try_from(text: String) -> Result<Self, InvalidQuestionId> {
        text.parse()
    }
}

impl From<QuestionId> for String {
    fn from(id: QuestionId) -> Self {
        id.0
    }
}

impl fmt::Display for QuestionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// What kind of answer a question wants.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, strum::IntoStaticStr)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum QuestionKind {
    /// Yes or no.
    YesNo {
        /// What follows from a yes, e.g. `leaves the loop`; empty when that is plain.
        yes: String,
        /// What follows from a no.
        no: String,
    },
    /// One of these labels.
    Choice {
        /// In the order of the program.
        labels: Vec<String>,
    },
    /// Free text.
    Text {
        /// It is not shown while typed and never recorded.
        masked: bool,
    },
    /// Go on, or not. Only the operator may say.
    Gate {
        /// Who may approve, as the program says (`user`).
        allow: Vec<String>,
    },
    /// A command had started when its program was cut off, and nobody knows how it ended.
    InFlight,
    /// A program is about to run a command; the text is the command.
    Command,
}

impl QuestionKind {
    /// Returns the word used on every surface.
    #[must_use]
    pub fn as_str(&self) -> &'static str {
        self.into()
    }

    /// Tells whether only the operator may ever answer it.
    #[must_use]
    pub fn is_operators(&self) -> bool {
        matches!(self, Self::Gate { .. } | Self::InFlight | Self::Command | Self::Text { masked: true })
    }
}

/// Where a question comes from.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Origin {
    /// The run of a program, e.g. `20261122-043511-k3f9x2`.
    pub run: Option<String>,
    /// The program's file.
    pub program: Option<PathBuf>,
    /// The lines of its statement.
    pub lines: Option<Lines>,
    /// The name it has in the program: of the gate, the input, the agent.
    pub name: Option<String>,
    /// The id of the gate in its run: its name, with a number from the second time on.
    #[serde(default)]
    pub gate: Option<String>,
    /// A task it is about.
    pub task: Option<TaskId>,
}

/// What whoever answers can go by.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Evidence {
    /// The values the question is about, the most important first.
    pub bindings: Vec<BindingView>,
    /// Which pass of a loop this is, from 1, and how many there are at most.
    pub pass: Option<(u32, Option<u32>)>,
    /// The command in doubt, whole.
    pub command: Option<String>,
    /// Where a command would run.
    #[serde(default)]
    pub workdir: Option<PathBuf>,
}

/// A value of a program as people and agents see it: its beginning, and how it came to be.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct BindingView {
    /// Its name.
    pub name: String,
    /// `let`, `const`, `input` or `output`.
    pub kind: String,
    /// The block call it belongs to, if one.
    pub execution_id: Option<u32>,
    /// The beginning of its value.
    pub preview: String,
    /// Characters of the whole value.
    pub chars: usize,
    /// The preview is not the whole value.
    pub is_cut: bool,
    /// Exit code of the command that made it.
    pub exit_code: Option<i32>,
    /// That command's time ran out.
    pub timed_out: bool,
    /// The end of what that command wrote to stderr.
    pub stderr: Option<String>,
    /// The line that made it.
    pub line: Option<u32>,
    /// The file that holds it whole.
    pub file: Option<PathBuf>,
}

/// Who is expected to answer, and as whom.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Expected {
    /// Who: `a person`, `an agent`, `agent:LABEL`, or the program of a command.
    pub by: String,
    /// The command that is at work on it: nobody needs to do anything.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task: Option<TaskId>,
    /// The agent of the program that the session is with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// Its model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// What it may do, as the program writes it: `bash: deny`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub permissions: Vec<String>,
    /// The skills it has.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub skills: Vec<String>,
}

/// A question about to be asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Asking {
    /// Where it comes from.
    pub origin: Origin,
    /// Who runs what asks.
    pub asked_by: Actor,
    /// What answer it wants.
    pub kind: QuestionKind,
    /// The whole text, interpolated.
    pub text: String,
    /// What to go by.
    pub evidence: Evidence,
    /// How long there is to answer; none waits for ever.
    pub within: Option<Duration>,
    /// An agent may answer it. Ignored where only the operator ever may.
    pub agents: bool,
    /// Who is expected to answer, where that is known.
    pub expected: Option<Expected>,
}

/// A question that waits for its answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Question {
    /// Its id.
    pub id: QuestionId,
    /// Its number in this recording, from 1; the console writes `q03`.
    pub number: u32,
    /// Where it comes from.
    pub origin: Origin,
    /// Who runs what asks.
    pub asked_by: Actor,
    /// What answer it wants.
    #[serde(flatten)]
    pub kind: QuestionKind,
    /// The whole text.
    pub text: String,
    /// What to go by.
    pub evidence: Evidence,
    /// When it was asked.
    pub asked_at: Timestamp,
    /// When it is too late to answer.
    pub deadline: Option<Timestamp>,
    /// An agent may answer it.
    pub agents: bool,
    /// What agents said beside it, and answers that did not fit.
    pub comments: Vec<Comment>,
    /// Who is expected to answer, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected: Option<Expected>,
    /// The place it is asked at, in a console over several.
    #[serde(skip)]
    pub place: Option<Arc<PlaceName>>,
}

impl Question {
    /// Tells whether it waits for somebody: no command is at work on it.
    #[must_use]
    pub fn needs_somebody(&self) -> bool {
        self.expected.as_ref().is_none_or(|expected| expected.task.is_none())
    }
}

/// A remark beside a question.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Comment {
    /// Who.
    pub by: Actor,
    /// When.
    pub at: Timestamp,
    /// What.
    pub text: String,
}
