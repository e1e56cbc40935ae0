//! What happened to a question.

use std::sync::Arc;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::{Comment, ConsoleProcess, PermissionEnd, Question, QuestionId, RecordedAnswer};

/// A fact recorded about a question.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "what", rename_all = "snake_case")]
pub enum QuestionFact {
    /// It was asked.
    Asked { question: Arc<Question> },
    /// It was answered.
    Answered {
        id: QuestionId,
        /// The answer; for a masked text, only its length.
        answer: RecordedAnswer,
        /// The console in which the operator gave the answer, if any.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        console: Option<ConsoleProcess>,
    },
    /// It was not answered in time.
    TimedOut {
        id: QuestionId,
        /// When it timed out.
        at: Timestamp,
    },
    /// The asker no longer waits.
    Withdrawn {
        id: QuestionId,
        /// When it was withdrawn.
        at: Timestamp,
        /// Whether that was because the agent that asked had its answer in its own prompt.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        in_agent: bool,
    },
    /// Someone commented on it.
    Commented { id: QuestionId, comment: Comment },
    /// What the operator permitted with the answer to it is over.
    PermissionEnded {
        id: QuestionId,
        why: PermissionEnd,
        /// When.
        at: Timestamp,
        /// The console in which the operator ended it, if any.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        console: Option<ConsoleProcess>,
    },
    /// The operator allowed agents to answer it, or no longer does.
    Agents {
        id: QuestionId,
        /// Whether they may.
        may: bool,
    },
}

impl QuestionFact {
    /// Adds the console in which an answer was given.
    pub fn given_in(self, console: Option<ConsoleProcess>) -> Self {
        match self {
            Self::Answered { id, answer, .. } => Self::Answered { id, answer, console },
            Self::PermissionEnded { id, why, at, .. } => Self::PermissionEnded { id, why, at, console },
            other => other,
        }
    }
}
