//! Loading of programs: the one to run, and those it uses, before anything runs.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::program_file::read_text;
use super::registry::{FoundProgram, Registry};
use crate::prose::engine::record::error::RunError;
use crate::prose::engine::survey::survey;
use crate::prose::engine::vm::module::Library;
use crate::prose::syntax::ast::{Use, UsePath};
use crate::prose::syntax::{
    CheckedProgram, Contract, Diagnostic, Imports, Profile, SourceText, check_with, parse,
};

/// Loads a program. `text` is its text, if that differs from the current contents of the file.
///
/// # Errors
/// When it, or one it uses, cannot be read or has errors.
pub fn load(
    path: &Path,
    text: Option<String>,
    profile: Profile,
    registry: &Registry,
) -> Result<Library, RunError> {
    let mut names = HashMap::new();
    let mut open = Vec::new();
    let text = match text {
        Some(text) => text,
        None => read(path)?,
    };
    ProgramLoader { profile, registry }.one(path, &text, &mut names, &mut open)
}

/// Reads the text of a program.
///
/// # Errors
/// When it cannot be read or is not text.
pub fn read(path: &Path) -> Result<String, RunError> {
    read_text(path).map_err(|reason| RunError::Unreadable { path: path.to_owned(), reason })
}

struct ProgramLoader<'a> {
    profile: Profile,
    registry: &'a Registry,
}

impl ProgramLoader<'_> {
    fn one(
        &self,
        path: &Path,
        text: &str,
        names: &mut HashMap<String, PathBuf>,
        open: &mut Vec<PathBuf>,
    ) -> Result<Library, RunError> {
        let profile = self.profile;
        let real = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        if open.contains(&real) {
            return Err(RunError::UsesItself { path: path.to_owned() });
        }
        let name = path.display().to_string();
        let source = SourceText::new(&name, text)
            .map_err(|error| RunError::Unreadable { path: path.to_owned(), reason: error.to_string() })?;
        open.push(real);
        let (mut uses, mut imports) = (HashMap::new(), Imports::new());
        for used in &parse(&source, profile).program.uses {
            let file = self.used_file(path, used, source.line_of(used.span.start()))?;
            let library = self.one(&file, &read(&file)?, names, open)?;
            imports.insert(used.path.value.clone(), Ok(Contract::of(&library.program)));
            if let Some(called) = used.name() {
                let library = Library { name: folder_name(&file, names), ..library };
                uses.insert(called.to_owned(), Arc::new(library));
            }
        }
        open.pop();
        // Only now are the inputs of the programs that it calls known.
        let checked = check_with(&source, profile, &imports);
        if checked.has_errors() {
            return Err(RunError::Unsound { path: path.to_owned(), report: report(&source, &checked) });
        }
        let survey = survey(&source, &checked.program);
        let warning = |one: &Diagnostic| {
            let line = u32::try_from(source.line_of(one.span.start())).unwrap_or(u32::MAX);
            (line, format!("{}: {}", one.code, one.message))
        };
        let warnings = checked.diagnostics.iter().map(warning).collect();
        Ok(Library { name: String::new(), program: checked.program, survey, warnings, profile, uses, source })
    }

    /// Returns the file of a program that the one at `path` uses.
    fn used_file(&self, path: &Path, used: &Use, line: usize) -> Result<PathBuf, RunError> {
        let found = match &used.from {
            UsePath::File(file) => FoundProgram::Here(path.parent().unwrap_or(Path::new(".")).join(file)),
            other => self.registry.find(other)?,
        };
        let nowhere = |url| RunError::NotLocal { line, path: used.path.value.clone(), url };
        match found {
            FoundProgram::Here(file) => Ok(file),
            FoundProgram::At(url) => Err(nowhere(Some(url))),
            FoundProgram::Nowhere => Err(nowhere(None)),
        }
    }
}

/// Returns a name for the folder of a used program, unique for each file.
fn folder_name(file: &Path, names: &mut HashMap<String, PathBuf>) -> String {
    let stem = file.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    let plain: String =
        stem.chars().map(|c| if c.is_alphanumeric() || c == '-' || c == '_' { c } else { '-' }).collect();
    let real = file.canonicalize().unwrap_or_else(|_| file.to_owned());
    let of = |number: u32| {
        if number == 1 { format!("local--{plain}") } else { format!("local--{plain}-{number}") }
    };
    let is_free = |name: &String| names.get(name).is_none_or(|known| *known == real);
    let name = (1..).map(of).find(is_free).unwrap_or_default();
    names.insert(name.clone(), real);
    name
}

/// Formats the errors in the style of the language: position, message, the line, a caret.
fn report(source: &SourceText, checked: &CheckedProgram) -> String {
    let errors = checked.diagnostics.iter().filter(|diagnostic| diagnostic.is_error());
    let one = |diagnostic: &Diagnostic| {
        let place = source.position(diagnostic.span.start());
        let caret = " ".repeat(place.column.saturating_sub(1));
        format!(
            "Error at line {}, column {}: {} {}\n  {}\n  {caret}^",
            place.line,
            place.column,
            diagnostic.code,
            diagnostic.message,
            source.line(place.line)
        )
    };
    errors.map(one).collect::<Vec<_>>().join("\n")
}
