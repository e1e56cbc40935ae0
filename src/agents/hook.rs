//! What a program reports through its hooks: events of its sessions, and the tool calls for which it asks its user. Pure.

use crate::model::native_call::is_of_script;
use crate::model::{CallLikeness, ModelText};
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::hook_entry::HookEntry;
use crate::consequence::rule_words::Prefix;
use crate::files;

/// The inputs of tools that say what is asked for, the most telling first; the others follow with their names.
const SUBJECTS: [&str; 8] =
    ["command", "file_path", "filePath", "notebook_path", "url", "query", "pattern", "path"];

/// Inputs of a command that make it no other: what it is for, in words, and how long it may take.
const ASIDE: [&str; 2] = ["description", "timeout"];

/// How a program runs hooks, and what they read and print.
#[derive(Debug, Clone, Copy)]
pub struct AgentHook {
    /// Returns what the program tells a hook; `None` for what concerns nobody here.
    pub read: fn(&Value) -> Option<HookReport>,
    /// Returns what a hook prints to hand words to the model, at the end of its calls.
    pub words: fn(&str) -> Value,
    /// Returns whether it takes words with a report.
    pub takes_words: fn(&HookReport) -> bool,
    /// Whether it reports when all calls of an answer of its model are over; only then has the model been given them.
    pub reports_batches: bool,
    /// How its prompts are answered here; otherwise they are only shown.
    pub answering: Option<PromptAnswering>,
    /// How the program is configured to run our hook.
    pub entry: HookEntry,
    /// The argument of a process of it that waits for a session, and has none yet.
    pub spare: Option<&'static str>,
    /// The tool that runs commands in its shell; their text is the input `command`.
    pub shell_tool: &'static str,
}

/// How a program's own prompt is answered by its hook.
#[derive(Debug, Clone, Copy)]
pub struct PromptAnswering {
    /// Returns what the hook prints.
    pub print: fn(&PromptVerdict) -> Value,
    /// How long it may take; the program ends the hook after that.
    pub patience: Duration,
    /// Whether the program shows its prompt only once the hook has ended: then it is only shown here, unless its user wants
    /// to answer here first.
    pub is_on_request: bool,
}

/// What a program tells a hook about one of its sessions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HookReport {
    /// The session, as the program names it.
    pub session: String,
    /// The subagent that it is about; none for the session's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subagent: Option<String>,
    /// How the program decides what needs no question, in its own word: its mode.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<String>,
    /// What happened.
    pub event: HookEvent,
}

/// An event of a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HookEvent {
    /// The program asks its user whether a tool may be called: its own prompt stands, or is about to.
    Prompt(ToolUse),
    /// The user has answered such a prompt in the program.
    PromptAnswered(ToolUse),
    /// The program asks its user something that only its own screen can answer.
    OwnDialog,
    /// A tool was called, with or without success.
    Used(UsedTool),
    /// These calls, all of one answer of its model, are over: made or refused.
    CallsEnded(Vec<UsedTool>),
    /// The program itself refused a call, and asked nobody.
    Refused(RefusedTool),
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

/// A call of a tool that is over.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UsedTool {
    #[serde(flatten)]
    pub call: ToolUse,
    /// The program's own name for the call; several reports may be about one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// What its model was given of it, if it was a command.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub given: Option<ModelText>,
}

/// A call of a tool that the program itself refused.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RefusedTool {
    #[serde(flatten)]
    pub call: ToolUse,
    /// Why, in the program's words.
    #[serde(default)]
    pub reason: String,
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

impl UsedTool {
    /// Tells whether a script of the model made the call, and not the model itself.
    #[must_use]
    pub fn is_of_script(&self) -> bool {
        self.id.as_deref().is_some_and(is_of_script)
    }

    /// Tells whether a command has run, as far as its model was told: the text of a failure may say why it has not.
    #[must_use]
    pub fn has_run(&self) -> bool {
        self.given
            .as_ref()
            .is_some_and(|given| !given.facts.is_failure || given.text.starts_with("Exit code "))
    }
}

impl HookReport {
    /// Returns the hash of a tool call in this session, 64 hexadecimal digits. An answer to one call is none to another.
    #[must_use]
    pub fn hash(&self, call: &ToolUse) -> String {
        files::digest_of_parts([&self.session, &call.tool, &sort_keys(&call.input).to_string()])
    }

    /// Returns what makes other calls in this session like this one, which the agent's `process` makes in a directory.
    #[must_use]
    pub fn likeness(&self, call: &ToolUse, shell_tool: &str, workdir: &Path, process: u32) -> CallLikeness {
        let Some(command) = call.command(shell_tool) else {
            return self.likeness_by(None, &call.tool, &call.input, (workdir, process));
        };
        let mut rest = call.input.clone();
        if let Some(inputs) = rest.as_object_mut() {
            inputs.retain(|name, _| name != "command" && !ASIDE.contains(&name.as_str()));
        }
        let words = Prefix::of_alike(command);
        let by = match &words {
            Some(words) => ("begins", words.text()),
            None => ("is", command),
        };
        let alike = self.likeness_by(Some(by), &call.tool, &rest, (workdir, process));
        CallLikeness { words: words.map(String::from), ..alike }
    }

    fn likeness_by(
        &self,
        command: Option<(&str, &str)>,
        tool: &str,
        rest: &Value,
        (workdir, process): (&Path, u32),
    ) -> CallLikeness {
        let (how, text) = command.unwrap_or_default();
        let (rest, process) = (sort_keys(rest).to_string(), process.to_string());
        let parts: [&[u8]; 7] = [
            self.session.as_bytes(),
            process.as_bytes(),
            tool.as_bytes(),
            workdir.as_os_str().as_encoded_bytes(),
            how.as_bytes(),
            text.as_bytes(),
            rest.as_bytes(),
        ];
        CallLikeness { hash: files::digest_of_parts(parts), words: None }
    }

    /// Returns the same without what the model was given.
    #[must_use]
    pub fn without_texts(mut self) -> Self {
        match &mut self.event {
            HookEvent::Used(used) => used.given = None,
            HookEvent::CallsEnded(used) => used.iter_mut().for_each(|used| used.given = None),
            _ => {}
        }
        self
    }

    /// Returns the calls that are over.
    #[must_use]
    pub fn used_tools(&self) -> &[UsedTool] {
        match &self.event {
            HookEvent::Used(used) => std::slice::from_ref(used),
            HookEvent::CallsEnded(used) => used,
            _ => &[],
        }
    }
}

impl ToolUse {
    /// Returns the command, if it is a call of this tool that runs one.
    #[must_use]
    pub fn command(&self, shell_tool: &str) -> Option<&str> {
        self.input["command"].as_str().filter(|_| self.tool == shell_tool)
    }

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
fn sort_keys(value: &Value) -> Value {
    match value {
        Value::Object(entries) => {
            let sorted: BTreeMap<&String, Value> =
                entries.iter().map(|(key, value)| (key, sort_keys(value))).collect();
            sorted.into_iter().map(|(key, value)| (key.clone(), value)).collect()
        }
        Value::Array(items) => items.iter().map(sort_keys).collect(),
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
            HookReport { session, subagent: None, mode: None, event }.hash(call)
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
    fn calls_are_alike_in_the_same_place_by_the_same_words_and_nothing_more() {
        let report = |session: &str| HookReport {
            mode: None,
            session: session.into(),
            subagent: None,
            event: HookEvent::TurnBegan,
        };
        let of = |session: &str, tool: &str, input: Value, at: &str, process: u32| {
            report(session).likeness(&call(tool, input), "Bash", Path::new(at), process)
        };
        let list = |more: &str| json!({"command": format!("ls{more}"), "description": more, "timeout": more});
        let one = of("s", "Bash", list(""), "/w", 1);
        assert_eq!(one.words.as_deref(), Some("ls"));
        assert_eq!(of("s", "Bash", list(" -a"), "/w", 1), one);
        for other in [
            of("t", "Bash", list(""), "/w", 1),
            of("s", "Zsh", list(""), "/w", 1),
            of("s", "Bash", list(""), "/", 1),
            of("s", "Bash", list(""), "/w", 2),
            of("s", "Bash", list(" && ls"), "/w", 1),
            of("s", "Bash", list(" > log"), "/w", 1),
            of("s", "Bash", list(" $(ls)"), "/w", 1),
            of("s", "Bash", json!({"command": "ls", "shell": "/bin/zsh"}), "/w", 1),
            of("s", "Bash", json!({"command": "ls", "dangerouslyDisableSandbox": true}), "/w", 1),
        ] {
            assert_ne!(other.hash, one.hash);
        }
        // The words of one command are not the text of another.
        let text = of("s", "Bash", json!({"command": "ls;"}), "/w", 1);
        assert_eq!(text.words, None);
        assert_ne!(text.hash, of("s", "Bash", json!({"command": "ls ;"}), "/w", 1).hash);
        let edit = |text: &str| of("s", "Edit", json!({"file_path": "a", "description": text}), "/w", 1);
        assert_eq!((edit("x") == edit("x"), edit("x") == edit("y")), (true, false));
    }

    #[test]
    fn a_call_is_shown_whole_with_its_main_field_first() {
        let bash = call("Bash", json!({"description": "Create x", "command": "touch x"}));
        assert_eq!(bash.text(), "touch x\n\ndescription: Create x");
        let edit = json!({"file_path": "/w/a", "old_string": "a\ncommand: b", "replace_all": false});
        let shown = "/w/a\n\nold_string:\n  a\n  command: b\n\nreplace_all: false";
        assert_eq!(call("Edit", edit).text(), shown);
        assert_eq!(call("mcp__a__b", json!({"n": 1})).text(), "mcp__a__b\n\nn: 1");
        assert_eq!(call("x", json!(["y"])).text(), r#"["y"]"#);
    }
}
