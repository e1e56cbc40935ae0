//! Programs in the `.prose` language. The front end is pure: text -> tokens -> tree -> diagnostics, and back
//! to canonical text; it reads no file and runs nothing.

pub mod ast;
mod diagnostic;
mod source;

use self::ast::Program;

pub use diagnostic::{Diagnostic, Profile, Related, Severity};
pub use source::{Position, Source, Span, TooLong};

/// A program that has been read and checked.
#[derive(Debug, Clone, PartialEq)]
pub struct Checked {
    /// What could be read of it. Complete, and fit to run, only when there are no errors.
    pub program: Program,
    /// What is to be said about it, in source order.
    pub diagnostics: Vec<Diagnostic>,
}

impl Checked {
    /// Tells whether the program must not run.
    #[must_use]
    pub fn has_errors(&self) -> bool {
        self.diagnostics.iter().any(Diagnostic::is_error)
    }
}
