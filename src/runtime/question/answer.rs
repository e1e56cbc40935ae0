//! Answers: what was said, by whom, and what a question accepts.

use std::fmt;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::view::QuestionKind;
use crate::envelope::Actor;

/// What was answered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AnswerValue {
    /// Yes.
    Yes,
    /// No.
    No,
    /// One of the labels.
    Choice(String),
    /// Free text.
    Text(String),
    /// A gate is opened, a command let run.
    Approve,
    /// It is not.
    Reject,
    /// Run the command in doubt again.
    Rerun,
    /// Go on after it.
    Skip,
    /// End the program here. Only the operator may.
    Abort,
    /// A text that is not on record: so many bytes.
    Hidden(usize),
}

impl QuestionKind {
    /// Tells whether a value answers such a question.
    #[must_use]
    pub fn accepts(&self, value: &AnswerValue) -> bool {
        use AnswerValue::{Abort, Approve, Choice, No, Reject, Rerun, Skip, Text, Yes};
        match (self, value) {
            (Self::YesNo { .. }, Yes | No | Abort)
            | (Self::Text { .. }, Text(_) | Abort)
            | (Self::Gate { .. } | Self::Command, Approve | Reject)
            | (Self::InFlight, Rerun | Skip | Abort)
            | (Self::Choice { .. }, Abort) => true,
            (Self::Choice { labels }, Choice(label)) => labels.contains(label),
            _ => false,
        }
    }

    /// Reads an answer given as text; none when it is none.
    #[must_use]
    pub fn read(&self, text: &str) -> Option<AnswerValue> {
        let word = text.trim().to_ascii_lowercase();
        let value = match (self, word.as_str()) {
            (Self::Text { .. }, _) => AnswerValue::Text(text.to_owned()),
            (Self::Choice { .. }, _) => AnswerValue::Choice(text.trim().to_owned()),
            (Self::YesNo { .. }, "yes" | "y" | "true") => AnswerValue::Yes,
            (Self::YesNo { .. }, "no" | "n" | "false") => AnswerValue::No,
            (Self::Gate { .. } | Self::Command, "approve") => AnswerValue::Approve,
            (Self::Gate { .. } | Self::Command, "reject") => AnswerValue::Reject,
            (Self::InFlight, "rerun") => AnswerValue::Rerun,
            (Self::InFlight, "skip") => AnswerValue::Skip,
            (Self::InFlight, "abort") => AnswerValue::Abort,
            _ => return None,
        };
        self.accepts(&value).then_some(value)
    }

    /// Returns what an answer may be, in a few words.
    #[must_use]
    pub fn expected(&self) -> String {
        match self {
            Self::YesNo { .. } => "yes or no".to_owned(),
            Self::Choice { labels } => {
                let quoted: Vec<String> = labels.iter().map(|label| format!("\"{label}\"")).collect();
                format!("exactly one of {}", quoted.join(", "))
            }
            Self::Text { .. } => "a text".to_owned(),
            Self::Gate { .. } | Self::Command => "approve or reject".to_owned(),
            Self::InFlight => "rerun, skip or abort".to_owned(),
        }
    }
}

/// Who an answer comes from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub enum Principal {
    /// The person at a console, or whoever else acts: an agent, a script, Pilothouse itself.
    Actor(Actor),
    /// A file of answers that was given with the program.
    File,
    /// The command of a session, by the name of its program.
    Command(String),
}

impl fmt::Display for Principal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Actor(actor) => actor.fmt(f),
            Self::File => f.write_str("file"),
            Self::Command(program) => write!(f, "command:{program}"),
        }
    }
}

impl From<String> for Principal {
    fn from(text: String) -> Self {
        match text.strip_prefix("command:") {
            Some(program) => Self::Command(program.to_owned()),
            None if text == "file" => Self::File,
            None => Self::Actor(text.into()),
        }
    }
}

impl From<Principal> for String {
    fn from(principal: Principal) -> Self {
        principal.to_string()
    }
}

/// An answer on record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answer {
    /// What was said.
    pub value: AnswerValue,
    /// By whom.
    pub principal: Principal,
    /// When.
    pub at: Timestamp,
    /// Why, in their words.
    pub note: Option<String>,
}

impl Answer {
    /// Returns the answer as it goes on record: of a masked text its length alone.
    #[must_use]
    pub fn as_recorded(&self, kind: &QuestionKind) -> Self {
        match (&self.value, kind) {
            (AnswerValue::Text(text), QuestionKind::Text { masked: true }) => {
                Self { value: AnswerValue::Hidden(text.len()), ..self.clone() }
            }
            _ => self.clone(),
        }
    }
}

/// What somebody answers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Given {
    /// What.
    pub value: AnswerValue,
    /// Why, in their words.
    pub note: Option<String>,
}

/// What came of a question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Settled {
    /// Somebody answered.
    Answered(Answer),
    /// Nobody did in time.
    TimedOut {
        /// When it was too late.
        at: Timestamp,
    },
}
