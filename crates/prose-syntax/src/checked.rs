//! Programs as they are read: parsed, and checked.

use super::ast::Program;
use super::contract::Imports;
use super::diagnostic::{Diagnostic, Profile, Reports};
use super::source::SourceText;
use super::{lexer, parser};

/// Parses and checks a program.
pub fn check(source: &SourceText, profile: Profile) -> CheckedProgram {
    check_with(source, profile, &Imports::new())
}

/// Parses and checks a program, including its calls of the programs it uses.
pub fn check_with(source: &SourceText, profile: Profile, imports: &Imports) -> CheckedProgram {
    let (program, mut reports) = read(source, profile);
    super::check::check(source, &program, imports, &mut reports);
    let (diagnostics, unlisted) = reports.into_parts();
    CheckedProgram { program, diagnostics, unlisted }
}

/// Parses a program without checking its names.
pub fn parse(source: &SourceText, profile: Profile) -> CheckedProgram {
    let (program, reports) = read(source, profile);
    let (diagnostics, unlisted) = reports.into_parts();
    CheckedProgram { program, diagnostics, unlisted }
}

fn read(source: &SourceText, profile: Profile) -> (Program, Reports) {
    let mut reports = Reports::new(profile);
    let lexed = lexer::lex(source, &mut reports);
    let program = parser::parse(source, lexed, &mut reports);
    (program, reports)
}

/// A program that has been parsed and checked.
#[derive(Debug, Clone, PartialEq)]
pub struct CheckedProgram {
    /// The parsed program. Complete, and fit to run, only if there are no errors.
    pub program: Program,
    /// Its diagnostics, in source order.
    pub diagnostics: Vec<Diagnostic>,
    /// The number of diagnostics beyond those listed.
    pub unlisted: usize,
}

impl CheckedProgram {
    /// Returns whether errors prevent the program from running.
    pub fn has_errors(&self) -> bool {
        self.diagnostics.iter().any(Diagnostic::is_error)
    }
}
