//! What every single frame of a console showed of the tasks that waited.

use crate::support::Console;

/// The frames on which the line above the keys named a waiting task.
#[derive(Debug, Default)]
pub(super) struct WaitingFrames {
    /// How many there were.
    pub(super) named: usize,
    /// Those of them that had no pane for that task.
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
            if !has_pane(text, &task) {
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

/// Tells whether a task has a pane: a title with its id.
fn has_pane(text: &str, task: &str) -> bool {
    let titles = text.lines().flat_map(|row| row.split('│')).filter(|part| part.contains("──"));
    let of_panes =
        titles.filter(|title| !["timeline", "receipt", "envelope"].iter().any(|word| title.contains(word)));
    of_panes.flat_map(str::split_whitespace).any(|word| word == task)
}
