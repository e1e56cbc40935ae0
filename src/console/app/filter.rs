//! Which tasks the list shows: all of them, or those in one state, or of one who started them.

use std::cmp::Reverse;
use std::sync::Arc;

use crate::envelope::Actor;
use crate::runtime::{TaskStatus, TaskView};

use super::{App, View};

/// What the list of tasks shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Filter {
    /// Everything.
    #[default]
    All,
    /// What waits for the person.
    Waiting,
    /// What has not ended.
    Live,
    /// What has failed or was interrupted.
    Failed,
    /// What the person started.
    Yours,
    /// What agents started.
    Agents,
    /// What scripts and commands started.
    Scripts,
}

impl Filter {
    const ALL: [Self; 7] =
        [Self::All, Self::Waiting, Self::Live, Self::Failed, Self::Yours, Self::Agents, Self::Scripts];

    /// Returns what stands in the list's header.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::All => "all",
            Self::Waiting => "waiting",
            Self::Live => "live",
            Self::Failed => "failed",
            Self::Yours => "yours",
            Self::Agents => "by agents",
            Self::Scripts => "by scripts",
        }
    }

    /// Tells whether a task is shown.
    #[must_use]
    pub fn holds(self, task: &TaskView) -> bool {
        match self {
            Self::All => true,
            Self::Waiting => !task.status.is_terminal() && (task.waiting.is_some() || task.held.is_some()),
            Self::Live => !task.status.is_terminal(),
            Self::Failed => matches!(task.status, TaskStatus::Failed | TaskStatus::Interrupted),
            Self::Yours => task.started_by == Actor::Operator,
            Self::Agents => matches!(task.started_by, Actor::Agent(_)),
            Self::Scripts => task.started_by == Actor::Cli,
        }
    }
}

impl App {
    /// Returns all tasks in the order of the list: live ones first, newest first.
    #[must_use]
    pub fn all_tasks(&self) -> Vec<&Arc<TaskView>> {
        let mut tasks: Vec<_> = self.snapshot.tasks.iter().collect();
        tasks.sort_by_key(|task| (task.status.is_terminal(), Reverse(task.number)));
        tasks
    }

    /// Returns the tasks that the screen goes through, in that order. The selected one is among them also when
    /// the filter does not hold for it any more: what is looked at does not go away by itself.
    #[must_use]
    pub fn tasks(&self) -> Vec<&Arc<TaskView>> {
        let mut tasks = self.all_tasks();
        if self.view == View::Tasks {
            let selected = self.list.selected.as_ref();
            tasks.retain(|task| self.list.filter.holds(task) || Some(&task.id) == selected);
        }
        tasks
    }

    /// Shows what the next filter holds for, of those that hold for something.
    pub(in crate::console) fn next_filter(&mut self) {
        let at = Filter::ALL.iter().position(|filter| *filter == self.list.filter).unwrap_or(0);
        let others = Filter::ALL.iter().cycle().skip(at + 1).take(Filter::ALL.len() - 1);
        let holds = |filter: &&Filter| self.snapshot.tasks.iter().any(|task| filter.holds(task));
        self.set_filter(others.copied().find(|filter| holds(&filter)).unwrap_or_default());
    }

    /// Shows what a filter holds for; the selection goes to the first of it unless it is in it.
    pub(in crate::console) fn set_filter(&mut self, filter: Filter) {
        self.list.filter = filter;
        self.list.top = 0;
        if self.selected().is_none_or(|task| !filter.holds(task)) {
            let first = self.all_tasks().into_iter().find(|task| filter.holds(task));
            self.list.selected = first.map(|task| task.id.clone());
            self.pan = 0;
        }
    }
}
