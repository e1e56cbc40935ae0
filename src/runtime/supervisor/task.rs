//! One task's state and its transitions.

use std::ops::Deref;
use std::sync::Arc;
use std::time::Duration;

use super::holding::{HoldState, OperatorHold};
use super::message::{CallOrigin, HostOrder, NewTask, SupervisorAction, Timer};
use crate::clock::{Moment, millis};
use crate::config::Lane;
use crate::envelope::Actor;
use crate::model::{
    ExecRequest, OutputView, RejectionReason, STEP_GRACE, TaskEvent, TaskFact, TaskState, TaskStatus,
    TaskUpdate, TaskView, UnendedProcess,
};
use crate::runtime::task_list;
use crate::terminal::Size;

/// Keys typed within this time are combined into one event.
const BURST: Duration = Duration::from_millis(500);
/// A timer that fires this late was delayed because the runtime was not running.
const LATE: Duration = Duration::from_millis(500);
/// Timeline events kept in memory per task; all of them are recorded.
const EVENTS_KEPT: usize = 64;

/// The supervisor's state of one task.
#[derive(Debug)]
pub(crate) struct SupervisedTask {
    /// The public view; long commands are truncated in it.
    state: TaskState,
    pub(crate) request: ExecRequest,
    /// The task that its caller runs in.
    pub(crate) behind: Option<CallOrigin>,
    pub(crate) held: Option<HoldState>,
    /// The lane in which it needs a slot.
    pub(crate) lane: Option<Lane>,
    /// When it started, or until then when it was requested, by the monotonic clock.
    pub(super) since: Duration,
    /// When the operator's lease ends, by the same clock.
    pub(super) leased_until: Duration,
    pub(super) interrupted: bool,
    /// Whether all its output is stored.
    pub(super) is_drained: bool,
    /// The survivors, if its tree was gone before its output was drained.
    pub(super) gone: Option<Vec<UnendedProcess>>,
    /// Whether its timeout was noticed only long after it had passed.
    was_late: bool,
    /// Whether its caller had waited long enough before it started, or while its output was drained.
    pub(super) overdue: bool,
    /// Whether processes that outlived its shell are still part of the command.
    pub(super) is_at_work: bool,
    /// Whether its shell exited before its command began.
    pub(super) has_not_begun: bool,
    /// Whether its time was up after its shell had exited.
    pub(super) is_out_of_time: bool,
    /// Whether those processes are ended for that.
    pub(super) is_cut_short: bool,
    /// Whether one of its questions was not answered in time: further ones are not waited for until someone types.
    pub(super) is_unattended: bool,
    /// How long its questions are waited for.
    pub(super) ask_within: Duration,
    /// Bytes the operator typed that are not yet on the timeline.
    burst: u64,
    /// The epoch in which each timer was last set, indexed by `Timer`.
    epochs: [u32; 7],
}

impl Deref for SupervisedTask {
    type Target = TaskState;

    fn deref(&self) -> &TaskState {
        &self.state
    }
}

impl SupervisedTask {
    pub(super) fn create(
        now: Moment,
        number: u32,
        new: NewTask,
        held: Option<OperatorHold>,
        lane: Option<Lane>,
    ) -> (Self, Vec<SupervisorAction>) {
        let mut task = Self {
            state: TaskState::new(view(now, number, &new)),
            request: new.request,
            behind: new.behind,
            held: None,
            lane,
            since: now.mono,
            leased_until: Duration::ZERO,
            interrupted: false,
            is_drained: false,
            gone: None,
            was_late: false,
            overdue: false,
            is_at_work: false,
            is_out_of_time: false,
            has_not_begun: false,
            is_cut_short: false,
            is_unattended: false,
            ask_within: Duration::ZERO,
            burst: 0,
            epochs: [0; 7],
        };
        let mut actions = match held {
            None => task.go(),
            Some(held) => task.hold(now, held),
        };
        if let Some(wait) = task.request.yield_after {
            actions.push(task.wake(now, Timer::Yield, wait));
        }
        (task, actions)
    }

    /// Updates how much the task has written, and returns its public view.
    pub(super) fn update_output(&mut self, output: OutputView) -> &Arc<TaskView> {
        self.state.update_output(output);
        self.view()
    }

    /// Returns the public view with the full command.
    pub(crate) fn whole(&self, output: OutputView) -> TaskView {
        TaskView { cmd: self.request.cmd.clone(), cmd_chars: None, output, ..(**self.view()).clone() }
    }

    pub(super) fn handle_start(&mut self, now: Moment, pid: u32) -> Vec<SupervisorAction> {
        if self.pid.is_some() || self.status.is_terminal() {
            return Vec::new();
        }
        let waited = now.mono.saturating_sub(self.since);
        self.since = now.mono;
        let mut actions = vec![self.note(now, self.started_by.clone(), TaskFact::Start { pid: Some(pid) })];
        if self.status == TaskStatus::Running {
            if let Some(timeout) = self.time_left(waited) {
                actions.push(self.wake(now, Timer::Timeout, timeout));
            }
        } else {
            // Stopped before it started: nothing it does may count any more.
            actions.push(SupervisorAction::Order(self.id.clone(), HostOrder::End(Duration::ZERO)));
        }
        // A caller that does not wait at all gets a task, however soon the command ends.
        if self.overdue || self.request.yield_after == Some(Duration::ZERO) {
            actions.extend(self.promote(now));
        }
        actions
    }

    pub(super) fn handle_input(
        &mut self,
        now: Moment,
        by: Actor,
        bytes: u64,
        lease: Duration,
    ) -> Vec<SupervisorAction> {
        if self.status.is_terminal() {
            return Vec::new();
        }
        let mut actions = Vec::new();
        if by == Actor::Operator {
            self.is_unattended = false;
            if self.lease.is_none() {
                actions.push(self.note(now, by.clone(), TaskFact::Lease));
                actions.push(self.wake(now, Timer::Lease, lease));
            }
            self.leased_until = now.mono + lease;
            self.apply(TaskUpdate::LeasedUntil(now.wall_after(lease)));
        }
        if self.waiting.is_some() {
            self.apply(TaskUpdate::NotWaiting);
        }
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

    /// Puts the operator's recent keys on the timeline as one event.
    pub(super) fn flush_burst(&mut self, now: Moment) -> Vec<SupervisorAction> {
        match std::mem::take(&mut self.burst) {
            0 => Vec::new(),
            bytes => vec![self.note(now, Actor::Operator, TaskFact::Input(bytes))],
        }
    }

    pub(super) fn note_refusal(
        &mut self,
        now: Moment,
        by: Actor,
        reason: RejectionReason,
    ) -> Vec<SupervisorAction> {
        vec![self.note(now, by, TaskFact::Refused(reason))]
    }

    pub(super) fn note_resize(&mut self, now: Moment, by: Actor, size: Size) -> Vec<SupervisorAction> {
        vec![self.note(now, by, TaskFact::Resize(size))]
    }

    pub(super) fn rename(&mut self, name: Option<String>) -> Vec<SupervisorAction> {
        self.apply(TaskUpdate::Named(name));
        Vec::new()
    }

    pub(super) fn screen_reset(&mut self, now: Moment) -> Vec<SupervisorAction> {
        vec![self.note(now, Actor::System, TaskFact::ScreenReset)]
    }

    /// Returns the grace period between TERM and KILL.
    pub(super) fn grace(&self, usual: Duration) -> Duration {
        if self.request.step.is_some() { STEP_GRACE } else { usual }
    }

    pub(super) fn due(
        &mut self,
        now: Moment,
        timer: Timer,
        epoch: u32,
        grace: Duration,
    ) -> Vec<SupervisorAction> {
        if epoch != self.epochs[timer as usize] || self.status.is_terminal() {
            return Vec::new();
        }
        match timer {
            Timer::Yield => self.promote(now),
            Timer::Timeout => self.time_out(now, grace),
            Timer::Lease => self.lapse(now),
            Timer::Burst => self.flush_burst(now),
            Timer::Caller => self.caller_is_missed(now),
            Timer::Ask => self.give_up_asking(),
            Timer::Asked => self.tell_of_wait(now),
        }
    }

    pub(super) fn promote(&mut self, now: Moment) -> Vec<SupervisorAction> {
        if self.request.item.is_some() {
            return self.give_up_turn(now);
        }
        if self.promoted {
            return Vec::new();
        }
        if self.exit().is_some() && !self.is_at_work {
            // An exit within the wait is answered as completed once its output has arrived, unless there is more to the
            // command than its shell.
            self.overdue = true;
            return Vec::new();
        }
        if self.held.is_some() && !self.is_joining() {
            self.apply(TaskUpdate::Deferred);
            return vec![SupervisorAction::Hold(self.id.clone())];
        }
        if self.pid.is_none() {
            // Whether the command can start at all, or has to wait, will be known in a moment, and the caller wants to know.
            self.overdue = true;
            return Vec::new();
        }
        vec![
            self.note(now, Actor::System, TaskFact::Promoted { kept: false }),
            SupervisorAction::Promote(self.id.clone()),
        ]
    }

    pub(super) fn time_out(&mut self, now: Moment, grace: Duration) -> Vec<SupervisorAction> {
        if self.status == TaskStatus::Cancelling {
            return Vec::new();
        }
        // A program has only the exit code to go by: what is not done in time has failed. A receipt names what was ended.
        let is_over = self.exit().is_some() && (self.request.step.is_none() || !self.is_at_work);
        if is_over {
            return self.cut_short();
        }
        let due = self.request.timeout.map(|limit| self.since + limit);
        if !self.was_late && due.is_some_and(|due| now.mono > due + LATE) {
            // The runtime itself was suspended meanwhile: the report that the command ended in time may still be on
            // its way.
            self.was_late = true;
            return vec![self.wake(now, Timer::Timeout, LATE)];
        }
        self.cut_off(now, TaskFact::Timeout, grace)
    }

    /// Ends a task that wrote more than `limit` bytes.
    pub(super) fn overrun(&mut self, now: Moment, limit: u64, grace: Duration) -> Vec<SupervisorAction> {
        let has_ended = self.exit().is_some() && !self.is_at_work;
        if has_ended || self.status >= TaskStatus::Cancelling {
            return Vec::new();
        }
        self.cut_off(now, TaskFact::OutputLimit(limit), grace)
    }

    /// Ends the tree for a reason of the runtime's own.
    pub(super) fn cut_off(&mut self, now: Moment, why: TaskFact, grace: Duration) -> Vec<SupervisorAction> {
        let mut actions = vec![self.note(now, Actor::System, why)];
        actions.extend(self.end(grace));
        actions
    }

    pub(super) fn wake(&mut self, now: Moment, timer: Timer, after: Duration) -> SupervisorAction {
        self.forget_timer(timer);
        let epoch = self.epochs[timer as usize];
        SupervisorAction::Wake { id: self.id.clone(), timer, epoch, at: now.mono + after }
    }

    /// Makes a timer that was set have no effect.
    pub(super) fn forget_timer(&mut self, timer: Timer) {
        self.epochs[timer as usize] += 1;
    }

    /// Creates an event: applies it to the task and returns the action that records it.
    pub(super) fn note(&mut self, now: Moment, actor: Actor, fact: TaskFact) -> SupervisorAction {
        let event = TaskEvent { at: now.wall, actor, fact };
        self.apply(TaskUpdate::Event(event.clone()));
        SupervisorAction::Note(self.id.clone(), event)
    }

    pub(super) fn apply(&mut self, update: TaskUpdate) {
        self.state.apply(update);
        self.state.keep_events(EVENTS_KEPT);
    }
}

/// Returns a newly requested task's public view.
fn view(now: Moment, number: u32, new: &NewTask) -> TaskView {
    let NewTask { id, request, behind, workdir, shell, folder, side_terminal, .. } = new;
    let (cmd, cmd_chars) =
        task_list::cut(&request.cmd).map_or((request.cmd.clone(), None), |(cmd, chars)| (cmd, Some(chars)));
    TaskView {
        id: id.clone(),
        number,
        status: TaskStatus::Queued,
        cmd,
        cmd_chars,
        description: request.description.clone(),
        name: None,
        workdir: workdir.clone(),
        shell: shell.clone(),
        login: request.login,
        tty: request.tty,
        size: request.size.unwrap_or_default(),
        size_asked: request.size.is_some(),
        accepts_input: request.accepts_input,
        side_terminal: *side_terminal,
        started_by: request.actor.clone(),
        call: request.call,
        from_task: behind.as_ref().map(|behind| behind.task.clone()),
        promoted: false,
        item: request.item,
        held: None,
        queued: None,
        timeout_ms: request.timeout.map(millis),
        lease: None,
        waiting: None,
        listening: Vec::new(),
        created_at: now.wall,
        started_at: None,
        updated_at: now.wall,
        stop: None,
        ended: None,
        ceiling: None,
        peak_memory: None,
        changes: None,
        output: OutputView::default(),
        pid: None,
        folder: folder.clone(),
        events: Vec::new(),
        earlier_events: 0,
        place: None,
    }
}
