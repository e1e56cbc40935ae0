//! The driver: carries out the supervisor's decisions. This one tokio task owns the state of all managed tasks.

mod approval;
mod caller;
mod ceilings;
mod completion;
mod costs;
mod foreground;
mod input;
mod input_need;
mod lane_jobs;
mod lanes;
mod listening;
mod looks;
mod measured_task;
mod message;
mod order;
mod polling;
mod publish;
mod questions;
mod quiet_tasks;
mod sight;
mod spare;
mod start;
mod state;
mod streams;
mod terminal_reads;
mod throttle;
mod timers;
mod usage;

pub(super) use input::to_past;
pub(super) use order::{DriverOrder, QuestionOrder, Reply};
pub(super) use start::{PreparedStart, StartingTask, prepare};
pub(super) use state::Driver;
pub use usage::TaskUsage;
pub(super) use usage::UnmeasuredTask;

use std::borrow::Cow;
use std::time::Duration;

use tokio::sync::{mpsc, oneshot};

use crate::clock::Moment;
use crate::envelope::{Actor, TaskId};
use crate::model::{
    CloseReason, Error, ExecOutcome, Signal, Stop, StopOutcome, TaskEvent, TaskUpdate, UnendedProcess,
};
use crate::process::{HostEvent, HostHandle, SignalScope, script};
use crate::runtime::bytes::ByteEvent;
use crate::runtime::caller_command::CallerStage;
use crate::runtime::lanes::LaneOrder;
use crate::runtime::record_row::Fact;
use crate::runtime::supervisor::{HostOrder, SupervisorAction, SupervisorInput};
use message::{Message, PublishPace};
use throttle::Throttle;
use timers::Due;

/// How often history and waiting tasks are checked while something runs.
const SECOND: Duration = Duration::from_secs(1);
/// How often past recordings are maintained.
const TEND: Duration = Duration::from_secs(3_600);

impl Driver {
    /// Runs until a shutdown has ended every task.
    pub(super) async fn run(
        mut self,
        mut orders: mpsc::Receiver<DriverOrder>,
        mut bytes: mpsc::Receiver<ByteEvent>,
    ) {
        self.tend();
        let mut tending = tokio::time::interval_at(self.shared.clock.instant(self.now().mono + TEND), TEND);
        let mut second = tokio::time::interval(SECOND);
        second.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        let mut poll = tokio::time::interval(ceilings::POLL);
        poll.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        let mut throttle = Throttle::default();
        while !self.is_done() {
            let now = self.shared.clock.now().mono;
            let timer = self.next_timer().map(|at| self.shared.clock.instant(at));
            let waking = timer.unwrap_or_else(|| self.shared.clock.instant(now + TEND));
            let publishing = self.shared.clock.instant(throttle.due().unwrap_or_default().max(now));
            let programs_by = self.programs_by();
            let programs =
                tokio::time::timeout_at(programs_by.unwrap_or(waking), self.shared.programs.wait());
            let message = tokio::select! {
                biased;
                order = orders.recv() => match order { Some(order) => Message::Order(order), None => break },
                event = bytes.recv() => match event { Some(event) => Message::Bytes(event), None => break },
                () = tokio::time::sleep_until(waking), if timer.is_some() => Message::Due,
                _ = second.tick(), if self.second_matters() => Message::Second,
                _ = poll.tick(), if self.polls_ceilings() => Message::Poll,
                _ = tending.tick() => Message::Tend,
                () = self.shared.nudge.notified(), if throttle.hears_changes() => Message::Nudge,
                () = self.shared.counted.notified(), if throttle.due().is_none() => Message::Counted,
                () = tokio::time::sleep_until(publishing), if throttle.due().is_some() => Message::Publish,
                Some(_) = self.jobs.join_next(), if !self.jobs.is_empty() => Message::JobEnded,
                _ = programs, if programs_by.is_some() => Message::ProgramsOver,
            };
            match message {
                Message::Nudge => throttle.note_change(),
                Message::Counted => throttle.note_output(),
                _ => {}
            }
            match self.handle(message) {
                PublishPace::Now => {
                    self.publish();
                    throttle.note_publish(self.shared.clock.now().mono);
                }
                PublishPace::Soon => throttle.note_change(),
                PublishPace::Typed => throttle.note_typing(self.shared.clock.now().mono),
                PublishPace::Same => {}
            }
        }
        self.close().await;
    }

    /// Handles one message; returns how soon its effects must be published.
    fn handle(&mut self, message: Message) -> PublishPace {
        match message {
            // Nobody waits for a command's intermediate steps: whenever a caller is answered, the state is published.
            Message::Order(
                order @ (DriverOrder::Exec { .. }
                | DriverOrder::Started { .. }
                | DriverOrder::StartFailed { .. }
                | DriverOrder::Host { .. }),
            ) => {
                self.order(order);
                return PublishPace::Soon;
            }
            Message::Order(order @ DriverOrder::Input { by: Actor::Operator, .. }) => {
                self.order(order);
                return PublishPace::Typed;
            }
            Message::Order(DriverOrder::Measured { measured }) => return self.apply_measures(measured),
            Message::Order(order) => return PublishPace::now_if(self.order(order)),
            // Whoever has seen the prompt is about to look at the task.
            Message::Bytes(event @ ByteEvent::InputLost(_)) => self.byte_event(event),
            Message::Bytes(event) => {
                self.byte_event(event);
                return PublishPace::Soon;
            }
            Message::Due => self.fire(),
            Message::Second => {
                self.look();
                self.look_for_listeners();
                return PublishPace::now_if(self.tick());
            }
            Message::Publish => {}
            Message::Poll => {
                self.poll_ceilings();
                return PublishPace::Same;
            }
            Message::Tend => {
                self.tend();
                return PublishPace::Same;
            }
            Message::ProgramsOver => {
                self.programs_are_over = true;
                return PublishPace::Same;
            }
            Message::Nudge | Message::Counted | Message::JobEnded => return PublishPace::Same,
        }
        PublishPace::Now
    }

    /// Finalises past recordings and removes those that are too old, on a blocking thread.
    fn tend(&mut self) {
        let shared = self.shared.clone();
        self.jobs.spawn_blocking(move || shared.tend());
    }

    /// Carries out an order; returns whether something shown may have changed.
    fn order(&mut self, order: DriverOrder) -> bool {
        use DriverOrder::*;
        let is_shown = !matches!(order, Known { .. } | Publish { .. } | IsFree { .. } | LaneMoved { .. });
        match order {
            Exec { prepared, within, reply } => start::exec(self, *prepared, within.as_ref(), reply),
            Input { by, id, input, reply } => {
                let _ = reply.send(input::input(self, &by, &id, input));
            }
            Stop { by, id, stop, reply } => {
                let _ = reply.send(self.order_stop(by, id, stop));
            }
            AgentEnded { label } => self.end_left_by(&label),
            Rename { id, name } => self.name_task(id, name),
            Dismiss { id } => self.tasks.remove(&id),
            Ledger { news } => self.ledger_news(*news),
            Known { tasks, reply } => {
                // The requester may be gone.
                let _ = reply.send(Ok(self.unmeasured_tasks(&tasks)));
            }
            Publish { reply } => {
                self.publish();
                let _ = reply.send(Ok(()));
            }
            IsFree { run, within, cost, reply } => {
                let _ = reply.send(Ok(self.supervisor.is_free(&run, within.as_ref(), &cost)));
            }
            Pause { paused: true, from } => self.pause(true, from.as_ref()),
            Pause { paused: false, from } => self.end_pause(from),
            EndPause { shown, from } => self.end_pause_of(&shown, from.as_ref()),
            Step(input) => self.step(input),
            Admit { batch, within, env, reply } => {
                self.admit(*batch, within.as_ref(), &env, reply);
            }
            Decide { shown, decision, from, reply } => self.check_decision(shown, decision, from, reply),
            Costs { found, then } => {
                found.iter().for_each(|(of, found)| self.apply_costs(of, found));
                if let Some(order) = then {
                    self.order(*order);
                }
            }
            CancelForeground { call, by, why } => self.cancel_foreground(call, &by, &why),
            Started { id, running } => start::take_over(self, &id, *running),
            StartFailed { id, error } => start::fail_start(self, &id, error),
            Waiting { seen } => return self.apply_looks(seen),
            Listening { news } => self.apply_listening(news),
            Measured { measured } => return self.apply_measures(measured) != PublishPace::Same,
            Lanes { news } => self.lane_news(news),
            LaneMoved { returned } => self.lane_moved(returned),
            Pass { id } => self.let_pass(&id),
            Explained { id, conflict } => self.settle_failure(&id, conflict),
            Question(order) => self.question(order),
            PassOn { by, id, signal, scope } => self.pass_on(&by, &id, signal, scope),
            CallerResized { by, id } => self.caller_resized(&by, &id),
            CallerGone { id } => self.caller_gone(&id),
            Host { id, event } => self.host_event(id, event),
            Shutdown { closing, reply } => self.begin_shutdown(closing, reply),
        }
        is_shown
    }

    fn begin_shutdown(&mut self, closing: CloseReason, reply: oneshot::Sender<Vec<UnendedProcess>>) {
        self.closing.push(reply);
        self.shared.programs.close();
        self.withdraw_questions();
        self.step(SupervisorInput::Shutdown { closing });
    }

    fn order_stop(&mut self, by: Actor, id: TaskId, stop: Stop) -> Result<StopOutcome, Error> {
        let effect = self.supervisor.stop_effect(&id, stop);
        self.step(SupervisorInput::Stop { id: id.clone(), by, stop, why: None });
        let task = self.view(&id).ok_or(Error::UnknownTask(id))?;
        Ok(StopOutcome { effect, task })
    }

    fn name_task(&mut self, id: TaskId, name: Option<String>) {
        let label = name.as_deref().map(Cow::Borrowed);
        self.shared.note_late(&Fact::Named { task: Cow::Borrowed(&id), name: label });
        if let Some(task) = self.view(&id) {
            self.shared.session().agent_notices.record_name(&task, name.as_deref());
        }
        self.tasks.apply(&id, TaskUpdate::Named(name.clone()));
        self.step(SupervisorInput::Rename { id, name });
    }

    fn now(&self) -> Moment {
        self.shared.clock.now()
    }

    fn step(&mut self, input: SupervisorInput) {
        let actions = self.supervisor.step(self.shared.clock.now(), input);
        self.carry_out(actions);
    }

    fn carry_out(&mut self, actions: Vec<SupervisorAction>) {
        for action in actions {
            match action {
                SupervisorAction::Spawn(id) => start::spawn(self, &id),
                SupervisorAction::Join { id, lane } => self.ask_lane(LaneOrder::Join { id, lane }),
                SupervisorAction::Order(id, order) => self.order_host(&id, &order),
                SupervisorAction::Wake { id, timer, epoch, at } => {
                    self.timers.set(at, Due::Task { id, timer, epoch })
                }
                SupervisorAction::WakeHold { ticket, at } => self.timers.set(at, Due::Hold { ticket }),
                SupervisorAction::Drain(id) if self.is_complete(&id) => {
                    self.step(SupervisorInput::Drained { id })
                }
                SupervisorAction::Drain(id) => self.shared.pump.drain(&id),
                SupervisorAction::Promote(id) => self.answer(&id, ExecOutcome::Promoted),
                SupervisorAction::Queue(id) => {
                    self.queue(&id);
                    self.tell_caller(&id, CallerStage::Held);
                }
                SupervisorAction::EndInput { id, seconds } => self.end_input(&id, seconds),
                SupervisorAction::Hold(id) => self.answer(&id, ExecOutcome::Held),
                SupervisorAction::Refuse { id, note } => self.refuse(&id, note),
                SupervisorAction::Admit { ticket, verdict } => self.tell_batch(ticket, verdict),
                SupervisorAction::Gate(event) => self.note_gate(&event),
                SupervisorAction::Close(id) => self.close_output(&id),
                SupervisorAction::Note(id, event) => self.note(&id, &event),
            }
        }
    }

    fn note(&mut self, id: &TaskId, event: &TaskEvent) {
        if let Some(task) = self.supervisor.get(id) {
            self.shared.session().agent_notices.record_event(task.view(), event);
        }
        self.shared.note(&Fact::Task { task: Cow::Borrowed(id), event: Cow::Borrowed(event) });
        self.leave_lane(id, event);
    }

    /// Returns when the next timer is due.
    fn next_timer(&self) -> Option<Duration> {
        let own = [self.timers.first(), self.lane_jobs.due];
        let timers = own.into_iter().chain([self.questions.machine.next_due(), self.spares.first()]);
        timers.flatten().min()
    }

    /// Carries out what is due.
    fn fire(&mut self) {
        self.late_questions();
        let now = self.now().mono;
        self.prepare_spares(now);
        self.look_at_closed_lanes(now);
        self.expect_no_more(now);
        while let Some(due) = self.timers.take(now) {
            self.step(due);
        }
    }

    /// Returns what is known of live tasks without measuring their processes.
    fn unmeasured_tasks(&self, tasks: &[TaskId]) -> Vec<UnmeasuredTask> {
        let known = |id: &TaskId| {
            let live = self.live.get(id)?;
            let host = live.host.as_ref().and_then(HostHandle::pid);
            Some(UnmeasuredTask { task: id.clone(), host, typed_bytes: live.typed_bytes })
        };
        tasks.iter().filter_map(known).collect()
    }

    /// Spawns work outside the loop; it is awaited on shutdown.
    fn job(&mut self, work: impl Future<Output = ()> + Send + 'static) {
        // Tasks are moved several times while they are spawned.
        self.jobs.spawn(Box::pin(work));
    }

    /// Like `job`, for blocking work.
    fn blocking_job(&mut self, work: impl FnOnce() + Send + 'static) {
        self.jobs.spawn_blocking(work);
    }

    /// Notes it if the login profile of a command has ended its shell before it began.
    fn note_begin(&mut self, id: &TaskId) {
        let login = self.view(id).filter(|task| task.login);
        if login.is_some_and(|task| !script::has_begun(&task.folder)) {
            self.step(SupervisorInput::NotBegun { id: id.clone() });
        }
    }

    fn host_event(&mut self, id: TaskId, event: HostEvent) {
        match &event {
            HostEvent::Exited(_) => {
                self.deliver(&id);
                self.note_begin(&id);
            }
            HostEvent::Ended { .. } | HostEvent::Lost { .. } => {
                let unread = self.live.get(&id).map(|live| live.io.take_unread());
                self.note_lost_input(&id, unread.unwrap_or_default());
            }
            _ => {}
        }
        self.step(match event {
            HostEvent::Counted(counts) => return self.apply_counts(&id, counts),
            HostEvent::Exited(exit) => SupervisorInput::Exited { id, exit },
            HostEvent::AtWork { names } => SupervisorInput::AtWork { id, names },
            HostEvent::Leftovers { names } => SupervisorInput::Leftovers { id, names },
            HostEvent::Ended { survivors } => SupervisorInput::Gone { id, survivors },
            HostEvent::Lost { survivors } => SupervisorInput::HostLost { id, survivors },
        });
    }

    fn order_host(&self, id: &TaskId, order: &HostOrder) {
        let Some(host) = self.live.get(id).and_then(|live| live.host.as_ref()) else { return };
        match order {
            HostOrder::End(grace) => host.end(*grace),
            HostOrder::Finish { leftovers, waits } => host.finish(*leftovers, *waits),
            HostOrder::Signal(signal) => {
                let signal: Signal = (*signal).into();
                host.signal(signal, SignalScope::Foreground);
            }
        }
    }

    fn byte_event(&mut self, event: ByteEvent) {
        match event {
            ByteEvent::Drained(id) => self.step(SupervisorInput::Drained { id }),
            ByteEvent::Delivered(id) => self.note_delivery(&id),
            ByteEvent::InputLost(id) => self.tell_lost_input(&id),
            ByteEvent::Overrun(id) => self.step(SupervisorInput::Overrun { id }),
            ByteEvent::Closed(id) => self.settle(&id),
            ByteEvent::EarlyReply(id, bytes) => self.reply_once_awaited(&id, bytes),
            ByteEvent::ScreenReset(id) => self.step(SupervisorInput::ScreenReset { id }),
        }
    }
}
