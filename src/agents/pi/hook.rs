//! pi's events, as an extension reports them (1.5.2). pi asks its user nothing, and the extension asks nothing for it.

use serde_json::{Value, json};

use crate::agents::hook::{AgentHook, HookEvent, HookReport, ToolUse, UsedTool};
use crate::agents::hook_entry::{HookEntry, HookPassing};
use crate::model::{ModelText, ModelTextFacts};

/// The tool that runs commands in its own shell.
const SHELL_TOOL: &str = "bash";

pub(super) const HOOK: AgentHook = AgentHook {
    read,
    words: |text| json!({ "words": text }),
    // Words at a call that a script of its model has made (1.6.0) would wait for the end of that script.
    takes_words: |report| matches!(&report.event, HookEvent::Used(used) if !used.is_of_script()),
    reports_batches: false,
    answering: None,
    entry: HookEntry {
        plugin: Some(include_str!("extension.js")),
        settings: |path| json!({ "extensions": [path] }),
        file: Some(super::SETTINGS),
        next: "",
        process: Some(HookPassing::Plugin("--extension")),
    },
    spare: None,
    shell_tool: SHELL_TOOL,
};

fn read(told: &Value) -> Option<HookReport> {
    let event = match told["type"].as_str()? {
        "session_start" => HookEvent::Began,
        "before_agent_start" => HookEvent::TurnBegan,
        "agent_settled" => HookEvent::TurnEnded,
        "session_shutdown" => HookEvent::Ended,
        "tool_result" => use_event(&told["event"])?,
        _ => return None,
    };
    let session = told["session"].as_str()?.to_owned();
    Some(HookReport { session, subagent: None, mode: None, event })
}

fn use_event(event: &Value) -> Option<HookEvent> {
    let call = ToolUse { tool: event["toolName"].as_str()?.to_owned(), input: event["input"].clone() };
    let facts = ModelTextFacts {
        is_failure: event["isError"] == true,
        is_cut: event["isCut"] == true,
        is_exact: true,
        ..ModelTextFacts::default()
    };
    let text = event["text"].as_str().filter(|_| call.tool == SHELL_TOOL);
    let given = text.map(|text| ModelText::of(text.to_owned(), facts));
    Some(HookEvent::Used(UsedTool { call, id: event["toolCallId"].as_str().map(str::to_owned), given }))
}
