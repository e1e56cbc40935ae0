//! What is said about a program: a stable code, a place, plain words, and what to do.

use serde::{Deserialize, Serialize};

use super::source::Span;

/// How strictly a program is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Profile {
    /// What real programs do is accepted, with a warning.
    #[default]
    Compat,
    /// The letter of the language.
    Strict,
}

/// How much a diagnostic weighs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// The program does not run.
    Error,
    /// The program runs; somebody should look at this.
    Warning,
}

/// One thing that is said about a program.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Diagnostic {
    /// Its stable code, e.g. `E053`.
    pub code: &'static str,
    /// How much it weighs.
    pub severity: Severity,
    /// What is the matter, in one line without a full stop.
    pub message: String,
    /// Where.
    pub span: Span,
    /// What to do.
    pub hint: Option<String>,
    /// Another place that belongs to it.
    pub related: Option<Related>,
}

/// Another place that belongs to a diagnostic.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Related {
    /// Where.
    pub span: Span,
    /// What is there, e.g. `first defined here`.
    pub message: String,
}

impl Diagnostic {
    /// Tells whether the program cannot run because of it.
    #[must_use]
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }
}
