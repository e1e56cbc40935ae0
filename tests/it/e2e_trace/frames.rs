//! What every single frame of a console showed of the tasks that waited.

use crate::support::Console;

/// The frames on which the line above the keys named a waiting task.
#[derive(Debug, Default)]
pub(super) struct WaitingFrames {
    /// How many there were.
    pub(super) named: usize,
    /// Those of them that had no pane for that task, nor for one that has waited longer.
    pub(super) late: Vec<String>,
}

impl WaitingFrames {
    /// Looks at all frames of a console; those with a dialog on top or keys in a task are about something else.
    pub(super) fn of(console: &Console) -> Self {
        let mut seen = Self::default();
        console.each_frame(|text| {
            if !text.lines().last().is_some_and(|row| row.starts_with(" OBSERVE ")) {
                return;
            }
            let Some(task) = named_above_the_keys(text) else { return };
            seen.named += 1;
            if !has_pane(text, &task) && !shows_older(text, &task) {
                seen.late.push(text.to_owned());
            }
        });
        seen
    }
}

/// The task that the line above the keys says is waiting.
pub(super) fn named_above_the_keys(text: &str) -> Option<String> {
    let (_, told) = text.lines().rev().nth(1)?.split_once("◐ ")?;
    let (task, what) = told.split_once(' ')?;
    what.starts_with("waiting").then(|| task.to_owned())
}

/// Tells whether another task that has waited at least as long has a pane: where there is one pane, the line above the keys
/// names who comes next.
fn shows_older(text: &str, named: &str) -> bool {
    let waiting = |row: &str| {
        let (before, after) = row.split_once("◐ waiting")?;
        let task = before.split_whitespace().last()?.to_owned();
        Some((task, seconds(after.split_whitespace().nth(2)?)?))
    };
    let waiting: Vec<(String, u64)> = text.lines().filter_map(waiting).collect();
    let Some((_, since)) = waiting.iter().find(|(task, _)| task == named) else { return false };
    waiting.iter().any(|(task, idle)| task != named && idle >= since && has_pane(text, task))
}

/// Reads how long a task has been idle: `7s`, `2m`.
fn seconds(idle: &str) -> Option<u64> {
    let (number, unit) = idle.split_at_checked(idle.len().checked_sub(1)?)?;
    let unit = match unit {
        "s" => 1,
        "m" => 60,
        _ => return None,
    };
    number.parse::<u64>().ok().map(|number| number * unit)
}

/// Tells whether a task has a pane: a title with its id.
fn has_pane(text: &str, task: &str) -> bool {
    let titles = text.lines().flat_map(|row| row.split('│')).filter(|part| part.contains("──"));
    let of_panes =
        titles.filter(|title| !["timeline", "receipt", "envelope"].iter().any(|word| title.contains(word)));
    of_panes.flat_map(str::split_whitespace).any(|word| word == task)
}
