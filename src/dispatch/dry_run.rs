//! Dry runs: what a command would do, without doing it. Tools need no code for this: their input is validated as for
//! a call, and only read-only tools are called.

use std::ffi::OsString;
use std::path::PathBuf;

use serde_json::{Map, Value, json};

use super::command::{Command, CommandKind};
use super::context::CommandContext;
use super::response::Failure;
use super::settings::invalid_settings;
use crate::config::{EnvSettings, Faults, LoadedSettings};
use crate::envelope::{CallOutcome, ErrorKind, TaskId, ToolError, mask, mask_strings};
use crate::model::{self, TaskStatus};
use crate::process::environment::Terminals;
use crate::process::{WorkdirError, environment, find_shell, workdir};
use crate::tools::{CallPlan, CutHandle, PlannedCommand};

/// The tool that reads a task's state.
const STATUS: &str = "TaskStatus";
/// The tool that reads a question.
const QUESTIONS: &str = "QuestionList";

/// Describes what a command that is not safe would do.
pub(super) async fn tell(cx: &mut CommandContext, command: &Command, input: Value) -> Result<Value, Failure> {
    match command.kind {
        CommandKind::Local { dry_run, .. } => dry_run(cx, command.input_schema(), input).await,
        CommandKind::Tool(_) => tool(cx, command, input).await,
    }
}

async fn tool(cx: &mut CommandContext, command: &Command, mut input: Value) -> Result<Value, Failure> {
    command.check(input.clone())?;
    let verb = command.words().last().unwrap_or_default().to_owned();
    let mut told = Map::new();
    told.insert("effect".into(), json!(format!("would_{verb}")));
    if let Some(id) = input["task_id"].as_str() {
        let task = task(cx, id).await?;
        let is_over = task["status"].as_str().and_then(|status| status.parse::<TaskStatus>().ok());
        if is_over.is_some_and(TaskStatus::is_terminal) {
            told.insert("effect".into(), json!("would_change_nothing"));
        }
        told.insert("task".into(), task);
    }
    if let Some(id) = input["question_id"].as_str() {
        let question = question(cx, id).await?;
        if !input["answer"].is_null() && question["answerable"] == false {
            let text = "The question is not open to the command line.";
            return Err(ToolError::new(ErrorKind::OperatorOnly, text).into());
        }
        told.insert("question".into(), question);
    }
    if let CommandKind::Tool(tool) = command.kind
        && command.runs_children()
    {
        let plan = (tool.plan)(input.clone())?;
        told.insert("would_affect".into(), commands(cx, &plan)?.into());
    }
    mask_strings(&mut input);
    told.insert("input".into(), input);
    Ok(Value::Object(told))
}

/// Reads the task that it concerns.
async fn task(cx: &mut CommandContext, id: &str) -> Result<Value, Failure> {
    let answer = cx.call(STATUS, json!({ "task_id": id }), None, &CutHandle::default()).await?;
    match answer.envelope.outcome() {
        CallOutcome::Success(result) => {
            let task = &result["task"];
            Ok(json!({ "task_id": id, "status": task["status"], "controller": task["controller"] }))
        }
        CallOutcome::Error(error) => Err(error.clone().into()),
    }
}

/// Reads the question that it concerns.
async fn question(cx: &mut CommandContext, id: &str) -> Result<Value, Failure> {
    let answer = cx.call(QUESTIONS, json!({ "question_id": id }), None, &CutHandle::default()).await?;
    match answer.envelope.outcome() {
        CallOutcome::Success(result) => {
            let question = &result["questions"][0];
            let (kind, answerable) = (&question["kind"], &question["answerable"]);
            let expects = &question["expects"];
            Ok(json!({ "question_id": id, "kind": kind, "answerable": answerable, "expects": expects }))
        }
        CallOutcome::Error(error) => Err(error.clone().into()),
    }
}

/// Resolves what commands would run with: the shell, the directory and the names of the variables of each. One that
/// would not run says why not.
fn commands(cx: &CommandContext, plan: &CallPlan) -> Result<Vec<Value>, Failure> {
    let places = cx.host.places()?;
    let settings = LoadedSettings::read(&places.config_dir, &places.workspace);
    let env = settings.map_err(|Faults(faults)| invalid_settings(&faults))?.settings.env;
    let mut told = Vec::new();
    let mut is_halted = false;
    for planned in &plan.commands {
        let cmd = mask(&planned.cmd);
        if is_halted {
            told.push(json!({ "cmd": cmd, "skipped": "stop_on_error" }));
            continue;
        }
        let refused = match &planned.rejection {
            Some((kind, message)) => json!({ "cmd": cmd, "refused": message, "kind": kind }),
            None => match command(cx, &env, planned) {
                Ok(would) => {
                    told.push(would);
                    continue;
                }
                // An item that is refused does not keep the others from running.
                Err(refusal) if plan.is_batch => {
                    json!({ "cmd": cmd, "refused": refusal.message, "kind": refusal.kind })
                }
                Err(refusal) => return Err(refusal.into()),
            },
        };
        is_halted = plan.stop_on_error;
        told.push(refused);
    }
    Ok(told)
}

fn command(cx: &CommandContext, env: &EnvSettings, planned: &PlannedCommand) -> Result<Value, ToolError> {
    let variables = cx.host.variables().into_iter().map(|(name, value)| (OsString::from(name), value));
    let variables = env.apply(variables.collect()).into_iter();
    let shell = environment::choose_shell(planned.shell.as_deref(), cx.host.variable("SHELL").as_deref());
    let terminals = if planned.tty { Terminals::Own } else { Terminals::None };
    let variables =
        environment::for_task(variables, terminals, &TaskId::from_random([0; 8]), &env.set, |name| {
            env.keeps(name)
        });
    let workdir = enter(cx, planned.workdir.as_deref())?;
    let path = variables.iter().find(|(name, _)| name == "PATH").map(|(_, path)| path.as_os_str());
    find_shell(&shell, path, &workdir).map_err(|error| model::Error::Spawn {
        shell: shell.display().to_string(),
        workdir: workdir.clone(),
        message: error.to_string(),
    })?;
    let mut names: Vec<String> =
        variables.iter().map(|(name, _)| name.to_string_lossy().into_owned()).collect();
    names.sort_unstable();
    Ok(json!({
        "cmd": mask(&planned.cmd),
        "shell": shell,
        "login": planned.login,
        "workdir": workdir,
        "variables": names,
    }))
}

/// Returns the directory that a command would start in.
fn enter(cx: &CommandContext, asked: Option<&str>) -> Result<PathBuf, ToolError> {
    let missing = |_| ToolError::new(ErrorKind::InternalError, "The current directory cannot be read.");
    let (root, base) = (cx.host.places().map_err(missing)?.workspace, cx.host.cwd().map_err(missing)?);
    let asked_or_base = || asked.map_or_else(|| base.display().to_string(), str::to_owned);
    let refused = match workdir::resolve(&root, &base, asked) {
        Ok(found) => return Ok(found.path),
        Err(WorkdirError::OutsideRoot { .. }) => model::Error::OutsideRoot { workdir: asked_or_base(), root },
        Err(other) => model::Error::WorkdirNotFound { workdir: asked_or_base(), reason: other.to_string() },
    };
    Err(refused.into())
}
