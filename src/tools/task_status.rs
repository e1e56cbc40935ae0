//! TaskStatus: everything about one task except its output.

use std::path::PathBuf;
use std::sync::Arc;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::receipt::Receipt;
use super::task::{self, Notes, TaskKind};
use super::verb::{Hints, ToolContext, ToolOutcome, Verb};
use super::waiting_note::WaitingNote;
use crate::envelope::units::{grouped_amount, size};
use crate::envelope::{Actor, Envelope, TaskId, ToolError, mask};
use crate::model::{InputTarget, TaskStatus as Status, TaskView, TreeChanges};

pub(super) struct TaskStatusTool;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct TaskStatusInput {
    /// `task_…` from ExecCommand.
    task_id: String,
}

/// The status of a task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(super) struct StatusResult {
    /// The task.
    task: TaskReport,
}

/// All facts about one task except its output.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
struct TaskReport {
    /// Id of the pilothouse task.
    task_id: TaskId,
    /// Always `command_task`.
    kind: TaskKind,
    /// Current status.
    status: Status,
    /// The status in one phrase.
    summary: String,
    /// Time of the request.
    #[schemars(with = "String")]
    created_at: Timestamp,
    /// Time of its last status change.
    #[schemars(with = "String")]
    updated_at: Timestamp,
    /// The actor that started it.
    started_by: Actor,
    /// The holder of its input.
    controller: Option<Actor>,
    /// Evidence that it wants input.
    waiting: Option<WaitingNote>,
    /// Exit status once it has exited by itself; 124 after a timeout.
    exit_status: Option<i32>,
    /// Signal that ended it.
    signal: Option<String>,
    /// The command.
    command: CommandReport,
    /// Peak total memory of its processes in bytes; present only if measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    peak_memory: Option<u64>,
    /// Its output in numbers.
    output: OutputReport,
    /// Workspace files that differ since it began, regardless of the actor; present once it has ended and they are
    /// known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    changes: Option<ChangesCount>,
    /// Whether it ended without having run; absent if not.
    #[serde(default, skip_serializing_if = "task::is_false")]
    never_ran: bool,
    #[serde(flatten)]
    notes: Notes,
}

/// The command.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
struct CommandReport {
    /// The command line, secrets masked.
    cmd: String,
    /// Directory it started in.
    workdir: PathBuf,
    /// Shell that runs it.
    shell: String,
    /// Whether it is a login shell.
    login: bool,
    /// Whether it has a terminal.
    tty: bool,
    /// Columns of its terminal.
    cols: Option<u16>,
    /// Rows of its terminal.
    rows: Option<u16>,
    /// Whether TaskInput can type into it.
    accepts_input: bool,
    /// Destination of input: `stdin` or `tty`.
    input_target: Option<InputTarget>,
}

/// Numbers of workspace files that differ since a task began. Files that git ignores are excluded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
struct ChangesCount {
    /// Number of new files; absent if the differences are unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    added: Option<u64>,
    /// Number of files with changed contents or mode.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    modified: Option<u64>,
    /// Number of removed files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    deleted: Option<u64>,
    /// Number of these that equal the commit to which git has moved since.
    #[serde(default, skip_serializing_if = "task::is_zero")]
    by_git: u64,
    /// Tasks that ran at the same time and may have changed them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    shared_with: Vec<TaskId>,
    /// Tasks that immediately followed each other, including this one: the numbers cover all of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    together: Vec<TaskId>,
    /// Whether they were restored since.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    undone: bool,
    /// Reason for possible omissions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    incomplete: Option<String>,
}

impl ChangesCount {
    fn of(changes: &TreeChanges) -> Self {
        let TreeChanges { by_git, shared_with, together, undone, incomplete, .. } = changes.clone();
        let known = |count| (!changes.is_unknown()).then_some(count);
        let [added, modified, deleted] = [changes.added, changes.modified, changes.deleted].map(known);
        Self { added, modified, deleted, by_git, shared_with, together, undone, incomplete }
    }

    /// Returns the line of a receipt; `None` if nothing differs and others may have had a part in it.
    fn line(&self) -> Option<String> {
        let incomplete = self.incomplete.as_deref().unwrap_or_default();
        let (Some(added), Some(modified), Some(deleted)) = (self.added, self.modified, self.deleted) else {
            return Some(format!("Files that differ since it began: not known ({incomplete})"));
        };
        if added + modified + deleted == 0 && !self.shared_with.is_empty() && incomplete.is_empty() {
            return None;
        }
        let by_git = match self.by_git {
            0 => String::new(),
            count => format!(", {count} of them as in the commit that HEAD moved to"),
        };
        let since = match &self.together[..] {
            [] => "it began".to_owned(),
            all => format!("the first of {} tasks in a row began", all.len()),
        };
        let incomplete = if incomplete.is_empty() { String::new() } else { format!(" ({incomplete})") };
        let undone = if self.undone { ", put back since" } else { "" };
        let shared = if self.shared_with.is_empty() { "" } else { ", shared with tasks that ran meanwhile" };
        Some(format!(
            "Files that differ since {since}: {added} added, {modified} modified, {deleted} deleted{by_git}{shared}{undone}{incomplete}"
        ))
    }
}

/// The output of a task in numbers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
struct OutputReport {
    /// Bytes printed.
    bytes: u64,
    /// Lines printed.
    lines: u64,
    /// Bytes not kept.
    dropped_bytes: u64,
}

/// What is known about a task, except its output.
#[derive(Debug, Clone)]
pub struct TaskDetails {
    pub task: Arc<TaskView>,
    /// The current time.
    pub now: Timestamp,
}

/// Builds the canonical envelope.
pub fn project(complete: &TaskDetails) -> Envelope {
    let task = &complete.task;
    let notes = Notes::of(task);
    let (exit_status, signal) = (task::exit_status(task), task::signal(task));
    let report = TaskReport {
        task_id: task.id.clone(),
        kind: TaskKind::CommandTask,
        status: task.status,
        summary: task::state_phrase(task.status, exit_status, signal.as_deref(), &notes),
        created_at: task.created_at,
        updated_at: task.updated_at,
        started_by: task.started_by.clone(),
        controller: task.lease.as_ref().map(|lease| lease.holder.clone()),
        waiting: WaitingNote::of(task.waiting.as_ref(), complete.now),
        exit_status,
        signal,
        command: CommandReport::of(task),
        peak_memory: task.peak_memory,
        output: OutputReport {
            bytes: task.output.bytes,
            lines: task.output.line_count(),
            dropped_bytes: task.output.dropped_bytes,
        },
        changes: task.changes.as_ref().map(ChangesCount::of),
        never_ran: task.never_ran(),
        notes,
    };
    TaskStatusTool::envelope(&StatusResult { task: report })
}

impl CommandReport {
    fn of(task: &TaskView) -> Self {
        let size = task.tty.then_some(task.size);
        let target = if task.tty { InputTarget::Tty } else { InputTarget::Stdin };
        Self {
            cmd: mask(&task.cmd).into_owned(),
            workdir: task.workdir.clone(),
            shell: task.shell.clone(),
            login: task.login,
            tty: task.tty,
            cols: size.map(|size| size.cols()),
            rows: size.map(|size| size.rows()),
            accepts_input: task.accepts_input,
            input_target: task.accepts_input.then_some(target),
        }
    }
}

impl Verb for TaskStatusTool {
    const NAME: &'static str = "TaskStatus";
    const TITLE: &'static str = "Look at a task";
    const DESCRIPTION: &'static str = "\
Tells how one shell command (pilothouse task) stands, at once and without output: state, exit code, who drives it, whether it \
waits for input. To wait, or to read output, use TaskOutput.";
    const ALIASES: &'static [(&'static str, &'static str)] = &[("id", "task_id"), ("session_id", "task_id")];
    const HINTS: Hints = Hints::READS;
    const CLI: &'static [&'static str] = &["task", "status"];
    const EXAMPLES: &'static [(&'static str, &'static str)] =
        &[("See the status of a task", r#"{"task_id":"task_4k2m9x7q"}"#)];

    type Input = TaskStatusInput;
    type Result = StatusResult;

    async fn run(cx: ToolContext<'_>, input: TaskStatusInput) -> Result<ToolOutcome, ToolError> {
        let task = cx.task(&input.task_id).await?;
        let id = task.id.clone();
        Ok(ToolOutcome { envelope: project(&TaskDetails { task, now: cx.now() }), task: Some(id) })
    }

    fn summary(report: &StatusResult) -> String {
        format!("task {}", report.task.summary)
    }

    fn receipt(report: &StatusResult) -> Receipt {
        let TaskReport { task_id, summary, notes, command, output, .. } = &report.task;
        let driven = report.task.controller.as_ref().map(|by| format!("Its input is held by {by}."));
        let waiting = report.task.waiting.as_ref().map(WaitingNote::statement);
        let is_started = report.task.status != Status::Queued && !report.task.never_ran;
        let began = if is_started { "Started" } else { "Sent" };
        let receipt =
            Receipt::new(format!("Task {task_id} {}", task::predicate(report.task.status, summary)))
                .lines(notes.lines())
                .lines(driven)
                .lines(waiting)
                .line(format!("{began} by {} at {:.0}", report.task.started_by, report.task.created_at))
                .line(format!("Directory: {}", command.workdir.display()))
                .line(command.terminal_line())
                .lines(
                    report
                        .task
                        .peak_memory
                        .map(|peak| format!("Memory: {} at its peak, as far as seen", size(peak))),
                )
                .line(format!(
                    "Output: {} in {}",
                    grouped_amount(output.bytes, "byte"),
                    grouped_amount(output.lines, "line")
                ))
                .lines(task::dropped_line(output.dropped_bytes))
                .lines(report.task.changes.as_ref().and_then(ChangesCount::line))
                .output("Command", "task/command/cmd", Some(&command.cmd));
        if report.task.never_ran || report.task.status.is_terminal() && output.bytes == 0 {
            receipt
        } else if report.task.status == Status::Queued {
            receipt.next(task::QUEUED_STEPS)
        } else if report.task.status.is_terminal() {
            receipt.next("TaskOutput to read what it printed.")
        } else {
            let is_offered = WaitingNote::may_be_answered(report.task.waiting.as_ref());
            receipt.next(task::next_steps(command.accepts_input && is_offered))
        }
    }
}

impl CommandReport {
    fn terminal_line(&self) -> String {
        let input = if self.accepts_input { "with input" } else { "without input" };
        match (self.cols, self.rows) {
            (Some(cols), Some(rows)) => format!("Terminal: {cols}x{rows}, {input}"),
            _ => format!("Terminal: none, {input}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differing_files_are_said_since_when_and_how_many_of_them_are_those_of_a_commit() {
        let task = TaskId::from_random([b'a'; 8]);
        let alone = ChangesCount {
            added: Some(2),
            modified: Some(0),
            deleted: Some(1),
            by_git: 2,
            shared_with: Vec::new(),
            together: Vec::new(),
            undone: false,
            incomplete: None,
        };
        let said = |changes: &ChangesCount| changes.line().expect("a line");
        assert_eq!(
            said(&alone),
            "Files that differ since it began: 2 added, 0 modified, 1 deleted, 2 of them as in the commit that HEAD \
             moved to"
        );
        let joined = ChangesCount { by_git: 0, together: vec![task.clone(), task], undone: true, ..alone };
        assert_eq!(
            said(&joined),
            "Files that differ since the first of 2 tasks in a row began: 2 added, 0 modified, 1 deleted, put back since"
        );
    }
}
