//! Why a statement did not complete: an error that the program may catch, a return, or an end that no program
//! catches.

use std::pin::Pin;
use std::sync::Arc;

use crate::model::Principal;
use crate::prose::engine::record::binding::CommandEnd;
use crate::prose::engine::record::error::RunError;
use crate::prose::engine::record::journal::ProgramKey;
use crate::prose::engine::value::Value;

/// The result of an expression: a value, and how the command that created it ended.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Evaluation {
    pub value: Value,
    /// How the command ended, if known.
    pub made: Option<CommandEnd>,
}

impl From<Value> for Evaluation {
    fn from(value: Value) -> Self {
        Self { value, made: None }
    }
}

/// An error inside a program.
#[derive(Debug, Clone, PartialEq)]
pub struct ThrownError {
    /// What went wrong, on one line or more.
    pub message: String,
    /// The line of the statement.
    pub line: u32,
    /// The output of the failed command.
    pub stdout: String,
    /// How it ended, if a command failed.
    pub made: Option<CommandEnd>,
    /// The place of the recorded failure, if retrying it may have another outcome: a command, an answer.
    pub place: Option<ProgramKey>,
    /// Whether someone caused it deliberately, or its command may have run: it is not retried.
    pub is_final: bool,
}

impl ThrownError {
    /// Creates an error without a command.
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

    /// Returns the error of a command that was denied.
    pub fn denial(line: u32, by: &Principal, note: Option<&str>) -> Self {
        let who = match by {
            Principal::File => "the answers file".to_owned(),
            Principal::Actor(actor) => format!("the {actor}"),
            Principal::Command(program) => program.clone(),
            Principal::Permission(_) => "a permission".to_owned(),
        };
        let note = note.filter(|note| !note.is_empty()).map(|note| format!(": {note}")).unwrap_or_default();
        Self::new(line, format!("{who} did not let the command run{note}"))
    }

    /// Returns the same error, with the place at which its cause is recorded.
    #[must_use]
    pub fn at(self, place: &ProgramKey) -> Self {
        Self { place: Some(place.clone()), ..self }
    }
}

/// What the execution of a node comes to: a value, or why it stops.
pub type Flow<T = Evaluation> = Result<T, Halt>;

/// The execution of a node, awaited by that of its parent. Boxed, since statements contain statements.
pub(super) type Walk<'a, T = Evaluation> = Pin<Box<dyn Future<Output = Flow<T>> + Send + 'a>>;

/// Why an execution stops.
#[derive(Debug)]
pub enum Halt {
    /// An error that can be caught.
    Thrown(Arc<ThrownError>),
    /// A return from a block with this value.
    Return(Evaluation),
    /// A cancellation: another branch decided, or the run is ending.
    Cancelled,
    /// Nobody could answer what was asked on this line.
    Unanswered {
        line: u32,
        /// What was asked.
        question: String,
    },
    /// The run's budget is used up before the session on this line.
    OverBudget {
        line: u32,
        /// The limit that was reached.
        budget: String,
    },
    /// A person aborted the program at this line.
    Aborted { line: u32 },
    /// The run itself cannot continue.
    Broken(RunError),
}

impl From<RunError> for Halt {
    fn from(error: RunError) -> Self {
        Self::Broken(error)
    }
}

impl From<ThrownError> for Halt {
    fn from(thrown: ThrownError) -> Self {
        Self::Thrown(Arc::new(thrown))
    }
}
