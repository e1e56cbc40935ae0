//! Diagnostics of a program: a stable code, a position, a plain message, and a hint.

use serde::{Deserialize, Serialize};

use super::codes::RuleCode;
use super::source::Span;

/// The strictness of the parser.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Profile {
    /// Accepts deviations that real programs use, with a warning.
    #[default]
    Compat,
    /// Accepts only the defined language.
    Strict,
}

impl Profile {
    /// Returns this profile, or the strict one if `is_strict`, which is the other way to request it.
    #[must_use]
    pub fn or_strict(self, is_strict: bool) -> Self {
        if is_strict { Self::Strict } else { self }
    }
}

/// The severity of a diagnostic.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// The program does not run.
    Error,
    /// The program runs, but the finding needs review.
    Warning,
}

/// One thing that is said about a program.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Diagnostic {
    /// Its stable code, e.g. `E053`.
    pub code: RuleCode,
    /// How much it weighs.
    pub severity: Severity,
    /// What is the matter, in one line without a full stop.
    pub message: String,
    /// Where.
    pub span: Span,
    /// What to do.
    pub hint: Option<String>,
    /// A related place.
    pub related: Option<RelatedSpan>,
}

/// Another place that belongs to a diagnostic.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RelatedSpan {
    /// Where.
    pub span: Span,
    /// What is there, e.g. `first defined here`.
    pub message: String,
}

impl Diagnostic {
    /// Returns whether it prevents the program from running.
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }

    /// Replaces the hint.
    pub(super) fn hint(&mut self, hint: impl Into<String>) -> &mut Self {
        self.hint = Some(hint.into());
        self
    }

    /// Replaces the hint if there is a better one.
    pub(super) fn hint_if(&mut self, hint: Option<String>) -> &mut Self {
        self.hint = hint.or(self.hint.take());
        self
    }

    /// Removes the hint: the message is sufficient.
    pub(super) fn no_hint(&mut self) -> &mut Self {
        self.hint = None;
        self
    }

    pub(super) fn relate(&mut self, span: Span, message: impl Into<String>) -> &mut Self {
        self.related = Some(RelatedSpan { span, message: message.into() });
        self
    }
}

/// Collects the diagnostics of one program. Their number is bounded for each severity: a file that is not a program
/// at all must not exhaust the memory.
#[derive(Debug)]
pub(super) struct Reports {
    profile: Profile,
    list: Vec<Diagnostic>,
    errors: usize,
    warnings: usize,
    spare: Diagnostic,
}

/// The maximum number of errors, and of warnings, reported for one program.
pub(super) const MOST: usize = 1_000;

impl Reports {
    pub(super) fn new(profile: Profile) -> Self {
        let spare = Diagnostic {
            code: RuleCode::E005,
            severity: Severity::Error,
            message: String::new(),
            span: Span::default(),
            hint: None,
            related: None,
        };
        Self { profile, list: Vec::new(), errors: 0, warnings: 0, spare }
    }

    pub(super) fn profile(&self) -> Profile {
        self.profile
    }

    pub(super) fn is_strict(&self) -> bool {
        self.profile == Profile::Strict
    }

    /// Adds a diagnostic with its severity in this profile and the default hint.
    pub(super) fn add(&mut self, code: RuleCode, span: Span, message: impl Into<String>) -> &mut Diagnostic {
        let hint = code.row().fix;
        let (code, severity) = code.in_profile(self.profile);
        let count = if severity == Severity::Error { &mut self.errors } else { &mut self.warnings };
        *count += 1;
        if *count > MOST {
            return &mut self.spare;
        }
        let hint = Some(hint.to_owned());
        let at = self.list.len();
        self.list.push(Diagnostic { code, severity, message: message.into(), span, hint, related: None });
        &mut self.list[at]
    }

    /// Adds the diagnostics of another collection.
    pub(super) fn take_from(&mut self, other: Self) {
        self.errors += other.errors;
        self.warnings += other.warnings;
        self.list.extend(other.list);
    }

    /// Returns all diagnostics in source order, and how many more there were.
    pub(super) fn into_parts(mut self) -> (Vec<Diagnostic>, usize) {
        let unlisted = self.errors.saturating_sub(MOST) + self.warnings.saturating_sub(MOST);
        self.list.sort_by_key(|one| (one.span, one.severity, one.code));
        self.list.dedup();
        (self.list, unlisted)
    }
}
