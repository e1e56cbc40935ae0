//! One thing that was checked, and how it was found.

use std::borrow::Cow;

use schemars::JsonSchema;
use serde::Serialize;

/// The result of one check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub(super) struct DoctorFinding {
    /// Area of the check.
    pub(super) area: Area,
    /// Subject of the check.
    pub(super) check: Cow<'static, str>,
    /// State of the subject.
    pub(super) state: FindingState,
    /// The observation.
    pub(super) found: String,
    /// The fix, to be typed or written exactly as shown; null if none is needed.
    pub(super) fix: Option<String>,
}

/// The area of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum Area {
    /// The terminal that the console draws on and reads keys from.
    Terminal,
    /// The kernel and its limits.
    System,
    /// Sockets and recordings.
    Folders,
    /// The programs that should run their commands here.
    Agents,
}

/// The state of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum FindingState {
    /// No action is needed.
    Ok,
    /// Good to know.
    Note,
    /// It needs to be fixed.
    Problem,
}

impl Area {
    pub(super) fn ok(self, check: impl Into<Cow<'static, str>>, found: impl Into<String>) -> DoctorFinding {
        DoctorFinding {
            area: self,
            check: check.into(),
            state: FindingState::Ok,
            found: found.into(),
            fix: None,
        }
    }

    pub(super) fn note(self, check: impl Into<Cow<'static, str>>, found: impl Into<String>) -> DoctorFinding {
        DoctorFinding { state: FindingState::Note, ..self.ok(check, found) }
    }

    pub(super) fn problem(
        self,
        check: impl Into<Cow<'static, str>>,
        found: impl Into<String>,
        fix: impl Into<String>,
    ) -> DoctorFinding {
        DoctorFinding { state: FindingState::Problem, fix: Some(fix.into()), ..self.ok(check, found) }
    }
}

impl DoctorFinding {
    pub(super) fn fix(self, fix: impl Into<String>) -> Self {
        Self { fix: Some(fix.into()), ..self }
    }
}
