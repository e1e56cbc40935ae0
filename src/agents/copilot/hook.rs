//! Copilot CLI's hooks, as 1.0.102 runs them: in Claude Code's form, with answers of its own. It runs some before its own
//! rules, which ask nobody about most calls; only its notification comes with a prompt. That has no more than the prompt's
//! first words, and takes no answer.

use serde_json::{Value, json};

use super::FOLDER;
use crate::agents::claude::hook::{read_event, settings_of};
use crate::agents::config_file::ConfigFile;
use crate::agents::hook::{AgentHook, HookEvent, HookReport, ToolUse, UsedTool};
use crate::agents::hook_entry::{HookEntry, HookPassing};
use crate::model::{ModelText, ModelTextFacts};

/// The tool that runs commands in its own shell, as it calls it there.
const SHELL_TOOL: &str = "Bash";
/// How its prompt about a command begins, and one about a tool of a server.
const COMMAND: &str = "Run command";
const SERVER_TOOL: &str = "Use MCP tool";
/// How its prompts about other calls begin. What a later call is of, and that it was asked about, is all they have in common.
const PROMPTS: [&str; 6] =
    ["Edit file", "Write file", "Read file", "Path permission needed", "Fetch URL", SERVER_TOOL];
/// How a text begins that it cut.
const CUT: &str = "Output too large to read at once";
/// The events that report, and how long a hook may take, in seconds.
const REPORTED: [(&str, u64); 8] = [
    ("Notification", 2),
    ("PostToolUse", 2),
    ("PostToolUseFailure", 2),
    ("UserPromptSubmit", 2),
    ("Stop", 2),
    ("SubagentStop", 2),
    ("SessionStart", 2),
    ("SessionEnd", 2),
];

pub(super) const HOOK: AgentHook = AgentHook {
    read,
    words: |text| json!({ "additionalContext": text }),
    // Of a call that failed, it takes none.
    takes_words: |report| {
        let given = |used: &UsedTool| used.given.as_ref().is_some_and(|given| !given.facts.is_failure);
        report.used_tools().first().is_some_and(given)
    },
    reports_batches: false,
    answering: None,
    entry: HookEntry {
        plugin: None,
        settings: |command| settings_of(command, &REPORTED),
        file: Some(ConfigFile::new(FOLDER, &["hooks/pilothouse.json"])),
        next: "",
        process: Some(HookPassing::Folder("--plugin-dir")),
    },
    spare: None,
    shell_tool: SHELL_TOOL,
};

fn read(told: &Value) -> Option<HookReport> {
    let text = |key: &str| told[key].as_str().map(str::to_owned);
    let name = told["hook_event_name"].as_str()?;
    if name == "Notification" {
        let event = match told["notification_type"].as_str()? {
            "permission_prompt" => HookEvent::Prompt(prompted_call(told["message"].as_str()?)),
            "elicitation_dialog" => HookEvent::OwnDialog,
            _ => return None,
        };
        return Some(HookReport { session: text("sessionId")?, subagent: None, mode: None, event });
    }
    let mut report = read_event(name, told, SHELL_TOOL)?;
    // What a subagent does has a session of its own; its prompts are the whole session's.
    report.session = text("parent_agent_id").unwrap_or(report.session);
    if let HookEvent::Used(used) = report.event {
        report.event = over(used, told);
    }
    Some(report)
}

/// Returns the call that the words of a prompt are about.
fn prompted_call(message: &str) -> ToolUse {
    let (what, subject) = message.split_once(": ").unwrap_or((message, ""));
    match what {
        COMMAND => ToolUse { tool: SHELL_TOOL.to_owned(), input: json!({ "command": subject }) },
        SERVER_TOOL => about(what, &subject.replacen('/', "-", 1)),
        _ => about(what, subject),
    }
}

fn about(what: &str, subject: &str) -> ToolUse {
    ToolUse { tool: what.to_owned(), input: json!({ "query": subject }) }
}

/// Returns a call that is over, as its prompt would have told it. Only a command's has a receipt.
fn over(mut used: UsedTool, told: &Value) -> HookEvent {
    let (text, is_failure) = match (&told["error"], &told["tool_result"]["text_result_for_llm"]) {
        (Value::String(error), _) => (error.clone(), true),
        (_, read) => (read.as_str().unwrap_or_default().to_owned(), false),
    };
    let is_cut = text.starts_with(CUT);
    let facts = ModelTextFacts { is_failure, is_cut, is_exact: !is_failure, ..ModelTextFacts::default() };
    used.given = Some(ModelText::of(text, facts));
    let input = &used.call.input;
    if let Some(command) = used.call.command(SHELL_TOOL) {
        used.call.input = json!({ "command": command });
        return HookEvent::Used(used);
    }
    let named = ["path", "file_path", "url"].iter().find_map(|key| input[*key].as_str());
    let subject = named.unwrap_or(&used.call.tool);
    let given = &used.given;
    let calls = PROMPTS.map(|what| UsedTool { call: about(what, subject), id: None, given: given.clone() });
    HookEvent::CallsEnded(calls.into())
}
