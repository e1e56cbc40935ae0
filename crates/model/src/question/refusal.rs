//! Why an answer to a question was rejected.

use super::QuestionId;

/// Why an answer was rejected.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AnswerRefusal {
    /// No question of this recording has this id.
    #[error("no question {0} in this recording")]
    Unknown(QuestionId),
    /// It was already settled.
    #[error("question {id} was {how}")]
    Settled {
        /// The question.
        id: QuestionId,
        /// How it was settled, e.g. `answered by operator`.
        how: String,
    },
    /// Only the operator may answer it.
    #[error("question {id} is for the operator alone, at a console")]
    OperatorOnly {
        /// The question.
        id: QuestionId,
    },
    /// Its program does not allow agents to answer it.
    #[error("question {id} may not be answered by an agent")]
    NotForAgents {
        /// The question.
        id: QuestionId,
    },
    /// Agents are paused: nothing beyond a single call is permitted.
    #[error("agents are paused: question {id} can only be answered for this one call")]
    Paused {
        /// The question.
        id: QuestionId,
    },
    /// The answer does not fit this question, which stays open.
    #[error("the answer to question {id} has to be {expected}")]
    DoesNotFit {
        /// The question.
        id: QuestionId,
        /// What an answer may be.
        expected: String,
    },
}
