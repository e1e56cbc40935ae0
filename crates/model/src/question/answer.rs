//! Answers: their values, who gave them, and which answers a question accepts.

use std::fmt;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::QuestionKind;
use pilothouse_envelope::Actor;

/// The value of an answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AnswerValue {
    Yes,
    No,
    /// One of the labels.
    Choice(String),
    /// Free text.
    Text(String),
    /// Open the gate, or let the command run.
    Approve,
    /// Let an agent make this call, and all others of its turn.
    ApproveTurn,
    /// Let an agent make this call, and those like it for a while.
    ApproveAlike,
    /// Do not.
    Reject,
    /// Run the command in doubt again.
    Rerun,
    /// Skip the command in doubt and continue.
    Skip,
    /// End the program here. Only the operator may do this.
    Abort,
    /// A text that is not recorded; only its length in bytes is.
    Hidden(usize),
}

impl QuestionKind {
    /// Tells whether a value is a valid answer to such a question.
    pub fn accepts(&self, value: &AnswerValue) -> bool {
        use AnswerValue::{
            Abort, Approve, ApproveAlike, ApproveTurn, Choice, No, Reject, Rerun, Skip, Text, Yes,
        };
        match (self, value) {
            (Self::AgentPrompt(prompt), _) if prompt.is_shown_only => false,
            (Self::YesNo { .. }, Yes | No | Abort)
            | (Self::Text { .. }, Text(_) | Abort)
            | (Self::Gate { .. } | Self::Command | Self::AgentPrompt(_), Approve | Reject)
            | (Self::InFlight, Rerun | Skip | Abort)
            | (Self::Choice { .. }, Abort) => true,
            (Self::AgentPrompt(prompt), ApproveTurn | ApproveAlike) => prompt.rule.is_none(),
            (Self::Choice { labels }, Choice(label)) => labels.contains(label),
            _ => false,
        }
    }

    /// Parses an answer given as text; `None` if it is not a valid answer.
    pub fn read(&self, text: &str) -> Option<AnswerValue> {
        let word = text.trim().to_ascii_lowercase();
        let value = match (self, word.as_str()) {
            (Self::Text { .. }, _) => AnswerValue::Text(text.to_owned()),
            (Self::Choice { .. }, _) => AnswerValue::Choice(text.trim().to_owned()),
            (Self::YesNo { .. }, "yes" | "y" | "true") => AnswerValue::Yes,
            (Self::YesNo { .. }, "no" | "n" | "false") => AnswerValue::No,
            (Self::Gate { .. } | Self::Command | Self::AgentPrompt(_), "approve") => AnswerValue::Approve,
            (Self::Gate { .. } | Self::Command | Self::AgentPrompt(_), "reject") => AnswerValue::Reject,
            (Self::AgentPrompt(_), "turn") => AnswerValue::ApproveTurn,
            (Self::AgentPrompt(_), "alike") => AnswerValue::ApproveAlike,
            (Self::InFlight, "rerun") => AnswerValue::Rerun,
            (Self::InFlight, "skip") => AnswerValue::Skip,
            (Self::InFlight, "abort") => AnswerValue::Abort,
            _ => return None,
        };
        self.accepts(&value).then_some(value)
    }

    /// Describes briefly what an answer may be.
    pub fn answer_form(&self) -> String {
        match self {
            Self::YesNo { .. } => "yes or no".to_owned(),
            Self::Choice { labels } => {
                let quoted: Vec<String> = labels.iter().map(|label| format!("\"{label}\"")).collect();
                format!("exactly one of {}", quoted.join(", "))
            }
            Self::Text { .. } => "a text".to_owned(),
            Self::AgentPrompt(prompt) if prompt.is_shown_only => "given in the agent itself".to_owned(),
            Self::Gate { .. } | Self::Command | Self::AgentPrompt(_) => "approve or reject".to_owned(),
            Self::InFlight => "rerun, skip or abort".to_owned(),
        }
    }
}

/// Who gave an answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub enum Principal {
    /// The person at a console, or another actor: an agent, a script, Pilothouse itself.
    Actor(Actor),
    /// An answers file supplied with the program.
    File,
    /// The command of a session, named by its program.
    Command(String),
    /// What the operator permitted with the answer to the question of this number.
    Permission(u32),
}

impl fmt::Display for Principal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Actor(actor) => actor.fmt(f),
            Self::File => f.write_str("file"),
            Self::Command(program) => write!(f, "command:{program}"),
            Self::Permission(question) => write!(f, "permission:{question}"),
        }
    }
}

impl From<String> for Principal {
    fn from(text: String) -> Self {
        let permission = text.strip_prefix("permission:").and_then(|number| number.parse().ok());
        match (text.strip_prefix("command:"), permission) {
            (Some(program), _) => Self::Command(program.to_owned()),
            (None, Some(question)) => Self::Permission(question),
            (None, None) if text == "file" => Self::File,
            (None, None) => Self::Actor(text.into()),
        }
    }
}

impl From<Principal> for String {
    fn from(principal: Principal) -> Self {
        principal.to_string()
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordedAnswer {
    /// The answer itself.
    pub value: AnswerValue,
    /// Who gave it.
    pub principal: Principal,
    /// When it was given.
    pub at: Timestamp,
    /// The reason, in the principal's own words.
    pub note: Option<String>,
}

impl RecordedAnswer {
    /// Returns the answer as it is recorded: a masked text is replaced by its length.
    pub fn as_recorded(&self, kind: &QuestionKind) -> Self {
        match (&self.value, kind) {
            (AnswerValue::Text(text), QuestionKind::Text { masked: true }) => {
                Self { value: AnswerValue::Hidden(text.len()), ..self.clone() }
            }
            _ => self.clone(),
        }
    }
}

/// An answer being given.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AnswerInput {
    /// The answer itself.
    pub value: AnswerValue,
    /// The reason, in the answerer's own words.
    pub note: Option<String>,
}

/// The outcome of a question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum QuestionOutcome {
    /// It was answered.
    Answered(RecordedAnswer),
    /// It was not answered in time.
    TimedOut {
        /// When the deadline passed.
        at: Timestamp,
    },
}
