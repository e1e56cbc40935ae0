//! Dry runs: what a command would do, without doing it. Tools need no code for this: their input is validated as for
//! a call, and only read-only tools are called.

use std::ffi::OsString;
use std::path::PathBuf;

use serde_json::{Map, Value, json};

use super::command::{Command, Kind};
use super::context::Context;
use super::response::Failure;
use crate::config::{Env, Faults, Loaded};
use crate::envelope::{Outcome, TaskId, ToolError, mask};
use crate::process::environment::Terminals;
use crate::process::{WorkdirError, environment, workdir};
use crate::runtime;
use crate::tools::Cut;

/// The tool that reads a task's state.
const STATUS: &str = "TaskStatus";
/// The tool that reads a question.
const QUESTIONS: &str = "QuestionList";

/// Describes what a command that is not safe would do.
pub(super) async fn tell(cx: &mut Context, command: &Command, input: Value) -> Result<Value, Failure> {
    match command.kind {
        Kind::Local { dry_run, .. } => dry_run(cx, command.input_schema(), input).await,
        Kind::Tool(_) => tool(cx, command, input).await,
    }
}

async fn tool(cx: &mut Context, command: &Command, input: Value) -> Result<Value, Failure> {
    command.check(input.clone())?;
    let verb = command.words().last().unwrap_or_default().to_owned();
    let mut told = Map::new();
    told.insert("effect".into(), json!(format!("would_{verb}")));
    if let Some(id) = input["task_id"].as_str() {
        told.insert("task".into(), task(cx, id).await?);
    }
    if let Some(id) = input["question_id"].as_str() {
        told.insert("question".into(), question(cx, id).await?);
    }
    if command.runs_children() {
        told.insert("would_affect".into(), commands(cx, &input)?.into());
    }
    told.insert("input".into(), input);
    Ok(Value::Object(told))
}

/// Reads the task that it concerns.
async fn task(cx: &mut Context, id: &str) -> Result<Value, Failure> {
    let answer = cx.call(STATUS, json!({ "task_id": id }), None, &Cut::default()).await?;
    match answer.envelope.outcome() {
        Outcome::Success(result) => {
            let task = &result["task"];
            Ok(json!({ "task_id": id, "status": task["status"], "controller": task["controller"] }))
        }
        Outcome::Error(error) => Err(error.clone().into()),
    }
}

/// Reads the question that it concerns.
async fn question(cx: &mut Context, id: &str) -> Result<Value, Failure> {
    let answer = cx.call(QUESTIONS, json!({ "question_id": id }), None, &Cut::default()).await?;
    match answer.envelope.outcome() {
        Outcome::Success(result) => {
            let question = &result["questions"][0];
            let (kind, answerable) = (&question["kind"], &question["answerable"]);
            let expects = &question["expects"];
            Ok(json!({ "question_id": id, "kind": kind, "answerable": answerable, "expects": expects }))
        }
        Outcome::Error(error) => Err(error.clone().into()),
    }
}

/// Resolves what commands would run with: the shell, the directory and the names of the variables of each.
fn commands(cx: &Context, input: &Value) -> Result<Vec<Value>, Failure> {
    let places = cx.host.places()?;
    let settings = Loaded::read(&places.config_dir, &places.workspace);
    let env = settings.map_err(|Faults(faults)| super::invalid_settings(&faults))?.settings.env;
    let Some(items) = input["items"].as_array() else { return Ok(vec![command(cx, &env, input)?]) };
    // An item that is refused does not keep the others from running.
    let refused = |item: &Value, failure: Failure| json!({ "cmd": shown(item), "refused": failure.line() });
    Ok(items
        .iter()
        .map(|item| command(cx, &env, item).unwrap_or_else(|failure| refused(item, failure)))
        .collect())
}

fn shown(input: &Value) -> String {
    mask(input["cmd"].as_str().unwrap_or_default()).into_owned()
}

fn command(cx: &Context, env: &Env, input: &Value) -> Result<Value, Failure> {
    let tty = input["tty"] == true;
    let variables = cx.host.variables().into_iter().map(|(name, value)| (OsString::from(name), value));
    let variables = env.changed(variables.collect()).into_iter();
    let shell = environment::choose_shell(input["shell"].as_str(), cx.host.variable("SHELL").as_deref());
    let terminals = if tty { Terminals::Own } else { Terminals::None };
    let names = environment::for_task(variables, terminals, &TaskId::from_random([0; 8]), &env.set);
    let mut names: Vec<String> =
        names.into_iter().map(|(name, _)| name.to_string_lossy().into_owned()).collect();
    names.sort_unstable();
    Ok(json!({
        "cmd": shown(input),
        "shell": shell,
        "login": input["login"] == true,
        "workdir": enter(cx, input)?,
        "variables": names,
    }))
}

/// Returns the directory that a command would start in.
fn enter(cx: &Context, input: &Value) -> Result<PathBuf, Failure> {
    let asked = input["workdir"].as_str();
    let (root, base) = (cx.host.places()?.workspace, cx.host.cwd()?);
    let asked_or_base = || asked.map_or_else(|| base.display().to_string(), str::to_owned);
    let refused = match workdir::resolve(&root, &base, asked) {
        Ok(found) => return Ok(found.path),
        Err(WorkdirError::OutsideRoot { .. }) => {
            runtime::Error::OutsideRoot { workdir: asked_or_base(), root }
        }
        Err(other) => runtime::Error::WorkdirNotFound { workdir: asked_or_base(), reason: other.to_string() },
    };
    Err(ToolError::from(refused).into())
}
