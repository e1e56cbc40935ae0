//! opencode's events, as a plugin of its screen reports them (1.18.33). Plugins of its server hold up its start until a
//! package of its own is installed in its folder, a minute without a network; those of its screen do not.

use std::time::Duration;

use serde_json::{Map, Value, json};

use crate::agents::config_file::{ConfigFile, ConfigFolder};
use crate::agents::hook::{
    AgentHook, HookEvent, HookReport, PromptAnswering, PromptVerdict, RefusedTool, ToolUse, UsedTool,
};
use crate::agents::hook_entry::{HookEntry, HookPassing};
use crate::model::{ModelText, ModelTextFacts};

/// How long its prompt may be answered here: its plugin waits as long as it runs.
const PATIENCE: Duration = Duration::from_secs(7 * 24 * 3_600);
/// The tool that runs commands in its own shell.
const SHELL_TOOL: &str = "bash";
/// The tools that one permission is for, which has another name.
const EDITS: [&str; 5] = ["edit", "write", "patch", "apply_patch", "multiedit"];
/// How it begins what it tells its model of a call that its user refused, and of one that its rules refused.
const REFUSED_BY_USER: &str = "The user rejected permission";
const REFUSED_BY_RULES: &str = "The user has specified a rule which prevents";

pub(in crate::agents) const HOOK: AgentHook = AgentHook {
    read,
    words: |text| json!({ "words": text }),
    takes_words: |report| matches!(report.event, HookEvent::Used(_)),
    reports_batches: false,
    answering: Some(PromptAnswering { print, patience: PATIENCE, is_on_request: false }),
    entry: HookEntry {
        plugin: Some(include_str!("plugin.js")),
        settings: |path| json!({ "plugin": [path] }),
        file: Some(ConfigFile::new(ConfigFolder::Config, &["opencode/tui.json", "opencode/tui.jsonc"])),
        next: "",
        process: Some(HookPassing::File("OPENCODE_TUI_CONFIG")),
    },
    spare: None,
    shell_tool: SHELL_TOOL,
};

fn read(told: &Value) -> Option<HookReport> {
    let text = |key: &str| told[key].as_str().map(str::to_owned);
    let properties = &told["event"]["properties"];
    let event = match told["event"]["type"].as_str()? {
        "permission.asked" => HookEvent::Prompt(prompted_call(properties, &told["call"])?),
        "permission.replied" => HookEvent::PromptAnswered(prompted_call(&told["request"], &told["call"])?),
        "question.asked" => HookEvent::OwnDialog,
        "message.part.updated" => end_event(&properties["part"])?,
        "message.updated" => HookEvent::TurnBegan,
        "session.status" => HookEvent::TurnEnded,
        "session.created" => HookEvent::Began,
        "session.deleted" => HookEvent::Ended,
        _ => return None,
    };
    let session = text("session")?;
    let subagent = text("own").filter(|own| *own != session);
    Some(HookReport { session, subagent, mode: text("mode"), event })
}

/// Returns the call that a permission is asked for. A permission for something else about a call, such as a folder outside, is
/// a call of its own; so is one of which no call is known.
fn prompted_call(request: &Value, call: &Value) -> Option<ToolUse> {
    let permission = request["permission"].as_str()?;
    let tool = call["tool"].as_str();
    let is_call = |tool: &&str| *tool == permission || permission == "edit" && EDITS.contains(tool);
    let inputs = call["input"].as_object().filter(|inputs| !inputs.is_empty());
    if let (Some(tool), Some(_)) = (tool.filter(is_call), inputs) {
        return Some(ToolUse { tool: tool.to_owned(), input: call["input"].clone() });
    }
    let mut input: Map<String, Value> = request["metadata"].as_object().cloned().unwrap_or_default();
    input.extend(inputs.cloned().unwrap_or_default());
    input.insert("patterns".to_owned(), request["patterns"].clone());
    if let Some(tool) = tool {
        input.insert("tool".to_owned(), tool.into());
    }
    Some(ToolUse { tool: permission.to_owned(), input: Value::Object(input) })
}

fn end_event(part: &Value) -> Option<HookEvent> {
    let state = &part["state"];
    let call = ToolUse { tool: part["tool"].as_str()?.to_owned(), input: state["input"].clone() };
    let (text, is_failure) = match state["status"].as_str()? {
        "completed" => (state["output"].as_str()?, false),
        "error" => (state["error"].as_str()?, true),
        _ => return None,
    };
    if is_failure && text.starts_with(REFUSED_BY_RULES) {
        return Some(HookEvent::Refused(RefusedTool { call, reason: REFUSED_BY_RULES.to_owned() }));
    }
    if is_failure && text.starts_with(REFUSED_BY_USER) {
        return Some(HookEvent::PromptAnswered(call));
    }
    let is_cut = state["metadata"]["truncated"] == true;
    let facts = ModelTextFacts { is_failure, is_cut, is_exact: true, ..ModelTextFacts::default() };
    let given = (call.tool == SHELL_TOOL).then(|| ModelText::of(text.to_owned(), facts));
    Some(HookEvent::Used(UsedTool { call, id: part["callID"].as_str().map(str::to_owned), given }))
}

/// Allows this once, or refuses: without words that ends its turn, as its own dialog does.
fn print(verdict: &PromptVerdict) -> Value {
    match verdict {
        PromptVerdict::Allow => json!({ "reply": "once" }),
        PromptVerdict::Deny { note } if note.is_empty() => json!({ "reply": "reject" }),
        PromptVerdict::Deny { note } => json!({ "reply": "reject", "message": note }),
    }
}
