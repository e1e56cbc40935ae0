//! What waits for the user in a snapshot.

use std::sync::Arc;

use jiff::Timestamp;

use crate::envelope::{ErrorKind, TaskId};
use crate::model::{AgentView, HeldCall, InputWait, Question, Snapshot, TaskStatus, TaskView};

/// An item in a snapshot that waits, with its data.
#[derive(Debug, Clone, Copy)]
pub enum WaitingItem<'a> {
    Question(&'a Question),
    Held(&'a HeldCall),
    /// A task, and what it waits for.
    Input(&'a TaskView, &'a InputWait),
    /// A task that wrote too much output.
    Capped(&'a TaskView),
    /// A task, and the number of processes it left behind.
    Orphans(&'a TaskView, usize),
    /// An agent that has gone, the oldest task that it left running, and how many there are.
    Left(&'a AgentView, &'a TaskView, usize),
}

/// Returns what waits in a snapshot and since when, oldest first. A task that the user is typing into does
/// not count as waiting for input.
pub fn waiting<'a>(snapshot: &'a Snapshot, typing: Option<&TaskId>) -> Vec<(Timestamp, WaitingItem<'a>)> {
    let questions = snapshot.questions.iter().filter(|question| question.needs_somebody());
    let questions = questions.map(|question| (question.asked_at, WaitingItem::Question(question)));
    let held = snapshot.gate.held.iter().map(|held| (held.since, WaitingItem::Held(held)));
    let tasks = snapshot.tasks.iter().filter_map(|task| task_waits(task, typing));
    let left = snapshot.agents.iter().filter_map(|agent| {
        let mut tasks = left_by(snapshot, agent);
        let first = tasks.next()?;
        let since = agent.last_call.unwrap_or(first.created_at);
        Some((since, WaitingItem::Left(agent, first, 1 + tasks.count())))
    });
    let mut all: Vec<_> = questions.chain(held).chain(tasks).chain(left).collect();
    all.sort_by_key(|(since, _)| *since);
    all
}

fn task_waits<'a>(task: &'a TaskView, typing: Option<&TaskId>) -> Option<(Timestamp, WaitingItem<'a>)> {
    if let Some(waiting) = task.certain_wait().filter(|_| typing != Some(&task.id)) {
        return Some((waiting.since, WaitingItem::Input(task, waiting)));
    }
    if let Some(ended) = &task.ended {
        let is_over_limit =
            ended.error.as_ref().is_some_and(|(kind, _)| kind == ErrorKind::OutputLimitExceeded.as_str());
        return match ended.survivors.len() {
            0 => is_over_limit.then_some((ended.at, WaitingItem::Capped(task))),
            survivors => Some((task.updated_at, WaitingItem::Orphans(task, survivors))),
        };
    }
    let is_dropping = task.status == TaskStatus::Running && task.output.dropped_bytes > 0;
    is_dropping.then(|| (task.output.last_at.unwrap_or(task.updated_at), WaitingItem::Capped(task)))
}

/// Returns the tasks that an agent that is gone left running, the oldest first.
pub(in crate::console) fn left_by<'a>(
    snapshot: &'a Snapshot,
    agent: &'a AgentView,
) -> impl Iterator<Item = &'a Arc<TaskView>> {
    let is_left = |task: &&Arc<TaskView>| task.started_by.is_agent(&agent.label);
    let tasks = snapshot.tasks.iter().filter(|_| !agent.connected).filter(is_left);
    tasks.filter(|task| task.status == TaskStatus::Running)
}
