//! Checks of the agents on this machine: which are installed, whether their configuration names us, and, with
//! `--agents`, what happens when their server is started the way they start it.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::process::Command;
use tokio::time::timeout;

use super::finding::Area::Agents;
use super::finding::DoctorFinding;
use crate::agents::{AgentProgram, Connection, PassedVariables};
use crate::config::{LoadedSettings, STARTER_COMMAND};
use crate::dispatch::agents::{self, AgentEntry};
use crate::dispatch::host::{Host, on_path};
use crate::paths::Places;

/// How long a server may take to answer.
const PATIENCE: Duration = Duration::from_secs(20);
/// The maximum length of a server's answer, in bytes.
const MAX_ANSWER: u64 = 4 << 20;
/// The maximum number of variable names shown.
const SHOWN: usize = 12;

/// What is known about an installed agent.
#[derive(Debug)]
pub(super) struct InstalledAgent {
    agent: AgentProgram,
    program: PathBuf,
    /// The configuration file that names us.
    named_in: Option<PathBuf>,
}

/// Finds the agents installed on this machine.
pub(super) fn installed_agents(host: &dyn Host) -> Vec<InstalledAgent> {
    let installed = AgentProgram::ALL.iter().copied().filter_map(|agent| {
        let program = agent.profile().programs.iter().find_map(|name| on_path(host, name))?;
        Some(InstalledAgent { agent, program, named_in: agent.entry(host).map(|entry| entry.file) })
    });
    installed.collect()
}

/// Evaluates what is known.
pub(super) fn findings(installed: &[InstalledAgent]) -> Vec<DoctorFinding> {
    if installed.is_empty() {
        let fix = "install one, then start it with `pilothouse claude` and so on";
        return vec![Agents.note("agents", "none found on PATH").fix(fix)];
    }
    installed.iter().map(judge).collect()
}

fn judge(InstalledAgent { agent, program, named_in }: &InstalledAgent) -> DoctorFinding {
    match named_in {
        None if agent.own_shell().is_some() => {
            let word = agent.as_str();
            let found =
                format!("{}: `pilothouse {word}` starts it with its own shell led here", program.display());
            Agents.ok(word, found)
        }
        Some(path) => Agents.ok(agent.as_str(), format!("{} names pilothouse", path.display())),
        None => {
            let found = format!("{}: none of its configuration files names pilothouse", program.display());
            Agents.problem(agent.as_str(), found, format!("pilothouse mcp install {}", agent.as_str()))
        }
    }
}

/// Starts the server of each agent that names us, the way that agent does, and reports the outcome.
pub(super) async fn probe(host: &dyn Host) -> Vec<DoctorFinding> {
    let mut found = Vec::new();
    for agent in AgentProgram::ALL.iter().copied() {
        if let Some(entry) = agent.entry(host) {
            found.extend(probe_one(host, agent, &entry).await);
        }
    }
    if found.is_empty() {
        let fix = "pilothouse mcp install claude, or another agent";
        found.push(Agents.note("agents", "no agent's configuration names pilothouse").fix(fix));
    }
    found
}

async fn probe_one(host: &dyn Host, agent: AgentProgram, entry: &AgentEntry) -> Vec<DoctorFinding> {
    let word = agent.as_str();
    let check = |what: &str| format!("{word} {what}");
    let Ok(places) = host.places() else { return Vec::new() };
    let environment = agent.environment(host, entry);
    let start = |args: &[String]| {
        let mut command = Command::new(&entry.command);
        command.args(args).env_clear().envs(environment.iter().cloned()).current_dir(&places.workspace);
        command.stdin(Stdio::null()).stderr(Stdio::null()).kill_on_drop(true);
        command
    };
    let mut found = vec![match talk(start(&entry.args)).await {
        Ok(server) => Agents
            .ok(check("server"), format!("{} ({}): {server}", entry.command_line(), entry.file.display())),
        Err(error) => {
            let told = format!("{} ({}): {error}", entry.command_line(), entry.file.display());
            let fix = format!("pilothouse mcp install {word} --undo; pilothouse mcp install {word}");
            return vec![Agents.problem(check("server"), told, fix)];
        }
    }];
    // Our own program reports where it looks in that environment.
    let asked = |args: &[&str]| start(&args.iter().map(|arg| (*arg).to_owned()).collect::<Vec<_>>());
    let there = ask(asked(&["doctor", "--output", "json"])).await;
    let settings = ask(asked(&["config", "path", "--output", "json"])).await;
    found.extend(there.map(|there| runtime(agent, &there, &places)));
    let config = settings.and_then(|data| Some(PathBuf::from(data["config"].as_str()?)));
    found.extend(variables(host, agent, &environment));
    found.push(Agents.note(check("results"), agent.results()));
    found.push(permissions(host, agent, entry, &places));
    found.extend(config.map(|config| approvals(agent, &config, &places)));
    found
}

/// Talks to a server as an agent would, and says what it offers.
async fn talk(mut command: Command) -> Result<String, String> {
    let mut server = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|error| format!("it does not start: {error}"))?;
    let (Some(mut input), Some(output)) = (server.stdin.take(), server.stdout.take()) else {
        return Err("it has no standard input and output".to_owned());
    };
    let talking = async {
        let client = json!({ "name": "pilothouse-doctor", "version": env!("CARGO_PKG_VERSION") });
        let params = json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client });
        let lines = [
            json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params }),
            json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }),
            json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/list" }),
        ];
        let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
        input
            .write_all(text.as_bytes())
            .await
            .map_err(|error| format!("it cannot be written to: {error}"))?;
        let mut lines = BufReader::new(tokio::io::AsyncReadExt::take(output, MAX_ANSWER)).lines();
        let mut name = String::new();
        while let Ok(Some(line)) = lines.next_line().await {
            let Ok(answer) = serde_json::from_str::<Value>(&line) else {
                return Err("it does not speak MCP".to_owned());
            };
            let result = &answer["result"];
            if let Some(server) = result["serverInfo"]["name"].as_str() {
                name = format!("{server} {}", result["serverInfo"]["version"].as_str().unwrap_or_default());
            }
            if let Some(tools) = result["tools"].as_array() {
                let bytes = result["tools"].to_string().len();
                return Ok(format!("{name}, {} tools, {bytes} bytes in all", tools.len()));
            }
        }
        Err("it ended before it answered".to_owned())
    };
    let said = timeout(PATIENCE, talking).await;
    // It exits by itself at end of input; otherwise when its handle is dropped.
    drop(input);
    let _ = timeout(Duration::from_secs(2), server.wait()).await;
    said.unwrap_or_else(|_| Err(format!("it has not answered for {} s", PATIENCE.as_secs())))
}

/// Runs one of our own commands and returns the data of its answer.
pub(super) async fn ask(mut command: Command) -> Option<Value> {
    let output = timeout(PATIENCE, command.output()).await.ok()?.ok()?;
    let answer: Value = serde_json::from_slice(&output.stdout).ok()?;
    Some(answer["data"].clone()).filter(Value::is_object)
}

fn runtime(agent: AgentProgram, there: &Value, places: &Places) -> DoctorFinding {
    let check = format!("{} runtime", agent.as_str());
    let said = |name: &str| {
        let findings = there["findings"].as_array().into_iter().flatten();
        findings
            .filter(|one| one["check"] == name)
            .find_map(|one| one["found"].as_str())
            .unwrap_or("not known")
            .to_owned()
    };
    let (workspace, state, runtime) = (said("workspace"), said("state folder"), said("runtime"));
    let is = |told: &str, path: &Path| told.starts_with(&path.display().to_string());
    if is(&workspace, &places.workspace) && is(&state, &places.state_dir) {
        return Agents.ok(check, format!("the one of this workspace: {runtime}"));
    }
    let found = format!("not the one used here: workspace {workspace}, state folder {state}");
    Agents.problem(
        check,
        found,
        "pass XDG_RUNTIME_DIR, XDG_STATE_HOME and HOME on to it, or change none of them",
    )
}

/// Reports the variables that the agent withholds from its server, and therefore from commands.
fn variables(
    host: &dyn Host,
    agent: AgentProgram,
    environment: &[(String, std::ffi::OsString)],
) -> Option<DoctorFinding> {
    let check = format!("{} variables", agent.as_str());
    let all = host.variables();
    let is_handed_on = |name: &String| environment.iter().any(|(handed, _)| handed == name);
    let mut missing: Vec<String> =
        all.into_iter().map(|(name, _)| name).filter(|name| !is_handed_on(name)).collect();
    missing.sort();
    if missing.is_empty() {
        return Some(Agents.ok(check, "commands get all of the agent's variables"));
    }
    let count = missing.len();
    let more = if count > SHOWN { format!(" and {} more", count - SHOWN) } else { String::new() };
    missing.truncate(SHOWN);
    let found = format!("commands do not get {} of your variables: {}{more}", count, missing.join(", "));
    let fix = match agent.profile().environment {
        PassedVariables::Whole => "remove the variables its entry sets",
        PassedVariables::Listed(_) => "list the ones commands need in `env_vars` of its entry",
        PassedVariables::Without(_) => {
            "set the ones commands need in `env` of its entry, e.g. \"SSH_AUTH_SOCK\": \"$SSH_AUTH_SOCK\""
        }
    };
    Some(Agents.note(check, found).fix(fix))
}

/// Reports whether the agent asks before it calls our tools, and whether its own shell is enabled.
fn permissions(host: &dyn Host, agent: AgentProgram, entry: &AgentEntry, places: &Places) -> DoctorFinding {
    let check = format!("{} permissions", agent.as_str());
    let (mut missing, mut shell) = (Vec::new(), None);
    let to = Connection { scope: entry.scope, command: &entry.command, workspace: &places.workspace };
    for target in agent.additions(to) {
        let path = target.file.path(host);
        let text = path.and_then(|path| agents::text(&path)).unwrap_or_default();
        let lacking = |settings: &Value| match target.file.format().add(&text, settings) {
            Ok(merged) => merged.added.iter().map(|added| added.path.join(".")).chain(merged.kept).collect(),
            Err(_) => vec!["a file that can be read".to_owned()],
        };
        missing.extend(lacking(&target.connect));
        if !target.shell.is_null() {
            shell = Some(lacking(&target.shell).is_empty());
        }
    }
    let shell = match shell {
        Some(true) => "its own shell is off",
        Some(false) => "its own shell is on",
        None => "its own shell has to be turned off by hand",
    };
    let install = format!("pilothouse mcp install {} --scope {}", agent.as_str(), <&str>::from(entry.scope));
    if !missing.is_empty() {
        let found = format!(
            "it may ask before each call; missing from what `mcp install` sets up: {}; {shell}",
            missing.join(", ")
        );
        return Agents.note(check, found).fix(install);
    }
    let asks = if agent.profile().is_graphical {
        "its own settings say whether it asks before calls"
    } else {
        "it calls our tools without asking"
    };
    let finding = Agents.note(check, format!("{asks}; {shell}"));
    if shell.ends_with("on") { finding.fix(install) } else { finding }
}

/// Reports what needs approval here, according to the settings that apply in the agent's environment.
fn approvals(agent: AgentProgram, config: &Path, places: &Places) -> DoctorFinding {
    let check = format!("{} approvals", agent.as_str());
    let folder = config.parent().unwrap_or(config);
    let count =
        LoadedSettings::read(folder, &places.workspace).map_or(0, |loaded| loaded.settings.approvals.len());
    let elsewhere = folder != places.config_dir;
    let told = format!("{count} approval rules in {}", config.display());
    if elsewhere {
        let fix = "pass XDG_CONFIG_HOME on to it, or do not change it";
        return Agents.problem(check, format!("{told}, not in {}", places.config_dir.display()), fix);
    }
    match count {
        0 => Agents.note(check, "no command waits for your approval").fix(STARTER_COMMAND),
        _ => Agents.ok(check, told),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dispatch::doctor::finding::FindingState;

    #[test]
    fn an_agent_that_does_not_know_us_gets_its_exact_fix() {
        let installed = |agent, named_in| InstalledAgent { agent, program: "/bin/x".into(), named_in };
        let found = findings(&[
            installed(AgentProgram::Cursor, None),
            installed(AgentProgram::Zed, Some("/c".into())),
            installed(AgentProgram::Claude, None),
        ]);
        assert_eq!(found[0].fix.as_deref(), Some("pilothouse mcp install cursor"));
        let states: Vec<FindingState> = found.iter().map(|finding| finding.state).collect();
        assert_eq!(states, [FindingState::Problem, FindingState::Ok, FindingState::Ok]);
        assert!(found[2].found.contains("`pilothouse claude` starts it"), "{found:?}");
        assert_eq!(findings(&[])[0].state, FindingState::Note);
    }
}
