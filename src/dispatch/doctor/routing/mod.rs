//! Tests end to end whether an agent's own shell leads here: starts the agent itself with a scripted model on
//! loopback that asks for one command, and looks for that command in this workspace's recording. Needs no network, no
//! account and no API tokens; the agent runs with its own settings, except for the model.

mod api;
mod judge;
mod model;
mod start;

use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use serde_json::Value;
use tokio::process::Command;
use tokio::time::timeout;

use self::api::ModelScript;
use self::judge::{CommandEnvironment, RoutingEvidence, judge};
use self::model::ScriptedServer;
use self::start::TrialStart;
use super::agents;
use super::finding::Area::Agents;
use super::finding::DoctorFinding;
use crate::agents::{AgentProgram, OwnShell, ScriptedModel, ShellRedirect};
use crate::dispatch::agents::CodexExecutor;
use crate::dispatch::host::{Host, on_path};
use crate::envelope::TaskId;
use crate::paths::Places;
use crate::process::environment::{TASK_ID, TASK_KIND};
use crate::process::is_in_command;

/// How long an agent may take to run one command.
const PATIENCE: Duration = Duration::from_secs(60);

/// Starts each installed agent, and reports where the commands of its own shell go.
pub(super) async fn prove(host: &dyn Host) -> Vec<DoctorFinding> {
    let (Ok(places), Some(program)) = (host.places(), host.program()) else { return Vec::new() };
    if is_in_command(std::process::id()) {
        let found = "not tried: this runs inside a task, and what a task starts goes straight to its shell";
        return vec![Agents.note("shells", found).fix("run it in your own terminal")];
    }
    let mut found = Vec::new();
    for (agent, shell) in AgentProgram::routed() {
        if agent.profile().programs.iter().any(|name| on_path(host, name).is_some()) {
            found.push(prove_one(host, agent, shell, &places, program.clone()).await);
        }
    }
    found
}

async fn prove_one(
    host: &dyn Host,
    agent: AgentProgram,
    own: &OwnShell,
    places: &Places,
    program: PathBuf,
) -> DoctorFinding {
    let check = format!("{} shell", agent.as_str());
    let Some(trial) = &own.trial else {
        return Agents.note(check, "not tried: how to start it with a scripted model is not known");
    };
    let shell = shell(host, own);
    let is_executor = matches!(own.redirect, ShellRedirect::OwnFile { .. });
    let executor = CodexExecutor::read(host).filter(|_| is_executor);
    if is_executor && executor.is_none() {
        let found = "Codex runs its commands itself, without Pilothouse";
        return Agents.note(check, found).fix(format!("pilothouse adopt {}", agent.as_str()));
    }
    // A marker that appears in no other command.
    let mark = format!("pilothouse-doctor-{}", TaskId::random());
    let script = ModelScript { mark: mark.clone(), command: CommandEnvironment::command(&mark) };
    let model = match ScriptedServer::open(script).await {
        Ok(model) => model,
        Err(error) => return Agents.note(check, format!("not tried: no port on loopback: {error}")),
    };
    let url = format!("http://127.0.0.1:{}", model.port);
    let prompt = format!("{mark}: run the command you are asked to.");
    let start = TrialStart { trial, model: ScriptedModel { url: &url, prompt: &prompt }, places };
    // An adopted agent is started as its user would start it; any other one through the command that redirects its
    // shell here.
    let word = agent.as_str().to_owned();
    let (first, words, started_as) = if shell.is_some() || executor.is_some() {
        (PathBuf::from(&word), Vec::new(), word)
    } else {
        let started_as = format!("pilothouse {word}");
        (program.clone(), vec![word], started_as)
    };
    let mut command = Command::new(first);
    command.args(words).args(start.args()).env_clear().envs(host.variables());
    command.env_remove(TASK_ID).env_remove(TASK_KIND).current_dir(&places.workspace);
    let settings = match start.prepare(&mut command) {
        Ok(settings) => settings,
        Err(error) => return Agents.note(check, format!("not tried: {error}")),
    };
    let last_line = run(command).await;
    drop(settings);
    let inside = model.result().and_then(|given| CommandEnvironment::read(&given, &mark));
    let task = recorded(&program, places, &mark).await;
    judge(&RoutingEvidence { agent, started_as, shell, executor, inside, task, last_line })
}

/// Returns the shell that an agent is configured to use, and whether it exists: from its settings, or else from the
/// environment.
fn shell(host: &dyn Host, own: &OwnShell) -> Option<(PathBuf, bool)> {
    let by_settings = own.setting.and_then(|setting| setting.read(host)).map(PathBuf::from);
    let variable = |name: &str| host.variable(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let by_name = match own.redirect {
        ShellRedirect::Variable(name) if name != "SHELL" => variable(name),
        _ => None,
    };
    let ours = variable("SHELL").filter(|path| path.to_string_lossy().contains("pilothouse"));
    let path =
        by_settings.or(by_name).or(ours.filter(|_| !matches!(own.redirect, ShellRedirect::Path { .. })))?;
    let is_there = path.exists();
    Some((path, is_there))
}

/// Runs an agent to completion; returns the last line it printed.
async fn run(mut command: Command) -> String {
    command.stdin(Stdio::null()).kill_on_drop(true);
    match timeout(PATIENCE, command.output()).await {
        Ok(Ok(output)) => {
            let text = [output.stdout, output.stderr].concat();
            let text = String::from_utf8_lossy(&text);
            let line = text.lines().rfind(|line| !line.trim().is_empty()).unwrap_or("it printed nothing");
            line.chars().filter(|character| !character.is_control()).take(200).collect()
        }
        Ok(Err(error)) => format!("it does not start: {error}"),
        Err(_) => format!("it had not finished after {} s", PATIENCE.as_secs()),
    }
}

/// Returns the task of this workspace whose command contains the marker.
async fn recorded(program: &PathBuf, places: &Places, mark: &str) -> Option<String> {
    let mut list = Command::new(program);
    list.args(["task", "list", "--scope", "all", "--output", "json"]);
    list.stdin(Stdio::null()).stderr(Stdio::null()).current_dir(&places.workspace).kill_on_drop(true);
    let listed = agents::ask(list).await?;
    let mut tasks = listed["tasks"].as_array()?.iter();
    let is_it = |task: &&Value| task["cmd"].as_str().is_some_and(|cmd| cmd.contains(mark));
    Some(tasks.find(is_it)?["task_id"].as_str()?.to_owned())
}
