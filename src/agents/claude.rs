//! Claude Code.

pub(super) mod hook;

use std::borrow::Cow;

use serde_json::{Value, json};

use super::client::McpClient;
use super::config_file::ConfigFolder::{Own, Workspace};
use super::config_file::{Addition, ConfigFile, ConfigFolder, Connection, InstallScope, ShellSetting};
use super::own_shell::{
    EnvironmentMarks, OwnShell, ScreenQuestion, ScriptedModel, ShellRedirect, Trial, TrialScreen,
    is_plain_word, words,
};
use super::permission::{EnforcedPermissions, PermissionKind, PermissionRule, Permissions};
use super::profile::AgentProfile;
use super::session::{ReadReply, SessionPreset, SessionReply, events, no_json, text};

const FOLDER: ConfigFolder = Own("CLAUDE_CONFIG_DIR", ".claude");
/// The file with its servers and state.
const STATE: ConfigFile = ConfigFile::new(Own("CLAUDE_CONFIG_DIR", ""), &[".claude.json"]);
/// The user's settings.
const SETTINGS: ConfigFile = ConfigFile::new(FOLDER, &["settings.json"]);
/// Its shell tool.
const TOOL: &str = "Bash";

pub(super) const PROFILE: AgentProfile = AgentProfile {
    programs: &["claude"],
    start: started_here!("Claude Code"),
    scopes: &[InstallScope::Local, InstallScope::Project, InstallScope::User],
    loss: "Claude Code's Bash rules and sandbox no longer apply",
    next: "`claude mcp list` shows it; Claude Code asks once before it uses a shared .mcp.json",
    client: Some(McpClient {
        defers: "no tool: they ask to be loaded (alwaysLoad)",
        ..McpClient::new("claude-code", "claude-code")
    }),
    tool_meta: || {
        vec![
            // Not to truncate results, which are already limited: a caller may ask for 64,000 tokens, which is 256,000
            // characters.
            ("anthropic/maxResultSizeChars", json!(300_000)),
            // To show the tools to its model from the start rather than behind a search.
            ("anthropic/alwaysLoad", json!(true)),
        ]
    },
    own_shell: Some(SHELL),
    hook: Some(hook::HOOK),
    session: Some(SessionPreset {
        arguments: &["-p", "--output-format", "json"],
        takes_models: true,
        resume: (&["--resume"], &[]),
        enforces,
        enforce,
        reply,
    }),
    ..AgentProfile::terminal("Claude Code", connect)
};

const SHELL: OwnShell = OwnShell {
    redirect: ShellRedirect::Variable("CLAUDE_CODE_SHELL"),
    setting: Some(ShellSetting { file: SETTINGS, keys: &["env", "CLAUDE_CODE_SHELL"], is_strict: false }),
    marks: EnvironmentMarks {
        program: "CLAUDECODE",
        for_model: Some("CLAUDE_CODE_CHILD_SESSION"),
        session: Some("CLAUDE_CODE_SESSION_ID"),
        pid: Some("CLAUDE_PID"),
    },
    // It reads the environment and takes a snapshot of it once.
    is_probe: |script| script == b"env" || script.starts_with(b"SNAPSHOT_FILE="),
    unwrap,
    accepted_names: &["bash", "zsh"],
    patience: None,
    misses_signals: false,
    trial: Some(Trial {
        tools: &[TOOL],
        arguments: |model| [words(&["-p", "--no-session-persistence"]), trial(model)].concat(),
        screen: Some(TrialScreen {
            arguments: trial,
            questions: &[
                ScreenQuestion { shows: "Yes, I trust this folder", keys: None },
                ScreenQuestion { shows: "Choose the text style", keys: None },
            ],
            own_terminal: None,
        }),
        // Its screen asks whether to use a key, but not whether to use a token.
        unset: &["ANTHROPIC_API_KEY", "CLAUDE_CODE_USE_BEDROCK", "CLAUDE_CODE_USE_VERTEX"],
        variables: |model| {
            vec![
                ("ANTHROPIC_BASE_URL", model.url.to_owned()),
                ("ANTHROPIC_AUTH_TOKEN", "none".to_owned()),
                ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1".to_owned()),
                ("DISABLE_AUTOUPDATER", "1".to_owned()),
            ]
        },
        settings: None,
    }),
};

fn trial(model: ScriptedModel<'_>) -> Vec<String> {
    let settings = json!({ "env": { "ANTHROPIC_BASE_URL": model.url } }).to_string();
    // Its automatic mode asks a server of its own about each command.
    let mode = ["--permission-mode", "default", "--allowedTools", TOOL];
    words(&[&[model.prompt, "--settings", &settings, "--strict-mcp-config"][..], &mode].concat())
}

fn connect(to: Connection<'_>) -> Vec<Addition> {
    let mut server = to.stdio_server();
    server["alwaysLoad"] = json!(true);
    let servers = json!({ "mcpServers": { "pilothouse": server } });
    let (server, settings) = match to.scope {
        InstallScope::Local => {
            let projects = json!({ "projects": { to.workspace.to_string_lossy(): servers } });
            (Addition::new(STATE, projects), ConfigFile::new(Workspace, &[".claude/settings.local.json"]))
        }
        InstallScope::Project => {
            let shared = ConfigFile::new(Workspace, &[".mcp.json"]);
            (Addition::new(shared, servers), ConfigFile::new(Workspace, &[".claude/settings.json"]))
        }
        InstallScope::User => (Addition::new(STATE, servers), SETTINGS),
    };
    let allow = json!({ "permissions": { "allow": ["mcp__pilothouse__*"] } });
    let deny = json!({ "permissions": { "deny": ["Bash", "Monitor"] } });
    vec![server, Addition::new(settings, allow).shell(deny)]
}

const BASH_TOO_OLD: &str = "{ case \"${BASH_VERSINFO-}\" in '2'|'3') \\builtin printf '%s\\n' \
    '__CLAUDE_CODE_DID_NOT_RUN_BASH_TOO_OLD='\"${BASH_VERSION-}\" >&2; \\builtin exit 126; \\exit 126;; esac; } && ";
const NO_EXTGLOB: &str = "\\builtin shopt -u extglob 2>/dev/null || true && ";
const OR_TRUE: &str = " 2>/dev/null || true && ";
const HIDDEN: [&str; 3] =
    ["{ \\builtin unalias -- '", "'; \\builtin unset -f -- '", "'; } >/dev/null 2>&1 || true && "];
const DIRECTORY: &str = " && pwd -P >| ";
const NO_INPUT: &str = " < /dev/null";

/// Reads `source SNAPSHOT … && eval 'COMMAND' < /dev/null && pwd -P >| FILE`.
fn unwrap(script: &str) -> Option<Cow<'_, str>> {
    let rest = script.strip_prefix(BASH_TOO_OLD).unwrap_or(script);
    let (snapshot, mut rest) = rest.strip_prefix("source ")?.split_once(OR_TRUE)?;
    if !is_plain_word(snapshot) {
        return None;
    }
    rest = rest.strip_prefix(NO_EXTGLOB).unwrap_or(rest);
    // Claude Code removes certain aliases and functions, such as `which`, that the snapshot may define.
    while let Some(named) = rest.strip_prefix(HIDDEN[0]) {
        let (name, after) = named.split_once(HIDDEN[1])?;
        let after = after.strip_prefix(name)?.strip_prefix(HIDDEN[2])?;
        if !is_plain_word(name) {
            return None;
        }
        rest = after;
    }
    let (call, file) = rest.strip_prefix("eval ")?.rsplit_once(DIRECTORY)?;
    if !is_plain_word(file) {
        return None;
    }
    word(call.strip_suffix(NO_INPUT).unwrap_or(call)).map(Cow::Owned)
}

/// Parses one shell word of quoted and plain parts, which must span the whole text.
fn word(text: &str) -> Option<String> {
    let (mut read, mut rest) = (String::new(), text);
    if text.is_empty() {
        return None;
    }
    while !rest.is_empty() {
        if let Some(quoted) = rest.strip_prefix('\'') {
            let (inner, after) = quoted.split_once('\'')?;
            read.push_str(inner);
            rest = after;
        } else if let Some(quoted) = rest.strip_prefix('"') {
            // Double quotes are used only for what cannot be written in single quotes.
            let (inner, after) = quoted.split_once('"')?;
            if inner.is_empty() || inner.contains(|c| c != '\'') {
                return None;
            }
            read.push_str(inner);
            rest = after;
        } else {
            let end = rest.find(['\'', '"']).unwrap_or(rest.len());
            let (plain, after) = rest.split_at(end);
            if !is_plain_word(plain) {
                return None;
            }
            read.push_str(plain);
            rest = after;
        }
    }
    Some(read)
}

/// Returns whether Claude Code enforces a rule. A denial is enforced unless commands could bypass it. Without a
/// terminal, Claude Code allows no write, no command and no fetch without a rule, so patterns for these are enforced;
/// reading needs no rule.
fn enforces(permissions: Permissions<'_>, kind: PermissionKind, rule: &PermissionRule) -> bool {
    match (kind, rule) {
        (_, PermissionRule::Allow)
        | (PermissionKind::Execute, PermissionRule::Deny | PermissionRule::Patterns(_)) => true,
        (PermissionKind::Read, PermissionRule::Patterns(_)) | (_, PermissionRule::Prompt) => false,
        (_, PermissionRule::Deny | PermissionRule::Patterns(_)) => !permissions.run_commands(),
    }
}

/// Returns the rules for Claude Code, in its default mode whatever the user's settings say.
fn enforce(permissions: Permissions<'_>) -> EnforcedPermissions {
    let (mut allowed, mut denied) = (Vec::new(), Vec::new());
    for (kind, rule) in permissions.rules() {
        let tools: &[&str] = match kind {
            PermissionKind::Read => &["Read", "Grep", "Glob"],
            PermissionKind::Write => &["Edit", "Write", "NotebookEdit"],
            // The tools that we offer over MCP run commands too.
            PermissionKind::Execute => &["Bash", "Monitor", "mcp__pilothouse"],
            PermissionKind::Network => &["WebFetch", "WebSearch"],
        };
        let tools = || tools.iter().map(|tool| (*tool).to_owned());
        match rule {
            PermissionRule::Allow => allowed.extend(tools().filter(|tool| !tool.starts_with("mcp"))),
            PermissionRule::Deny => denied.extend(tools()),
            PermissionRule::Prompt => {}
            PermissionRule::Patterns(patterns) => {
                allowed.extend(patterns.iter().flat_map(|pattern| match kind {
                    PermissionKind::Read => vec![format!("Read({pattern})")],
                    PermissionKind::Write => vec![format!("Edit({pattern})"), format!("Write({pattern})")],
                    PermissionKind::Execute => vec![format!("Bash({pattern})")],
                    PermissionKind::Network => vec![format!("WebFetch(domain:{pattern})")],
                }))
            }
        }
    }
    let mut arguments = vec!["--permission-mode".to_owned(), "default".to_owned()];
    for (flag, tools) in [("--allowedTools", allowed), ("--disallowedTools", denied)] {
        if !tools.is_empty() {
            arguments.push(format!("{flag}={}", tools.join(",")));
        }
    }
    EnforcedPermissions { arguments, ..EnforcedPermissions::default() }
}

fn reply(printed: &str) -> ReadReply {
    let is_result = |value: &Value| value["type"] == "result";
    let whole = serde_json::from_str::<Value>(printed).ok();
    let whole = whole.and_then(|value| match value {
        Value::Array(all) => all.into_iter().rev().find(is_result),
        one => Some(one),
    });
    let result =
        whole.filter(is_result).or_else(|| events(printed).rev().find(is_result)).ok_or_else(no_json)?;
    let facts = SessionReply::about(&result);
    if result["is_error"] == true || result["subtype"].as_str().is_some_and(|how| how != "success") {
        let why = result["result"].as_str().or(result["subtype"].as_str()).unwrap_or("an error");
        return Err((why.to_owned(), facts));
    }
    Ok(SessionReply { text: text(&result["result"]), ..facts })
}

#[cfg(test)]
mod tests {
    use super::*;

    const BEFORE: &str = "source /h/.claude/shell-snapshots/snapshot-bash-1-a.sh 2>/dev/null || true && \
        \\builtin shopt -u extglob 2>/dev/null || true && { \\builtin unalias -- 'which'; \\builtin unset -f -- 'which'; } \
        >/dev/null 2>&1 || true && ";

    fn read_back(call: &str) -> Option<String> {
        let script = format!("{BEFORE}eval {call} && pwd -P >| /tmp/claude-1-cwd");
        unwrap(&script).map(Cow::into_owned)
    }

    #[test]
    fn a_command_that_claude_wrapped_is_read_back() {
        for (call, expected) in [
            ("'echo hello' < /dev/null", Some("echo hello")),
            ("pwd < /dev/null", Some("pwd")),
            ("'wc -c < big.txt'", Some("wc -c < big.txt")),
            (r#"'echo '"'"'a'"'"''"#, Some("echo 'a'")),
            ("'a && pwd -P >| b' < /dev/null", Some("a && pwd -P >| b")),
            ("'a' 'b'", None),
            ("$(rm -rf x)", None),
            ("'a'; rm x", None),
            ("\"$x\"", None),
            ("", None),
        ] {
            assert_eq!(read_back(call).as_deref(), expected, "{call}");
        }
    }

    #[test]
    fn a_claude_script_with_anything_else_around_the_command_is_not_unwrapped() {
        for script in [
            "ls",
            "source /x 2>/dev/null || true && rm -rf / && eval ls && pwd -P >| /tmp/f",
            "source /x$(evil) 2>/dev/null || true && eval ls && pwd -P >| /tmp/f",
            "source /x 2>/dev/null || true && eval ls && pwd -P >| /tmp/f; rm x",
            "source /x 2>/dev/null || true && eval ls && rm x",
        ] {
            assert_eq!(unwrap(script), None, "{script}");
        }
    }
}
