//! One program with what belongs to it: its text, its folder in the run, the programs it uses.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use crate::prose::ast::Program;
use crate::prose::run::folder::Folder;
use crate::prose::source::{Position, Source, Span};
use crate::runtime::Lines;

/// A program ready to be walked.
#[derive(Debug)]
pub struct Module {
    /// Its text.
    pub source: Source,
    /// Its tree, without errors.
    pub program: Arc<Program>,
    /// Its folder in the run.
    pub folder: Arc<Folder>,
    /// The programs it uses, by the names it calls them.
    pub uses: Arc<HashMap<String, Arc<Library>>>,
    /// Inputs that were given: they are not asked for.
    pub given: HashMap<String, super::value::Value>,
    /// Names that anything in it declares.
    pub names: HashSet<String>,
    /// It is the program of the run itself, not one it uses.
    pub is_main: bool,
}

/// A used program, read and checked.
#[derive(Debug)]
pub struct Library {
    /// What its folder is called.
    pub name: String,
    /// Its text.
    pub source: Source,
    /// Its tree.
    pub program: Arc<Program>,
    /// The programs it uses itself.
    pub uses: Arc<HashMap<String, Arc<Library>>>,
}

impl Module {
    /// Returns the line on which something begins.
    #[must_use]
    pub fn line(&self, span: Span) -> u32 {
        u32::try_from(self.source.line_of(span.start())).unwrap_or(u32::MAX)
    }

    /// Tells whether anything in it declares a name.
    #[must_use]
    pub fn declares(&self, name: &str) -> bool {
        self.names.contains(name)
    }

    /// Returns the lines something takes.
    #[must_use]
    pub fn lines(&self, span: Span) -> Lines {
        let Position { line, .. } = self.source.position(span.end().saturating_sub(1).max(span.start()));
        Lines { first: self.line(span), last: u32::try_from(line).unwrap_or(u32::MAX) }
    }
}
