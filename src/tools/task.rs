//! A task as shown in results: the same few facts, worded the same way by every tool. Process ids are never among
//! them: agents see names and counts.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::leftovers::LeftoverProcesses;
use super::listening::{self, ListeningNote};
use super::receipt::{Artifact, Receipt, ReceiptBlock};
use crate::envelope::units::grouped_amount;
use crate::envelope::{Actor, TaskId, one_line};
use crate::model::phrases::{exit_word, hold_sentence, hold_word};
use crate::model::{
    CeilingHit, HoldReason, LaneWait, LostInput, TaskFact, TaskStatus, TaskView, UnendedProcesses,
};

/// The maximum length of a failure reason inside a sentence, in characters.
const REASON_CHARS: usize = 120;

/// Kind of the task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum TaskKind {
    /// A command.
    CommandTask,
}

/// Reference to a task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(super) struct TaskHandle {
    /// Id of the pilothouse task.
    pub(super) task_id: TaskId,
    /// Always `command_task`.
    pub(super) kind: TaskKind,
    /// Current status.
    pub(super) status: TaskStatus,
    /// Whether TaskInput can type into it; absent if not.
    #[serde(default, skip_serializing_if = "is_false")]
    pub(super) accepts_input: bool,
}

/// A task and its status, for answers about something else.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(super) struct TaskBrief {
    /// Id of the pilothouse task.
    pub(super) task_id: TaskId,
    /// Always `command_task`.
    pub(super) kind: TaskKind,
    /// Current status.
    pub(super) status: TaskStatus,
    /// Exit status once it has exited by itself; 124 after a timeout.
    pub(super) exit_status: Option<i32>,
    /// Signal that ended it, present only then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) signal: Option<String>,
    /// Whether it ended without having run; absent if not.
    #[serde(default, skip_serializing_if = "is_false")]
    pub(super) never_ran: bool,
    #[serde(flatten)]
    pub(super) notes: Notes,
}

/// Additional facts about a task; each key is present only if it applies.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(super) struct Notes {
    /// Whether it exceeded its `timeout_ms`.
    #[serde(default, skip_serializing_if = "is_false")]
    pub(super) timed_out: bool,
    /// Reason why it has not started and waits for the operator; present only then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) awaiting_operator: Option<WaitReason>,
    /// Position in the queue of its lane, in words; present only until it starts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) queued: Option<String>,
    /// The actor that stopped it: `operator`, `cli`, `agent:<label>` or `system`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) stopped_by: Option<Actor>,
    /// Whether it is being, or was, killed without time to end by itself.
    #[serde(default, skip_serializing_if = "is_false")]
    pub(super) killed: bool,
    /// The actor whose TaskStop sent the signal that ended it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) signalled_by: Option<Actor>,
    /// The cause of its end, in words; absent if it ended by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) end_reason: Option<String>,
    /// The ceiling it reached, which ended it unless only the start of another process failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) ceiling: Option<CeilingHit>,
    /// The last actor, other than its starter, that typed into it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) typed_by: Option<Actor>,
    /// Input that it has taken and that no program will read, as far as known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) lost_input: Option<LostInput>,
    /// Whether it was typed into since; absent if not.
    #[serde(default, skip_serializing_if = "is_false")]
    pub(super) lost_earlier: bool,
    /// Addresses it listens on; it may not be ready to answer yet.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) listening: Vec<ListeningNote>,
    /// How its shell exited and which of its processes go on; present only while they do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) outlived: Option<String>,
    /// Processes alive after its shell exited.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) leftover_processes: Option<LeftoverProcesses>,
    /// Its processes that survived an attempt to end them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) unended_processes: Vec<UnendedProcesses>,
    /// If an address in use made it fail: the holder of the address, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) taken_port: Option<String>,
    /// The failure, if it is not its own exit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) error: Option<TaskFailure>,
}

/// Reason why a command waits for the operator.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum WaitReason {
    /// The operator has paused new commands of agents.
    #[default]
    Paused,
    /// The operator wants to approve commands like this one.
    Approval,
}

impl WaitReason {
    pub(super) fn of(task: &TaskView) -> Option<Self> {
        task.held.as_ref().map(|reason| match reason {
            HoldReason::Paused => Self::Paused,
            HoldReason::Rule(_) => Self::Approval,
        })
    }

    pub(super) fn sentence(self) -> String {
        hold_sentence(self == Self::Paused)
    }

    pub(super) fn phrase(self) -> &'static str {
        hold_word(self == Self::Paused)
    }
}

/// A failure that is not the command's own exit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(super) struct TaskFailure {
    /// One of the error kinds.
    pub(super) kind: String,
    /// Description of the error.
    pub(super) message: String,
}

impl TaskHandle {
    pub(super) fn of(task: &TaskView) -> Self {
        Self {
            task_id: task.id.clone(),
            kind: TaskKind::CommandTask,
            status: task.status,
            accepts_input: task.accepts_input,
        }
    }
}

impl TaskBrief {
    pub(super) fn of(task: &TaskView) -> Self {
        Self {
            task_id: task.id.clone(),
            kind: TaskKind::CommandTask,
            status: task.status,
            exit_status: exit_status(task),
            signal: signal(task),
            never_ran: task.never_ran(),
            notes: Notes::of(task),
        }
    }

    /// Describes its state, to follow `It` or `Task …`.
    pub(super) fn predicate(&self) -> String {
        let standing = state_phrase(self.status, self.exit_status, self.signal.as_deref(), &self.notes);
        predicate(self.status, &standing)
    }
}

impl Notes {
    pub(super) fn of(task: &TaskView) -> Self {
        let (ended, lost) = (task.ended.as_ref(), task.lost_input());
        let stopped = matches!(task.status, TaskStatus::Cancelling | TaskStatus::Cancelled);
        let stop = task.stop.as_ref().filter(|_| stopped);
        Self {
            timed_out: ended.is_some_and(|ended| ended.timed_out),
            awaiting_operator: WaitReason::of(task),
            queued: queue_place(task),
            stopped_by: stop.map(|stop| stop.by.clone()),
            killed: stop.is_some_and(|stop| stop.force),
            signalled_by: ended.and_then(|ended| ended.signalled_by.clone()),
            end_reason: task.cause(),
            ceiling: task.ceiling,
            typed_by: typed_by(task),
            lost_input: lost.map(|(lost, _)| lost),
            lost_earlier: lost.is_some_and(|(_, is_earlier)| is_earlier),
            listening: ListeningNote::of(task),
            taken_port: listening::taken_phrase(task),
            outlived: task.outlived_sentence(),
            leftover_processes: ended.and_then(|ended| LeftoverProcesses::of(&ended.leftovers)),
            unended_processes: ended.map(|ended| UnendedProcesses::of(&ended.survivors)).unwrap_or_default(),
            error: ended
                .and_then(|ended| ended.error.clone())
                .map(|(kind, message)| TaskFailure { kind, message: one_line(&message, REASON_CHARS * 4) }),
        }
    }

    /// Says which of its processes could not be ended, if any.
    pub(super) fn unended_phrase(&self) -> Option<String> {
        UnendedProcesses::phrase(&self.unended_processes)
    }

    /// Returns the names of the fields that the cause, and what could not be ended, are based on.
    pub(super) fn cause_fields(&self) -> impl Iterator<Item = &'static str> + use<> {
        let fields = [
            ("end_reason", self.end_reason.is_some()),
            ("stopped_by", self.stopped_by.is_some()),
            ("signalled_by", self.signalled_by.is_some()),
            ("timed_out", self.timed_out),
            ("unended_processes", !self.unended_processes.is_empty()),
        ];
        fields.into_iter().filter(|(_, is_set)| *is_set).map(|(field, _)| field)
    }

    /// Returns the lines for a receipt, to follow the outcome.
    pub(super) fn lines(&self) -> impl Iterator<Item = String> {
        let typed = self.typed_by.as_ref().map(|by| format!("Typed into by {by}."));
        let input = if self.lost_earlier { "Earlier input" } else { "Input" };
        let lost = self.lost_input.as_ref().map(|lost| format!("{input} {}.", lost.clause()));
        let left = self.leftover_processes.as_ref().map(LeftoverProcesses::sentence);
        let outlived = self.outlived.clone();
        let held = self.awaiting_operator.map(WaitReason::sentence);
        let listening = self.listening.iter().map(ListeningNote::sentence);
        let taken = self.taken_port.as_ref().map(|taken| format!("{taken}."));
        let ceiling = self.ceiling.map(|hit| hit.advice().to_owned());
        held.into_iter()
            .chain(outlived)
            .chain(typed)
            .chain(lost)
            .chain(listening)
            .chain(taken)
            .chain(ceiling)
            .chain(left)
    }
}

pub(super) fn exit_status(task: &TaskView) -> Option<i32> {
    task.ended.as_ref().and_then(|ended| ended.exit_status)
}

pub(super) fn signal(task: &TaskView) -> Option<String> {
    task.ended.as_ref().and_then(|ended| ended.signal.clone())
}

/// Describes a task's place in the queue of its lane, if it waits for its turn.
pub(super) fn queue_place(task: &TaskView) -> Option<String> {
    task.queued.as_ref().map(LaneWait::describe_for_agent)
}

/// Returns who last typed into a task, other than the actor that started it.
fn typed_by(task: &TaskView) -> Option<Actor> {
    let inputs = task.events.iter().rev().filter(|event| matches!(event.fact, TaskFact::Input(_)));
    inputs.map(|event| &event.actor).find(|actor| **actor != task.started_by).cloned()
}

/// Describes the state of a task: `running`, `completed (exit 0)`, `cancelled (stopped by operator)`.
pub(super) fn state_phrase(
    status: TaskStatus,
    exit_status: Option<i32>,
    signal: Option<&str>,
    notes: &Notes,
) -> String {
    let cause = notes.end_reason.clone();
    match status {
        TaskStatus::Queued | TaskStatus::Running => with_reasons(status.as_str(), [notes.queued.clone()]),
        TaskStatus::Cancelling => match (cause, notes.killed) {
            (Some(cause), true) => format!("being killed ({cause})"),
            (Some(cause), false) => format!("being {cause}"),
            (None, _) => "being stopped".to_owned(),
        },
        TaskStatus::Completed | TaskStatus::Failed | TaskStatus::Cancelled | TaskStatus::Interrupted => {
            let error = notes.error.as_ref().map(|error| one_line(&error.message, REASON_CHARS));
            // What the runtime received is named once.
            let signal = signal.filter(|name| !cause.as_ref().is_some_and(|cause| cause.ends_with(name)));
            let exit = exit_word(exit_status, signal);
            with_reasons(status.as_str(), [cause, error, exit, notes.unended_phrase()])
        }
    }
}

/// Turns the state of a task into the predicate of a sentence: `is running`, `completed (exit 0)`.
pub(super) fn predicate(status: TaskStatus, standing: &str) -> String {
    match status {
        TaskStatus::Queued | TaskStatus::Running | TaskStatus::Cancelling => format!("is {standing}"),
        TaskStatus::Cancelled | TaskStatus::Interrupted => format!("was {standing}"),
        TaskStatus::Completed | TaskStatus::Failed => standing.to_owned(),
    }
}

fn with_reasons<const N: usize>(standing: &str, reasons: [Option<String>; N]) -> String {
    let reasons = reasons.into_iter().flatten().collect::<Vec<_>>().join(", ");
    if reasons.is_empty() { standing.to_owned() } else { format!("{standing} ({reasons})") }
}

/// What an agent can do with a task that has not started.
pub(super) const QUEUED_STEPS: &str = "TaskOutput to wait for it, TaskStop to withdraw it.";

/// Says what a caller can do with a running task, the most common first.
pub(super) fn next_steps(accepts_input: bool) -> &'static str {
    if accepts_input {
        "TaskOutput to read on, TaskInput to type, TaskStop to end it."
    } else {
        "TaskOutput to read on, TaskStop to end it."
    }
}

/// Reports bytes that were not kept.
pub(super) fn dropped_line(dropped_bytes: u64) -> Option<String> {
    (dropped_bytes > 0).then(|| {
        format!("{} from the middle of the output were not kept.", grouped_amount(dropped_bytes, "byte"))
    })
}

/// Ends the receipt of a command with the number of bytes that were not kept and how to read the rest: with
/// TaskOutput. Recordings from before that was possible name the files.
pub(super) fn with_rest(
    receipt: Receipt,
    output_id: Option<&TaskId>,
    artifacts: &[Artifact],
    dropped_bytes: u64,
) -> Receipt {
    let files = if output_id.is_some() { &[] } else { artifacts };
    let files = ReceiptBlock::about("/result").artifacts("Artifacts:", "", files);
    let receipt = receipt.push(files).lines(dropped_line(dropped_bytes));
    match output_id {
        Some(id) => {
            receipt.next_to_read_on(&format!("TaskOutput {id} with `lines` or `match` to read the rest."))
        }
        None => receipt,
    }
}

pub(super) fn is_false(value: &bool) -> bool {
    !value
}

pub(super) fn is_zero(value: &u64) -> bool {
    *value == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_task_stands_in_one_phrase() {
        let none = Notes::default();
        let reason = |why: &str| Notes { end_reason: Some(why.into()), ..Notes::default() };
        let stopped = reason("stopped by operator");
        let late = reason("timed out");
        let root = UnendedProcesses { count: 1, names: vec!["sleep".into()], owner: Some("root".into()) };
        let left = Notes { unended_processes: vec![root], ..stopped.clone() };
        let broken =
            TaskFailure { kind: "output_limit_exceeded".into(), message: "It wrote too much.".into() };
        let broken = Notes { error: Some(broken), ..Notes::default() };
        let ended = reason("ended with the runtime: it received SIGTERM");
        let cases = [
            (TaskStatus::Running, None, None, &none, "running"),
            (TaskStatus::Cancelling, None, None, &stopped, "being stopped by operator"),
            (TaskStatus::Completed, Some(0), None, &none, "completed (exit 0)"),
            (TaskStatus::Failed, Some(7), None, &none, "failed (exit 7)"),
            (TaskStatus::Failed, None, Some("SIGSEGV"), &none, "failed (SIGSEGV)"),
            (TaskStatus::Failed, Some(124), None, &late, "failed (timed out, exit 124)"),
            (TaskStatus::Failed, None, None, &broken, "failed (It wrote too much.)"),
            (
                TaskStatus::Cancelled,
                None,
                Some("SIGTERM"),
                &stopped,
                "cancelled (stopped by operator, SIGTERM)",
            ),
            (
                TaskStatus::Cancelled,
                None,
                Some("SIGTERM"),
                &left,
                "cancelled (stopped by operator, SIGTERM, 1 process could not be ended: sleep, which belongs to root)",
            ),
            (TaskStatus::Interrupted, None, None, &none, "interrupted"),
            (
                TaskStatus::Interrupted,
                None,
                Some("SIGTERM"),
                &ended,
                "interrupted (ended with the runtime: it received SIGTERM)",
            ),
        ];
        for (status, exit, signal, notes, phrase) in cases {
            assert_eq!(state_phrase(status, exit, signal, notes), phrase);
        }
    }
}
