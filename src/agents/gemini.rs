//! Gemini CLI.

use std::borrow::Cow;

use serde_json::{Value, json};

use super::client::{McpClient, Room};
use super::config_file::ConfigFolder::{Own, Workspace};
use super::config_file::{Addition, ConfigFile, ConfigFolder, Connection};
use super::own_shell::{
    EnvironmentMarks, OwnShell, ScreenQuestion, Trial, TrialFile, TrialScreen, is_plain_word, words,
};
use super::permission::{EnforcedPermissions, PermissionKind, Permissions};
use super::profile::{AgentProfile, PassedVariables};
use super::session::{ReadReply, SessionPreset, SessionReply, no_json, text};

/// The folder that has `.gemini` in it.
const HOME: ConfigFolder = Own("GEMINI_CLI_HOME", "");
/// The user's settings, and those of a workspace.
const SETTINGS: ConfigFile = ConfigFile::new(HOME, &[".gemini/settings.json"]);
const SHARED: ConfigFile = ConfigFile::new(Workspace, &[".gemini/settings.json"]);
const TOOL: &str = "run_shell_command";

pub(super) const PROFILE: AgentProfile = AgentProfile {
    programs: &["gemini"],
    start: started_here!("Gemini CLI"),
    loss: "Gemini CLI's sandbox and command confirmation no longer apply",
    next: "`gemini mcp list` shows it; it is disabled in an untrusted folder",
    // Words by which it recognises variables that contain a secret, or lead to one.
    environment: PassedVariables::Without(&[
        "TOKEN",
        "SECRET",
        "PASSWORD",
        "PASSWD",
        "KEY",
        "AUTH",
        "CREDENTIAL",
        "CREDS",
        "PRIVATE",
        "CERT",
    ]),
    client: Some(McpClient {
        // It wraps receipts in markers of its own, and passes an error to its model as JSON of the whole answer.
        hides_meta_of_errors: false,
        room: Room::chars(39_500),
        cuts: "what is beyond 40,000 characters",
        ..McpClient::new("gemini-cli-mcp-client", "gemini")
    }),
    own_shell: Some(SHELL),
    session: Some(SessionPreset {
        arguments: &["--output-format", "json"],
        takes_models: false,
        resume: (&["--resume"], &[]),
        enforces: |permissions, kind, rule| permissions.enforced_by_kind(kind, rule),
        enforce,
        reply,
    }),
    ..AgentProfile::terminal("Gemini CLI", connect)
};

const SHELL: OwnShell = OwnShell {
    unwrap,
    trial: Some(Trial {
        tools: &[TOOL],
        arguments: |model| words(&["-m", "gemini-2.5-pro", "--approval-mode", "yolo", "-p", model.prompt]),
        screen: Some(TrialScreen {
            arguments: |model| {
                words(&["-m", "gemini-2.5-pro", "--approval-mode", "yolo", "-i", model.prompt])
            },
            questions: &[
                ScreenQuestion { shows: "Do you trust the files in this folder?", keys: None },
                ScreenQuestion { shows: "How would you like to authenticate", keys: None },
            ],
            own_terminal: Some("tools.shell.enableInteractiveShell"),
        }),
        unset: &[],
        variables: |model| {
            vec![
                ("GEMINI_API_KEY", "none".to_owned()),
                ("GOOGLE_GEMINI_BASE_URL", model.url.to_owned()),
                ("GEMINI_CLI_TRUST_WORKSPACE", "true".to_owned()),
            ]
        },
        settings: Some(TrialFile {
            ending: "json",
            variable: Some("GEMINI_CLI_SYSTEM_SETTINGS_PATH"),
            text: |_| TRIAL_SETTINGS.to_owned(),
        }),
    }),
    ..OwnShell::bash(EnvironmentMarks::of_program("GEMINI_CLI"))
};

const TRIAL_SETTINGS: &str = r#"{"security":{"auth":{"selectedType":"gemini-api-key"},"folderTrust":{"enabled":false}},"telemetry":{"enabled":false},"general":{"enableAutoUpdate":false}}"#;

const SCRIPT_BEGIN: &str = "shopt -u promptvars nullglob extglob nocaseglob dotglob; _bgpids_file=";
const SCRIPT_TRAP: &str = "\n(\n  trap 'jobs -p > \"$_bgpids_file\"' EXIT\n";
const SCRIPT_END: &str = "\n)\n__code=$?\nexit $__code";

fn unwrap(script: &str) -> Option<Cow<'_, str>> {
    let (file, rest) = script.strip_prefix(SCRIPT_BEGIN)?.split_once(SCRIPT_TRAP)?;
    is_plain_word(file).then_some(())?;
    Some(rest.strip_suffix(SCRIPT_END)?.into())
}

fn connect(to: Connection<'_>) -> Vec<Addition> {
    let settings = json!({ "mcpServers": { "pilothouse": to.server() } });
    let file = if to.is_project() { SHARED } else { SETTINGS };
    let allow = json!({ "mcpName": "pilothouse", "toolName": "*", "decision": "allow", "priority": 100 });
    let deny = json!({ "toolName": TOOL, "decision": "deny", "priority": 100 });
    // A workspace has no policies of its own.
    let policies = ConfigFile::new(HOME, &[".gemini/policies/pilothouse.toml"]);
    let policy = Addition::new(policies, json!({ "rule": [allow] }));
    let server = Addition::new(file, settings);
    vec![server, policy.shell(json!({ "rule": [deny] }))]
}

/// Returns a policy for Gemini CLI.
fn enforce(permissions: Permissions<'_>) -> EnforcedPermissions {
    let mut text = String::new();
    for (kind, decision) in permissions.decisions() {
        let tools: &[&str] = match kind {
            PermissionKind::Read => &[
                "read_file",
                "read_many_files",
                "list_directory",
                "glob",
                "grep_search",
                "search_file_content",
            ],
            PermissionKind::Write => &["write_file", "replace"],
            PermissionKind::Execute => &["run_shell_command"],
            PermissionKind::Network => &["web_fetch", "google_web_search"],
        };
        for tool in tools {
            text.push_str(&format!(
                "[[rule]]\ntoolName = \"{tool}\"\ndecision = \"{decision}\"\npriority = 900\n\n"
            ));
        }
        if (kind, decision) == (PermissionKind::Execute, "deny") {
            text.push_str("[[rule]]\nmcpName = \"pilothouse\"\ntoolName = \"*\"\ndecision = \"deny\"\npriority = 900\n\n");
        }
    }
    EnforcedPermissions { policy: Some(text), ..EnforcedPermissions::default() }
}

fn reply(printed: &str) -> ReadReply {
    // Warnings may precede it.
    let start = printed.find('{').ok_or_else(no_json)?;
    let mut values = serde_json::Deserializer::from_str(&printed[start..]).into_iter::<Value>();
    let value = values.next().and_then(Result::ok).ok_or_else(no_json)?;
    let facts = SessionReply::about(&value);
    match value["error"]["message"].as_str() {
        Some(why) => Err((why.to_owned(), facts)),
        None => Ok(SessionReply { text: text(&value["response"]), ..facts }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_command_that_gemini_wrapped_is_read_back() {
        let script = |command: &str| format!("{SCRIPT_BEGIN}/tmp/g/x.tmp{SCRIPT_TRAP}{command}{SCRIPT_END}");
        assert_eq!(unwrap(&script("ls\npwd")).as_deref(), Some("ls\npwd"));
        assert_eq!(unwrap("ls"), None);
    }
}
