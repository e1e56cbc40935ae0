//! The program screen's state, and what stands beside each line of a source. Pure.
//! What keys do on the program screen.

pub mod draw;

use std::sync::Arc;

use crate::envelope::{TaskId, mask};
use crate::runtime::{Lines, ProgramView, Question, StepState, StepView};

use super::movement::moved;
use super::{App, Screen};
use crate::console::keys::action::Action;
use crate::console::text;
use crate::console::text::visible;

/// What the person looks at.
#[derive(Debug, Clone, Default)]
pub struct Programs {
    /// The run chosen; else the newest.
    pub run: Option<String>,
    /// First line shown, once the person has scrolled: it follows no more.
    pub top: Option<usize>,
    /// Columns of the source panned to the right.
    pub pan: u16,
    /// Which of the program's commands has the pane.
    pub task_at: usize,
    /// Keys move in the pane, not in the source.
    pub in_pane: bool,
}

/// What stands beside a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mark {
    /// How the statement that begins here stands.
    pub state: Option<StepState>,
    /// It is being carried out now.
    pub is_current: bool,
}

impl App {
    /// Returns the program on screen.
    pub fn program(&self) -> Option<&Arc<ProgramView>> {
        let programs = &self.snapshot.programs;
        let chosen = programs.iter().find(|program| self.programs.run.as_ref() == Some(&program.run));
        chosen
            .or_else(|| programs.iter().rev().find(|program| !program.state.is_terminal()))
            .or(programs.last())
    }

    /// Returns the question that the program on screen waits for longest.
    pub fn program_question(&self) -> Option<&Arc<Question>> {
        let run = &self.program()?.run;
        self.snapshot.questions.iter().find(|question| question.origin.run.as_ref() == Some(run))
    }

    /// Returns the program's commands that may have the pane: those that run, else the last one.
    pub fn program_tasks(&self) -> Vec<TaskId> {
        let Some(program) = self.program() else { return Vec::new() };
        let known = |id: &&TaskId| self.task(id).is_some();
        let mut live: Vec<TaskId> = program.live_tasks().filter(known).cloned().collect();
        live.dedup();
        if !live.is_empty() {
            return live;
        }
        let all = program.steps.iter().filter_map(|step| step.task.as_ref()).filter(known);
        let last = all.max_by_key(|id| self.task(id).map(|task| task.number));
        last.cloned().into_iter().collect()
    }

    /// Returns the command that has the pane: one that is typed into, copied from or scrolled back keeps it.
    pub fn program_task(&self) -> Option<TaskId> {
        let frozen = self.scroll.as_ref().map(|scroll| &scroll.task);
        let kept = self.mode.task().or(frozen).filter(|id| self.task(id).is_some());
        if let Some(kept) = kept.filter(|_| self.screen == Screen::Program) {
            return Some(kept.clone());
        }
        let tasks = self.program_tasks();
        let at = self.programs.task_at.min(tasks.len().saturating_sub(1));
        tasks.get(at).cloned()
    }

    /// Returns the columns of the longest line of the source.
    pub fn source_columns(&self) -> u16 {
        let lines = self.program().into_iter().flat_map(|program| program.source.lines());
        let longest = lines.map(|line| text::width(&shown(line))).max().unwrap_or(0);
        u16::try_from(longest).unwrap_or(u16::MAX)
    }

    /// Returns the first line shown of so many rows.
    pub fn program_top(&self, rows: usize) -> usize {
        let Some(program) = self.program() else { return 0 };
        let count = program.source.lines().count();
        let last_top = count.saturating_sub(rows);
        let line = program
            .current()
            .map_or_else(|| program.error.as_ref().map_or(1, |error| error.line), |lines| lines.first);
        let centred = usize::try_from(line).unwrap_or(1).saturating_sub(1).saturating_sub(rows / 3);
        self.programs.top.unwrap_or(centred).min(last_top)
    }

    pub(super) fn act_on_program(&mut self, action: Action) {
        match action {
            Action::ShowProgram => self.show(Screen::Program),
            Action::AnswerQuestion => {
                if let Some(question) = self.program_question().cloned() {
                    self.open_question(question);
                }
            }
            Action::NextPane => self.turn_pane(),
            Action::PreviousProgram => self.step_program(-1),
            Action::NextProgram => self.step_program(1),
            Action::OpenTask => {
                let Some(task) = self.program_task() else { return };
                self.select(task);
                self.show(Screen::Focus)
            }
            _ => {}
        }
    }

    /// Scrolls the source; at the line that is carried out it follows again.
    pub(super) fn go_in_source(&mut self, action: Action) {
        let Some(program) = self.program() else { return };
        let rows = self.layout().source_rows();
        let last = program.source.lines().count().saturating_sub(rows);
        if action == Action::Last {
            self.programs.top = None;
        } else {
            let top = moved(self.program_top(rows), action, rows.max(2) - 1, last);
            self.programs.top = Some(top);
        }
    }

    /// From the source to the pane of the first command, on to the next one's, and back to the source.
    fn turn_pane(&mut self) {
        self.leave_copy();
        let at = if self.programs.in_pane { self.programs.task_at + 1 } else { 0 };
        let has_one = at < self.program_tasks().len();
        if has_one {
            self.programs.task_at = at;
        }
        self.leave_pane();
        self.programs.in_pane = has_one;
    }

    /// Lets keys move the source again; tells whether they moved the pane.
    pub(super) fn leave_pane(&mut self) -> bool {
        self.thaw();
        self.pan = 0;
        std::mem::take(&mut self.programs.in_pane)
    }

    fn step_program(&mut self, by: isize) {
        let programs = &self.snapshot.programs;
        let run = self.program().map(|program| program.run.clone());
        let at = programs.iter().position(|program| Some(&program.run) == run.as_ref()).unwrap_or(0);
        let to = at.saturating_add_signed(by).min(programs.len().saturating_sub(1));
        self.programs.run = programs.get(to).map(|program| program.run.clone());
        self.programs = Programs { run: self.programs.run.take(), ..Programs::default() };
        self.leave_pane();
    }
}

/// Returns a line of a source as it is shown.
pub fn shown(line: &str) -> String {
    visible::in_text(&mask(line)).into_owned()
}

/// Returns what stands beside a line.
pub fn mark(program: &ProgramView, line: u32) -> Mark {
    let holds = program.steps.iter().filter(|step| step.lines.holds(line));
    let inner = holds.min_by_key(|step| length(step.lines));
    let begins = program.steps.iter().find(|step| step.lines.first == line);
    let is_current = inner.is_some_and(|step| is_live(step) && !has_inner(program, step));
    // The head of a block that is gone through stands for itself.
    let is_head = begins.is_some_and(|step| is_live(step) && has_inner(program, step));
    Mark { state: begins.map(|step| step.state), is_current: is_current && !is_head }
}

fn length(lines: Lines) -> u32 {
    lines.last.saturating_sub(lines.first)
}

fn is_live(step: &StepView) -> bool {
    matches!(step.state, StepState::Running | StepState::Asking)
}

/// Tells whether another statement lies in this one.
fn has_inner(program: &ProgramView, step: &StepView) -> bool {
    let inside = |other: &&StepView| {
        other.lines != step.lines && step.lines.holds(other.lines.first) && step.lines.holds(other.lines.last)
    };
    program.steps.iter().any(|other| inside(&other))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::envelope::Actor;
    use crate::runtime::RunState;

    fn step(first: u32, last: u32, state: StepState) -> StepView {
        StepView { lines: Lines { first, last }, state, task: None, exit_code: None }
    }

    #[test]
    fn the_innermost_statement_is_the_current_one() {
        let program = ProgramView {
            run: "r".into(),
            call: None,
            started_by: Actor::Cli,
            path: "/p".into(),
            source: "".into(),
            folder: "/f".into(),
            state: RunState::Running,
            steps: vec![
                step(1, 1, StepState::Done),
                step(2, 6, StepState::Running),
                step(3, 4, StepState::Running),
                step(5, 5, StepState::Failed),
            ],
            branches: Vec::new(),
            loops: Vec::new(),
            bindings: Vec::new(),
            error: None,
            started_at: jiff::Timestamp::UNIX_EPOCH,
            ended_at: None,
        };
        let marks: Vec<(Option<StepState>, bool)> =
            (1..=7).map(|line| mark(&program, line)).map(|mark| (mark.state, mark.is_current)).collect();
        let (done, running, failed) =
            (Some(StepState::Done), Some(StepState::Running), Some(StepState::Failed));
        let expected = [
            (done, false),
            (running, false),
            (running, true),
            (None, true),
            (failed, false),
            (None, false),
            (None, false),
        ];
        assert_eq!(marks, expected);
    }
}
