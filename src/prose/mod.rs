//! The `.prose` language. The front end is pure: text -> tokens -> tree -> diagnostics, and back to canonical text;
//! it reads no files and runs nothing. `vm` executes a program; `run` provides what an execution needs and leaves
//! behind: folder, journal, runtime.

pub mod answers;
pub mod ast;
mod check;
mod codes;
mod contract;
mod diagnostic;
mod duration;
mod format;
mod lexer;
mod parser;
mod reference;
mod render;
pub mod run;
pub mod session;
mod source;
pub mod survey;
mod token;
pub mod vm;

use self::ast::Program;
use self::diagnostic::Reports;

pub use codes::{Code, Row, When};
pub use contract::{Contract, Imports};
pub use diagnostic::{Diagnostic, Profile, Related, Severity};
pub use duration::parse_duration;
pub use format::format;
pub use reference::codes_reference;
pub use render::render;
pub use source::{Position, Source, Span, TooLong};

/// Returns the known word most similar to a given one, if any is similar enough.
fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let most = word.chars().count().clamp(3, 12) / 3;
    if word.len() > 64 {
        return None;
    }
    let near = known.into_iter().filter(|known| *known != word);
    let near = near.map(|known| (strsim::damerau_levenshtein(word, known), known));
    near.filter(|(edits, known)| *edits <= most && *edits < known.len())
        .min_by_key(|(edits, _)| *edits)
        .map(|(_, known)| known)
}

/// Suggests the known word most similar to a given one, if any is similar enough.
fn did_you_mean<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<String> {
    nearest(word, known).map(|near| format!("did you mean `{near}`?"))
}

/// Parses and checks a program.
pub fn check(source: &Source, profile: Profile) -> Checked {
    check_with(source, profile, &Imports::new())
}

/// Parses and checks a program, including its calls of the programs it uses.
pub fn check_with(source: &Source, profile: Profile, imports: &Imports) -> Checked {
    let (program, mut reports) = read(source, profile);
    check::check(source, &program, imports, &mut reports);
    let (diagnostics, unlisted) = reports.into_parts();
    Checked { program, diagnostics, unlisted }
}

/// Parses a program without checking its names.
pub fn parse(source: &Source, profile: Profile) -> Checked {
    let (program, reports) = read(source, profile);
    let (diagnostics, unlisted) = reports.into_parts();
    Checked { program, diagnostics, unlisted }
}

fn read(source: &Source, profile: Profile) -> (Program, Reports) {
    let mut reports = Reports::new(profile);
    let lexed = lexer::lex(source, &mut reports);
    let program = parser::parse(source, lexed, &mut reports);
    (program, reports)
}

/// A program that has been parsed and checked.
#[derive(Debug, Clone, PartialEq)]
pub struct Checked {
    /// The parsed program. Complete, and fit to run, only if there are no errors.
    pub program: Program,
    /// Its diagnostics, in source order.
    pub diagnostics: Vec<Diagnostic>,
    /// The number of diagnostics beyond those listed.
    pub unlisted: usize,
}

impl Checked {
    /// Returns whether errors prevent the program from running.
    pub fn has_errors(&self) -> bool {
        self.diagnostics.iter().any(Diagnostic::is_error)
    }
}

#[cfg(test)]
mod tests;
