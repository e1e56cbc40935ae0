//! `service`: what the tasks of a workspace listen on, and what can be done about it. A service is named by its port or
//! by its task, and everything is done with the tools that act on tasks.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::code::Code;
use super::command::{Danger, Example, LocalCommand, NoInput};
use super::context::CommandContext;
use super::response::Failure;
use crate::envelope::{CallOutcome, MASKED, TaskId};
use crate::tools::{CutHandle, ListeningNote};

/// How long a restart waits for the end of the old process at a time, in milliseconds.
const END_MS: u64 = 45_000;

pub(super) struct ServiceList;
pub(super) struct ServiceLogs;
pub(super) struct ServiceRestart;
pub(super) struct ServiceStop;

/// Which service.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ServiceInput {
    /// Its port (`5173`), or the id of its task.
    service: String,
}

/// Which service, and how much of its output.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ServiceLogsInput {
    /// Its port (`5173`), or the id of its task.
    service: String,
    /// How many lines from the end.
    #[serde(default = "lines")]
    #[schemars(range(min = 1, max = 10000))]
    lines: u64,
}

fn lines() -> u64 {
    50
}

/// What listens.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct ServiceListing {
    /// The tasks that listen, the newest first.
    services: Vec<ServiceRow>,
}

/// A task that listens.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
struct ServiceRow {
    /// Its task.
    task_id: TaskId,
    /// First line of its command, secrets masked.
    cmd: String,
    /// Who started it.
    started_by: Option<String>,
    /// Where it accepts connections.
    #[serde(default)]
    listening: Vec<ListeningNote>,
}

/// The last lines of a service.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct ServiceOutput {
    /// Its task.
    task_id: TaskId,
    /// The lines.
    text: String,
}

/// What has been done to a service.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct ServiceChange {
    /// Its task, with `restarted` the new one.
    task_id: String,
    /// `stopped` or `restarted`.
    effect: &'static str,
}

impl LocalCommand for ServiceList {
    const PATH: &'static str = "service.list";
    const ABOUT: &'static str = "List the tasks that listen, with their ports and URLs";
    const EXAMPLES: &'static [Example] = &[Example { about: "What listens here", input: "{}" }];

    type Input = NoInput;
    type Output = ServiceListing;

    async fn run(cx: &mut CommandContext, _input: NoInput) -> Result<ServiceListing, Failure> {
        Ok(ServiceListing { services: services(cx).await? })
    }

    fn text(output: &ServiceListing) -> String {
        if output.services.is_empty() {
            return "nothing listens".to_owned();
        }
        let line = |service: &ServiceRow| {
            let at: Vec<String> = service.listening.iter().map(ListeningNote::target).collect();
            let by = service.started_by.as_deref().unwrap_or("-");
            format!("{}  {}  {by}  {}", service.task_id, at.join(" "), service.cmd)
        };
        output.services.iter().map(line).collect::<Vec<_>>().join("\n")
    }
}

impl LocalCommand for ServiceLogs {
    const PATH: &'static str = "service.logs";
    const ABOUT: &'static str = "Print the last lines of what a service printed";
    const EXITS: &'static [u8] = &[4];
    const EXAMPLES: &'static [Example] =
        &[Example { about: "What the server at port 5173 printed", input: r#"{"service":"5173"}"# }];

    type Input = ServiceLogsInput;
    type Output = ServiceOutput;

    async fn run(cx: &mut CommandContext, input: ServiceLogsInput) -> Result<ServiceOutput, Failure> {
        let task_id = find(cx, &input.service).await?.task_id;
        let asked = json!({"task_id": task_id, "lines": format!("-{}", input.lines)});
        let read = call(cx, "TaskOutput", asked).await?;
        let text = read.pointer("/task/output_preview").and_then(Value::as_str).unwrap_or_default();
        Ok(ServiceOutput { task_id, text: text.to_owned() })
    }

    fn text(output: &ServiceOutput) -> String {
        output.text.trim_end_matches('\n').to_owned()
    }
}

impl LocalCommand for ServiceStop {
    const PATH: &'static str = "service.stop";
    const ABOUT: &'static str = "Stop a service: TERM to every process of its task, then KILL";
    const DANGER: Danger = Danger::Destructive;
    const EXITS: &'static [u8] = &[4];
    const EXAMPLES: &'static [Example] =
        &[Example { about: "Free port 5173", input: r#"{"service":"5173"}"# }];

    type Input = ServiceInput;
    type Output = ServiceChange;

    async fn run(cx: &mut CommandContext, input: ServiceInput) -> Result<ServiceChange, Failure> {
        let task_id = find(cx, &input.service).await?.task_id;
        end(cx, &task_id).await?;
        Ok(ServiceChange { task_id: task_id.to_string(), effect: "stopped" })
    }

    async fn dry_run(cx: &mut CommandContext, input: ServiceInput) -> Result<Value, Failure> {
        Ok(json!({"effect": "would_stop", "service": find(cx, &input.service).await?}))
    }
}

impl LocalCommand for ServiceRestart {
    const PATH: &'static str = "service.restart";
    const ABOUT: &'static str = "Stop a service and start its command again, with your environment";
    const DANGER: Danger = Danger::Destructive;
    const EXITS: &'static [u8] = &[4, 5];
    const EXAMPLES: &'static [Example] =
        &[Example { about: "Start the server at port 5173 again", input: r#"{"service":"5173"}"# }];

    type Input = ServiceInput;
    type Output = ServiceChange;

    async fn run(cx: &mut CommandContext, input: ServiceInput) -> Result<ServiceChange, Failure> {
        let service = find(cx, &input.service).await?;
        let again = again(cx, &service).await?;
        end(cx, &service.task_id).await?;
        let started = call(cx, "ExecCommand", again).await?;
        let id = started.pointer("/task_handle/task_id").or(started.get("output_id")).and_then(Value::as_str);
        Ok(ServiceChange { task_id: id.unwrap_or_default().to_owned(), effect: "restarted" })
    }

    async fn dry_run(cx: &mut CommandContext, input: ServiceInput) -> Result<Value, Failure> {
        let service = find(cx, &input.service).await?;
        let again = again(cx, &service).await?;
        Ok(json!({"effect": "would_restart", "service": service, "command": again}))
    }
}

/// Calls a tool, and returns its result.
async fn call(cx: &mut CommandContext, tool: &str, input: Value) -> Result<Value, Failure> {
    let answer = cx.call(tool, input, None, &CutHandle::default()).await?;
    match answer.envelope.outcome() {
        CallOutcome::Success(result) => Ok(result.clone()),
        CallOutcome::Error(error) => Err(error.clone().into()),
    }
}

async fn services(cx: &mut CommandContext) -> Result<Vec<ServiceRow>, Failure> {
    let mut listed = call(cx, "TaskList", json!({"limit": 100})).await?;
    let rows = serde_json::from_value(listed["tasks"].take());
    let mut rows: Vec<ServiceRow> = rows.map_err(|error| Failure::internal(&error))?;
    rows.retain(|row| !row.listening.is_empty());
    Ok(rows)
}

/// Finds a service by its port or its task.
async fn find(cx: &mut CommandContext, name: &str) -> Result<ServiceRow, Failure> {
    let port: Option<u16> = name.strip_prefix(':').unwrap_or(name).parse().ok();
    let is_it = |row: &ServiceRow| match port {
        Some(port) => row.listening.iter().any(|at| at.port() == Some(port)),
        None => row.task_id.as_str() == name,
    };
    let mut found: Vec<ServiceRow> = services(cx).await?.into_iter().filter(is_it).collect();
    match (found.pop(), found.is_empty()) {
        (Some(row), true) => Ok(row),
        (Some(_), false) => {
            Err(Failure::new(Code::ArgError, format!("More than one task listens at port {name}."))
                .with("service", name)
                .fix("name the task instead: `pilothouse service list` shows their ids"))
        }
        (None, _) => {
            Err(Failure::new(Code::NotFound, format!("No task of this workspace listens as {name}."))
                .with("service", name)
                .fix("`pilothouse service list` lists what does"))
        }
    }
}

/// Returns the input that starts a service's command again.
async fn again(cx: &mut CommandContext, service: &ServiceRow) -> Result<Value, Failure> {
    let status = call(cx, "TaskStatus", json!({"task_id": service.task_id})).await?;
    let command = &status["task"]["command"];
    if command["cmd"].as_str().is_none_or(|cmd| cmd.contains(MASKED)) {
        let text = "Its command holds a secret, which only the console can start again.";
        return Err(Failure::new(Code::Precondition, text).fix("select the task in the console and press r"));
    }
    let mut input = json!({"yield_time_ms": 0});
    for field in ["cmd", "workdir", "shell", "login", "tty", "cols", "rows", "accepts_input"] {
        if !command[field].is_null() {
            input[field] = command[field].clone();
        }
    }
    Ok(input)
}

/// Stops a task, and waits until its whole tree has ended.
async fn end(cx: &mut CommandContext, task: &TaskId) -> Result<(), Failure> {
    call(cx, "TaskStop", json!({"task_id": task})).await?;
    let waited = call(cx, "TaskOutput", json!({"task_id": task, "timeout_ms": END_MS})).await?;
    if waited["retrieval_status"] == "success" {
        return Ok(());
    }
    let text = format!("{task} is being stopped and has not ended yet.");
    Err(Failure::running(Code::Unavailable, text).fix("look at it with `pilothouse task status`"))
}
