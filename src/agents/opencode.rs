//! opencode.

pub(super) mod hook;

use std::time::Duration;

use serde_json::{Value, json};

use super::client::{McpClient, RECEIPT_CHARS, Room};
use super::config_file::ConfigFolder::{Config, Workspace};
use super::config_file::{Addition, ConfigFile, Connection, ShellSetting};
use super::own_shell::{EnvironmentMarks, OwnShell, ShellRedirect, Trial, TrialScreen, as_written, words};
use super::permission::{EnforcedPermissions, PermissionKind, Permissions};
use super::profile::AgentProfile;
use super::session::{ReadReply, SessionPreset, SessionReply, cost, events, no_json, session_id};

/// The user's settings.
const SETTINGS: ConfigFile = ConfigFile::new(Config, &["opencode/opencode.json", "opencode/opencode.jsonc"]);

pub(super) const PROFILE: AgentProfile = AgentProfile {
    programs: &["opencode"],
    start: started_here!("opencode"),
    loss: "opencode's permissions for `bash` no longer apply",
    next: "`opencode mcp list` shows it",
    client: Some(McpClient {
        cuts: "what is beyond 2,000 lines or 50 KB",
        room: Room { chars: RECEIPT_CHARS, bytes: 48_000, lines: 1_900 },
        ..McpClient::new("opencode", "opencode")
    }),
    own_shell: Some(SHELL),
    hook: Some(hook::HOOK),
    session: Some(SessionPreset {
        arguments: &["run", "--format", "json"],
        takes_models: false,
        resume: (&["--session"], &[]),
        enforces: |permissions, kind, rule| permissions.enforced_by_kind(kind, rule),
        enforce,
        reply,
    }),
    ..AgentProfile::terminal("opencode", connect)
};

const SHELL: OwnShell = OwnShell {
    redirect: ShellRedirect::Variable("SHELL"),
    setting: Some(ShellSetting { file: SETTINGS, keys: &["shell"], is_strict: false }),
    marks: EnvironmentMarks {
        program: "OPENCODE",
        for_model: None,
        session: None,
        pid: Some("OPENCODE_PID"),
    },
    is_probe: |_| false,
    unwrap: as_written,
    accepted_names: &[],
    // It has a timeout of its own, so it has to be answered before that expires.
    patience: Some(Duration::from_secs(105)),
    misses_signals: true,
    trial: Some(TRIAL),
};

pub(super) const TRIAL: Trial = Trial {
    tools: &["bash"],
    arguments: |model| words(&["run", model.prompt]),
    screen: Some(TrialScreen::new(|model| words(&["--prompt", model.prompt]))),
    unset: &[],
    variables: |model| vec![("OPENCODE_CONFIG_CONTENT", trial_config(model.url).to_string())],
    settings: None,
};

/// Returns settings that lead it to a scripted model.
pub(super) fn trial_config(url: &str) -> Value {
    let provider = json!({
        "npm": "@ai-sdk/openai-compatible", "name": "scripted",
        "options": { "baseURL": format!("{url}/v1"), "apiKey": "none" },
        "models": { "m": { "name": "m", "limit": { "context": 100_000, "output": 4_000 } } },
    });
    json!({
        "model": "scripted/m", "small_model": "scripted/m", "autoupdate": false, "share": "disabled",
        // Where that takes long, Kilo's screen asks whether to go on without.
        "snapshot": false,
        "provider": { "scripted": provider }, "permission": { "bash": "allow" },
    })
}

fn connect(to: Connection<'_>) -> Vec<Addition> {
    // The timeout, in milliseconds, applies to calls too.
    let server = json!({
        "type": "local", "command": [to.command, "mcp"], "enabled": true, "timeout": 120_000,
    });
    let settings = json!({ "mcp": { "pilothouse": server } });
    let shared = ConfigFile::new(Workspace, &["opencode.json", "opencode.jsonc"]);
    let file = if to.is_project() { shared } else { SETTINGS };
    vec![Addition::new(file, settings).shell(json!({ "permission": { "bash": "deny" } }))]
}

/// Returns the permissions for opencode, in the form of its variable.
fn enforce(permissions: Permissions<'_>) -> EnforcedPermissions {
    let mut all = serde_json::Map::new();
    for (kind, word) in permissions.decisions() {
        let tools: &[&str] = match kind {
            PermissionKind::Read => &["read", "glob", "grep", "list"],
            PermissionKind::Write => &["edit"],
            PermissionKind::Execute => &["bash"],
            PermissionKind::Network => &["webfetch", "websearch", "codesearch"],
        };
        all.extend(tools.iter().map(|tool| ((*tool).to_owned(), word.into())));
        if (kind, word) == (PermissionKind::Execute, "deny") {
            all.insert("pilothouse_*".to_owned(), word.into());
        }
    }
    let variables = vec![("OPENCODE_PERMISSION", Value::Object(all).to_string())];
    EnforcedPermissions { variables, ..EnforcedPermissions::default() }
}

fn reply(printed: &str) -> ReadReply {
    let (mut reply, mut message, mut failed, mut is_any) =
        (SessionReply::default(), Value::Null, None, false);
    for event in events(printed) {
        is_any = true;
        if let Some(own) = event["sessionID"].as_str() {
            reply.session = session_id(own);
        }
        let part = &event["part"];
        match event["type"].as_str().unwrap_or_default() {
            "text" => {
                // The last message is the answer; it may come in several parts.
                if part["messageID"] != message {
                    (message, reply.text) = (part["messageID"].clone(), String::new());
                }
                reply.text.push_str(part["text"].as_str().unwrap_or_default());
            }
            "step_finish" => {
                let spent = cost(&part["cost"]);
                reply.cost = spent.map(|spent| spent.saturating_add(reply.cost.unwrap_or(0))).or(reply.cost);
            }
            "error" => {
                failed = Some(event["error"]["data"]["message"].as_str().unwrap_or("an error").to_owned())
            }
            _ => {}
        }
    }
    match failed {
        _ if !is_any => Err(no_json()),
        Some(why) => Err((why, reply)),
        None => Ok(reply),
    }
}
