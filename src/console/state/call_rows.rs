//! The rows of the list of calls: those that match the filter, with successive polls of one task in a single
//! row; and what each row shows: how its command ended, and the command.

use std::sync::Arc;

use crate::console::state::State;
use crate::console::state::names::alias;
use crate::console::state::view::View;
use crate::console::state::words::{how, who};
use crate::console::text::finding::FilterWords;
use crate::console::text::visible;
use crate::model::{CallSummary, TaskStatus, TaskView};

/// A row of the list of calls.
#[derive(Debug, Clone)]
pub struct CallRow<'a> {
    /// The call; if there are several, the newest.
    pub call: &'a Arc<CallSummary>,
    /// The number of the oldest call.
    pub oldest: u64,
    /// The number of calls.
    pub count: usize,
}

/// The outcome of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CallState {
    Running,
    Done,
    /// It was answered with an error, or its command failed.
    Failed,
    Stopped,
}

impl State {
    /// Returns the index of the current call in the list.
    pub fn call_at(&self) -> usize {
        let Some(seq) = self.calls.selected else { return 0 };
        self.call_rows().iter().position(|row| (row.oldest..=row.call.seq).contains(&seq)).unwrap_or(0)
    }

    /// Returns the rows of the list of calls, newest first.
    pub fn call_rows(&self) -> Vec<CallRow<'_>> {
        let words = FilterWords::smart(&self.calls.filter);
        let holds = |call: &&Arc<CallSummary>| words.is_empty() || words.are_in(&told_of(&self.view, call));
        let mut rows: Vec<CallRow<'_>> = Vec::new();
        for call in self.newest_calls().filter(holds) {
            match rows.last_mut().filter(|row| is_poll(call) && is_same_poll(row.call, call)) {
                Some(row) => (row.oldest, row.count) = (call.seq, row.count + 1),
                None => rows.push(CallRow { call, oldest: call.seq, count: 1 }),
            }
        }
        let Some(unfolded) = self.calls.unfolded else { return rows };
        let one = |call| CallRow { call, oldest: call.seq, count: 1 };
        rows.into_iter()
            .flat_map(|row| match row.oldest == unfolded {
                true => {
                    let range = row.oldest..=row.call.seq;
                    let calls = self.newest_calls().filter(move |call| range.contains(&call.seq));
                    calls.filter(holds).map(one).collect()
                }
                false => vec![row],
            })
            .collect()
    }
}

/// Tells whether a call only polls the state or new output of a task.
fn is_poll(call: &CallSummary) -> bool {
    matches!(&*call.tool, "TaskOutput" | "TaskStatus") && call.status.as_deref() != Some("error")
}

fn is_same_poll(newer: &CallSummary, older: &CallSummary) -> bool {
    is_poll(newer) && newer.task == older.task && newer.actor == older.actor && newer.tool == older.tool
}

/// Returns the text that a call is matched by.
fn told_of(view: &View, call: &CallSummary) -> String {
    let task = task_of(view, call);
    let (_, ended) = outcome(view, call);
    [
        who(&call.actor),
        call.tool.clone(),
        task.map(|task| alias(task)).unwrap_or_default(),
        task.map(|task| task.cmd.clone()).unwrap_or_default(),
        call.summary.clone(),
        ended,
    ]
    .join(" ")
}

/// Returns the task that a call concerns, if it is still listed.
pub(crate) fn task_of<'a>(view: &'a View, call: &CallSummary) -> Option<&'a Arc<TaskView>> {
    call.task.as_ref().and_then(|id| view.task(id))
}

/// Returns the outcome of a call and, where worth mentioning, of its command: `exit 101`.
pub(crate) fn outcome(view: &View, call: &CallSummary) -> (CallState, String) {
    match call.status.as_deref() {
        None => return (CallState::Running, String::new()),
        Some("abandoned") => return (CallState::Stopped, String::new()),
        Some("success") => {}
        Some(_) => return (CallState::Failed, String::new()),
    }
    if call.tool != "ExecCommand" {
        return (CallState::Done, String::new());
    }
    let Some(task) = task_of(view, call) else { return told_in(&call.summary) };
    match task.status {
        TaskStatus::Failed => (CallState::Failed, how(task.ended.as_ref())),
        TaskStatus::Completed => (CallState::Done, String::new()),
        TaskStatus::Cancelled | TaskStatus::Interrupted => {
            (CallState::Stopped, task.status.as_str().to_owned())
        }
        TaskStatus::Queued | TaskStatus::Running | TaskStatus::Cancelling => {
            (CallState::Done, task.status.as_str().to_owned())
        }
    }
}

/// Returns the outcome given by the summary, for a command that is no longer listed.
fn told_in(summary: &str) -> (CallState, String) {
    let status = summary.strip_prefix("command exited with status ").filter(|status| *status != "0");
    let is_number = |status: &&str| status.parse::<i32>().is_ok();
    match status.filter(is_number) {
        Some(status) => (CallState::Failed, format!("exit {status}")),
        None => (CallState::Done, String::new()),
    }
}

/// Describes a call in one line: the command it ran, or else its summary; with little room, the tool.
pub(crate) fn subject(view: &View, row: &CallRow<'_>, is_narrow: bool) -> String {
    let call = row.call;
    let command = task_of(view, call).filter(|_| call.tool == "ExecCommand");
    let times = if row.count > 1 { format!("{} times  ", row.count) } else { String::new() };
    match command {
        Some(task) => visible::told(task.cmd.trim()),
        None if is_narrow && row.count > 1 => format!("{} ×{}", visible::one_line(&call.tool), row.count),
        None if is_narrow => visible::one_line(&call.tool).into_owned(),
        None => format!("{times}{}", visible::one_line(&call.summary)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_no_longer_listed_is_told_by_its_summary() {
        for (summary, state, word) in [
            ("command exited with status 101", CallState::Failed, "exit 101"),
            ("command exited with status 0", CallState::Done, ""),
            ("command exited with status of things", CallState::Done, ""),
            ("command promoted to managed task", CallState::Done, ""),
        ] {
            assert_eq!(told_in(summary), (state, word.to_owned()), "{summary}");
        }
    }
}
