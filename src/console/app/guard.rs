//! Keeps a key that answered a dialog about one task from answering the next one about another.

use jiff::{SignedDuration, Timestamp};

use crate::envelope::TaskId;

use super::super::keys::action::Action;

/// For so long a dialog about another task than the last one does not take what was pressed for that one.
pub(in crate::console) const GUARDED: SignedDuration = SignedDuration::from_secs(1);

/// What the dialogs about tasks were opened and answered with.
#[derive(Debug, Clone, Default)]
pub struct Guard {
    /// The task of the last dialog.
    task: Option<TaskId>,
    /// What it was opened and answered with.
    used: Vec<Action>,
    /// What the dialog before was opened and answered with, when it was about another task, and until when
    /// that does not count.
    barred: Option<(Vec<Action>, Timestamp)>,
}

impl Guard {
    /// Takes note that an action opens a dialog about a task.
    pub(in crate::console) fn opens(&mut self, task: &TaskId, action: Action, now: Timestamp) {
        if self.task.as_ref() != Some(task) {
            let used = std::mem::take(&mut self.used);
            let until = now.checked_add(GUARDED).unwrap_or(now);
            self.barred = self.task.replace(task.clone()).map(|_| (used, until));
        }
        self.used.push(action);
        self.used.dedup();
    }

    /// Tells whether an action counts in the dialog that was opened last.
    pub(in crate::console) fn admits(&mut self, action: Action, now: Timestamp) -> bool {
        if self.barred.as_ref().is_some_and(|(barred, until)| now < *until && barred.contains(&action)) {
            return false;
        }
        self.used.push(action);
        self.used.dedup();
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: i64) -> Timestamp {
        Timestamp::from_millisecond(ms).expect("a time")
    }

    #[test]
    fn a_dialog_about_another_task_does_not_take_the_same_key_for_a_second() {
        let [one, other] = [[1; 8], [2; 8]].map(TaskId::from_random);
        let mut guard = Guard::default();
        guard.opens(&one, Action::Stop, at(0));
        assert!(guard.admits(Action::Stop, at(1)), "the first dialog takes the key that opened it");
        guard.opens(&one, Action::Stop, at(2));
        assert!(guard.admits(Action::Stop, at(3)), "so does another one about the same task");
        guard.opens(&other, Action::Signal, at(100));
        assert!(guard.admits(Action::Signal, at(101)), "another key is meant");
        assert!(!guard.admits(Action::Stop, at(1_099)));
        assert!(guard.admits(Action::Stop, at(1_100)));
        guard.opens(&one, Action::Signal, at(5_000));
        assert!(!guard.admits(Action::Signal, at(5_500)) && !guard.admits(Action::Stop, at(5_999)));
        assert!(guard.admits(Action::Signal, at(6_000)));
    }
}
