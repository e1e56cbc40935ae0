//! Dry runs: what a command would do, without doing it. Tools need no code of their own for this:
//! their input is validated as for a call, and only tools that read are called.

use serde_json::{Map, Value, json};

use super::command::{Command, Kind};
use super::context::Context;
use super::response::Failure;
use crate::envelope::{Outcome, ToolError};
use crate::process::{WorkdirError, workdir};
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
        enter(cx, &input)?;
    }
    told.insert("input".into(), input);
    Ok(Value::Object(told))
}

/// Reads the task it concerns.
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

/// Reads the question it concerns.
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

/// Checks the directory a command would start in.
fn enter(cx: &Context, input: &Value) -> Result<(), Failure> {
    let Some(asked) = input["workdir"].as_str() else { return Ok(()) };
    let (root, base) = (cx.host.places()?.workspace, cx.host.cwd()?);
    let refused = match workdir::resolve(&root, &base, Some(asked)) {
        Ok(_) => return Ok(()),
        Err(WorkdirError::OutsideRoot { .. }) => {
            runtime::Error::OutsideRoot { workdir: asked.to_owned(), root }
        }
        Err(other) => {
            runtime::Error::WorkdirNotFound { workdir: asked.to_owned(), reason: other.to_string() }
        }
    };
    Err(ToolError::from(refused).into())
}
