//! One task's state and its transitions.

use std::path::PathBuf;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};

use super::message::{Action, Behind, NewTask, Order, Timer};
use crate::clock::Moment;
use crate::envelope::{Actor, ErrorKind, TaskId};
use crate::facts::{Exit, RejectionReason, StopSignal, TaskEvent, TaskFact, TaskStatus, Waiting};
use crate::runtime::approval::HoldReason;
use crate::runtime::request::{ExecRequest, Rejection, STEP_GRACE};
use crate::runtime::view::{Lease, StopView};
use crate::terminal::Size;

/// Keys that come within this time are one event.
const BURST: Duration = Duration::from_millis(500);
/// A timer that comes so late was kept by a runtime that did not run.
const LATE: Duration = Duration::from_millis(500);
/// Timeline rows kept in memory for each task; all are on record.
const EVENTS_KEPT: usize = 64;

/// A task that waits for the operator's word.
#[derive(Debug, Clone)]
pub(crate) struct Held {
    pub(crate) ticket: u64,
    pub(crate) reason: HoldReason,
    pub(crate) since: Timestamp,
    pub(crate) hash: String,
}

/// What the supervisor knows of one task.
#[derive(Debug)]
pub(crate) struct Task {
    pub(crate) id: TaskId,
    pub(crate) number: u32,
    pub(crate) status: TaskStatus,
    pub(crate) request: ExecRequest,
    /// The task that its caller ran in.
    pub(crate) behind: Option<Behind>,
    pub(crate) workdir: PathBuf,
    pub(crate) shell: String,
    pub(crate) folder: PathBuf,
    pub(crate) size: Size,
    pub(crate) name: Option<String>,
    pub(crate) promoted: bool,
    pub(crate) held: Option<Held>,
    /// The operator said no.
    pub(crate) denied: bool,
    pub(crate) pid: Option<u32>,
    pub(crate) created_at: Timestamp,
    pub(crate) started_at: Option<Timestamp>,
    /// When it started, or else was asked for, by the clock that never jumps.
    pub(super) since: Duration,
    pub(crate) updated_at: Timestamp,
    pub(crate) ended_at: Option<Timestamp>,
    pub(crate) lease: Option<(Lease, Duration)>,
    pub(crate) waiting: Option<Waiting>,
    pub(crate) stop: Option<StopView>,
    /// The last signal sent by a TaskStop, and by whom.
    pub(super) signal: Option<(Actor, StopSignal)>,
    pub(crate) exit: Option<Exit>,
    /// How long it ran, once it has ended.
    pub(crate) ran: Option<Duration>,
    pub(crate) timed_out: bool,
    pub(crate) interrupted: bool,
    pub(crate) error: Option<(String, String)>,
    pub(crate) leftovers: Vec<String>,
    pub(crate) survivors: Vec<String>,
    pub(crate) events: Vec<TaskEvent>,
    /// Its time was found to be over long after it was.
    was_late: bool,
    /// Its caller's wait was over before it had started.
    overdue: bool,
    /// Bytes the operator typed that are not yet on the timeline.
    burst: u64,
    /// The epoch each timer was last set in, by `Timer`.
    epochs: [u32; 4],
}

impl Task {
    pub(super) fn queued(now: Moment, number: u32, new: NewTask, held: Option<Held>) -> (Self, Vec<Action>) {
        let NewTask { id, request, behind, workdir, shell, folder } = new;
        let mut task = Self {
            id: id.clone(),
            number,
            status: TaskStatus::Queued,
            size: request.size.unwrap_or_default(),
            request,
            behind,
            workdir,
            shell,
            folder,
            name: None,
            promoted: false,
            held: None,
            denied: false,
            pid: None,
            created_at: now.wall,
            started_at: None,
            since: now.mono,
            updated_at: now.wall,
            ended_at: None,
            lease: None,
            waiting: None,
            stop: None,
            signal: None,
            exit: None,
            ran: None,
            timed_out: false,
            interrupted: false,
            error: None,
            leftovers: Vec::new(),
            survivors: Vec::new(),
            events: Vec::new(),
            epochs: [0; 4],
            was_late: false,
            overdue: false,
            burst: 0,
        };
        let mut actions = match held {
            None => vec![Action::Spawn(id)],
            Some(held) => task.hold(now, held),
        };
        if let Some(wait) = task.request.yield_after {
            actions.push(task.wake(now, Timer::Yield, wait));
        }
        (task, actions)
    }

    pub(super) fn started(&mut self, now: Moment, pid: u32) -> Vec<Action> {
        if self.pid.is_some() || self.status.is_terminal() {
            return Vec::new();
        }
        self.pid = Some(pid);
        self.started_at = Some(now.wall);
        self.since = now.mono;
        let mut actions = vec![self.note(now, self.request.actor.clone(), TaskFact::Start)];
        if self.status == TaskStatus::Queued {
            self.enter(now, TaskStatus::Running);
            if let Some(timeout) = self.request.timeout {
                actions.push(self.wake(now, Timer::Timeout, timeout));
            }
        } else {
            // Stopped before it had started: nothing it does may count any more.
            actions.push(Action::Order(self.id.clone(), Order::End(Duration::ZERO)));
        }
        if self.overdue {
            actions.extend(self.promote(now));
        }
        actions
    }

    pub(super) fn typed(&mut self, now: Moment, by: Actor, bytes: u64, lease: Duration) -> Vec<Action> {
        let mut actions = Vec::new();
        if by == Actor::Operator {
            let taken = self.lease.is_none();
            let until = now.wall.checked_add(SignedDuration::try_from(lease).unwrap_or_default());
            let view = Lease { holder: by.clone(), until: until.unwrap_or(now.wall) };
            self.lease = Some((view, now.mono + lease));
            if taken {
                actions.push(self.note(now, by.clone(), TaskFact::Lease));
                actions.push(self.wake(now, Timer::Lease, lease));
            }
        }
        self.waiting = None;
        if by != Actor::Operator {
            actions.push(self.note(now, by, TaskFact::Input(bytes)));
        } else if self.burst == 0 {
            self.burst = bytes;
            actions.push(self.wake(now, Timer::Burst, BURST));
        } else {
            self.burst += bytes;
        }
        actions
    }

    /// Puts what the operator typed in a row on the timeline as one event.
    pub(super) fn flush_burst(&mut self, now: Moment) -> Vec<Action> {
        match std::mem::take(&mut self.burst) {
            0 => Vec::new(),
            bytes => vec![self.note(now, Actor::Operator, TaskFact::Input(bytes))],
        }
    }

    pub(super) fn refused(&mut self, now: Moment, by: Actor, reason: RejectionReason) -> Vec<Action> {
        vec![self.note(now, by, TaskFact::Refused(reason))]
    }

    pub(super) fn resized(&mut self, now: Moment, by: Actor, size: Size) -> Vec<Action> {
        self.size = size;
        vec![self.note(now, by, TaskFact::Resize(size))]
    }

    pub(super) fn rename(&mut self, name: Option<String>) -> Vec<Action> {
        self.name = name;
        Vec::new()
    }

    pub(super) fn screen_reset(&mut self, now: Moment) -> Vec<Action> {
        vec![self.note(now, Actor::System, TaskFact::ScreenReset)]
    }

    pub(super) fn admit(&self, now: Moment, by: &Actor, needs_tty: bool) -> Result<(), Rejection> {
        let refuse = |reason, message: String| Err(Rejection { reason, message });
        if self.status != TaskStatus::Running {
            let message = format!("The task is {}; nothing reads its input any more.", self.status.as_str());
            return refuse(RejectionReason::TaskNotRunning, message);
        }
        if needs_tty && !self.request.tty {
            let message = "Keys and sizes need a terminal; start the command with tty:true.".into();
            return refuse(RejectionReason::TtyRequired, message);
        }
        if !needs_tty && !self.request.accepts_input {
            let message =
                "Its stdin is /dev/null; start the command with accepts_input:true or tty:true.".into();
            return refuse(RejectionReason::InputNotEnabled, message);
        }
        match &self.lease {
            Some((_, until)) if *by != Actor::Operator && now.mono < *until => {
                let left = (*until - now.mono).as_secs_f32().ceil();
                let message = format!(
                    "The operator is typing into this task. Read with TaskOutput; retry in {left:.0} s or later."
                );
                refuse(RejectionReason::HeldByOperator, message)
            }
            _ => Ok(()),
        }
    }

    /// Returns the time between TERM and KILL.
    pub(super) fn grace(&self, usual: Duration) -> Duration {
        if self.request.step.is_some() { STEP_GRACE } else { usual }
    }

    pub(super) fn due(&mut self, now: Moment, timer: Timer, epoch: u32, grace: Duration) -> Vec<Action> {
        if epoch != self.epochs[timer as usize] || self.status.is_terminal() {
            return Vec::new();
        }
        match timer {
            Timer::Yield => self.promote(now),
            Timer::Timeout => self.time_out(now, grace),
            Timer::Lease => self.lapse(now),
            Timer::Burst => self.flush_burst(now),
        }
    }

    fn promote(&mut self, now: Moment) -> Vec<Action> {
        if self.promoted || self.exit.is_some() {
            // An exit within the wait is answered as completed, once its output is in.
            return Vec::new();
        }
        if self.held.is_some() {
            self.promoted = true;
            return vec![Action::Hold(self.id.clone())];
        }
        if self.pid.is_none() {
            // Whether it can start at all is known in a moment, and the caller wants to know.
            self.overdue = true;
            return Vec::new();
        }
        self.promoted = true;
        vec![
            self.note(now, Actor::System, TaskFact::Promoted { kept: false }),
            Action::Promote(self.id.clone()),
        ]
    }

    fn time_out(&mut self, now: Moment, grace: Duration) -> Vec<Action> {
        if self.exit.is_some() || self.status == TaskStatus::Cancelling {
            return Vec::new();
        }
        let due = self.request.timeout.map(|limit| self.since + limit);
        if !self.was_late && due.is_some_and(|due| now.mono > due + LATE) {
            // The runtime itself was stopped meanwhile: that the command had ended in time may be on its way.
            self.was_late = true;
            return vec![self.wake(now, Timer::Timeout, LATE)];
        }
        self.timed_out = true;
        self.cut_off(now, TaskFact::Timeout, grace)
    }

    /// Ends a task that has written more than `limit` bytes.
    pub(super) fn overrun(&mut self, now: Moment, limit: u64, grace: Duration) -> Vec<Action> {
        if self.exit.is_some() || self.status >= TaskStatus::Cancelling {
            return Vec::new();
        }
        self.error = Some(overrun(limit));
        self.cut_off(now, TaskFact::OutputLimit(limit), grace)
    }

    /// Ends the tree for a reason of the runtime's own.
    fn cut_off(&mut self, now: Moment, why: TaskFact, grace: Duration) -> Vec<Action> {
        let mut actions = vec![self.note(now, Actor::System, why)];
        self.enter(now, TaskStatus::Cancelling);
        actions.extend(self.end(grace));
        actions
    }

    /// Moves forward; a move backwards or out of a terminal state is ignored.
    pub(super) fn enter(&mut self, now: Moment, status: TaskStatus) {
        if status > self.status && !self.status.is_terminal() {
            self.status = status;
            self.updated_at = now.wall;
        }
    }

    pub(super) fn wake(&mut self, now: Moment, timer: Timer, after: Duration) -> Action {
        let epoch = &mut self.epochs[timer as usize];
        *epoch += 1;
        Action::Wake { id: self.id.clone(), timer, epoch: *epoch, at: now.mono + after }
    }

    pub(super) fn note(&mut self, now: Moment, actor: Actor, fact: TaskFact) -> Action {
        let event = TaskEvent { at: now.wall, actor, fact };
        if self.events.len() == EVENTS_KEPT {
            self.events.remove(0);
        }
        self.events.push(event.clone());
        Action::Note(self.id.clone(), event)
    }
}

/// The error of a task that has written more than `limit` bytes.
pub(crate) fn overrun(limit: u64) -> (String, String) {
    let message = format!("The command wrote more than {limit} bytes and was ended for it.");
    (ErrorKind::OutputLimitExceeded.as_str().into(), message)
}
