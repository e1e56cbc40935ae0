//! What is looked at of tasks: what is on screen now, and what comes of it.

use crate::runtime::{TaskStatus, TaskUsage, TaskView};

use super::super::app::{App, View};
use super::super::msg::Effect;
use super::super::plan::{Class, Plan};

/// Tasks looked at on a screen that shows as many as fit.
const MOST: usize = 50;

impl App {
    /// Takes note of which tasks show what they use.
    pub(super) fn want_usage(&mut self, plan: &Plan) {
        let can_look = !self.is_lost && self.setup.recording.is_none() && plan.class != Class::Sentence;
        let (from, many) = match self.view {
            View::Tasks if can_look && !plan.list.is_empty() => (self.list.top, plan.list_items()),
            View::Metrics if can_look => (0, MOST),
            _ => (0, 0),
        };
        if !self.usage.is_new(&self.snapshot, from..from + many) {
            return;
        }
        let is_live = |task: &&TaskView| matches!(task.status, TaskStatus::Running | TaskStatus::Cancelling);
        let shown: Vec<_> = self.tasks().into_iter().skip(from).take(many).cloned().collect();
        self.usage.want(shown.iter().map(|task| &**task).filter(is_live));
    }

    /// Looks at the tasks that are due.
    pub(super) fn look(&mut self) -> Vec<Effect> {
        let due = self.usage.due(self.now);
        if due.is_empty() { Vec::new() } else { vec![Effect::Look(due)] }
    }

    /// Takes in what was seen. A frame follows only if it would show something new, and may move.
    pub(super) fn seen(&mut self, seen: Vec<TaskUsage>) {
        let bytes = |usage: TaskUsage| {
            let bytes = self.task(&usage.task)?.output.bytes;
            Some((usage, bytes))
        };
        let seen = seen.into_iter().filter_map(bytes).collect();
        self.is_dirty |= self.usage.take(self.now, seen) && self.setup.taste.motion;
        let snapshot = self.snapshot.clone();
        self.usage.keep(|id| snapshot.tasks.iter().any(|task| task.id == *id));
    }
}
