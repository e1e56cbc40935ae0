//! Codex CLI.

mod hook;

use serde_json::json;

use super::client::McpClient;
use super::config_file::ConfigFolder::{Own, Workspace};
use super::config_file::{Addition, ConfigFile, ConfigFolder, Connection};
use super::own_shell::{
    EnvironmentMarks, OwnShell, ScreenQuestion, ScriptedModel, ShellRedirect, Trial, TrialScreen, as_written,
    words,
};
use super::permission::{EnforcedPermissions, PermissionKind, PermissionRule, Permissions};
use super::profile::{AgentProfile, PassedVariables};
use super::session::{ReadReply, SessionPreset, SessionReply, events, no_json, session_id, text};

const FOLDER: ConfigFolder = Own("CODEX_HOME", ".codex");
/// The file in which it names its executors.
pub const ENVIRONMENTS: ConfigFile = ConfigFile::new(FOLDER, &["environments.toml"]);
/// The user's settings, and those of a workspace.
const SETTINGS: ConfigFile = ConfigFile::new(FOLDER, &["config.toml"]);
const SHARED: ConfigFile = ConfigFile::new(Workspace, &[".codex/config.toml"]);

pub(super) const PROFILE: AgentProfile = AgentProfile {
    programs: &["codex"],
    start: "Start Codex, once `adopt codex` has routed its commands through Pilothouse; the arguments that follow are its own",
    loss: "Codex's sandbox and command approval no longer apply",
    next: "`codex mcp list` shows it; a project's own file takes effect once the project is trusted",
    environment: PassedVariables::Listed(&[
        "HOME",
        "LOGNAME",
        "PATH",
        "SHELL",
        "USER",
        "LANG",
        "LC_ALL",
        "TERM",
        "TMPDIR",
        "TZ",
        "CURL_CA_BUNDLE",
        "GIT_SSL_CAINFO",
        "NODE_EXTRA_CA_CERTS",
        "PIP_CERT",
        "REQUESTS_CA_BUNDLE",
        "SSL_CERT_FILE",
    ]),
    client: Some(McpClient {
        // It does not report which model it uses.
        cuts: "the middle of more than about 9,500 characters, with a model that it does not know (setting \
               `agents.receipt_chars`)",
        defers: "all tools behind its search, which returns 8, with a model that it knows",
        ..McpClient::new("codex-mcp-client", "codex")
    }),
    own_shell: Some(SHELL),
    hook: Some(hook::HOOK),
    session: Some(SessionPreset {
        arguments: &["exec", "--json", "--skip-git-repo-check"],
        takes_models: false,
        resume: (&["resume"], &["-"]),
        enforces,
        enforce,
        reply,
    }),
    ..AgentProfile::terminal("Codex CLI", connect)
};

const SHELL: OwnShell = OwnShell {
    // It reads where to run its commands from a file of its own, and there is no other safe way to tell it.
    redirect: ShellRedirect::OwnFile {
        unless: "Codex can only be routed through Pilothouse for all its sessions: run `pilothouse adopt codex` \
                 (`--dry-run` shows the change), then start it again",
    },
    setting: None,
    marks: EnvironmentMarks {
        program: "CODEX_THREAD_ID",
        for_model: None,
        // Its subagents are threads of one session.
        session: Some("CODEX_SESSION_ID"),
        pid: None,
    },
    is_probe: |_| false,
    unwrap: as_written,
    accepted_names: &[],
    patience: None,
    misses_signals: false,
    trial: Some(Trial {
        tools: &["exec_command", "shell"],
        arguments: |model| {
            let head = ["exec", "--skip-git-repo-check", "--ephemeral"];
            [words(&head), trial(model)].concat()
        },
        screen: Some(TrialScreen {
            arguments: |model| {
                let workspace = model.workspace.to_string_lossy();
                let trusted = format!("projects={{{}={{trust_level=\"trusted\"}}}}", json!(workspace));
                [words(&["-c", &trusted]), trial(model)].concat()
            },
            questions: &[
                ScreenQuestion { shows: "Trust this folder?", keys: None },
                ScreenQuestion { shows: "Use existing model", keys: None },
                ScreenQuestion { shows: "Update now", keys: None },
                ScreenQuestion { shows: "Hooks need review", keys: None },
            ],
            own_terminal: None,
        }),
        unset: &[],
        variables: |_| Vec::new(),
        settings: None,
    }),
};

/// Runs without a sandbox: what Codex sandboxes, its own server always runs.
fn trial(model: ScriptedModel<'_>) -> Vec<String> {
    let base = format!("model_providers.scripted.base_url=\"{}/v1\"", model.url);
    let provider = [
        // A model about which its screen has nothing to ask.
        "model=\"gpt-5\"",
        "model_provider=\"scripted\"",
        "model_providers.scripted.name=\"scripted\"",
        &base,
        "model_providers.scripted.wire_api=\"responses\"",
        "model_providers.scripted.request_max_retries=0",
        "model_providers.scripted.stream_max_retries=0",
        "model_providers.scripted.supports_websockets=false",
        "features.shell_tool=true",
    ];
    let set: Vec<&str> = provider.into_iter().flat_map(|one| ["-c", one]).collect();
    words(&[&["--dangerously-bypass-approvals-and-sandbox"][..], &set, &[model.prompt]].concat())
}

/// Variables that it is to pass on if set: the location of the runtime, and what commands need.
const VARIABLES: [&str; 7] = [
    "XDG_RUNTIME_DIR",
    "XDG_CONFIG_HOME",
    "XDG_STATE_HOME",
    "VIRTUAL_ENV",
    "CONDA_PREFIX",
    "SSH_AUTH_SOCK",
    "DBUS_SESSION_BUS_ADDRESS",
];

fn connect(to: Connection<'_>) -> Vec<Addition> {
    let mut server = to.server();
    server["env_vars"] = json!(VARIABLES);
    server["tool_timeout_sec"] = json!(300);
    // Without this, `codex exec` refuses tools that change things.
    server["default_tools_approval_mode"] = json!("approve");
    let file = if to.is_project() { SHARED } else { SETTINGS };
    let settings = json!({ "mcp_servers": { "pilothouse": server } });
    vec![Addition::new(file, settings).shell(json!({ "features": { "shell_tool": false } }))]
}

/// Returns whether Codex enforces a rule. Its sandbox applies to commands too; it does not restrict reading.
fn enforces(_: Permissions<'_>, kind: PermissionKind, rule: &PermissionRule) -> bool {
    *rule == PermissionRule::Allow || *rule == PermissionRule::Deny && kind != PermissionKind::Read
}

/// Returns the settings for Codex's sandbox and shell.
fn enforce(permissions: Permissions<'_>) -> EnforcedPermissions {
    let is = |kind, rule| permissions.has(kind, &rule);
    let sets = |value: &str| ["-c".to_owned(), value.to_owned()];
    let mut arguments = Vec::new();
    let is_writing =
        is(PermissionKind::Write, PermissionRule::Allow) && !is(PermissionKind::Write, PermissionRule::Deny);
    if is_writing {
        arguments.extend(["--sandbox".to_owned(), "workspace-write".to_owned()]);
        let has_network = is(PermissionKind::Network, PermissionRule::Allow)
            && !is(PermissionKind::Network, PermissionRule::Deny);
        arguments.extend(sets(&format!("sandbox_workspace_write.network_access={has_network}")));
    } else if is(PermissionKind::Write, PermissionRule::Deny)
        || is(PermissionKind::Network, PermissionRule::Deny)
    {
        arguments.extend(["--sandbox".to_owned(), "read-only".to_owned()]);
    }
    if is(PermissionKind::Network, PermissionRule::Deny) {
        arguments.extend(sets("web_search=\"disabled\""));
    }
    if is(PermissionKind::Execute, PermissionRule::Deny) {
        arguments.extend(sets("features.shell_tool=false"));
        arguments.extend(sets("features.unified_exec=false"));
    }
    EnforcedPermissions { arguments, ..EnforcedPermissions::default() }
}

fn reply(printed: &str) -> ReadReply {
    let (mut reply, mut failed, mut is_any) = (SessionReply::default(), None, false);
    for event in events(printed) {
        is_any = true;
        match event["type"].as_str().unwrap_or_default() {
            "thread.started" => reply.session = event["thread_id"].as_str().and_then(session_id),
            "item.completed" if event["item"]["type"] == "agent_message" => {
                reply.text = text(&event["item"]["text"]);
            }
            "turn.completed" => failed = None,
            "turn.failed" => failed = Some(text(&event["error"]["message"])),
            "error" => failed = Some(text(&event["message"])),
            _ => {}
        }
    }
    match failed {
        _ if !is_any => Err(no_json()),
        Some(why) => Err((why, reply)),
        None => Ok(reply),
    }
}
