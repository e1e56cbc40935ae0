//! Programs in the `.prose` language. The front end is pure: text -> tokens -> tree -> diagnostics, and back
//! to canonical text; it reads no file and runs nothing. `vm` walks a program, `run` is what a walk leaves behind and
//! needs: folder, journal, runtime.

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

/// Returns the word most like a given one, if any is like it.
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

/// Suggests the word most like a given one, if any is like it.
fn did_you_mean<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<String> {
    nearest(word, known).map(|near| format!("did you mean `{near}`?"))
}

/// Reads a program and checks it.
pub fn check(source: &Source, profile: Profile) -> Checked {
    check_with(source, profile, &Imports::new())
}

/// Reads a program and checks it, also against what is known about the programs it uses.
pub fn check_with(source: &Source, profile: Profile, imports: &Imports) -> Checked {
    let (program, mut reports) = read(source, profile);
    check::check(source, &program, imports, &mut reports);
    let (diagnostics, unlisted) = reports.into_parts();
    Checked { program, diagnostics, unlisted }
}

/// Reads a program for its form alone: its names are not checked.
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

/// A program that has been read and checked.
#[derive(Debug, Clone, PartialEq)]
pub struct Checked {
    /// What could be read of it. Complete, and fit to run, only when there are no errors.
    pub program: Program,
    /// What is to be said about it, in source order.
    pub diagnostics: Vec<Diagnostic>,
    /// How many more there were than are listed.
    pub unlisted: usize,
}

impl Checked {
    /// Returns whether the program must not run.
    pub fn has_errors(&self) -> bool {
        self.diagnostics.iter().any(Diagnostic::is_error)
    }
}

#[cfg(test)]
mod tests;
