//! Going to the next task or call that failed or waits for the user.

use std::sync::Arc;

use crate::console::keys::Action;
use crate::console::state::call_rows::task_of;
use crate::console::state::listing::heads::waits;
use crate::console::state::{CallRow, CallState, Filter, Screen, State, answers_no, outcome};
use crate::envelope::TaskId;
use crate::model::TaskView;

/// What to go to next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::console) enum Next {
    Task(TaskId),
    Call(u64),
}

/// Returns the next list entry that failed or waits for the user, wrapping around.
pub(in crate::console) fn next_of(state: &State, action: Action) -> Option<Next> {
    let is_failed = action == Action::NextFailed;
    if state.focus.screen == Screen::Receipts {
        let rank_of = |row: &CallRow<'_>| match is_failed {
            true => (outcome(&state.view, row.call).0 == CallState::Failed).then_some(0),
            false => task_of(&state.view, row.call).and_then(|task| wait_rank(task)),
        };
        let rows = state.call_rows();
        let ranks: Vec<Option<u8>> = rows.iter().map(rank_of).collect();
        let found = next_ranked(&ranks, state.call_at(), is_failed);
        return found.and_then(|at| rows.get(at)).map(|row| Next::Call(row.call.seq));
    }
    let rank_of = |task: &&Arc<TaskView>| match is_failed {
        true => failure_rank(task),
        false => wait_rank(task),
    };
    // Including those folded into the row of another task of their batch.
    let listed = state.list_rows();
    let tasks: Vec<&Arc<TaskView>> =
        listed.tasks.iter().filter_map(|at| state.view.snapshot.tasks.get(*at)).collect();
    let selected = state.list.selected.as_ref();
    let here = tasks.iter().position(|task| Some(&task.id) == selected).unwrap_or(0);
    let ranks: Vec<Option<u8>> = tasks.iter().map(rank_of).collect();
    let found = next_ranked(&ranks, here, is_failed).and_then(|at| tasks.get(at));
    found.map(|task| Next::Task(task.id.clone()))
}

/// Returns how surely a task waits for the user: 0 by evidence, 1 if it is only at a prompt; none if it does not.
pub(in crate::console) fn wait_rank(task: &TaskView) -> Option<u8> {
    Filter::Waiting.holds(task).then(|| u8::from(!waits(task)))
}

/// Returns how much a failure deserves a look: 0, or 1 if it only says no; none if it is none.
fn failure_rank(task: &TaskView) -> Option<u8> {
    Filter::Failed.holds(task).then(|| u8::from(answers_no(task)))
}

/// Returns the index to go to from `here`. Among what waits, all that is certain comes before what is not, each from the
/// top; among failures, the next one from here on, and those that only say no if there are no others.
fn next_ranked(ranks: &[Option<u8>], here: usize, is_failed: bool) -> Option<usize> {
    let lowest = ranks.iter().flatten().min().copied()?;
    let of = |wanted: u8| move |at: &usize| ranks.get(*at).is_some_and(|rank| *rank == Some(wanted));
    let from_top = |rank: u8| (0..ranks.len()).find(of(rank));
    match ranks.get(here).copied().flatten() {
        _ if is_failed => around(ranks.len(), here).find(of(lowest)),
        None => from_top(lowest),
        Some(own) => {
            let higher = ranks.iter().flatten().filter(|rank| **rank > own).min().copied();
            (here + 1..ranks.len()).find(of(own)).or_else(|| from_top(higher.unwrap_or(lowest)))
        }
    }
}

/// Returns the indices of a list after a given one, wrapping around, ending with itself.
pub(in crate::console) fn around(count: usize, at: usize) -> impl Iterator<Item = usize> {
    (1..=count).map(move |step| (at + step) % count)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn going_to_the_next_item_visits_certain_items_before_uncertain_ones() {
        let ranks = [Some(1), Some(0), None, Some(0), Some(1)];
        let from = |mut at: usize, is_failed: bool| {
            let step = |_| {
                at = next_ranked(&ranks, at, is_failed).expect("there are some");
                at
            };
            (0..5).map(step).collect::<Vec<_>>()
        };
        assert_eq!(
            from(2, false),
            [1, 3, 0, 4, 1],
            "the certain ones from the top, then the others, and around"
        );
        assert_eq!(from(3, false), [0, 4, 1, 3, 0]);
        assert_eq!(from(2, true), [3, 1, 3, 1, 3], "failures that only say no are left out");
        for is_failed in [false, true] {
            assert_eq!(next_ranked(&[None, Some(1), None], 0, is_failed), Some(1));
            assert_eq!(next_ranked(&[None, Some(1), None], 1, is_failed), Some(1), "the only one stays");
            assert_eq!(next_ranked(&[], 0, is_failed), None);
            assert_eq!(next_ranked(&[None], 0, is_failed), None);
        }
    }
}
