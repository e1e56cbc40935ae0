//! The public view of a question: plain data.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::permission::AlikeAnswers;
use crate::{CallCost, CallLikeness, LineRange, PlaceName};
use pilothouse_envelope::{Actor, TaskId};

/// An answer that follows its question sooner than this was not meant for it: a person had typed it before, or just
/// as the question appeared.
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
    /// Creates an id from 8 random bytes.
    pub fn from_random(random: [u8; 8]) -> Self {
        let task = TaskId::from_random(random);
        Self(task.as_str().replacen("task_", "question_", 1))
    }

    /// Borrows the id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for QuestionId {
    type Err = InvalidQuestionId;

    fn from_str(text: &str) -> Result<Self, InvalidQuestionId> {
        let tail = text.strip_prefix("question_").ok_or(InvalidQuestionId)?;
        // The same alphabet and length as in a task id.
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

/// The kind of answer a question wants.
#[derive(
    Debug, Clone, PartialEq, Eq, Serialize, Deserialize, strum::IntoStaticStr, strum::EnumDiscriminants,
)]
#[strum_discriminants(name(AnswerKind), derive(Serialize, Deserialize, schemars::JsonSchema))]
#[strum_discriminants(serde(rename_all = "snake_case"), doc = "What kind of answer a question wants.")]
#[serde(tag = "kind", rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum QuestionKind {
    /// Yes or no.
    YesNo {
        /// The effect of a yes, e.g. `leaves the loop`; empty if obvious.
        yes: String,
        /// The effect of a no.
        no: String,
    },
    /// One of these labels.
    Choice {
        /// The labels, in the order of the program.
        labels: Vec<String>,
    },
    /// Free text.
    Text {
        /// Whether it is hidden while typed and never recorded.
        masked: bool,
    },
    /// A decision whether to continue, which only the operator may make.
    Gate {
        /// The approvers that the program names (`user`).
        allow: Vec<String>,
    },
    /// Its program was interrupted while a command was running, and it is not known how the command ended.
    InFlight,
    /// A program is about to run a command; the question's text is the command.
    Command,
    /// An agent asks its user whether it may call a tool, in a prompt of its own that stands there as well; the text is
    /// the whole call.
    AgentPrompt(AgentPrompt),
}

/// The call that an agent asks its user about.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct AgentPrompt {
    /// The agent's session, as it names it.
    pub session: String,
    /// The session's subagent that asks, if not the session itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subagent: Option<String>,
    /// The hash of the tool, its input and the session: an answer is for this call alone.
    pub hash: String,
    /// What calls like it have in common.
    #[serde(default)]
    pub alike: CallLikeness,
    /// How those were answered.
    #[serde(default)]
    pub before: AlikeAnswers,
    /// The approval rule of ours that asks about the same call, if one does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// Whether only the agent can answer it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_shown_only: bool,
    /// What its command would cost, as computed last.
    #[serde(default, skip_serializing_if = "CallCost::is_unknown")]
    pub cost: CallCost,
    /// The command, if the tool runs one in the agent's shell. Nobody is sent it; the text has it.
    #[serde(skip)]
    pub command: Option<String>,
}

/// What of an agent's open prompts has been answered in the agent, as a later event of its session shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AnsweredPrompts {
    pub agent: String,
    pub session: String,
    /// Which prompts of the session.
    pub which: AnsweredWhich,
    /// When that event happened: it says nothing of prompts that were asked later.
    pub at: Timestamp,
}

/// Which prompts of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AnsweredWhich {
    All,
    /// Those of the session itself, or of one of its subagents.
    Of(Option<String>),
    /// Those with one of these hashes.
    Calls(Vec<String>),
    /// The one about this command.
    Command(String),
}

impl AnsweredPrompts {
    /// Tells whether a question is one of them.
    #[must_use]
    pub fn has(&self, question: &Question) -> bool {
        let QuestionKind::AgentPrompt(prompt) = &question.kind else { return false };
        let is_session = prompt.session == self.session && question.asked_by.is_agent(&self.agent);
        is_session
            && question.asked_at <= self.at
            && match &self.which {
                AnsweredWhich::All => true,
                AnsweredWhich::Of(subagent) => prompt.subagent == *subagent,
                AnsweredWhich::Calls(hashes) => hashes.contains(&prompt.hash),
                AnsweredWhich::Command(cmd) => question
                    .text
                    .strip_prefix(cmd.as_str())
                    .is_some_and(|rest| rest.is_empty() || rest.starts_with("\n\n")),
            }
    }
}

impl QuestionKind {
    /// Returns the kind's name, the same on every surface.
    pub fn as_str(&self) -> &'static str {
        self.into()
    }

    /// Returns what the command of an agent's own prompt would cost.
    #[must_use]
    pub fn cost(&self) -> Option<&CallCost> {
        match self {
            Self::AgentPrompt(prompt) => Some(&prompt.cost),
            _ => None,
        }
    }

    /// Tells whether only the operator may ever answer it.
    pub fn is_operators(&self) -> bool {
        match self {
            Self::Gate { .. } | Self::InFlight | Self::Command | Self::AgentPrompt(_) => true,
            Self::Text { masked } => *masked,
            Self::YesNo { .. } | Self::Choice { .. } => false,
        }
    }
}

/// Where a question comes from.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct QuestionOrigin {
    /// The run of a program, e.g. `20261122-043511-k3f9x2`.
    pub run: Option<String>,
    /// The program's file.
    pub program: Option<PathBuf>,
    /// The lines of its statement.
    pub lines: Option<LineRange>,
    /// Its name in the program: of the gate, the input or the agent.
    pub name: Option<String>,
    /// The gate's id in its run: its name, with a number from the second time on.
    pub gate: Option<String>,
    /// The task it concerns, if any.
    pub task: Option<TaskId>,
}

/// The context shown to the person or agent that answers.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Evidence {
    /// The values the question concerns, the most important first.
    pub bindings: Vec<BindingView>,
    /// The number of the current loop pass, starting at 1, and the maximum number of passes.
    pub pass: Option<(u32, Option<u32>)>,
    /// The full command in doubt.
    pub command: Option<String>,
    /// Where the command would run.
    pub workdir: Option<PathBuf>,
}

/// A program's value as shown to people and agents: its beginning, and how it was produced.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct BindingView {
    pub name: String,
    /// `let`, `const`, `input` or `output`.
    pub kind: String,
    /// The block call it belongs to, if any.
    pub execution_id: Option<u32>,
    /// The beginning of its value.
    pub preview: String,
    /// Length of the whole value, in characters.
    pub chars: usize,
    /// Whether the preview is shorter than the value.
    pub is_cut: bool,
    /// Exit code of the command that produced it.
    pub exit_code: Option<i32>,
    /// Whether that command timed out.
    pub timed_out: bool,
    /// The end of that command's standard error.
    pub stderr: Option<String>,
    /// The line that produced it.
    pub line: Option<u32>,
    /// The file that holds the whole value.
    pub file: Option<PathBuf>,
}

/// Who is expected to answer, and in which role.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ExpectedAnswerer {
    /// Who: `a person`, `an agent`, `agent:LABEL`, or the program of a command.
    pub by: String,
    /// The command that is working on the answer, in which case nobody else needs to act.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task: Option<TaskId>,
    /// The program's agent that the session is with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// The agent's model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The agent's permissions, as written in the program: `bash: deny`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub permissions: Vec<String>,
    /// The agent's skills.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub skills: Vec<String>,
}

/// A question about to be asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewQuestion {
    /// Where it comes from.
    pub origin: QuestionOrigin,
    /// Who runs the program that asks.
    pub asked_by: Actor,
    /// The kind of answer it wants.
    pub kind: QuestionKind,
    /// The full text, interpolated.
    pub text: String,
    /// The context for answering.
    pub evidence: Evidence,
    /// The time limit for answering; `None` waits forever.
    pub within: Option<Duration>,
    /// Whether an agent may answer it. Ignored if only the operator ever may.
    pub agents: bool,
    /// Who is expected to answer, if known.
    pub expected: Option<ExpectedAnswerer>,
}

/// A question that waits for an answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Question {
    pub id: QuestionId,
    /// Its number in this recording, starting at 1; shown as `q03` in the console.
    pub number: u32,
    /// Where it comes from.
    pub origin: QuestionOrigin,
    /// Who runs the program that asks.
    pub asked_by: Actor,
    /// The kind of answer it wants.
    #[serde(flatten)]
    pub kind: QuestionKind,
    /// The full text.
    pub text: String,
    /// The context for answering.
    pub evidence: Evidence,
    /// When it was asked.
    pub asked_at: Timestamp,
    /// The deadline for answering.
    pub deadline: Option<Timestamp>,
    /// Whether an agent may answer it.
    pub agents: bool,
    /// Comments on it, including answers that did not fit.
    pub comments: Vec<Comment>,
    /// Who is expected to answer, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected: Option<ExpectedAnswerer>,
    /// Its place, in a console attached to several.
    #[serde(skip)]
    pub place: Option<Arc<PlaceName>>,
}

impl Question {
    /// Tells whether a program of ours asks it; an agent's own prompt is none of other agents' business.
    pub fn is_of_program(&self) -> bool {
        !matches!(self.kind, QuestionKind::AgentPrompt(_))
    }

    /// Tells whether it waits for a person or an agent: no command is working on it.
    pub fn needs_somebody(&self) -> bool {
        self.expected.as_ref().is_none_or(|expected| expected.task.is_none())
    }
}

/// A comment on a question.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Comment {
    /// Who made it.
    pub by: Actor,
    /// When it was made.
    pub at: Timestamp,
    pub text: String,
}
