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
    pub arguments: Vec<String>,
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agents::AgentProgram;

    fn enforced(agent: Option<AgentProgram>, asked: &[PermissionLine]) -> EnforcedPermissions {
        Permissions(asked).enforcement(agent.and_then(|agent| agent.profile().session.as_ref()))
    }

    fn asked(lines: &[(&str, PermissionRule)]) -> Vec<PermissionLine> {
        lines
            .iter()
            .map(|(kind, rule)| PermissionLine { kind: (*kind).to_owned(), rule: rule.clone() })
            .collect()
    }

    fn patterns(patterns: &[&str]) -> PermissionRule {
        PermissionRule::Patterns(patterns.iter().map(|pattern| (*pattern).to_owned()).collect())
    }

    #[test]
    fn permissions_are_the_flags_of_each_program() {
        let asked = asked(&[
            ("bash", PermissionRule::Deny),
            ("write", PermissionRule::Allow),
            ("network", PermissionRule::Deny),
        ]);
        let of = |agent| enforced(Some(agent), &asked);
        assert_eq!(
            of(AgentProgram::Claude).arguments,
            [
                "--permission-mode",
                "default",
                "--allowedTools=Edit,Write,NotebookEdit",
                "--disallowedTools=Bash,Monitor,mcp__pilothouse,WebFetch,WebSearch"
            ]
        );
        assert_eq!(
            of(AgentProgram::Codex).arguments.join(" "),
            "--sandbox workspace-write -c sandbox_workspace_write.network_access=false -c web_search=\"disabled\" \
             -c features.shell_tool=false -c features.unified_exec=false"
        );
        assert!(of(AgentProgram::Gemini).policy.is_some_and(|policy| {
            policy.contains("toolName = \"run_shell_command\"\ndecision = \"deny\"")
                && policy.contains("toolName = \"write_file\"\ndecision = \"allow\"")
        }));
        assert_eq!(of(AgentProgram::Opencode).variables[0].0, "OPENCODE_PERMISSION");
        for agent in [AgentProgram::Claude, AgentProgram::Codex, AgentProgram::Gemini, AgentProgram::Opencode]
        {
            assert!(of(agent).unenforced.is_empty(), "{agent:?}");
        }
        assert_eq!(enforced(None, &asked).unenforced, ["bash: deny", "network: deny"]);
    }

    #[test]
    fn permissions_that_nothing_enforces_are_named() {
        for (agent, lines, unenforced) in [
            (
                AgentProgram::Claude,
                vec![("bash", patterns(&["git *"])), ("write", patterns(&["a/**"]))],
                vec!["write: [a/**]"],
            ),
            (AgentProgram::Claude, vec![("read", patterns(&["a/**"]))], vec!["read: [a/**]"]),
            (AgentProgram::Claude, vec![("bash", PermissionRule::Prompt)], vec!["bash: prompt"]),
            (
                AgentProgram::Claude,
                vec![("bash", PermissionRule::Allow), ("network", PermissionRule::Deny)],
                vec!["network: deny"],
            ),
            (AgentProgram::Claude, vec![("fly", PermissionRule::Deny)], vec!["fly: deny"]),
            (
                AgentProgram::Codex,
                vec![("bash", patterns(&["git *"])), ("write", PermissionRule::Deny)],
                vec!["bash: [git *]"],
            ),
            (
                AgentProgram::Codex,
                vec![("read", PermissionRule::Deny), ("network", PermissionRule::Deny)],
                vec!["read: deny"],
            ),
            (
                AgentProgram::Gemini,
                vec![("write", patterns(&["a"])), ("bash", PermissionRule::Deny)],
                vec!["write: [a]"],
            ),
            (
                AgentProgram::Opencode,
                vec![("bash", PermissionRule::Allow), ("write", PermissionRule::Deny)],
                vec!["write: deny"],
            ),
        ] {
            assert_eq!(enforced(Some(agent), &asked(&lines)).unenforced, unenforced, "{agent:?} {lines:?}");
        }
    }
}
