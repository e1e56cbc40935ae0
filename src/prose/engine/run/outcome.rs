//! The outcome of a run.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::model::dollars;
use crate::prose::engine::record::journal::ProgramKey;
use crate::prose::engine::value::Value;
use crate::prose::engine::vm::control_flow::{Flow, Halt, ThrownError};

/// What came of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunOutcome {
    /// Its id.
    pub run: String,
    pub folder: PathBuf,
    pub how: RunEnd,
    /// The line of what ended it.
    pub line: Option<u32>,
    /// What ended it.
    pub message: Option<String>,
    /// It can be resumed.
    pub can_resume: bool,
    /// Session commands that have ended.
    pub sessions: u32,
    /// What they cost, in millionths of a dollar, as far as they say.
    pub cost: u64,
    pub outputs: Vec<(String, Value)>,
    /// Processes its commands had left behind, now ended.
    pub left_behind: Vec<String>,
    /// Milliseconds it took.
    pub duration_ms: u64,
}

/// The outcome of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema, strum::Display)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
#[schemars(rename = "How")]
pub enum RunEnd {
    /// It came to its end.
    Completed,
    /// An uncaught error ended it; it can be resumed if repeating what failed may help.
    Failed,
    /// It asked something nobody could answer; it can be resumed.
    Unanswered,
    /// Its budget was used up before a session; it can be resumed.
    OverBudget,
    /// A person ended it; it can be resumed.
    Aborted,
    /// It was cut off; it can be resumed.
    Interrupted,
}

impl RunOutcome {
    /// Summarises the outcome on one line.
    pub fn summary(&self) -> String {
        match (&self.message, self.line) {
            (Some(message), Some(line)) => {
                let message = crate::envelope::one_line(message, 120);
                format!("run {} {} at line {line}: {message}", self.run, self.how)
            }
            _ => format!("run {} {}", self.run, self.how),
        }
    }

    /// Describes the outcome, with the outputs.
    pub fn text(&self) -> String {
        let mut text = self.summary();
        for (name, value) in &self.outputs {
            text.push_str(&format!("\n\n{name}:\n{}", value.inline_text()));
        }
        if self.sessions > 0 {
            let noun = if self.sessions == 1 { "session" } else { "sessions" };
            let cost = if self.cost > 0 { format!(", {}", dollars(self.cost)) } else { String::new() };
            text.push_str(&format!("\n{} {noun}{cost}", self.sessions));
        }
        if !self.left_behind.is_empty() {
            text.push_str(&format!("\nended what commands had left behind: {}", self.left_behind.join(", ")));
        }
        if self.can_resume {
            text.push_str(&format!("\n{}", self.advice()));
        }
        text
    }

    /// Says how to continue the run, if it can be.
    pub fn advice(&self) -> String {
        match self.how {
            RunEnd::Failed => format!("run what failed again with --resume {} --rerun", self.run),
            _ => format!("continue with --resume {}", self.run),
        }
    }
}

/// How an execution ended.
pub(super) struct Conclusion {
    pub(super) how: RunEnd,
    pub(super) line: Option<u32>,
    pub(super) message: Option<String>,
    /// The place that failed, if retrying it may have another outcome.
    pub(super) place: Option<ProgramKey>,
}

pub(super) fn conclude(ended: Flow) -> Conclusion {
    let of = |how, line, message| Conclusion { how, line, message, place: None };
    match ended {
        Ok(_) | Err(Halt::Return(_)) => of(RunEnd::Completed, None, None),
        Err(Halt::Thrown(thrown)) => {
            let ThrownError { line, message, place, .. } = &*thrown;
            Conclusion { place: place.clone(), ..of(RunEnd::Failed, Some(*line), Some(message.clone())) }
        }
        Err(Halt::Unanswered { line, question }) => {
            of(RunEnd::Unanswered, Some(line), Some(format!("nobody is there to answer: {question}")))
        }
        Err(Halt::OverBudget { line, budget }) => {
            let message = format!("the budget of {budget} is used up before this session");
            of(RunEnd::OverBudget, Some(line), Some(message))
        }
        Err(Halt::Aborted { line }) => {
            of(RunEnd::Aborted, Some(line), Some("ended by the operator".to_owned()))
        }
        Err(Halt::Cancelled) => of(RunEnd::Interrupted, None, Some("interrupted".to_owned())),
        Err(Halt::Broken(error)) => of(RunEnd::Interrupted, None, Some(error.to_string())),
    }
}
