//! The `.prose` language. `syntax` is pure and stands alone: text -> tokens -> tree -> diagnostics, and back to
//! canonical text; it reads no files and runs nothing. `engine` executes programs.

pub mod engine;
mod render;
pub mod syntax;

pub use self::render::render;
pub use self::syntax::{
    Checked, Code, Contract, Diagnostic, Imports, Position, Profile, Related, Row, Severity, Source, Span,
    TooLong, When, check, check_with, codes_reference, format, parse, parse_duration,
};
