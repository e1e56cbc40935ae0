//! TaskList: the tasks that a caller may refer to, newest first, without output.

use std::sync::Arc;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::listening::ListeningNote;
use super::receipt::Receipt;
use super::task::{self, TaskKind, WaitReason};
use super::verb::{Hints, ToolContext, ToolOutcome, Verb};
use super::waiting_note::WaitingNote;
use crate::envelope::units::{amount, millis};
use crate::envelope::{Actor, Envelope, TaskId, ToolError, mask, one_line};
use crate::model::millis_between;
use crate::model::{TaskStatus, TaskView};

/// The maximum length of a command in a list, in characters.
const CMD_CHARS: usize = 120;
/// The maximum number of tasks in one answer.
const MOST: usize = 100;

pub(super) struct TaskListTool;

/// The tasks to list.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct TaskListInput {
    /// `all`: ended tasks too.
    #[serde(default)]
    scope: TaskScope,
    /// Only listening tasks.
    #[serde(default)]
    listening: bool,
    /// Maximum number of tasks.
    #[serde(default = "default_limit")]
    #[schemars(range(min = 1, max = 100))]
    limit: usize,
}

/// The tasks to list.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TaskScope {
    /// Those that have not ended.
    #[default]
    Active,
    /// Finished ones too.
    All,
}

fn default_limit() -> usize {
    20
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(super) struct TaskListing {
    /// Number of tasks.
    total: usize,
    /// Number of listed tasks.
    returned: usize,
    /// The tasks, newest first.
    tasks: Vec<TaskRow>,
}

/// One task of a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
struct TaskRow {
    /// Id of the pilothouse task.
    task_id: TaskId,
    /// Always `command_task`.
    kind: TaskKind,
    /// Current status.
    status: TaskStatus,
    /// First line of its command.
    cmd: String,
    /// The actor that started it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    started_by: Option<Actor>,
    /// Start time; null while queued.
    #[schemars(with = "Option<String>")]
    started_at: Option<Timestamp>,
    /// Milliseconds since its last output; null once it has ended.
    quiet_ms: Option<u64>,
    /// Evidence that it wants input.
    waiting: Option<WaitingNote>,
    /// Addresses it listens on; it may not be ready to answer yet.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    listening: Vec<ListeningNote>,
    /// Reason why it has not started and waits for the operator; present only then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    awaiting_operator: Option<WaitReason>,
    /// Position in the queue of its lane, in words; present only until it starts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    queued: Option<String>,
    /// The holder of its input.
    controller: Option<Actor>,
    /// Peak total memory of its processes in bytes; present only if measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    peak_memory: Option<u64>,
    /// Its end in words; present only then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    ended: Option<String>,
}

/// Which of the runtime's tasks a caller asks for.
#[derive(Debug, Clone)]
pub struct TaskFilter {
    /// The caller: an agent sees its own tasks.
    pub actor: Actor,
    /// Whether tasks are shared: the caller then sees all.
    pub shared: bool,
    /// Which tasks to list.
    pub scope: TaskScope,
    /// Whether to list only tasks that accept connections.
    pub listening: bool,
}

impl TaskFilter {
    /// Tells whether a task is listed.
    pub fn includes(&self, task: &TaskView) -> bool {
        let is_in_scope = match self.scope {
            TaskScope::Active => !task.status.is_terminal() && (task.promoted || is_at_hand(task)),
            TaskScope::All => true,
        };
        is_in_scope
            && (!self.listening || !task.listening.is_empty())
            && (self.shared || self.actor.may_drive(&task.started_by))
    }
}

/// The tasks to be listed.
#[derive(Debug, Clone)]
pub struct ListedTasks {
    /// How many there are.
    pub total: usize,
    /// The newest of them, newest first.
    pub tasks: Vec<Arc<TaskView>>,
    /// The current time.
    pub now: Timestamp,
}

/// Builds the canonical envelope.
pub fn project(complete: &ListedTasks) -> Envelope {
    let ListedTasks { total, tasks, now } = complete;
    let rows: Vec<TaskRow> = tasks.iter().map(|task| TaskRow::of(task, *now)).collect();
    TaskListTool::envelope(&TaskListing { total: *total, returned: rows.len(), tasks: rows })
}

impl TaskRow {
    fn of(task: &TaskView, now: Timestamp) -> Self {
        let last = task.output.last_at.or(task.started_at);
        Self {
            task_id: task.id.clone(),
            kind: TaskKind::CommandTask,
            status: task.status,
            cmd: first_line(&mask(&task.cmd)),
            started_by: Some(task.started_by.clone()),
            started_at: task.started_at,
            quiet_ms: last.filter(|_| !task.status.is_terminal()).map(|last| millis_between(last, now)),
            waiting: WaitingNote::of(task.waiting.as_ref(), now),
            listening: ListeningNote::of(task),
            awaiting_operator: WaitReason::of(task),
            queued: task::queue_place(task),
            controller: task.lease.as_ref().map(|lease| lease.holder.clone()),
            peak_memory: task.peak_memory,
            ended: task.ended.is_some().then(|| task.end_in_words()),
        }
    }

    fn line(&self) -> String {
        let by = self.started_by.as_ref().map(|by| format!("started by {by}"));
        let held = self.awaiting_operator.map(|reason| reason.phrase().to_owned());
        let quiet = self.quiet_ms.map(|ms| format!("quiet {}", millis(ms)));
        let waiting = self.waiting.as_ref().map(WaitingNote::sentence);
        let driven = self.controller.as_ref().map(|by| format!("driven by {by}"));
        let facts: Vec<String> = [
            self.ended.clone(),
            self.queued.clone(),
            held,
            by,
            quiet,
            waiting,
            ListeningNote::brief(&self.listening),
            driven,
        ]
        .into_iter()
        .flatten()
        .collect();
        let facts = if facts.is_empty() { String::new() } else { format!(", {}", facts.join(", ")) };
        format!("{} {}{facts}: {}", self.task_id, self.status.as_str(), self.cmd)
    }
}

/// Returns the first line of a command, shortened.
fn first_line(cmd: &str) -> String {
    let cmd = cmd.trim();
    let first = one_line(cmd.lines().next().unwrap_or(""), CMD_CHARS);
    match cmd.lines().count().saturating_sub(1) {
        0 => first,
        more => format!("{first} …(+{})", amount(more as u64, "line")),
    }
}

/// Returns whether a running command is listed although it has no handle. An agent may not know that its call no
/// longer waits for it: not every client reports an interruption by its user.
fn is_at_hand(task: &TaskView) -> bool {
    task.item.is_none() && !task.status.is_terminal()
}

impl Verb for TaskListTool {
    const NAME: &'static str = "TaskList";
    const TITLE: &'static str = "List tasks";
    const DESCRIPTION: &'static str = "\
Lists the commands you ran (pilothouse tasks), newest first, without output. \
For a lost task_id, or what to stop before you finish.";
    const HINTS: Hints = Hints::READS;
    const CLI: &'static [&'static str] = &["task", "list"];
    const EXAMPLES: &'static [(&'static str, &'static str)] = &[
        ("List running tasks", "{}"),
        ("List tasks that listen at a port", r#"{"listening":true}"#),
        ("List finished tasks too", r#"{"scope":"all","limit":100}"#),
    ];

    type Input = TaskListInput;
    type Result = TaskListing;

    async fn run(cx: ToolContext<'_>, input: TaskListInput) -> Result<ToolOutcome, ToolError> {
        let actor = cx.caller.actor.clone();
        let TaskListInput { scope, listening, limit } = input;
        let wanted = TaskFilter { actor, shared: cx.runtime.shares_tasks(), scope, listening };
        let (total, tasks) = cx.runtime.newest(limit.min(MOST), |task| wanted.includes(task));
        Ok(ToolOutcome { envelope: project(&ListedTasks { total, tasks, now: cx.now() }), task: None })
    }

    fn summary(listing: &TaskListing) -> String {
        listing.count_line()
    }

    fn receipt(listing: &TaskListing) -> Receipt {
        let receipt = Receipt::new(listing.count_line()).block(listing.tasks.iter().map(TaskRow::line));
        let hidden = listing.total.saturating_sub(listing.returned);
        let more = (hidden > 0).then(|| format!("Not shown: {hidden} older; raise `limit` to see them."));
        let receipt = receipt.block(more);
        if listing.tasks.iter().any(|row| !row.status.is_terminal()) {
            receipt.next("TaskOutput to read one, TaskStatus for its details, TaskStop to end it.")
        } else {
            receipt
        }
    }
}

impl TaskListing {
    fn count_line(&self) -> String {
        let noun = if self.total == 1 { "task" } else { "tasks" };
        let complete = self.total == self.returned;
        let active = complete && self.tasks.iter().all(|row| !row.status.is_terminal());
        match (self.total, active) {
            (0, _) => "No tasks".to_owned(),
            (total, true) => format!("{total} active {noun}"),
            (total, false) => format!("{total} {noun}"),
        }
    }
}
