//! One thing that was checked, and how it was found.

use std::borrow::Cow;

use schemars::JsonSchema;
use serde::Serialize;

/// One thing that was checked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub(super) struct DoctorFinding {
    /// What it belongs to.
    pub(super) area: Area,
    /// What was checked.
    pub(super) check: Cow<'static, str>,
    /// Whether it is fine.
    pub(super) state: FindingState,
    /// What was found.
    pub(super) found: String,
    /// How to fix it, to be typed or written exactly as shown; null when there is nothing to do.
    pub(super) fix: Option<String>,
}

/// What a finding belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum Area {
    /// What the console draws on and reads keys from.
    Terminal,
    /// The kernel and its limits.
    System,
    /// Sockets and recordings.
    Folders,
    /// The programs that should run their commands here.
    Agents,
}

/// Whether a finding is well.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum FindingState {
    /// It is.
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
