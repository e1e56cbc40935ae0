//! The rows of the list of calls: those that match the filter, with successive polls of one task in a single
//! row; and what each row shows: how its commands ended, and the command that tells most.

use std::sync::Arc;

use crate::console::state::State;
use crate::console::state::listing::filter::Filter;
use crate::console::state::names::alias;
use crate::console::state::rulings::{is_listed, ruling};
use crate::console::state::view::View;
use crate::console::state::words::{actor_name, short_command};
use crate::console::text::finding::FilterWords;
use crate::console::text::{StyledPiece, piece, visible};
use crate::console::theme::Role;
use crate::envelope::Actor;
use crate::model::calls::{ABANDONED, SHELL_CALL};
use crate::model::phrases::denial_phrase;
use crate::model::{CallEnd, CallSummary, HeldCall, TaskStatus, TaskView};

/// The tools that run commands.
const COMMAND: &str = "ExecCommand";

/// The tool that runs several commands in a row.
const BATCH: &str = "ExecCommandBatch";

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
    /// No part of it runs before a person approves it.
    Held,
    /// It was not answered yet, or its command still runs.
    Running,
    /// Its command waits for the user.
    Waiting,
    Done,
    /// It was answered with an error, or its command failed, or one of its commands.
    Failed,
    Stopped,
}

impl State {
    /// Returns the index of the current call in the list.
    pub fn call_at(&self) -> usize {
        let Some(seq) = self.calls.selected else { return 0 };
        self.call_rows().iter().position(|row| (row.oldest..=row.call.seq).contains(&seq)).unwrap_or(0)
    }

    /// Returns the rows of the list of calls, newest first. What scripts ask about tasks is listed only if the filter
    /// finds it, or if it is selected.
    pub fn call_rows(&self) -> Vec<CallRow<'_>> {
        let words = FilterWords::smart(&self.calls.filter);
        let holds = |call: &&Arc<CallSummary>| match words.is_empty() {
            true => !is_script_poll(call) || self.calls.selected == Some(call.seq),
            false => words.are_in(&told_of(&self.view, call)),
        };
        let holds = |call: &&Arc<CallSummary>| is_listed(self.calls.ruling, &self.view, call) && holds(call);
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

impl State {
    /// Returns the number of the call that started a task, or else of the oldest on the list about it.
    pub(crate) fn call_of(&self, task: &TaskView) -> Option<u64> {
        let calls = &self.view.snapshot.calls;
        let is_its_own = |call: &&Arc<CallSummary>| {
            call.seq == task.call && (call.task.as_ref() == Some(&task.id) || call.task.is_none())
        };
        let runs = |call: &&Arc<CallSummary>| matches!(&*call.tool, COMMAND | BATCH | SHELL_CALL);
        let started = calls.iter().find(|call| is_its_own(call) && runs(call));
        let about = || calls.iter().find(|call| call.task.as_ref() == Some(&task.id));
        started.or_else(about).map(|call| call.seq)
    }
}

/// Tells whether a script only asks about tasks with a call, as one does again and again while it waits.
pub(in crate::console) fn is_script_poll(call: &CallSummary) -> bool {
    let asks = matches!(&*call.tool, "TaskOutput" | "TaskStatus" | "TaskList");
    asks && call.actor == Actor::Cli && call.status.as_deref() != Some("error")
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
    let mut told =
        vec![actor_name(&call.actor), call.tool.clone(), call.asked.clone(), call.summary.clone(), ended];
    told.extend(ruling(view, call));
    told.extend(matches!(call.end, Some(CallEnd::Refused(_))).then(|| "refused".to_owned()));
    told.extend(task.map(|task| alias(task)));
    told.extend(task.map(|task| task.cmd.clone()));
    told.extend(items_of(view, call).map(|item| item.cmd.clone()));
    told.extend(held_of(view, call).into_iter().flat_map(|held| &held.commands).map(|held| held.cmd.clone()));
    told.join(" ")
}

/// Returns the task that a call concerns, if it is still listed.
pub(crate) fn task_of<'a>(view: &'a View, call: &CallSummary) -> Option<&'a Arc<TaskView>> {
    call.task.as_ref().and_then(|id| view.task(id))
}

/// Returns the items of a batch that were started and are still listed, in order.
pub(crate) fn items_of<'a>(
    view: &'a View,
    call: &CallSummary,
) -> impl DoubleEndedIterator<Item = &'a Arc<TaskView>> + use<'a> {
    // Only a batch has any: the tasks are not searched for the others.
    let tasks = if call.tool == BATCH { &*view.snapshot.tasks } else { &[] };
    let seq = call.seq;
    tasks.iter().filter(move |task| task.call == seq && task.item.is_some())
}

/// Returns the item that stands for a batch: one that has not ended, a failed one, or the last.
pub(crate) fn item_shown<'a>(view: &'a View, call: &CallSummary) -> Option<&'a Arc<TaskView>> {
    let items: Vec<_> = items_of(view, call).collect();
    let live = items.iter().find(|item| !item.status.is_terminal());
    let failed = || items.iter().find(|item| Filter::Failed.holds(item));
    live.or_else(failed).or_else(|| items.last()).copied()
}

/// Returns the call as it waits for approval.
pub(crate) fn held_of<'a>(view: &'a View, call: &CallSummary) -> Option<&'a HeldCall> {
    let open = call.status.is_none() || call.tool == COMMAND;
    view.snapshot.gate.held.iter().find(|held| open && held.call == call.seq)
}

/// Returns the outcome of a call and, where worth mentioning, of its commands: `exit 101`, of a batch `3/4`.
pub(crate) fn outcome(view: &View, call: &CallSummary) -> (CallState, String) {
    if held_of(view, call).is_some() {
        return (CallState::Held, "to approve".to_owned());
    }
    match call.status.as_deref() {
        None => return (CallState::Running, String::new()),
        Some(ABANDONED) => return (CallState::Stopped, ABANDONED.to_owned()),
        Some("success") => {}
        Some(_) => return refusal_outcome(call.end.as_ref()),
    }
    match (&*call.tool, task_of(view, call)) {
        (BATCH, _) => {
            of_batch(call.end.as_ref(), items_of(view, call).any(|item| Filter::Failed.holds(item)))
        }
        (COMMAND | SHELL_CALL, None) => of_unlisted(call.end.as_ref()),
        (COMMAND | SHELL_CALL, Some(task)) => match task.status {
            TaskStatus::Failed => (CallState::Failed, task.word().into_owned()),
            TaskStatus::Completed => (CallState::Done, String::new()),
            TaskStatus::Cancelled | TaskStatus::Interrupted => (
                CallState::Stopped,
                task.denial().map_or_else(
                    || task.word().into_owned(),
                    |note| denial_phrase(&visible::masked_line(note)),
                ),
            ),
            TaskStatus::Running if task.certain_wait().is_some() => {
                (CallState::Waiting, task.word().into_owned())
            }
            TaskStatus::Queued | TaskStatus::Running | TaskStatus::Cancelling => {
                (CallState::Running, task.status.as_str().to_owned())
            }
        },
        _ => match &call.end {
            Some(CallEnd::InputRefused) => (CallState::Failed, "refused".to_owned()),
            end @ Some(CallEnd::Items { .. }) => of_batch(end.as_ref(), false),
            _ => (CallState::Done, String::new()),
        },
    }
}

/// Returns the outcome of a call of which nothing was run, in the words of who denied it, or else by the kind of error: its
/// sentence is rarely short enough for a row.
fn refusal_outcome(end: Option<&CallEnd>) -> (CallState, String) {
    match end {
        Some(CallEnd::Denied(note)) => (CallState::Stopped, denial_phrase(&visible::masked_line(note))),
        Some(CallEnd::Refused(kind)) => (CallState::Failed, kind.as_str().replace('_', " ")),
        _ => (CallState::Failed, "refused".to_owned()),
    }
}

/// Returns the outcome of a batch or a stream.
fn of_batch(end: Option<&CallEnd>, has_failed: bool) -> (CallState, String) {
    let Some(CallEnd::Items { completed, all }) = end else { return (CallState::Failed, String::new()) };
    let state = if has_failed || *completed < *all { CallState::Failed } else { CallState::Done };
    (state, format!("{completed}/{all}"))
}

/// Returns the outcome of a command that is no longer listed.
fn of_unlisted(end: Option<&CallEnd>) -> (CallState, String) {
    match end {
        Some(CallEnd::Exit(status)) if *status != 0 => (CallState::Failed, format!("exit {status}")),
        _ => (CallState::Done, String::new()),
    }
}

/// Describes a call in one line: the command it ran, or of a batch the one that stands for it; of a call that
/// did nothing what it asked for, and why not; of others what came of them.
pub(crate) fn subject(view: &View, row: &CallRow<'_>) -> Vec<StyledPiece> {
    let call = row.call;
    if let Some(item) = item_shown(view, call) {
        return short_command(item);
    }
    if let Some(task) = task_of(view, call).filter(|_| matches!(&*call.tool, COMMAND | SHELL_CALL)) {
        return vec![piece(visible::masked_line(task.cmd.trim()), Role::Text)];
    }
    let asked = visible::masked_line(&call.asked);
    let said = visible::one_line(&call.summary);
    let many = held_of(view, call).map(|held| held.commands.len()).filter(|many| *many > 1);
    let many = many.map(|many| piece(format!("{many} commands  "), Role::Text));
    let is_known = call.asked.is_empty() || asked == said;
    match call.status.as_deref() {
        _ if row.count > 1 => vec![piece(format!("{} times  {said}", row.count), Role::Faint)],
        Some("success") if call.tool == BATCH && !is_known => vec![piece(asked, Role::Text)],
        Some("success") => vec![piece(said, Role::Faint)],
        None if call.stream.is_none() && !call.asked.is_empty() => {
            many.into_iter().chain([piece(asked, Role::Text)]).collect()
        }
        // Its result says it.
        Some(_) if matches!(call.end, Some(CallEnd::Denied(_))) && !call.asked.is_empty() => {
            vec![piece(asked, Role::Text)]
        }
        Some(_) if !is_known => vec![piece(format!("{asked}  "), Role::Text), piece(said, Role::Faint)],
        _ => vec![piece(said, Role::Faint)],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::envelope::ErrorKind;

    #[test]
    fn a_call_whose_task_is_no_longer_listed_shows_the_outcome_of_its_answer() {
        let items = |completed, all| Some(CallEnd::Items { completed, all });
        for (found, state, word) in [
            (of_unlisted(Some(&CallEnd::Exit(101))), CallState::Failed, "exit 101"),
            (of_unlisted(Some(&CallEnd::Exit(0))), CallState::Done, ""),
            (of_unlisted(None), CallState::Done, ""),
            (of_batch(items(4, 4).as_ref(), false), CallState::Done, "4/4"),
            (of_batch(items(1, 4).as_ref(), false), CallState::Failed, "1/4"),
            (of_batch(items(4, 4).as_ref(), true), CallState::Failed, "4/4"),
            (of_batch(None, false), CallState::Failed, ""),
            (refusal_outcome(Some(&CallEnd::Denied(String::new()))), CallState::Stopped, "denied"),
            (
                refusal_outcome(Some(&CallEnd::Denied("not now".into()))),
                CallState::Stopped,
                "denied: not now",
            ),
            (
                refusal_outcome(Some(&CallEnd::Refused(ErrorKind::TaskNotFound))),
                CallState::Failed,
                "task not found",
            ),
        ] {
            assert_eq!(found, (state, word.to_owned()));
        }
    }
}
