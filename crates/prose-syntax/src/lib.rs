//! The language: text -> tokens -> tree -> diagnostics, and back to canonical text. Pure, and independent of everything
//! else.

pub mod ast;
mod check;
mod checked;
mod codes;
mod contract;
mod diagnostic;
mod format;
mod lexer;
mod parser;
mod reference;
mod similar;
mod source;
#[cfg(test)]
mod tests;
mod token;

pub use self::checked::{CheckedProgram, check, check_with, parse};
pub use self::codes::{RuleCode, RulePhase, RuleRow};
pub use self::contract::{Contract, Imports};
pub use self::diagnostic::{Diagnostic, Profile, RelatedSpan, Severity};
pub use self::format::format;
pub use self::reference::codes_reference;
pub use self::source::{Position, SourceText, SourceTooLong, Span};
