//! Settings that a person may change: their defaults, what `config.toml` says, and what is wrong with it.

mod keep;
mod load;
mod near;
mod settings;
mod source;
mod units;

use std::fmt;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use keep::{Error as KeepError, keep_theme};
pub use load::{FILE, KEYS_FILE, Loaded, Origin, THEMES_FOLDER, WORKSPACE_FILE, read_own};
pub use near::nearest;
pub use settings::{
    AgentSettings, Color, ConsoleSettings, Dwelling, Env, ExecPolicy, GlyphSet, LimitSettings, Mouse,
    ProgramSettings, RecordSettings, Settings,
};
pub use source::{Entry, Fault, Faults, Node, Source};
pub use units::{Bytes, Ceiling, Period};

/// Limits of one runtime (contracts 8). Sizes in bytes.
#[derive(Debug, Clone)]
pub struct Limits {
    /// Tasks that may be live at once.
    pub tasks: usize,
    /// Bytes of one stream kept from its start on disk.
    pub stream_head_bytes: u64,
    /// Bytes of one stream kept from its end once the head is full.
    pub stream_tail_bytes: usize,
    /// Bytes after which a task is ended, all its streams together; `None` never ends one for that.
    pub output_bytes: Option<u64>,
    /// Bytes that may wait to be typed into one task.
    pub input_queue_bytes: usize,
    /// Connections to one runtime, of all roles together.
    pub connections: usize,
    /// The largest frame or line accepted from a connection.
    pub frame_bytes: usize,
    /// Time between TERM and KILL when a task is stopped.
    pub stop_grace: Duration,
    /// How long the operator keeps the lease after the last key.
    pub lease: Duration,
    /// How long a batch may go on starting items.
    pub batch_deadline: Duration,
    /// How long a batch that the operator must release waits for it.
    pub batch_hold: Duration,
    /// Commands that wait for the operator's word. None unless somebody asks for it.
    pub approvals: Vec<ApprovalRule>,
    /// Calls kept in memory for the console; all are in the journal.
    pub recent_calls: usize,
    /// An agent may drive tasks that another one started.
    pub share_tasks: bool,
    /// The record.
    pub record: Record,
}

/// Which commands wait for the operator's word before they start. Whatever is given must fit; with nothing
/// given it fits every command.
///
/// A rule reads the command as text. It is a question asked in time, no fence: a command can be written in
/// many ways (decision 18).
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ApprovalRule {
    /// The whole command line, to the letter.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exact: Option<String>,
    /// How the command line begins, in whole words: `git push` is in `git push -f`, not in `git pushd`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prefix: Option<String>,
    /// The tool: `ExecCommand` or `ExecCommandBatch`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// Who asks: `agent:<label>`, `agent` for any agent, or `cli` for scripts. Any agent unless given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub actor: Option<String>,
}

impl ApprovalRule {
    /// Tells whether a command of an actor waits for the operator by this rule.
    #[must_use]
    pub fn asks(&self, tool: &str, actor: &str, cmd: &str) -> bool {
        let begins = |prefix: &String| {
            let rest = cmd.trim_start().strip_prefix(prefix.trim());
            rest.is_some_and(|rest| !rest.starts_with(|c: char| !c.is_whitespace() && !";&|<>()".contains(c)))
        };
        let is_by = match self.actor.as_deref() {
            None | Some("agent") => actor.starts_with("agent:"),
            Some(named) => actor == named,
        };
        is_by
            && self.tool.as_ref().is_none_or(|asked| asked == tool)
            && self.exact.as_ref().is_none_or(|exact| exact == cmd)
            && self.prefix.as_ref().is_none_or(begins)
    }
}

impl fmt::Display for ApprovalRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts =
            [("exact", &self.exact), ("prefix", &self.prefix), ("tool", &self.tool), ("actor", &self.actor)];
        let given: Vec<String> = parts
            .into_iter()
            .filter_map(|(name, value)| value.as_ref().map(|value| format!("{name} {value:?}")))
            .collect();
        f.write_str(if given.is_empty() { "every command" } else { "" })?;
        f.write_str(&given.join(", "))
    }
}

/// How the record is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Record {
    /// What happens when it cannot be written.
    pub audit: Audit,
    /// Bytes of all recordings together.
    pub keep_bytes: u64,
    /// How old a recording may become.
    pub keep_for: Duration,
    /// How many recordings are kept.
    pub keep_recordings: usize,
}

/// What happens when the record cannot be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Audit {
    /// Running tasks go on; no new command starts.
    #[default]
    Required,
    /// Everything goes on, and the console says that it is not on record.
    BestEffort,
}

impl Default for Record {
    fn default() -> Self {
        Self {
            audit: Audit::default(),
            keep_bytes: 2 << 30,
            keep_for: Duration::from_secs(30 * 24 * 3_600),
            keep_recordings: 200,
        }
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            tasks: 64,
            stream_head_bytes: 64 << 20,
            stream_tail_bytes: 1 << 20,
            output_bytes: None,
            input_queue_bytes: 64 << 10,
            connections: 32,
            frame_bytes: 1 << 20,
            stop_grace: Duration::from_secs(5),
            lease: Duration::from_secs(10),
            batch_deadline: Duration::from_secs(110),
            batch_hold: Duration::from_secs(45),
            approvals: Vec::new(),
            recent_calls: 1_000,
            share_tasks: false,
            record: Record::default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(exact: &str, prefix: &str, tool: &str, actor: &str) -> ApprovalRule {
        let given = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        ApprovalRule { exact: given(exact), prefix: given(prefix), tool: given(tool), actor: given(actor) }
    }

    #[test]
    fn a_rule_asks_where_all_of_it_fits() {
        for (rule, tool, actor, cmd, asks) in [
            (rule("", "", "", ""), "ExecCommand", "agent:a", "ls", true),
            (rule("", "", "", ""), "ExecCommand", "cli", "ls", false),
            (rule("", "git push", "", ""), "ExecCommand", "agent:a", " git push -f", true),
            (rule("", "git push", "", ""), "ExecCommand", "agent:a", "git push;ls", true),
            (rule("", "git push", "", ""), "ExecCommand", "agent:a", "git pushd", false),
            (rule("", "git push", "", ""), "ExecCommand", "agent:a", "echo git push", false),
            (rule("make", "", "", ""), "ExecCommand", "agent:a", "make", true),
            (rule("make", "", "", ""), "ExecCommand", "agent:a", "make ", false),
            (rule("", "", "ExecCommandBatch", ""), "ExecCommand", "agent:a", "ls", false),
            (rule("", "", "", "cli"), "ExecCommand", "cli", "ls", true),
            (rule("", "", "", "agent:b"), "ExecCommand", "agent:a", "ls", false),
            (rule("", "ls", "", "agent"), "ExecCommand", "agent:a", "ls", true),
        ] {
            assert_eq!(rule.asks(tool, actor, cmd), asks, "{rule} {tool} {actor} {cmd:?}");
        }
    }

    #[test]
    fn a_rule_says_what_it_asks_for_and_is_read_from_toml() {
        let read: ApprovalRule = toml::from_str("prefix = \"git push\"\nactor = \"cli\"").expect("a rule");
        assert_eq!(read, rule("", "git push", "", "cli"));
        assert_eq!(read.to_string(), r#"prefix "git push", actor "cli""#);
        assert_eq!(ApprovalRule::default().to_string(), "every command");
        assert!(toml::from_str::<ApprovalRule>("suffix = \"x\"").is_err());
    }
}
