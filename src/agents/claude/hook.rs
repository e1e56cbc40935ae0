//! Claude Code's hooks, as 2.1.330 and 2.1.332 run them.

use std::time::Duration;

use serde_json::{Map, Value, json};

use crate::agents::hook::{
    AgentHook, HookEvent, HookReport, PromptAnswering, PromptVerdict, RefusedTool, ToolUse, UsedTool,
};
use crate::agents::hook_entry::{HookEntry, HookPassing};
use crate::model::{ModelText, ModelTextFacts};

/// How long its prompt may be answered here, in seconds. Its dialog stands all the while; the hook is ended after that.
const PROMPT_SECONDS: u64 = 3_600;
/// How long a hook that only reports may take, in seconds.
const REPORT_SECONDS: u64 = 5;
/// Tools whose prompts are more than a yes or no: only its own screen can answer them.
const OWN_DIALOGS: [&str; 2] = ["AskUserQuestion", "ExitPlanMode"];
/// The tool that runs commands in its own shell.
const SHELL_TOOL: &str = "Bash";
/// Claude Code marks with one of these where it cut a text.
const CUT: [&str; 2] = ["<persisted-output>", " truncated] ..."];
/// What a refusal without words says to its model.
const DENIED: &str = "The user denied this in Pilothouse's console.";
/// The event at which the person's words are handed over: the next request to its model has them.
const WORDS: &str = "PostToolBatch";
/// The events that report.
const REPORTED: [&str; 9] = [
    "PermissionDenied",
    "PostToolUse",
    "PostToolUseFailure",
    "PostToolBatch",
    "UserPromptSubmit",
    "Stop",
    "SubagentStop",
    "SessionStart",
    "SessionEnd",
];

pub(super) const HOOK: AgentHook = AgentHook {
    read: |told| read_event(told["hook_event_name"].as_str()?, told, SHELL_TOOL),
    words: |text| words(WORDS, text),
    takes_words: |report| matches!(report.event, HookEvent::CallsEnded(_)),
    reports_batches: true,
    answering: Some(PromptAnswering {
        print,
        patience: Duration::from_secs(PROMPT_SECONDS),
        is_on_request: false,
    }),
    entry: HookEntry {
        plugin: None,
        settings,
        file: Some(super::SETTINGS),
        next: "",
        process: Some(HookPassing::Settings {
            argument: "--settings",
            in_service: &["--bg", "--background"],
        }),
    },
    spare: Some("bg-spare"),
    shell_tool: SHELL_TOOL,
};

/// Reads what it and programs with the same events tell; `name` is the event.
pub(in crate::agents) fn read_event(name: &str, told: &Value, shell_tool: &str) -> Option<HookReport> {
    let text = |key: &str| told[key].as_str().map(str::to_owned);
    let event = match name {
        "PermissionRequest" => match call(told)? {
            call if OWN_DIALOGS.contains(&call.tool.as_str()) => HookEvent::OwnDialog,
            call => HookEvent::Prompt(call),
        },
        "PostToolUse" | "PostToolUseFailure" => HookEvent::Used(used_tool(told, shell_tool)?),
        "PostToolBatch" => {
            let calls = told["tool_calls"].as_array()?.iter();
            HookEvent::CallsEnded(calls.filter_map(|call| used_tool(call, shell_tool)).collect())
        }
        "PermissionDenied" => {
            let reason = ["reason", "message"].iter().find_map(|key| text(key)).unwrap_or_default();
            HookEvent::Refused(RefusedTool { call: call(told)?, reason })
        }
        "UserPromptSubmit" => HookEvent::TurnBegan,
        "Stop" | "SubagentStop" => HookEvent::TurnEnded,
        // What is shortened goes on.
        "SessionStart" if told["source"] == "compact" => return None,
        "SessionStart" => HookEvent::Began,
        "SessionEnd" => HookEvent::Ended,
        _ => return None,
    };
    let (session, subagent) = (text("session_id")?, text("agent_id"));
    Some(HookReport { session, subagent, mode: text("permission_mode"), event })
}

fn used_tool(told: &Value, shell_tool: &str) -> Option<UsedTool> {
    let call = call(told)?;
    let given = (call.tool == shell_tool).then(|| model_text(told)).flatten();
    Some(UsedTool { id: told["tool_use_id"].as_str().map(str::to_owned), given, call })
}

/// Returns what its model was given of a command: the text of a failure, or what the command wrote. At the end of a model's
/// calls, that is the very text of the next request.
fn model_text(told: &Value) -> Option<ModelText> {
    let response = &told["tool_response"];
    let text = match (&told["error"], response) {
        (Value::String(error), _) => {
            let is_cut = CUT.iter().any(|mark| error.contains(mark));
            let facts = ModelTextFacts { is_failure: true, is_cut, ..ModelTextFacts::default() };
            return Some(ModelText::of(error.clone(), facts));
        }
        (_, Value::String(text)) => text.clone(),
        (_, Value::Array(parts)) => join_texts(parts.iter().map(|part| &part["text"])),
        // As Qwen Code says it.
        (_, Value::Object(parts)) if parts.contains_key("llmContent") => {
            response["llmContent"].as_str()?.to_owned()
        }
        (_, Value::Object(_)) => join_texts([&response["stdout"], &response["stderr"]].into_iter()),
        _ => return None,
    };
    let is_cut = response["persistedOutputPath"].is_string() || CUT.iter().any(|mark| text.contains(mark));
    let is_exact = !response["stdout"].is_string() && !response["stderr"].is_string();
    Some(ModelText::of(text, ModelTextFacts { is_cut, is_exact, ..ModelTextFacts::default() }))
}

fn join_texts<'a>(texts: impl Iterator<Item = &'a Value>) -> String {
    let texts = texts.filter_map(Value::as_str).filter(|text| !text.is_empty());
    texts.collect::<Vec<_>>().join("\n")
}

fn call(told: &Value) -> Option<ToolUse> {
    Some(ToolUse { tool: told["tool_name"].as_str()?.to_owned(), input: told["tool_input"].clone() })
}

/// How programs with its answers are answered that show their prompt only once the hook has ended.
pub(in crate::agents) const ON_REQUEST: PromptAnswering =
    PromptAnswering { print, patience: Duration::from_secs(20), is_on_request: true };

/// Never changes the call or its rules.
fn print(verdict: &PromptVerdict) -> Value {
    let decision = match verdict {
        PromptVerdict::Allow => json!({ "behavior": "allow" }),
        PromptVerdict::Deny { note } if note.is_empty() => json!({ "behavior": "deny", "message": DENIED }),
        PromptVerdict::Deny { note } => json!({ "behavior": "deny", "message": note }),
    };
    json!({ "hookSpecificOutput": { "hookEventName": "PermissionRequest", "decision": decision } })
}

/// Returns what hands over words at an event.
pub(in crate::agents) fn words(event: &str, text: &str) -> Value {
    json!({ "hookSpecificOutput": { "hookEventName": event, "additionalContext": text } })
}

fn settings(command: &str) -> Value {
    let prompt = ("PermissionRequest", PROMPT_SECONDS);
    let reported = REPORTED.map(|name| (name, REPORT_SECONDS));
    let mut settings = settings_of(command, &[&[prompt], &reported[..]].concat());
    for name in REPORTED.into_iter().filter(|name| *name != WORDS) {
        // It does not wait for them.
        settings["hooks"][name][0]["hooks"][0]["async"] = json!(true);
    }
    settings
}

/// Returns the settings by which a command is run at these events, for at most so many seconds.
pub(in crate::agents) fn settings_of(command: &str, events: &[(&str, u64)]) -> Value {
    let entry =
        |timeout: u64| json!([{ "hooks": [{ "type": "command", "command": command, "timeout": timeout }] }]);
    let entries = events.iter().map(|(name, timeout)| ((*name).to_owned(), entry(*timeout)));
    json!({ "hooks": entries.collect::<Map<_, _>>() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_claude_hook_event_is_read_and_a_dialog_beyond_yes_or_no_is_left_to_its_own_screen() {
        let read = HOOK.read;
        let told = |name: &str, tool: &str| json!({ "hook_event_name": name, "session_id": "s", "tool_name": tool, "tool_input": {"command": "ls"} });
        let call = ToolUse { tool: "Bash".into(), input: json!({"command": "ls"}) };
        let used = |given| UsedTool { call: call.clone(), id: None, given };
        let report = |event| Some(HookReport { session: "s".into(), subagent: None, mode: None, event });
        assert_eq!(read(&told("PermissionRequest", "Bash")), report(HookEvent::Prompt(call.clone())));
        assert_eq!(read(&told("PostToolUse", "Bash")), report(HookEvent::Used(used(None))));
        assert_eq!(read(&told("Stop", "")), report(HookEvent::TurnEnded));
        let mut batch = told("PostToolBatch", "");
        batch["tool_calls"] = json!([told("", "Bash"), {}]);
        assert_eq!(read(&batch), report(HookEvent::CallsEnded(vec![used(None)])));
        let mut wrote = told("PostToolUse", "Bash");
        wrote["tool_response"] = json!({ "stdout": "out", "stderr": "", "persistedOutputPath": "/o" });
        let cut = ModelTextFacts { is_cut: true, ..ModelTextFacts::default() };
        let made = ModelText::of("out".into(), cut);
        assert_eq!(read(&wrote), report(HookEvent::Used(used(Some(made)))));
        let exact = ModelTextFacts { is_exact: true, ..ModelTextFacts::default() };
        let very = |text: &str| ModelText::of(text.into(), exact);
        batch["tool_calls"][0]["tool_response"] = json!("(Bash completed with no output)");
        let none = very("(Bash completed with no output)");
        assert_eq!(read(&batch), report(HookEvent::CallsEnded(vec![used(Some(none))])));
        let mut refused = told("PermissionDenied", "Bash");
        refused["reason"] = json!("not safe");
        let reason = "not safe".to_owned();
        assert_eq!(read(&refused), report(HookEvent::Refused(RefusedTool { call: call.clone(), reason })));
        assert_eq!(read(&told("PermissionRequest", "AskUserQuestion")), report(HookEvent::OwnDialog));
        for none in [
            told("PreCompact", "Bash"),
            json!({ "hook_event_name": "Stop" }),
            json!({ "hook_event_name": "PermissionRequest", "session_id": "s" }),
            json!([]),
        ] {
            assert_eq!(read(&none), None, "{none}");
        }
        let mut of_subagent = told("SubagentStop", "");
        of_subagent["agent_id"] = json!("a1");
        assert_eq!(read(&of_subagent).and_then(|report| report.subagent).as_deref(), Some("a1"));
    }

    #[test]
    fn an_answer_says_yes_or_no_and_changes_nothing() {
        let printed = |verdict| print(&verdict)["hookSpecificOutput"].clone();
        let expected = json!({ "hookEventName": "PermissionRequest", "decision": {"behavior": "allow"} });
        assert_eq!(printed(PromptVerdict::Allow), expected);
        let denied = printed(PromptVerdict::Deny { note: "use y".into() });
        assert_eq!(denied["decision"], json!({ "behavior": "deny", "message": "use y" }));
        assert_eq!(printed(PromptVerdict::Deny { note: String::new() })["decision"]["message"], DENIED);
    }

    #[test]
    fn each_event_has_its_own_limit_of_time_and_only_what_prints_is_waited_for() {
        let settings = settings("pilothouse hook claude");
        let hooks = settings["hooks"].as_object().expect("hooks");
        assert_eq!(hooks.len(), REPORTED.len() + 1);
        for (name, entries) in hooks {
            let hook = &entries[0]["hooks"][0];
            assert!(hook["timeout"].is_u64(), "{name}");
            assert_eq!(
                hook["async"] == true,
                !["PermissionRequest", WORDS].contains(&name.as_str()),
                "{name}"
            );
        }
    }
}
