//! Why a statement did not complete: an error that the program may catch, a return, or an end
//! that no program catches.

use std::sync::Arc;

use super::scope::CommandEnd;
use super::value::Value;
use crate::prose::run::Error;
use crate::prose::run::journal::Key;

/// What an expression yields: a value, and how the command ended that made it.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Evaluated {
    /// The value.
    pub value: Value,
    /// How the command ended, if that is known.
    pub made: Option<CommandEnd>,
}

impl From<Value> for Evaluated {
    fn from(value: Value) -> Self {
        Self { value, made: None }
    }
}

/// An error inside a program.
#[derive(Debug, Clone, PartialEq)]
pub struct Thrown {
    /// What went wrong, on one line or more.
    pub message: String,
    /// The line of the statement.
    pub line: u32,
    /// What the failed command had written.
    pub stdout: String,
    /// How it ended, where a command failed.
    pub made: Option<CommandEnd>,
    /// Where what failed is on record, if doing it again may end differently: a command, an answer.
    pub place: Option<Key>,
    /// Somebody wanted it so: it is not tried again.
    pub is_final: bool,
}

impl Thrown {
    /// Makes an error without a command.
    pub fn new(line: u32, message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            line,
            stdout: String::new(),
            made: None,
            place: None,
            is_final: false,
        }
    }

    /// The same error of what is on record at a place.
    #[must_use]
    pub fn at(self, place: &Key) -> Self {
        Self { place: Some(place.clone()), ..self }
    }
}

/// Why a walk stops.
#[derive(Debug)]
pub enum Halt {
    /// An error that can be caught.
    Thrown(Arc<Thrown>),
    /// A block returns this.
    Return(Evaluated),
    /// It was cancelled: another branch decided, or the run ends.
    Cancelled,
    /// Nobody could answer what was asked on this line.
    Unanswered {
        /// The line.
        line: u32,
        /// What was asked.
        question: String,
    },
    /// The budget of the run is used up before the session on this line.
    OverBudget {
        /// The line.
        line: u32,
        /// What was used up.
        budget: String,
    },
    /// A person ended the program at this line.
    Aborted {
        /// The line.
        line: u32,
    },
    /// The run itself cannot continue.
    Broken(Error),
}

impl From<Error> for Halt {
    fn from(error: Error) -> Self {
        Self::Broken(error)
    }
}

impl From<Thrown> for Halt {
    fn from(thrown: Thrown) -> Self {
        Self::Thrown(Arc::new(thrown))
    }
}
