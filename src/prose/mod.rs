//! The `.prose` language. `syntax` is pure and stands alone: text -> tokens -> tree -> diagnostics, and back to
//! canonical text; it reads no files and runs nothing. `engine` executes programs.

pub mod engine;
mod render;
pub use pilothouse_prose_syntax as syntax;

pub use self::render::render;
pub use self::syntax::{
    CheckedProgram, Contract, Diagnostic, Imports, Position, Profile, RelatedSpan, RuleCode, RulePhase,
    RuleRow, Severity, SourceText, SourceTooLong, Span, check, check_with, codes_reference, format, parse,
};
