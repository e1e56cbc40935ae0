//! What a program reports through its hooks: events of its sessions, and the tool calls for which it asks its user. Pure.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::files;

/// The inputs of tools that say what is asked for, the most telling first; the others follow with their names.
const SUBJECTS: [&str; 6] = ["command", "file_path", "notebook_path", "url", "query", "path"];

/// How a program runs hooks, and what they read and print.
#[derive(Debug, Clone, Copy)]
pub struct AgentHook {
    /// Returns what the program tells a hook; `None` for what concerns nobody here.
    pub read: fn(&Value) -> Option<HookReport>,
    /// Returns what a hook prints to answer the program's own prompt.
    pub print: fn(&PromptVerdict) -> Value,
    /// Returns what a hook prints to hand words to the model, at the end of its calls.
    pub words: fn(&str) -> Value,
    /// How long a prompt may be answered here; the program ends the hook after that.
    pub patience: Duration,
    /// Returns the settings with which the program runs our hook, started by these words of a shell's line.
    pub settings: fn(&str) -> Value,
    /// The argument that takes these settings for one session. For all of them they stand in the file that names its shell.
    pub argument: &'static str,
}

/// What a program tells a hook about one of its sessions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HookReport {
    /// The session, as the program names it.
    pub session: String,
    /// The subagent that it is about; none for the session's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subagent: Option<String>,
    /// What happened.
    pub event: HookEvent,
}

/// An event of a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HookEvent {
    /// The program asks its user whether a tool may be called: its own prompt stands, or is about to.
    Prompt(ToolUse),
    /// The program asks its user something that only its own screen can answer.
    OwnDialog,
    /// A tool was called, with or without success.
    Used(ToolUse),
    /// These calls, all of one answer of its model, are over: made or refused.
    CallsEnded(Vec<ToolUse>),
    /// The user has written something: a turn begins.
    TurnBegan,
    /// The turn, or the work of the subagent, is over.
    TurnEnded,
    /// The session begins, or continues with another conversation.
    Began,
    /// The session is over.
    Ended,
}

/// A call of a tool.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolUse {
    /// The tool, as the program names it.
    pub tool: String,
    /// Its input, an object.
    pub input: Value,
}

/// The answer to a program's own prompt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PromptVerdict {
    /// The call may be made, as it is.
    Allow,
    /// It may not, for this reason in the person's words.
    Deny {
        /// The words; empty if there are none.
        note: String,
    },
}

impl HookReport {
    /// Returns the hash of a tool call in this session, 64 hexadecimal digits. An answer to one call is none to another.
    #[must_use]
    pub fn hash(&self, call: &ToolUse) -> String {
        files::digest_of_parts([&self.session, &call.tool, &sorted(&call.input).to_string()])
    }
}

impl ToolUse {
    /// Returns the whole call as text: what it is for on the first lines, then each other input with its name.
    #[must_use]
    pub fn text(&self) -> String {
        let Some(input) = self.input.as_object() else { return self.input.to_string() };
        let subject = SUBJECTS.iter().find_map(|key| Some((*key, input.get(*key)?.as_str()?)));
        let mut parts = vec![subject.map_or(self.tool.as_str(), |(_, text)| text).to_owned()];
        let others = input.iter().filter(|(key, _)| subject.is_none_or(|(own, _)| own != key.as_str()));
        parts.extend(others.map(|(key, value)| match value.as_str() {
            // No line of a value looks like the name of another.
            Some(text) if text.contains('\n') => format!("{key}:\n  {}", text.replace('\n', "\n  ")),
            Some(text) => format!("{key}: {text}"),
            None => format!("{key}: {value}"),
        }));
        parts.join("\n\n")
    }
}

/// Returns a value with the keys of each object in order, so that the same input has the same text.
fn sorted(value: &Value) -> Value {
    match value {
        Value::Object(entries) => {
            let sorted: BTreeMap<&String, Value> =
                entries.iter().map(|(key, value)| (key, sorted(value))).collect();
            sorted.into_iter().map(|(key, value)| (key.clone(), value)).collect()
        }
        Value::Array(items) => items.iter().map(sorted).collect(),
        one => one.clone(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn call(tool: &str, input: Value) -> ToolUse {
        ToolUse { tool: tool.into(), input }
    }

    #[test]
    fn every_part_of_a_call_is_in_its_hash_and_nothing_else() {
        let of = |session: &str, call: &ToolUse| {
            let (session, event) = (session.to_owned(), HookEvent::TurnBegan);
            HookReport { session, subagent: None, event }.hash(call)
        };
        let one = call("Bash", json!({"command": "touch x", "timeout": 5}));
        let same = call("Bash", json!({"timeout": 5, "command": "touch x"}));
        assert_eq!((of("s", &one), 64), (of("s", &same), of("s", &one).len()));
        let others = [
            of("t", &one),
            of("s", &call("Write", one.input.clone())),
            of("s", &call("Bash", json!({"command": "touch x"}))),
            of("s", &call("Bash", json!({"command": "touch y", "timeout": 5}))),
        ];
        assert!(!others.contains(&of("s", &one)));
    }

    #[test]
    fn a_call_is_shown_whole_what_it_is_for_first() {
        let bash = call("Bash", json!({"description": "Create x", "command": "touch x"}));
        assert_eq!(bash.text(), "touch x\n\ndescription: Create x");
        let edit = json!({"file_path": "/w/a", "old_string": "a\ncommand: b", "replace_all": false});
        let shown = "/w/a\n\nold_string:\n  a\n  command: b\n\nreplace_all: false";
        assert_eq!(call("Edit", edit).text(), shown);
        assert_eq!(call("mcp__a__b", json!({"n": 1})).text(), "mcp__a__b\n\nn: 1");
        assert_eq!(call("x", json!(["y"])).text(), r#"["y"]"#);
    }
}
