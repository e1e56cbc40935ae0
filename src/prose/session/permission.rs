//! Translates an agent's `permissions:` into flags of known programs. Restrictions that cannot be enforced are
//! listed.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::preset::Preset;

/// A line of `permissions:`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Asked {
    /// What for: `read`, `write`, `execute`, `bash`, `network`, or a word nobody knows.
    pub kind: String,
    /// What is permitted.
    pub rule: Rule,
}

/// What is permitted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Rule {
    /// All of it.
    Allow,
    /// Nothing.
    Deny,
    /// Somebody is asked. Without a terminal nobody can be.
    Prompt,
    /// What fits one of these.
    Patterns(Vec<String>),
}

impl fmt::Display for Asked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.rule {
            Rule::Allow => write!(f, "{}: allow", self.kind),
            Rule::Deny => write!(f, "{}: deny", self.kind),
            Rule::Prompt => write!(f, "{}: prompt", self.kind),
            Rule::Patterns(patterns) => write!(f, "{}: [{}]", self.kind, patterns.join(", ")),
        }
    }
}

/// The flags, variables and policy file that enforce permissions.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Enforced {
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
enum Kind {
    Read,
    Write,
    Execute,
    Network,
}

impl Kind {
    fn of(word: &str) -> Option<Self> {
        match word {
            "read" => Some(Self::Read),
            "write" => Some(Self::Write),
            "execute" | "bash" => Some(Self::Execute),
            "network" => Some(Self::Network),
            _ => None,
        }
    }
}

/// Returns what enforces these permissions in a program, and which ones cannot be enforced.
pub fn enforced(preset: Option<Preset>, asked: &[Asked]) -> Enforced {
    let mut enforced = Enforced::default();
    for one in asked {
        let kind = Kind::of(&one.kind);
        let is_enforced = match (preset, kind) {
            _ if one.rule == Rule::Prompt => false,
            (Some(Preset::Claude), Some(kind)) => is_by_claude(kind, &one.rule, asked),
            (Some(Preset::Codex), Some(kind)) => is_by_codex(kind, &one.rule),
            (Some(Preset::Gemini | Preset::Opencode), Some(kind)) => is_by_kinds(kind, &one.rule, asked),
            _ => one.rule == Rule::Allow,
        };
        if !is_enforced {
            enforced.unenforced.push(one.to_string());
        }
    }
    if asked.is_empty() {
        return enforced;
    }
    match preset {
        Some(Preset::Claude) => enforced.arguments = claude(asked),
        Some(Preset::Codex) => enforced.arguments = codex(asked),
        Some(Preset::Gemini) => enforced.policy = Some(gemini(asked)),
        Some(Preset::Opencode) => enforced.variables.push(("OPENCODE_PERMISSION", opencode(asked))),
        None => {}
    }
    enforced
}

fn rules(asked: &[Asked]) -> impl Iterator<Item = (Kind, &Rule)> {
    asked.iter().filter_map(|one| Kind::of(&one.kind).map(|kind| (kind, &one.rule)))
}

/// Returns whether commands are allowed, which could do what another permission denies.
fn runs_commands(asked: &[Asked]) -> bool {
    rules(asked).any(|(kind, rule)| kind == Kind::Execute && matches!(rule, Rule::Allow | Rule::Patterns(_)))
}

/// Returns whether Claude Code enforces a rule. A denial is enforced unless commands could bypass it. Without a
/// terminal, Claude Code allows no write, no command and no fetch without a rule, so patterns for these are enforced;
/// reading needs no rule.
fn is_by_claude(kind: Kind, rule: &Rule, asked: &[Asked]) -> bool {
    match (kind, rule) {
        (_, Rule::Allow) | (Kind::Execute, Rule::Deny | Rule::Patterns(_)) => true,
        (Kind::Read, Rule::Patterns(_)) | (_, Rule::Prompt) => false,
        (_, Rule::Deny | Rule::Patterns(_)) => !runs_commands(asked),
    }
}

/// Returns whether Codex enforces a rule. Its sandbox applies to commands too; it does not restrict reading.
fn is_by_codex(kind: Kind, rule: &Rule) -> bool {
    *rule == Rule::Allow || *rule == Rule::Deny && kind != Kind::Read
}

fn is_by_kinds(kind: Kind, rule: &Rule, asked: &[Asked]) -> bool {
    match rule {
        Rule::Allow => true,
        Rule::Deny => kind == Kind::Execute || !runs_commands(asked),
        Rule::Prompt | Rule::Patterns(_) => false,
    }
}

/// Returns the rules for Claude Code, in its default mode whatever the user's settings say.
fn claude(asked: &[Asked]) -> Vec<String> {
    let (mut allowed, mut denied) = (Vec::new(), Vec::new());
    for (kind, rule) in rules(asked) {
        let tools: &[&str] = match kind {
            Kind::Read => &["Read", "Grep", "Glob"],
            Kind::Write => &["Edit", "Write", "NotebookEdit"],
            // The tools that we offer over MCP run commands too.
            Kind::Execute => &["Bash", "Monitor", "mcp__pilothouse"],
            Kind::Network => &["WebFetch", "WebSearch"],
        };
        let tools = || tools.iter().map(|tool| (*tool).to_owned());
        match rule {
            Rule::Allow => allowed.extend(tools().filter(|tool| !tool.starts_with("mcp"))),
            Rule::Deny => denied.extend(tools()),
            Rule::Prompt => {}
            Rule::Patterns(patterns) => allowed.extend(patterns.iter().flat_map(|pattern| match kind {
                Kind::Read => vec![format!("Read({pattern})")],
                Kind::Write => vec![format!("Edit({pattern})"), format!("Write({pattern})")],
                Kind::Execute => vec![format!("Bash({pattern})")],
                Kind::Network => vec![format!("WebFetch(domain:{pattern})")],
            })),
        }
    }
    let mut arguments = vec!["--permission-mode".to_owned(), "default".to_owned()];
    for (flag, tools) in [("--allowedTools", allowed), ("--disallowedTools", denied)] {
        if !tools.is_empty() {
            arguments.push(format!("{flag}={}", tools.join(",")));
        }
    }
    arguments
}

/// Returns the settings for Codex's sandbox and shell.
fn codex(asked: &[Asked]) -> Vec<String> {
    let is = |kind, rule| rules(asked).any(|(of, said)| of == kind && *said == rule);
    let sets = |value: &str| ["-c".to_owned(), value.to_owned()];
    let mut arguments = Vec::new();
    let is_writing = is(Kind::Write, Rule::Allow) && !is(Kind::Write, Rule::Deny);
    if is_writing {
        arguments.extend(["--sandbox".to_owned(), "workspace-write".to_owned()]);
        let has_network = is(Kind::Network, Rule::Allow) && !is(Kind::Network, Rule::Deny);
        arguments.extend(sets(&format!("sandbox_workspace_write.network_access={has_network}")));
    } else if is(Kind::Write, Rule::Deny) || is(Kind::Network, Rule::Deny) {
        arguments.extend(["--sandbox".to_owned(), "read-only".to_owned()]);
    }
    if is(Kind::Network, Rule::Deny) {
        arguments.extend(sets("web_search=\"disabled\""));
    }
    if is(Kind::Execute, Rule::Deny) {
        arguments.extend(sets("features.shell_tool=false"));
        arguments.extend(sets("features.unified_exec=false"));
    }
    arguments
}

/// Returns a policy for Gemini CLI.
fn gemini(asked: &[Asked]) -> String {
    let mut text = String::new();
    for (kind, rule) in rules(asked) {
        let decision = match rule {
            Rule::Allow => "allow",
            Rule::Deny => "deny",
            Rule::Prompt | Rule::Patterns(_) => continue,
        };
        let tools: &[&str] = match kind {
            Kind::Read => &[
                "read_file",
                "read_many_files",
                "list_directory",
                "glob",
                "grep_search",
                "search_file_content",
            ],
            Kind::Write => &["write_file", "replace"],
            Kind::Execute => &["run_shell_command"],
            Kind::Network => &["web_fetch", "google_web_search"],
        };
        for tool in tools {
            text.push_str(&format!(
                "[[rule]]\ntoolName = \"{tool}\"\ndecision = \"{decision}\"\npriority = 900\n\n"
            ));
        }
        if (kind, decision) == (Kind::Execute, "deny") {
            text.push_str("[[rule]]\nmcpName = \"pilothouse\"\ntoolName = \"*\"\ndecision = \"deny\"\npriority = 900\n\n");
        }
    }
    text
}

/// Returns the permissions for opencode, in the form of its variable.
fn opencode(asked: &[Asked]) -> String {
    let mut all = serde_json::Map::new();
    for (kind, rule) in rules(asked) {
        let word = match rule {
            Rule::Allow => "allow",
            Rule::Deny => "deny",
            Rule::Prompt | Rule::Patterns(_) => continue,
        };
        let tools: &[&str] = match kind {
            Kind::Read => &["read", "glob", "grep", "list"],
            Kind::Write => &["edit"],
            Kind::Execute => &["bash"],
            Kind::Network => &["webfetch", "websearch", "codesearch"],
        };
        all.extend(tools.iter().map(|tool| ((*tool).to_owned(), word.into())));
        if (kind, word) == (Kind::Execute, "deny") {
            all.insert("pilothouse_*".to_owned(), word.into());
        }
    }
    serde_json::Value::Object(all).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(lines: &[(&str, Rule)]) -> Vec<Asked> {
        lines.iter().map(|(kind, rule)| Asked { kind: (*kind).to_owned(), rule: rule.clone() }).collect()
    }

    fn patterns(patterns: &[&str]) -> Rule {
        Rule::Patterns(patterns.iter().map(|pattern| (*pattern).to_owned()).collect())
    }

    #[test]
    fn permissions_are_the_flags_of_each_program() {
        let asked = asked(&[("bash", Rule::Deny), ("write", Rule::Allow), ("network", Rule::Deny)]);
        let of = |preset| enforced(Some(preset), &asked);
        assert_eq!(
            of(Preset::Claude).arguments,
            [
                "--permission-mode",
                "default",
                "--allowedTools=Edit,Write,NotebookEdit",
                "--disallowedTools=Bash,Monitor,mcp__pilothouse,WebFetch,WebSearch"
            ]
        );
        assert_eq!(
            of(Preset::Codex).arguments.join(" "),
            "--sandbox workspace-write -c sandbox_workspace_write.network_access=false -c web_search=\"disabled\" \
             -c features.shell_tool=false -c features.unified_exec=false"
        );
        assert!(of(Preset::Gemini).policy.is_some_and(|policy| {
            policy.contains("toolName = \"run_shell_command\"\ndecision = \"deny\"")
                && policy.contains("toolName = \"write_file\"\ndecision = \"allow\"")
        }));
        assert_eq!(of(Preset::Opencode).variables[0].0, "OPENCODE_PERMISSION");
        for preset in [Preset::Claude, Preset::Codex, Preset::Gemini, Preset::Opencode] {
            assert!(of(preset).unenforced.is_empty(), "{preset:?}");
        }
        assert_eq!(enforced(None, &asked).unenforced, ["bash: deny", "network: deny"]);
    }

    #[test]
    fn what_nothing_enforces_is_named() {
        for (preset, lines, unenforced) in [
            (
                Preset::Claude,
                vec![("bash", patterns(&["git *"])), ("write", patterns(&["a/**"]))],
                vec!["write: [a/**]"],
            ),
            (Preset::Claude, vec![("read", patterns(&["a/**"]))], vec!["read: [a/**]"]),
            (Preset::Claude, vec![("bash", Rule::Prompt)], vec!["bash: prompt"]),
            (Preset::Claude, vec![("bash", Rule::Allow), ("network", Rule::Deny)], vec!["network: deny"]),
            (Preset::Claude, vec![("fly", Rule::Deny)], vec!["fly: deny"]),
            (
                Preset::Codex,
                vec![("bash", patterns(&["git *"])), ("write", Rule::Deny)],
                vec!["bash: [git *]"],
            ),
            (Preset::Codex, vec![("read", Rule::Deny), ("network", Rule::Deny)], vec!["read: deny"]),
            (Preset::Gemini, vec![("write", patterns(&["a"])), ("bash", Rule::Deny)], vec!["write: [a]"]),
            (Preset::Opencode, vec![("bash", Rule::Allow), ("write", Rule::Deny)], vec!["write: deny"]),
        ] {
            assert_eq!(enforced(Some(preset), &asked(&lines)).unenforced, unenforced, "{preset:?} {lines:?}");
        }
    }
}
