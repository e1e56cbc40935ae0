//! The public view of a running program: its source, its position, its values. Plain data, published with
//! `Handle::show_program` by the code that runs the program.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::Arc;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::{BindingView, timeline};
use pilothouse_envelope::{Actor, TaskId};

/// Events of a program kept in memory.
const EVENTS_KEPT: usize = 128;
/// Ended programs kept in memory.
const ENDED_KEPT: usize = 8;

/// A range of source lines, starting at 1, both ends included.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct LineRange {
    /// The first line.
    pub first: u32,
    /// The last line.
    pub last: u32,
}

impl LineRange {
    /// Returns the range of a single line.
    #[must_use]
    pub fn one(line: u32) -> Self {
        Self { first: line, last: line }
    }

    /// Tells whether the range contains a line.
    #[must_use]
    pub fn holds(self, line: u32) -> bool {
        (self.first..=self.last).contains(&line)
    }
}

/// The state of a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, strum::IntoStaticStr)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum RunState {
    /// It is executing statements.
    Running,
    /// Everything in progress waits for an answer.
    Asking,
    /// It ran to its end.
    Completed,
    /// An uncaught error ended it.
    Failed,
    /// Someone stopped it.
    Cancelled,
    /// Its runtime was shut down or died.
    Interrupted,
}

impl RunState {
    /// Returns the state's name, the same on every surface.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        self.into()
    }

    /// Tells whether the state is final.
    #[must_use]
    pub fn is_terminal(self) -> bool {
        !matches!(self, Self::Running | Self::Asking)
    }
}

/// The state of a statement or a branch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StepState {
    /// It has not started.
    Waiting,
    /// It is being executed.
    Running,
    /// It waits for an answer.
    Asking,
    Done,
    /// It has failed.
    Failed,
    /// It was skipped.
    Skipped,
    /// It was cancelled because of another statement or branch.
    Cancelled,
}

/// A statement that has started, at its latest pass.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StepView {
    pub lines: LineRange,
    pub state: StepState,
    /// The command it runs or ran.
    pub task: Option<TaskId>,
    /// How that command exited.
    pub exit_code: Option<i32>,
}

/// A branch of a parallel block.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BranchView {
    /// Its letter: `a` for the first.
    pub letter: String,
    /// The name of its value.
    pub name: Option<String>,
    pub lines: LineRange,
    pub state: StepState,
    /// The command it is running, or ran last.
    pub task: Option<TaskId>,
}

/// A loop in progress.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LoopView {
    pub lines: LineRange,
    /// The number of the current pass, starting at 1.
    pub pass: u32,
    /// The number of passes, or its upper limit.
    pub max: Option<u32>,
}

/// What happened to a statement or a loop; the line is its first one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs, reason = "the fields say what they are")]
pub enum ProgramEvent {
    /// A statement has begun, ended or was skipped.
    Step { line: u32, state: StepState, exit_code: Option<i32> },
    /// Another pass of a loop has begun.
    Pass { line: u32, pass: u32, max: Option<u32> },
}

/// The error that ended a program.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProgramError {
    /// The line of the statement.
    pub line: u32,
    /// What went wrong, as a full sentence.
    pub message: String,
}

/// A running or ended program.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProgramView {
    /// The run's id, e.g. `20261122-043511-k3f9x2`.
    pub run: String,
    /// The call that started it, if a call did.
    pub call: Option<u64>,
    /// Who started it.
    pub started_by: Actor,
    /// Its file.
    pub path: PathBuf,
    /// Its text.
    pub source: Arc<str>,
    /// The folder of the run.
    pub folder: PathBuf,
    pub state: RunState,
    /// The statements that have started, in line order.
    pub steps: Vec<StepView>,
    /// The last events, oldest first, bounded.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub events: Vec<ProgramEvent>,
    /// How many events came before these.
    #[serde(default, skip_serializing_if = "timeline::is_zero")]
    pub earlier_events: u64,
    /// The branches of the parallel blocks in progress.
    pub branches: Vec<BranchView>,
    /// The loops it is in, outermost first.
    pub loops: Vec<LoopView>,
    /// The values it has produced, the newest last.
    pub bindings: Vec<BindingView>,
    /// Number of session commands that have ended.
    #[serde(default)]
    pub sessions: u32,
    /// The total cost they report, in millionths of a dollar.
    #[serde(default)]
    pub cost: u64,
    /// The error that ended it.
    pub error: Option<ProgramError>,
    /// When it started.
    pub started_at: Timestamp,
    /// When it ended.
    pub ended_at: Option<Timestamp>,
}

impl ProgramView {
    /// Returns the tasks currently running for the program.
    pub fn live_tasks(&self) -> impl Iterator<Item = &TaskId> {
        let live = |state: &StepState| matches!(state, StepState::Running);
        let steps = self.steps.iter().filter(move |step| live(&step.state));
        steps.filter_map(|step| step.task.as_ref())
    }

    pub fn add_event(&mut self, event: ProgramEvent) {
        if self.events.len() == EVENTS_KEPT {
            self.events.remove(0);
            self.earlier_events += 1;
        }
        self.events.push(event);
    }

    /// Returns how many events it has had.
    #[must_use]
    pub fn event_count(&self) -> u64 {
        self.earlier_events.saturating_add(self.events.len() as u64)
    }

    /// Returns when it started, and its id: programs are listed in this order.
    #[must_use]
    pub fn start(&self) -> (Timestamp, &str) {
        (self.started_at, &self.run)
    }

    /// Returns the first lines being executed.
    #[must_use]
    pub fn current(&self) -> Option<LineRange> {
        let begun = |step: &&StepView| matches!(step.state, StepState::Running | StepState::Asking);
        self.steps.iter().find(begun).map(|step| step.lines)
    }
}

/// Formats an amount given in millionths of a dollar, rounded up so that no nonzero amount shows as zero.
#[must_use]
pub fn dollars(cost: u64) -> String {
    let tenths = cost.div_ceil(100);
    format!("${}.{:04}", tenths / 10_000, tenths % 10_000)
}

/// The programs of a recording: the running ones, and the most recently ended.
#[derive(Debug, Default)]
pub struct RecordedPrograms {
    all: VecDeque<Arc<ProgramView>>,
}

impl RecordedPrograms {
    /// Updates a program's state; returns whether this is the first or the last update about it.
    pub fn show(&mut self, view: Arc<ProgramView>) -> bool {
        let known = self.all.iter().position(|known| known.run == view.run);
        let known = known.and_then(|at| self.all.remove(at));
        let turns = known.is_none_or(|known| known.state.is_terminal() != view.state.is_terminal());
        let at = self.all.partition_point(|other| other.start() < view.start());
        self.all.insert(at, view);
        let ended = self.all.iter().filter(|program| program.state.is_terminal()).count();
        if ended > ENDED_KEPT
            && let Some(oldest) = self.all.iter().position(|program| program.state.is_terminal())
        {
            self.all.remove(oldest);
        }
        turns
    }

    pub fn list(&self) -> Vec<Arc<ProgramView>> {
        self.all.iter().cloned().collect()
    }
}

#[cfg(test)]
mod tests {
    use crate::program::*;

    #[test]
    fn amounts_are_written_in_dollars_and_never_as_nothing() {
        for (cost, written) in [(0, "$0.0000"), (1, "$0.0001"), (12_300, "$0.0123"), (1_500_000, "$1.5000")] {
            assert_eq!(dollars(cost), written);
        }
    }
}
