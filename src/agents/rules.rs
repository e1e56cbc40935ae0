//! Programs' own rules about commands, as approval rules.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::config_file::ConfigFile;
use crate::config::ApprovalRule;

/// Where a program's rules are, and how they are read.
#[derive(Debug, Clone, Copy)]
pub struct RulesImport {
    /// The files, those for all workspaces first; for a folder, the extension of the files in it.
    pub places: &'static [(ConfigFile, Option<&'static str>)],
    /// Translates a file; what the program would deny needs approval here.
    pub translate: fn(RuleFile<'_>, &mut CommandRules) -> Result<(), String>,
}

/// A file with rules.
#[derive(Clone, Copy)]
pub struct RuleFile<'a> {
    /// Its name, for people.
    pub name: &'a str,
    /// Its text.
    pub text: &'a str,
    /// Reads the text as settings.
    pub settings: &'a dyn Fn() -> Result<Value, String>,
}

/// A rule, and the one it comes from.
#[derive(Debug, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "Translated")]
pub struct TranslatedRule {
    /// The rule as written under `[[approvals]]`.
    pub rule: ApprovalRule,
    /// The agent's own rule.
    pub from: String,
}

/// The translation of a program's files.
#[derive(Debug, Default)]
pub struct CommandRules {
    /// The rules.
    pub translated: Vec<TranslatedRule>,
    /// What has no equivalent here, and why.
    pub untranslated: Vec<String>,
}

impl CommandRules {
    /// Adds a rule that requires approval for commands that begin with `prefix`, or for every command if it is
    /// `None`.
    pub(super) fn ask(&mut self, prefix: Option<&str>, from: &str) {
        let rule = ApprovalRule { prefix: prefix.map(str::to_owned), ..ApprovalRule::default() };
        match rule.fault() {
            Some(fault) => self.skip(from, &fault),
            None if self.translated.iter().any(|known| known.rule == rule) => {}
            None => self.translated.push(TranslatedRule { rule, from: from.to_owned() }),
        }
    }

    /// Reports a rule that has no equivalent here.
    pub fn skip(&mut self, from: &str, why: &str) {
        self.untranslated.push(format!("{from}: {why}"));
    }
}
