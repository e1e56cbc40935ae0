//! Approval rules: which commands wait for the operator's approval. Pure.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::nearest::nearest;
use crate::consequence::rule_words::{begins, commands};
use crate::consequence::{Class, Consequence};

/// The most characters of a sentence that a rule gives as its reason.
const MOST_SENTENCE: usize = 300;

/// The tools a rule may name.
const TOOLS: [&str; 2] = ["ExecCommand", "ExecCommandBatch"];

/// The command that shows the rules to begin with, and adds them.
pub const STARTER_COMMAND: &str = "pilothouse config approvals --starter";
/// A set of rules to begin with, as they stand in `config.toml`.
pub const STARTER_RULES: &str = include_str!("starter.toml");

/// A rule that holds commands for the operator's approval before they start. Every given field must match; a rule
/// without fields matches every command of an agent.
///
/// A rule matches the text of the command. It asks in time but is not a security boundary: the same command can be
/// written in many ways.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ApprovalRule {
    /// The exact, complete command line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exact: Option<String>,
    /// The first whole words of a command in the line: `git push` matches `cd x && sudo git -C . push -f`, but neither
    /// `git pushd` nor `echo git push`. Options may appear anywhere in the command: `rm -r` matches `rm x -fr`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prefix: Option<String>,
    /// The tool: `ExecCommand` or `ExecCommandBatch`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// The class of loss, computed before the command starts: files `outside` the workspace, a deletion widened by an
    /// `unset` variable, `uncommitted` work, a `remote` resource, `many` files. The rule ignores a loss that cannot be
    /// computed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub consequence: Option<Class>,
    /// The caller: `agent:<label>`, `agent` for any agent, or `cli` for scripts. Default: any agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub actor: Option<String>,
}

/// Why a rule would never match.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct RuleFault {
    /// The key at fault.
    pub(super) key: &'static str,
    /// What is wrong.
    pub(super) what: String,
    /// A suggestion.
    pub(super) near: Option<String>,
}

impl ApprovalRule {
    /// Returns why this rule makes an actor's command wait for the operator, if it does: the rule, and what of the
    /// command's cost it asks about. A rule that asks by cost needs that; where it was not computed, it does not ask.
    pub fn asks(&self, tool: &str, actor: &str, cmd: &str, cost: Option<&Consequence>) -> Option<String> {
        if !self.concerns(tool, actor, cmd) {
            return None;
        }
        let Some(class) = self.consequence else { return Some(self.to_string()) };
        let fact = cost?.facts.iter().find(|fact| fact.classes.contains(&class))?;
        let sentence: String = fact.text.chars().take(MOST_SENTENCE).collect();
        Some(format!("{self}: {sentence}"))
    }

    /// Returns whether this rule is about an actor's command, whatever that would cost.
    fn concerns(&self, tool: &str, actor: &str, cmd: &str) -> bool {
        let is_by = match self.actor.as_deref() {
            None | Some("agent") => actor.starts_with("agent:"),
            Some(named) => actor == named,
        };
        is_by
            && self.tool.as_ref().is_none_or(|asked| asked == tool)
            && self.exact.as_ref().is_none_or(|exact| exact == cmd)
            && self.prefix.as_ref().is_none_or(|prefix| begins(cmd, prefix))
    }

    /// Describes what keeps the rule from ever matching, if anything does.
    pub fn fault(&self) -> Option<String> {
        self.senseless().map(|senseless| senseless.what)
    }

    /// Returns what keeps the rule from ever matching, which cannot be intended.
    pub(super) fn senseless(&self) -> Option<RuleFault> {
        let fault = |key, what: &str| Some(RuleFault { key, what: what.to_owned(), near: None });
        let is_empty = |text: &Option<String>| text.as_ref().is_some_and(|text| text.trim().is_empty());
        if is_empty(&self.exact) {
            return fault("exact", "it names no command");
        }
        if self.prefix.as_ref().is_some_and(|prefix| commands(prefix).len() != 1) {
            return fault("prefix", "it must be the first words of one command");
        }
        if self.exact.is_some() && self.prefix.is_some() {
            return fault("prefix", "`exact` names the whole command already");
        }
        let tool = self.tool.as_deref().filter(|tool| !TOOLS.contains(tool));
        if let Some(tool) = tool {
            let near = nearest(tool, TOOLS.into_iter()).map(str::to_owned);
            return Some(RuleFault {
                key: "tool",
                what: format!("no tool `{tool}` can wait for approval"),
                near,
            });
        }
        let is_known = |actor: &str| {
            matches!(actor, "agent" | "cli")
                || actor.strip_prefix("agent:").is_some_and(|label| !label.is_empty())
        };
        match self.actor.as_deref() {
            Some(actor) if !is_known(actor) => Some(RuleFault {
                key: "actor",
                what: format!("`{actor}` is not an actor: use `agent`, `agent:NAME` or `cli`"),
                near: (!actor.contains(':')).then(|| format!("agent:{actor}")),
            }),
            _ => None,
        }
    }
}

impl fmt::Display for ApprovalRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let consequence = self.consequence.map(|class| class.to_string());
        let parts = [
            ("exact", &self.exact),
            ("prefix", &self.prefix),
            ("consequence", &consequence),
            ("tool", &self.tool),
            ("actor", &self.actor),
        ];
        let given: Vec<String> = parts
            .into_iter()
            .filter_map(|(name, value)| value.as_ref().map(|value| format!("{name} {value:?}")))
            .collect();
        f.write_str(if given.is_empty() { "every command" } else { "" })?;
        f.write_str(&given.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::consequence::{Fact, FactKind};

    fn rule(exact: &str, prefix: &str, tool: &str, actor: &str) -> ApprovalRule {
        let given = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        ApprovalRule {
            exact: given(exact),
            prefix: given(prefix),
            tool: given(tool),
            actor: given(actor),
            ..ApprovalRule::default()
        }
    }

    #[test]
    fn a_rule_asks_where_all_of_it_fits() {
        for (rule, tool, actor, cmd, asks) in [
            (rule("", "", "", ""), "ExecCommand", "agent:a", "ls", true),
            (rule("", "", "", ""), "ExecCommand", "cli", "ls", false),
            (rule("make", "", "", ""), "ExecCommand", "agent:a", "make", true),
            (rule("make", "", "", ""), "ExecCommand", "agent:a", "make ", false),
            (rule("", "", "ExecCommandBatch", ""), "ExecCommand", "agent:a", "ls", false),
            (rule("", "", "", "cli"), "ExecCommand", "cli", "ls", true),
            (rule("", "", "", "agent:b"), "ExecCommand", "agent:a", "ls", false),
            (rule("", "ls", "", "agent"), "ExecCommand", "agent:a", "ls", true),
        ] {
            assert_eq!(rule.asks(tool, actor, cmd, None).is_some(), asks, "{rule} {tool} {actor} {cmd:?}");
        }
    }

    #[test]
    fn a_prefix_is_looked_for_by_words_in_every_command_of_a_line() {
        let rule = rule("", "git push", "", "");
        for cmd in [
            " git push -f",
            "git push;ls",
            "git  \t push",
            "cd sub && git push origin main",
            "GIT_TRACE=1 git push",
            "/usr/bin/git push",
            "git 'push'",
            "g\"it\" pu\\sh",
            "git \\\n push",
            "if git push; then ls; fi",
            "(git push)",
            "echo \"$(git push)\" done",
            "echo `git push`",
            "git push>log",
            "true\ngit push",
        ] {
            assert!(rule.asks("ExecCommand", "agent:a", cmd, None).is_some(), "{cmd:?}");
        }
        for cmd in [
            "git pushd",
            "echo git push",
            "echo 'x; git push'",
            "git commit -m push",
            "git log push",
            "git\u{a0}push",
            "git",
            "",
            "'git push'",
            "echo \"git push\"",
            "legit push",
            "git;push",
        ] {
            assert!(rule.asks("ExecCommand", "agent:a", cmd, None).is_none(), "{cmd:?}");
        }
    }

    fn cost(classes: &[Class]) -> Consequence {
        let fact = |class: &Class| Fact {
            kind: FactKind::Warns,
            is_possible: false,
            text: format!("it is {class}"),
            classes: [*class].into(),
            files: 1,
            bytes: 1,
            paths: Vec::new(),
        };
        Consequence { facts: classes.iter().map(fact).collect(), unknown: vec!["the rest".to_owned()] }
    }

    #[test]
    fn a_rule_by_consequence_asks_by_what_was_computed_and_says_what() {
        let rule = ApprovalRule { consequence: Some(Class::Unset), ..rule("", "rm", "", "") };
        let asks = |cmd: &str, cost: Option<&Consequence>| rule.asks("ExecCommand", "agent:a", cmd, cost);
        let both = cost(&[Class::Many, Class::Unset]);
        let said = r#"prefix "rm", consequence "unset": it is unset"#;
        assert_eq!(asks("rm x", Some(&both)).as_deref(), Some(said));
        assert_eq!(asks("mv x y", Some(&both)), None, "all of it must fit");
        assert_eq!(asks("rm x", Some(&cost(&[Class::Many]))), None);
        assert_eq!(asks("rm x", Some(&cost(&[]))), None, "what is not known is not asked about");
        assert_eq!(asks("rm x", None), None);
        for class in Class::ALL {
            let read: ApprovalRule = toml::from_str(&format!("consequence = \"{class}\"")).expect("a rule");
            assert!(read.asks("ExecCommand", "agent:a", "x", Some(&cost(&[class]))).is_some(), "{class}");
        }
        assert!(toml::from_str::<ApprovalRule>("consequence = \"unknown\"").is_err());
    }

    #[test]
    fn a_rule_says_what_it_asks_for_and_is_read_from_toml() {
        let read: ApprovalRule = toml::from_str("prefix = \"git push\"\nactor = \"cli\"").expect("a rule");
        assert_eq!(read, rule("", "git push", "", "cli"));
        assert_eq!(read.to_string(), r#"prefix "git push", actor "cli""#);
        assert_eq!(ApprovalRule::default().to_string(), "every command");
        assert!(toml::from_str::<ApprovalRule>("suffix = \"x\"").is_err());
    }

    #[test]
    fn the_rules_to_begin_with_are_read_and_ask_about_what_they_name() {
        #[derive(Deserialize)]
        struct File {
            approvals: Vec<ApprovalRule>,
        }
        let File { approvals } = toml::from_str(STARTER_RULES).expect("a file of rules");
        assert!(approvals.iter().all(|rule| rule.senseless().is_none()));
        let asks = |cmd: &str, cost: Option<&Consequence>| {
            approvals.iter().any(|rule| rule.asks("ExecCommand", "agent:a", cmd, cost).is_some())
        };
        for class in Class::ALL {
            assert!(asks("make", Some(&cost(&[class]))), "{class}");
        }
        let free = Consequence::default();
        for cmd in
            ["git push origin main", "cd api && git -C . push -f", "sudo -n true", "gh release create v1"]
        {
            assert!(asks(cmd, Some(&free)), "{cmd}");
        }
        for cmd in ["git status", "rm -rf build", "npm test", "cargo build", "docker build .", "echo sudo"] {
            assert!(!asks(cmd, Some(&free)), "{cmd}");
        }
        assert!(!approvals.iter().any(|rule| rule.asks("ExecCommand", "cli", "git push", None).is_some()));
    }

    #[test]
    fn a_rule_that_never_asks_is_senseless() {
        for (rule, key) in [
            (rule(" ", "", "", ""), "exact"),
            (rule("", " ", "", ""), "prefix"),
            (rule("", "git push; ls", "", ""), "prefix"),
            (rule("ls", "ls", "", ""), "prefix"),
            (rule("", "", "TaskStop", ""), "tool"),
            (rule("", "", "", "claude"), "actor"),
            (rule("", "", "", "agent:"), "actor"),
        ] {
            assert_eq!(rule.senseless().map(|senseless| senseless.key), Some(key), "{rule}");
        }
        for rule in [rule("", "", "", ""), rule("", "git push", "ExecCommandBatch", "agent:claude")] {
            assert_eq!(rule.senseless(), None, "{rule}");
        }
    }
}
