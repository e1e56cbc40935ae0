//! How a task stands.

use std::borrow::Cow;

use super::hold_word;
use crate::{HoldReason, InputWait, TaskFact, TaskStatus, TaskView};

impl HoldReason {
    /// Says why a command has not started.
    pub fn word(&self) -> &'static str {
        hold_word(*self == Self::Paused)
    }

    /// Says why a command is held.
    pub fn clause(&self) -> String {
        match self {
            Self::Paused => "held because agent calls are paused".to_owned(),
            Self::Rule(rule) => format!("held by the rule: {rule}"),
        }
    }
}

impl TaskView {
    /// Says how it stands, or how it ended.
    pub fn word(&self) -> Cow<'static, str> {
        match self.status {
            TaskStatus::Queued if self.held.is_some() => "to approve".into(),
            TaskStatus::Running => self.waiting.as_ref().map_or("running", InputWait::word).into(),
            TaskStatus::Cancelled if self.denial().is_some() => "denied".into(),
            TaskStatus::Completed | TaskStatus::Failed => self.end_word(),
            status => status.as_str().into(),
        }
    }

    /// Returns the words in which the operator denied it, if they did; empty if there were none.
    pub fn denial(&self) -> Option<&str> {
        self.events.iter().rev().find_map(|event| match &event.fact {
            TaskFact::Denied(note) => Some(note.as_str()),
            _ => None,
        })
    }
}
