//! Tests end to end whether an agent's own shell leads here: starts the agent itself with a scripted model on
//! loopback that asks for one command, and looks for that command in this workspace's recording. First in its screen,
//! on a PTY, as people use it; if that cannot be seen to its end, with a single prompt. Needs no network, no account and
//! no API tokens; the agent runs with its own settings, except for the model.

mod api;
mod judge;
mod model;
mod screen;
mod start;

use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};
use std::time::Duration;

use serde_json::Value;
use tokio::process::Command;

use self::api::ModelScript;
use self::judge::{CommandEnvironment, RoutingEvidence, TrialOutcome, judge};
use self::model::{ScriptedServer, TrialProgress};
use self::screen::{TrialEnd, TrialWatch, watch_screen, words_of_last_line};
use self::start::{TrialForm, TrialStart};
use super::agents;
use super::finding::Area::Agents;
use super::finding::DoctorFinding;
use crate::agents::{AgentProgram, OwnShell, ShellRedirect};
use crate::dispatch::agents::CodexExecutor;
use crate::dispatch::host::{Host, on_path};
use crate::envelope::TaskId;
use crate::paths::Places;
use crate::process::{PtyCommand, is_in_command};

/// How long nothing may happen: from the start until the agent asks its model, and from then until it gives the result
/// of the command. An agent that takes longer is not judged.
const PATIENCE: Duration = Duration::from_secs(60);

/// Starts each installed agent, and reports where the commands of its own shell go.
pub(super) async fn prove(host: &dyn Host) -> Vec<DoctorFinding> {
    let (Ok(places), Some(program)) = (host.places(), host.program()) else { return Vec::new() };
    if is_in_command(std::process::id()) {
        let found = "not tried: this runs inside a task, and what a task starts goes straight to its shell";
        return vec![Agents.note("shells", found).fix("run it in your own terminal")];
    }
    let mut found = Vec::new();
    for (agent, shell) in AgentProgram::routed_programs() {
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
    // An adopted agent is started as its user would start it; any other one through the command that redirects its
    // shell here.
    let word = agent.as_str().to_owned();
    let (first, words, started_as) = if shell.is_some() || executor.is_some() {
        (PathBuf::from(&word), Vec::new(), word)
    } else {
        let started_as = format!("pilothouse {word}");
        (program.clone(), vec![word], started_as)
    };
    let start = TrialStart { host, trial, places, first, words };
    let mut trials = Vec::new();
    for form in [TrialForm::Screen, TrialForm::Prompt] {
        match try_form(&start, form, &program).await {
            Ok(outcome) => trials.extend(outcome),
            Err(error) => return Agents.note(check, format!("not tried: {error}")),
        }
        // The other form is tried only where nothing is known.
        if trials.iter().any(TrialOutcome::is_known) {
            break;
        }
    }
    judge(&RoutingEvidence { agent, started_as, shell, executor, trials })
}

/// Starts an agent in one of its forms, and reports what became of the command; `None` if it has no such form.
async fn try_form(
    start: &TrialStart<'_>,
    form: TrialForm,
    program: &Path,
) -> std::io::Result<Option<TrialOutcome>> {
    // A marker that appears in no other command.
    let mark = format!("pilothouse-doctor-{}", TaskId::random());
    let script = ModelScript { mark: mark.clone(), command: CommandEnvironment::command(&mark) };
    let model = ScriptedServer::open(script).await?;
    let Some((command, settings)) = start.prepare(form, model.port, &mark)? else { return Ok(None) };
    let watch = TrialWatch::new(model.progress.clone(), PATIENCE);
    let end = match form {
        TrialForm::Screen => watch_screen(command, start.trial.questions(), watch).await,
        TrialForm::Prompt => run(command, watch).await,
    };
    drop(settings);
    let inside = match &*model.progress.borrow() {
        TrialProgress::Answered(given) => CommandEnvironment::read(given, &mark),
        TrialProgress::Starting | TrialProgress::Told => None,
    };
    let task = marked_task(program, start.places, &mark).await;
    Ok(Some(TrialOutcome { form, inside, task, end }))
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
        by_settings.or(by_name).or(ours.filter(|_| matches!(own.redirect, ShellRedirect::Variable(_))))?;
    let is_there = path.exists();
    Some((path, is_there))
}

/// Runs an agent with a single prompt, until it ends or nothing more happens.
async fn run(command: PtyCommand, mut watch: TrialWatch) -> TrialEnd {
    let PtyCommand { program, args, variables, cwd } = command;
    let mut command = Command::new(program);
    command.args(args).env_clear().envs(variables).current_dir(cwd);
    command.stdin(Stdio::null()).kill_on_drop(true);
    let running = command.output();
    tokio::pin!(running);
    // Once its model has the result, it has as long again to end.
    let is_answered = tokio::select! {
        output = &mut running => return trial_end(output),
        is_answered = watch.is_answered() => is_answered,
    };
    match tokio::time::timeout(PATIENCE, &mut running).await {
        _ if !is_answered => TrialEnd::Unfinished("it printed nothing".to_owned()),
        Ok(output) => trial_end(output),
        Err(_) => TrialEnd::Answered,
    }
}

fn trial_end(output: std::io::Result<Output>) -> TrialEnd {
    TrialEnd::Ended(match output {
        Ok(output) => words_of_last_line(&String::from_utf8_lossy(&[output.stdout, output.stderr].concat())),
        Err(error) => format!("it does not start: {error}"),
    })
}

/// Returns the task of this workspace whose command contains the marker.
async fn marked_task(program: &Path, places: &Places, mark: &str) -> Option<String> {
    let mut list = Command::new(program);
    list.args(["task", "list", "--scope", "all", "--output", "json"]);
    list.stdin(Stdio::null()).stderr(Stdio::null()).current_dir(&places.workspace).kill_on_drop(true);
    let listed = agents::ask(list).await?;
    let mut tasks = listed["tasks"].as_array()?.iter();
    let is_it = |task: &&Value| task["cmd"].as_str().is_some_and(|cmd| cmd.contains(mark));
    Some(tasks.find(is_it)?["task_id"].as_str()?.to_owned())
}
