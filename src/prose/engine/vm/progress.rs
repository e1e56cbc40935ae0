//! The progress of a run: the view that consoles draw, kept up to date by the engine.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use jiff::Timestamp;
use tokio::sync::Notify;

#[cfg(test)]
use crate::envelope::Actor;
use crate::envelope::TaskId;
use crate::model::{
    BindingView, BranchView, LineRange, LoopView, ProgramError, ProgramEvent, ProgramView, RunState,
    StepState, StepView,
};

/// The view of a run.
// A lock, not messages: branches change it from one future, a publisher reads it from another; it is held
// for a few assignments, never across an await.
#[derive(Debug)]
pub struct Progress {
    view: Mutex<ProgramView>,
    changed: Notify,
}

impl Progress {
    /// Creates the progress from the initial view of a run.
    pub fn new(view: ProgramView) -> Self {
        Self { view: Mutex::new(view), changed: Notify::new() }
    }

    /// Returns the current view.
    pub fn view(&self) -> Arc<ProgramView> {
        let mut view = self.lock().clone();
        if view.state == RunState::Running && is_asking(&view) {
            view.state = RunState::Asking;
        }
        Arc::new(view)
    }

    /// Waits until it has changed since the last wait.
    pub async fn wait_for_change(&self) {
        self.changed.notified().await;
    }

    /// Records that a statement has begun or ended.
    pub fn step(&self, lines: LineRange, state: StepState) {
        self.change(|view| {
            change_step(view, lines, |step| {
                if state == StepState::Running && step.state != StepState::Asking {
                    (step.task, step.exit_code) = (None, None);
                }
                step.state = state;
            });
        });
    }

    /// Records the number of session commands that have ended, and their cost.
    pub(super) fn spent(&self, sessions: u32, cost: u64) {
        self.change(|view| (view.sessions, view.cost) = (sessions, cost));
    }

    /// Records that a statement runs a command.
    pub(super) fn task(&self, lines: LineRange, task: &TaskId) {
        self.change(|view| {
            change_step(view, lines, |step| {
                (step.state, step.task) = (StepState::Running, Some(task.clone()));
            });
            if let Some(branch) = view.branches.iter_mut().find(|branch| branch.lines.holds(lines.first)) {
                branch.task = Some(task.clone());
            }
        });
    }

    /// Records that a statement's command has ended. What the program makes of it is shown when the statement ends; a
    /// branch that is only a value has no statement, and its failure must not look like success.
    pub(super) fn record_exit(&self, lines: LineRange, exit_code: i32) {
        let state = if exit_code == 0 { StepState::Done } else { StepState::Failed };
        self.change(|view| {
            change_step(view, lines, |step| (step.state, step.exit_code) = (state, Some(exit_code)));
        });
    }

    /// Records that an iteration of a loop has begun.
    pub(super) fn pass(&self, lines: LineRange, pass: u32, max: Option<u32>) {
        self.change(|view| {
            match view.loops.iter_mut().find(|known| known.lines == lines) {
                Some(known) => (known.pass, known.max) = (pass, max),
                None => view.loops.push(LoopView { lines, pass, max }),
            }
            view.loops.sort_by_key(|known| known.lines.first);
            if pass > 1 {
                view.add_event(ProgramEvent::Pass { line: lines.first, pass, max });
            }
        });
    }

    /// Records that a loop has ended.
    pub(super) fn loop_over(&self, lines: LineRange) {
        self.change(|view| view.loops.retain(|known| known.lines != lines));
    }

    /// Records that a parallel block has begun, with the numbers, names and lines of its branches.
    pub(super) fn record_fork(&self, branches: Vec<BranchView>) {
        self.change(|view| view.branches.extend(branches));
    }

    /// Records that a branch has ended, and with it all unfinished steps on its lines: a branch that is only a value
    /// has no statement to say how it ended.
    pub(super) fn branch_ended(&self, letter: &str, state: StepState) {
        self.change(|view| {
            let Some(branch) = view.branches.iter_mut().find(|branch| branch.letter == letter) else {
                return;
            };
            branch.state = state;
            let lines = branch.lines;
            // Several branches may execute the same lines, in a block inside a `parallel for`.
            let is_walked = |other: &BranchView| other.lines == lines && other.state == StepState::Running;
            if !view.branches.iter().any(is_walked) {
                settle(view, state, |step| lines.holds(step.lines.first) && lines.holds(step.lines.last));
            }
        });
    }

    /// Records that a parallel block has ended.
    pub(super) fn record_join(&self, block: LineRange) {
        self.change(|view| {
            let is_inside =
                |branch: &BranchView| block.holds(branch.lines.first) && block.holds(branch.lines.last);
            view.branches.retain(|branch| !is_inside(branch));
        });
    }

    /// Records the value of a name.
    pub(super) fn binding(&self, binding: BindingView) {
        self.change(|view| {
            view.bindings
                .retain(|known| known.name != binding.name || known.execution_id != binding.execution_id);
            view.bindings.push(binding);
        });
    }

    /// Records that the run has ended; no step is left unfinished.
    pub fn record_end(&self, state: RunState, error: Option<ProgramError>, at: Timestamp) {
        self.change(|view| {
            settle(view, StepState::Cancelled, |_| true);
            (view.state, view.error, view.ended_at) = (state, error, Some(at));
            view.branches.clear();
            view.loops.clear();
        });
    }

    fn change(&self, change: impl FnOnce(&mut ProgramView)) {
        change(&mut self.lock());
        self.changed.notify_one();
    }

    fn lock(&self) -> MutexGuard<'_, ProgramView> {
        self.view.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Sets the final state of unfinished steps.
fn settle(view: &mut ProgramView, state: StepState, is_over: impl Fn(&StepView) -> bool) {
    let under_way = |step: &&StepView| matches!(step.state, StepState::Running | StepState::Asking);
    let over = view.steps.iter().filter(under_way).filter(|step| is_over(step)).map(|step| step.lines);
    for lines in over.collect::<Vec<_>>() {
        change_step(view, lines, |step| step.state = state);
    }
}

/// Changes a step, and notes what happened to it; a question that it asks speaks for itself.
fn change_step(view: &mut ProgramView, lines: LineRange, change: impl FnOnce(&mut StepView)) {
    let step = step_at(&mut view.steps, lines);
    let before = (step.state, step.exit_code);
    change(step);
    let (state, exit_code) = (step.state, step.exit_code);
    let is_event = match state {
        StepState::Waiting | StepState::Asking => false,
        StepState::Running => !matches!(before.0, StepState::Running | StepState::Asking),
        StepState::Done | StepState::Failed | StepState::Skipped | StepState::Cancelled => {
            before != (state, exit_code)
        }
    };
    if is_event {
        view.add_event(ProgramEvent::Step { line: lines.first, state, exit_code });
    }
}

/// Returns whether everything in progress waits for an answer: every running step contains one that waits.
fn is_asking(view: &ProgramView) -> bool {
    let mut in_flight = view.steps.iter().filter(|step| step.state == StepState::Running);
    let asking = || view.steps.iter().filter(|step| step.state == StepState::Asking);
    asking().next().is_some()
        && in_flight
            .all(|step| step.task.is_none() && asking().any(|asks| step.lines.holds(asks.lines.first)))
}

/// Returns the step with these lines; steps are kept in order.
fn step_at(steps: &mut Vec<StepView>, lines: LineRange) -> &mut StepView {
    let at = steps.partition_point(|step| step.lines < lines);
    if steps.get(at).is_none_or(|step| step.lines != lines) {
        steps.insert(at, StepView { lines, state: StepState::Waiting, task: None, exit_code: None });
    }
    &mut steps[at]
}

/// Returns the view of a run that has just begun.
#[cfg(test)]
pub(super) fn beginning() -> ProgramView {
    ProgramView {
        run: "r".into(),
        call: None,
        started_by: Actor::Cli,
        path: "t.prose".into(),
        source: "".into(),
        folder: "/".into(),
        state: RunState::Running,
        steps: Vec::new(),
        events: Vec::new(),
        earlier_events: 0,
        branches: Vec::new(),
        loops: Vec::new(),
        bindings: Vec::new(),
        sessions: 0,
        cost: 0,
        error: None,
        started_at: Timestamp::UNIX_EPOCH,
        ended_at: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn progress() -> Progress {
        Progress::new(beginning())
    }

    #[test]
    fn a_run_is_asking_only_when_nothing_else_goes_on() {
        let progress = progress();
        let block = LineRange { first: 1, last: 9 };
        progress.step(block, StepState::Running);
        progress.step(LineRange::one(2), StepState::Asking);
        assert_eq!(progress.view().state, RunState::Asking);
        progress.task(LineRange::one(3), &TaskId::random());
        assert_eq!(progress.view().state, RunState::Running);
        progress.record_exit(LineRange::one(3), 0);
        assert_eq!(progress.view().state, RunState::Asking);
        let lines: Vec<u32> = progress.view().steps.iter().map(|step| step.lines.first).collect();
        assert_eq!(lines, [1, 2, 3]);
        progress.record_exit(LineRange::one(3), 3);
        assert_eq!(progress.view().steps[2].state, StepState::Failed);
    }

    #[test]
    fn each_change_of_a_statement_is_noted_once() {
        let progress = progress();
        let (command, lines) = (LineRange::one(3), LineRange { first: 7, last: 8 });
        progress.step(command, StepState::Running);
        progress.task(command, &TaskId::random());
        progress.record_exit(command, 0);
        progress.step(command, StepState::Done);
        progress.pass(lines, 1, None);
        progress.pass(lines, 2, None);
        progress.step(LineRange::one(9), StepState::Asking);
        progress.step(LineRange::one(9), StepState::Done);
        progress.step(lines, StepState::Running);
        progress.record_end(RunState::Cancelled, None, Timestamp::UNIX_EPOCH);
        let step = |line, state, exit_code| ProgramEvent::Step { line, state, exit_code };
        let expected = [
            step(3, StepState::Running, None),
            step(3, StepState::Done, Some(0)),
            ProgramEvent::Pass { line: 7, pass: 2, max: None },
            step(9, StepState::Done, None),
            step(7, StepState::Running, None),
            step(7, StepState::Cancelled, None),
        ];
        assert_eq!(progress.view().events, expected);
    }

    #[test]
    fn a_branch_ends_what_is_under_way_on_its_lines_unless_another_walks_them() {
        let progress = progress();
        let branch = |letter: &str| BranchView {
            letter: letter.to_owned(),
            name: None,
            lines: LineRange::one(2),
            state: StepState::Running,
            task: None,
        };
        progress.record_fork(vec![branch("a"), branch("b")]);
        progress.task(LineRange::one(2), &TaskId::random());
        progress.step(LineRange::one(5), StepState::Asking);
        let states = || progress.view().steps.iter().map(|step| step.state).collect::<Vec<_>>();
        progress.branch_ended("a", StepState::Cancelled);
        assert_eq!(states(), [StepState::Running, StepState::Asking]);
        progress.branch_ended("b", StepState::Cancelled);
        assert_eq!(states(), [StepState::Cancelled, StepState::Asking]);
        progress.record_end(RunState::Cancelled, None, Timestamp::UNIX_EPOCH);
        assert_eq!(states(), [StepState::Cancelled, StepState::Cancelled]);
    }
}
