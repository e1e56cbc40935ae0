//! What an agent in a program of ours may do, and how a program is told.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A line of `permissions:`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PermissionLine {
    /// What for: `read`, `write`, `execute`, `bash`, `network`, or a word nobody knows.
    pub kind: String,
    /// What is permitted.
    pub rule: PermissionRule,
}

/// What is permitted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PermissionRule {
    /// All of it.
    Allow,
    /// Nothing.
    Deny,
    /// Somebody is asked. Without a terminal nobody can be.
    Prompt,
    /// What fits one of these.
    Patterns(Vec<String>),
}

impl fmt::Display for PermissionLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.rule {
            PermissionRule::Allow => write!(f, "{}: allow", self.kind),
            PermissionRule::Deny => write!(f, "{}: deny", self.kind),
            PermissionRule::Prompt => write!(f, "{}: prompt", self.kind),
            PermissionRule::Patterns(patterns) => write!(f, "{}: [{}]", self.kind, patterns.join(", ")),
        }
    }
}

/// The flags, variables and policy file that enforce permissions.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct EnforcedPermissions {
    /// Arguments.
    pub arguments: Vec<String>,
    /// Variables.
    pub variables: Vec<(&'static str, String)>,
    /// The text of a policy file, if the program takes one.
    pub policy: Option<String>,
    /// Restrictions that are not enforced, as written.
    pub unenforced: Vec<String>,
}

/// The action that a permission is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PermissionKind {
    /// Reading files.
    Read,
    /// Writing files.
    Write,
    /// Running commands.
    Execute,
    /// Reaching other machines.
    Network,
}

impl PermissionKind {
    pub(super) fn of(word: &str) -> Option<Self> {
        match word {
            "read" => Some(Self::Read),
            "write" => Some(Self::Write),
            "execute" | "bash" => Some(Self::Execute),
            "network" => Some(Self::Network),
            _ => None,
        }
    }
}

/// Permissions as a program is told them.
#[derive(Debug, Clone, Copy)]
pub struct Permissions<'a>(pub &'a [PermissionLine]);

impl<'a> Permissions<'a> {
    /// Returns the lines whose kind is known.
    pub(super) fn rules(self) -> impl Iterator<Item = (PermissionKind, &'a PermissionRule)> {
        self.0.iter().filter_map(|line| PermissionKind::of(&line.kind).map(|kind| (kind, &line.rule)))
    }

    /// Returns the lines that allow or deny as a whole, with the program's word for that.
    pub(super) fn decisions(self) -> impl Iterator<Item = (PermissionKind, &'static str)> {
        self.rules().filter_map(|(kind, rule)| match rule {
            PermissionRule::Allow => Some((kind, "allow")),
            PermissionRule::Deny => Some((kind, "deny")),
            PermissionRule::Prompt | PermissionRule::Patterns(_) => None,
        })
    }

    /// Returns whether one of the lines is this.
    pub(super) fn has(self, kind: PermissionKind, rule: &PermissionRule) -> bool {
        self.rules().any(|line| line == (kind, rule))
    }

    /// Returns whether commands are allowed, which could do what another permission denies.
    pub(super) fn run_commands(self) -> bool {
        let allows =
            |rule: &PermissionRule| matches!(rule, PermissionRule::Allow | PermissionRule::Patterns(_));
        self.rules().any(|(kind, rule)| kind == PermissionKind::Execute && allows(rule))
    }

    /// Returns whether a program enforces a rule that knows no patterns, and denies by kind: a denial is enforced unless
    /// commands could bypass it.
    pub(super) fn enforced_by_kind(self, kind: PermissionKind, rule: &PermissionRule) -> bool {
        match rule {
            PermissionRule::Allow => true,
            PermissionRule::Deny => kind == PermissionKind::Execute || !self.run_commands(),
            PermissionRule::Prompt | PermissionRule::Patterns(_) => false,
        }
    }
}
