//! The output of a task and the look of its screen, as lines.

use crate::envelope::TaskId;
use crate::envelope::units::amount;

use crate::console::plain::line::PlainLine;
use crate::console::plain::session::{PlainEffect, PlainSession};
use crate::console::state::alias;
use crate::console::text;

/// Maximum number of output lines printed at once.
const MOST_LINES: usize = 200;

/// Output read from a task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutputReading {
    /// Why it was read.
    pub purpose: Purpose,
    pub text: String,
    /// The number of bytes left out before it.
    pub left_out: u64,
    /// The offset at which to continue reading.
    pub next: u64,
}

/// Why a task's output is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// The user asked for it.
    Asked,
    /// The task is being followed, in whole lines.
    Followed,
    /// The task waits for input: its last line says for what.
    Prompt,
    /// A watch rule looks for a pattern, in whole lines while the task runs.
    Watched,
}

impl PlainSession {
    pub(super) fn output(&mut self, task: &TaskId, reading: OutputReading) -> Vec<PlainEffect> {
        let Some(view) = self.task(task).cloned() else { return Vec::new() };
        if reading.purpose == Purpose::Watched {
            return self.scan_output(task, &reading);
        }
        let name = alias(&view);
        let said =
            |line: &str| PlainEffect::Say(PlainLine::Output { task: name.clone(), text: line.to_owned() });
        if reading.purpose == Purpose::Prompt {
            let last = reading.text.lines().rfind(|line| !line.trim().is_empty());
            return last.map(said).into_iter().collect();
        }
        // A slower reply must not set back what was read meanwhile.
        if reading.next < self.read_to(task) {
            return Vec::new();
        }
        self.read.insert(task.clone(), reading.next);
        let lines: Vec<&str> = reading.text.trim_end_matches('\n').lines().collect();
        if reading.text.trim().is_empty() {
            let none = reading.purpose == Purpose::Asked && !view.status.is_terminal();
            return none
                .then(|| PlainEffect::Say(PlainLine::reply(format!("{name} wrote nothing new"))))
                .into_iter()
                .collect();
        }
        let skipped = lines.len().saturating_sub(MOST_LINES);
        let left_out = reading.left_out > 0 || skipped > 0;
        let note = left_out.then(|| {
            let bytes = (reading.left_out > 0).then(|| text::size(reading.left_out));
            let lines = (skipped > 0).then(|| amount(skipped as u64, "line"));
            let left_out: Vec<String> = bytes.into_iter().chain(lines).collect();
            let log = view.folder.display();
            PlainEffect::Say(PlainLine::reply(format!(
                "left out before this: {}; all of it is in {log}",
                left_out.join(" and ")
            )))
        });
        note.into_iter().chain(lines.into_iter().skip(skipped).map(said)).collect()
    }

    pub(super) fn screen(&self, task: &TaskId, screen: Result<String, String>) -> Vec<PlainEffect> {
        let Some(view) = self.task(task) else { return Vec::new() };
        match screen {
            Ok(text) if text.trim().is_empty() => {
                vec![PlainEffect::Say(PlainLine::reply(format!("the screen of {} is blank", alias(view))))]
            }
            Ok(text) => {
                let row = |row: &str| {
                    PlainEffect::Say(PlainLine::Output { task: alias(view), text: row.to_owned() })
                };
                text.trim_end().lines().map(row).collect()
            }
            Err(why) => vec![PlainEffect::Say(PlainLine::reply(format!("not done: {why}")))],
        }
    }
}
