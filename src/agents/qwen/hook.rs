//! Qwen Code's hooks, as 0.24.4 runs them: Claude Code's events and words. It waits for each, and shows its prompt only once
//! the hook has ended; so ours ends at once, and only Qwen Code takes the answer, unless its user wants it held.

use serde_json::Value;

use super::{OWN_SETTINGS, TOOL};
use crate::agents::claude::hook::{ON_REQUEST, read_event, settings_of, words};
use crate::agents::hook::{AgentHook, HookEvent, HookReport};
use crate::agents::hook_entry::HookEntry;

/// The events that report, and how long a hook may take, in seconds (it takes a thousand and more for milliseconds).
const REPORTED: [(&str, u64); 11] = [
    ("PermissionRequest", 2),
    ("PreToolUse", 2),
    ("PermissionDenied", 2),
    ("PostToolUse", 2),
    ("PostToolUseFailure", 2),
    ("UserPromptSubmit", 2),
    ("Stop", 2),
    ("Notification", 2),
    ("SubagentStop", 2),
    ("SessionStart", 2),
    ("SessionEnd", 2),
];

pub(super) const HOOK: AgentHook = AgentHook {
    read,
    words: |text| words("PostToolUse", text),
    takes_words: |report| matches!(report.event, HookEvent::Used(_)),
    reports_batches: false,
    answering: Some(ON_REQUEST),
    entry: HookEntry {
        plugin: None,
        settings: |command| settings_of(command, &REPORTED),
        file: Some(OWN_SETTINGS),
        next: "",
        // Its only further settings are its machine's, which a file of ours would take the place of.
        process: None,
    },
    spare: None,
    shell_tool: TOOL,
};

fn read(told: &Value) -> Option<HookReport> {
    let name = match told["hook_event_name"].as_str()? {
        // A call that its user was asked about begins only now; a subagent's goes on for long.
        "PreToolUse" => {
            let mut report = read_event("PermissionRequest", told, TOOL)?;
            let HookEvent::Prompt(call) = report.event else { return None };
            report.event = HookEvent::PromptAnswered(call);
            return Some(report);
        }
        // All that it tells of a turn that was cancelled.
        "Notification" if told["notification_type"] == "idle_prompt" => "Stop",
        name => name,
    };
    read_event(name, told, TOOL)
}
