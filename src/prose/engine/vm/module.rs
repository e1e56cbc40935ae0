//! Programs ready to be executed: as loaded, and as part of a run.

use std::collections::HashMap;
use std::sync::Arc;

use crate::model::LineRange;
use crate::prose::engine::record::folder::RunFolder;
use crate::prose::engine::survey::ProgramSurvey;
use crate::prose::engine::value::Value;
use crate::prose::syntax::ast::Program;
use crate::prose::syntax::{Position, Profile, SourceText, Span};

/// A program that was parsed and checked.
#[derive(Debug)]
pub struct Library {
    /// The name of its folder in a run that uses it.
    pub name: String,
    pub source: SourceText,
    /// Its tree, without errors.
    pub program: Program,
    /// The questions it may ask, and the names it declares.
    pub survey: ProgramSurvey,
    /// The warnings of the checks: the line, and the warning with its code.
    pub warnings: Vec<(u32, String)>,
    /// How strictly it was read.
    pub profile: Profile,
    /// The programs it uses, by the names it calls them.
    pub uses: HashMap<String, Arc<Library>>,
}

/// A program in a run.
#[derive(Debug)]
pub struct Module {
    /// The program.
    pub library: Arc<Library>,
    /// Its folder in the run.
    pub folder: Arc<RunFolder>,
    /// The inputs that were provided and are not asked for.
    pub given: HashMap<String, Value>,
    /// Whether it is the run's own program, not one it uses.
    pub is_main: bool,
}

impl Module {
    /// Returns the line on which a span begins.
    pub fn line(&self, span: Span) -> u32 {
        u32::try_from(self.library.source.line_of(span.start())).unwrap_or(u32::MAX)
    }

    /// Returns the text of a span.
    pub fn text(&self, span: Span) -> &str {
        self.library.source.slice(span)
    }

    /// Returns whether it declares a name anywhere.
    pub fn declares(&self, name: &str) -> bool {
        self.library.survey.names.contains(name)
    }

    /// Returns the lines of a span.
    pub fn lines(&self, span: Span) -> LineRange {
        let last = span.end().saturating_sub(1).max(span.start());
        let Position { line, .. } = self.library.source.position(last);
        LineRange { first: self.line(span), last: u32::try_from(line).unwrap_or(u32::MAX) }
    }
}
