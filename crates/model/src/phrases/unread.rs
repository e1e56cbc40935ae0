//! What became of input that no program has read.

use pilothouse_envelope::units::grouped_amount;

use crate::{InputLoss, LostInput, TaskFact, TaskStatus, TaskView, UnreadInput};

/// Says that input cannot be read yet.
pub const OPEN_LINE: &str = "The terminal hands over whole lines, and the last line of the input has no end yet: it cannot be read before";

/// Says why a task that has this status takes no input.
pub fn past_input_sentence(status: TaskStatus) -> String {
    match status {
        TaskStatus::Queued => "The task has not started; nothing reads its input yet.".to_owned(),
        other => format!("The task is {}; nothing reads its input any more.", other.as_str()),
    }
}

impl UnreadInput {
    /// Says how much it is: `434,464 bytes not read yet`.
    pub fn clause(&self) -> String {
        format!("{} not read yet", grouped_amount(self.bytes, "byte"))
    }
}

impl LostInput {
    /// Says how much was lost, and how: `thrown away by the program: 6 bytes`.
    pub fn clause(&self) -> String {
        let how = match self.cause {
            InputLoss::ThrownAway => "thrown away by the program",
            InputLoss::NeverRead => "never read",
        };
        let doubt = if self.at_most { ", or fewer if it had read some of them" } else { "" };
        format!("{how}: {}{doubt}", grouped_amount(self.bytes, "byte"))
    }
}

impl TaskView {
    /// Returns the input that it lost last, and whether it was typed into since. When it is typed into for the second time,
    /// that was told in the answer to the first.
    pub fn lost_input(&self) -> Option<(LostInput, bool)> {
        let mut inputs = 0;
        self.events.iter().rev().find_map(|event| {
            inputs += u32::from(matches!(event.fact, TaskFact::Input(_)));
            match event.fact {
                TaskFact::InputLost(lost) if inputs < 2 => Some((lost, inputs > 0)),
                _ => None,
            }
        })
    }
}
