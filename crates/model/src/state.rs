//! A task's state: the only code that changes a task's public view. The supervisor applies the updates it decides on,
//! and a recording is read by applying the recorded ones. Pure.

use std::ops::Deref;
use std::sync::Arc;

use jiff::Timestamp;

use crate::phrases::denial_sentence;
use crate::{
    Exit, Lease, OutputView, StopSignal, StopView, TaskEnd, TaskEvent, TaskFact, TaskStatus, TaskUpdate,
    TaskView, UnendedProcesses,
};
use pilothouse_envelope::units::size;
use pilothouse_envelope::{Actor, ErrorKind};

/// The exit status of a command that timed out (docs/contract.md#execcommand).
const TIMED_OUT: i32 = 124;
/// The error kind of a task that was denied.
const DENIED: &str = "operator_denied";

/// A task's public view, along with what is known of its end before it has ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskState {
    view: Arc<TaskView>,
    exit: Option<Exit>,
    /// The last signal sent with TaskStop, and who sent it.
    signal: Option<(Actor, StopSignal)>,
    denied: bool,
    timed_out: bool,
    error: Option<(String, String)>,
    leftovers: Vec<String>,
}

impl Deref for TaskState {
    type Target = TaskView;

    fn deref(&self) -> &TaskView {
        &self.view
    }
}

impl TaskState {
    /// Starts from a task as stored in a row, or as requested.
    #[must_use]
    pub fn new(view: TaskView) -> Self {
        Self {
            view: Arc::new(view),
            exit: None,
            signal: None,
            denied: false,
            timed_out: false,
            error: None,
            leftovers: Vec::new(),
        }
    }

    /// Returns the public view: the same allocation as long as nothing has changed.
    #[must_use]
    pub fn view(&self) -> &Arc<TaskView> {
        &self.view
    }

    /// Returns how the task's shell ended.
    #[must_use]
    pub fn exit(&self) -> Option<&Exit> {
        self.exit.as_ref()
    }

    /// Tells whether the task timed out, a ceiling ended it or an error occurred, which is then why it ends.
    #[must_use]
    pub fn has_failed(&self) -> bool {
        let is_over = self.view.ceiling.is_some_and(|hit| hit.is_end());
        self.timed_out || is_over || self.error.is_some()
    }

    /// Replaces the view with that of another row; events are kept, as they have rows of their own.
    pub fn replace_view(&mut self, view: TaskView) {
        let known = Arc::make_mut(&mut self.view);
        let (events, earlier_events) = (std::mem::take(&mut known.events), known.earlier_events);
        self.view = Arc::new(TaskView { events, earlier_events, ..view });
    }

    /// Updates how much the task has written.
    pub fn update_output(&mut self, output: OutputView) {
        if self.view.output != output {
            Arc::make_mut(&mut self.view).output = output;
        }
    }

    /// Drops the oldest events, keeping the last `most`.
    pub fn keep_events(&mut self, most: usize) {
        let excess = self.view.events.len().saturating_sub(most);
        if excess > 0 {
            let view = Arc::make_mut(&mut self.view);
            view.events.drain(..excess);
            view.earlier_events += excess as u64;
        }
    }

    /// Applies a change.
    pub fn apply(&mut self, update: TaskUpdate) {
        let task = Arc::make_mut(&mut self.view);
        match update {
            TaskUpdate::Event(event) => self.apply_event(event),
            TaskUpdate::NotWaiting => task.waiting = None,
            TaskUpdate::LeasedUntil(until) => task.lease.iter_mut().for_each(|lease| lease.until = until),
            TaskUpdate::Peak(bytes) => task.peak_memory = task.peak_memory.max(Some(bytes)),
            TaskUpdate::Named(name) => task.name = name,
            TaskUpdate::Undone { is_redo } => {
                task.changes.iter_mut().for_each(|changes| changes.undone = !is_redo);
            }
            TaskUpdate::Changed(changes) => task.changes = Some(changes),
            TaskUpdate::Printed(at, url) => {
                let listener = task.listening.iter_mut().find(|listener| listener.at == at);
                listener.into_iter().for_each(|listener| listener.url = Some(url.clone()));
            }
            TaskUpdate::PortTaken(taken) => {
                task.ended.iter_mut().for_each(|ended| ended.taken_port = Some(taken.clone()));
            }
            TaskUpdate::MovedUp(wait) => task.queued = Some(wait),
            TaskUpdate::Deferred => task.promoted = true,
        }
    }

    fn apply_event(&mut self, event: TaskEvent) {
        let task = Arc::make_mut(&mut self.view);
        let (at, by) = (event.at, &event.actor);
        match &event.fact {
            TaskFact::Held(reason) => task.held = Some(reason.clone()),
            TaskFact::Queued(wait) => task.queued = Some(wait.clone()),
            TaskFact::Admitted => task.queued = None,
            TaskFact::Approved(_) => task.held = None,
            TaskFact::Denied(note) => {
                task.held = None;
                self.denied = true;
                self.error = Some((DENIED.to_owned(), denial_sentence(note)));
            }
            TaskFact::Start { pid } => {
                task.pid = *pid;
                task.started_at = Some(at);
                enter(task, at, TaskStatus::Running);
            }
            TaskFact::Waiting(waiting) => task.waiting = Some(waiting.clone()),
            TaskFact::Listening(listener) => task.listening.push(listener.clone()),
            TaskFact::Closed(at) => task.listening.retain(|listener| listener.at != *at),
            TaskFact::Promoted { .. } | TaskFact::Outlived(_) => task.promoted = true,
            TaskFact::Lease => task.lease = Some(Lease { holder: by.clone(), until: at }),
            TaskFact::Released => task.lease = None,
            TaskFact::Resize(size) => task.size = *size,
            TaskFact::Stop { force, why, kill_at } => {
                let first = task.stop.take().map(|stop| (stop.by, stop.why));
                let (by, why) = first.unwrap_or_else(|| (by.clone(), why.clone()));
                task.stop = Some(StopView { by, at, kill_at: *kill_at, force: *force, why });
                task.waiting = None;
                enter(task, at, TaskStatus::Cancelling);
            }
            TaskFact::Signal(signal) => self.signal = Some((by.clone(), *signal)),
            TaskFact::Timeout => {
                self.timed_out = true;
                enter(task, at, TaskStatus::Cancelling);
            }
            TaskFact::OutputLimit(limit) => {
                self.error = Some(overrun(*limit));
                enter(task, at, TaskStatus::Cancelling);
            }
            TaskFact::Ceiling(hit) => {
                task.ceiling = Some(*hit);
                if hit.soft {
                    enter(task, at, TaskStatus::Cancelling);
                }
            }
            TaskFact::Exit(exit) => {
                self.exit = Some(*exit);
                task.waiting = None;
            }
            TaskFact::Leftovers(names) => self.leftovers.clone_from(names),
            TaskFact::End { .. } => self.end(&event),
            TaskFact::Unanswered => task.waiting = None,
            TaskFact::AtWork(_) | TaskFact::Kept(_) | TaskFact::ScreenReset => {}
            TaskFact::Input(_) | TaskFact::Refused(_) | TaskFact::InputLost(_) => {}
        }
        Arc::make_mut(&mut self.view).events.push(event);
    }

    fn end(&mut self, event: &TaskEvent) {
        let TaskFact::End { status, peak_memory, ran_ms, error, survivors } = &event.fact else { return };
        let (exit_status, signal) = match &self.exit {
            _ if self.timed_out => (Some(TIMED_OUT), None),
            // The exit of a profile is none of the command.
            _ if error.as_ref().is_some_and(|(kind, _)| kind == ErrorKind::ExecutionFailed.as_str()) => {
                (None, None)
            }
            exit => exit.as_ref().map(Exit::code_or_signal).unwrap_or_default(),
        };
        let sender = self.signal.as_ref().zip(self.exit.as_ref());
        let sender = sender.filter(|((_, signal), exit)| signal.explains(exit));
        let ended = TaskEnd {
            at: event.at,
            ran_ms: *ran_ms,
            exit_status,
            signal,
            signalled_by: sender.map(|((by, _), _)| by.clone()),
            timed_out: self.timed_out,
            error: error.clone().or_else(|| self.error.clone()),
            leftovers: UnendedProcesses::without(&self.leftovers, survivors),
            survivors: survivors.clone(),
            taken_port: None,
        };
        let task = Arc::make_mut(&mut self.view);
        task.peak_memory = task.peak_memory.max(*peak_memory);
        enter(task, event.at, *status);
        (task.held, task.queued, task.lease, task.waiting) = (None, None, None, None);
        task.listening.clear();
        task.ended = Some(ended);
    }

    /// Returns the status in which the task ends (docs/contract.md#how-tasks-end); `interrupted` says that its
    /// runtime's end ended it.
    #[must_use]
    pub fn final_status(&self, interrupted: bool) -> TaskStatus {
        if interrupted {
            TaskStatus::Interrupted
        } else if self.is_stopped() {
            TaskStatus::Cancelled
        } else if !self.has_failed() && self.exit == Some(Exit::Code(0)) {
            TaskStatus::Completed
        } else {
            TaskStatus::Failed
        }
    }

    /// Tells whether someone stopped or denied the task.
    #[must_use]
    pub fn is_stopped(&self) -> bool {
        self.denied || self.view.stop.as_ref().is_some_and(|stop| stop.by != Actor::System)
    }
}

/// Advances the status; a move backwards or out of a terminal state is ignored.
fn enter(task: &mut TaskView, at: Timestamp, status: TaskStatus) {
    if status > task.status && !task.status.is_terminal() {
        task.status = status;
        task.updated_at = at;
    }
}

/// Returns the error of a task that wrote more than `limit` bytes.
fn overrun(limit: u64) -> (String, String) {
    let message = format!("The command wrote more than {} and was ended for it.", size(limit));
    (ErrorKind::OutputLimitExceeded.as_str().into(), message)
}
