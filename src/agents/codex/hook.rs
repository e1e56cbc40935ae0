//! Codex's hooks, as 0.169.0 runs them: Claude Code's events and words, but for its prompt, which it shows only once the hook
//! has ended. So ours ends at once, and only Codex takes the answer, unless its user wants it held.

use serde_json::Value;

use super::FOLDER;
use crate::agents::claude::hook::{ON_REQUEST, read_event, settings_of, words};
use crate::agents::config_file::ConfigFile;
use crate::agents::hook::{AgentHook, HookEvent, HookReport};
use crate::agents::hook_entry::HookEntry;

/// The tool that runs commands in its shell.
const SHELL_TOOL: &str = "Bash";
/// The events that report, and how long a hook may take, in seconds: it waits for each.
const REPORTED: [(&str, u64); 8] = [
    ("PermissionRequest", 1),
    ("PostToolUse", 1),
    ("UserPromptSubmit", 1),
    ("Stop", 1),
    ("Interrupt", 1),
    ("SubagentStop", 1),
    ("SessionStart", 1),
    ("SessionEnd", 1),
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
        // It runs hooks of this file that its user has looked at (`/hooks`), and none that an argument names.
        file: Some(ConfigFile::new(FOLDER, &["hooks.json"])),
        next: "Codex asks for your trust in new hooks (`/hooks`): it shows its prompts here once it has that",
        process: None,
    },
    spare: None,
    shell_tool: SHELL_TOOL,
};

fn read(told: &Value) -> Option<HookReport> {
    let name = match told["hook_event_name"].as_str()? {
        "Interrupt" => "Stop",
        name => name,
    };
    let mut report = read_event(name, told, SHELL_TOOL)?;
    match &mut report.event {
        HookEvent::Prompt(call) => {
            // Only its prompt has the reason, and what is used is to be the same call.
            if let Some(input) = call.input.as_object_mut() {
                input.remove("description");
            }
        }
        // Its model reads more than the output.
        HookEvent::Used(used) => used.given.iter_mut().for_each(|given| given.facts.is_exact = false),
        _ => {}
    }
    Some(report)
}
