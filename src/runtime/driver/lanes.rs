//! The tasks of this runtime in the queues of their lanes. Their files are read and written outside the loop, in one job
//! at a time, so that tasks draw their tickets in the order they came.

use std::sync::{Arc, PoisonError};
use std::time::Duration;

use super::Driver;
use super::lane_jobs::LaneJobs;
use super::order::DriverOrder;
use crate::envelope::{Actor, TaskId, mask, one_line};
use crate::model::{LaneObstacle, LaneWait, TaskEvent, TaskFact};
use crate::runtime::lanes::{LaneNews, LaneOrder, LaneQueues, QueuePlace, ReturnedTicket};
use crate::runtime::supervisor::SupervisorInput;

/// How often a lane that is closed for lack of memory is looked at: there is no event for the end of that.
const CLOSED: Duration = Duration::from_secs(1);
/// The most characters of a command in the reason why another one waits.
const CMD_CHARS: usize = 60;

impl Driver {
    /// Asks something of a task's lane.
    pub(super) fn ask_lane(&mut self, order: LaneOrder) {
        if let LaneOrder::Join { id, .. } = &order
            && let Some(live) = self.live.get_mut(id)
        {
            live.is_in_lane = true;
        }
        self.lane_jobs.orders.push(order);
        self.settle_lanes();
    }

    /// Lets a waiting task pass, which then counts as running.
    pub(super) fn let_pass(&mut self, id: &TaskId) {
        if self.supervisor.get(id).is_some_and(|task| task.is_in_queue()) {
            self.step(SupervisorInput::Admitted { id: id.clone(), by: Actor::Operator });
            self.ask_lane(LaneOrder::Pass { id: id.clone() });
        }
    }

    /// Gives back the slot of a task, or its place, once the command has ended. What it leaves behind and is kept has
    /// none.
    pub(super) fn leave_lane(&mut self, id: &TaskId, event: &TaskEvent) {
        let is_over = matches!(event.fact, TaskFact::End { .. } | TaskFact::Kept(_));
        let joined = self.live.get_mut(id).filter(|_| is_over);
        if joined.is_some_and(|live| std::mem::take(&mut live.is_in_lane)) {
            self.ask_lane(LaneOrder::Leave { id: id.clone() });
        }
    }

    /// Called when a ticket that a task waited for was returned.
    pub(super) fn lane_moved(&mut self, returned: ReturnedTicket) {
        self.lane_jobs.returned.push(returned);
        self.settle_lanes();
    }

    /// Looks at the lanes that are closed for lack of memory, if it is time.
    pub(super) fn look_at_closed_lanes(&mut self, now: Duration) {
        if self.lane_jobs.due.is_some_and(|due| due <= now) {
            self.lane_jobs.due = None;
            self.start_lane_job();
        }
    }

    fn settle_lanes(&mut self) {
        let LaneJobs { orders, returned, .. } = &self.lane_jobs;
        if !orders.is_empty() || !returned.is_empty() {
            self.start_lane_job();
        }
    }

    fn start_lane_job(&mut self) {
        if std::mem::replace(&mut self.lane_jobs.is_busy, true) {
            return;
        }
        let orders = std::mem::take(&mut self.lane_jobs.orders);
        let returned = std::mem::take(&mut self.lane_jobs.returned);
        let (queues, own) = (self.lanes.clone(), self.own.clone());
        self.blocking_job(move || {
            let teller = own.clone();
            let tell: Arc<dyn Fn(ReturnedTicket) + Send + Sync> = Arc::new(move |returned| {
                // Once the driver is gone, so are the tasks.
                let _ = teller.blocking_send(DriverOrder::LaneMoved { returned });
            });
            let mut queues = queues.lock().unwrap_or_else(PoisonError::into_inner);
            let news = LaneQueues::settle(&mut queues, orders, returned, &tell);
            let _ = own.blocking_send(DriverOrder::Lanes { news });
        });
    }

    /// Applies what came of it.
    pub(super) fn lane_news(&mut self, news: Vec<LaneNews>) {
        self.lane_jobs.is_busy = false;
        self.lane_jobs.due = None;
        for news in news {
            match news {
                LaneNews::Admitted { id } => self.admit_task(id),
                LaneNews::Waits { id, place } => {
                    if place.pressure.is_some() {
                        self.lane_jobs.due = Some(self.now().mono + CLOSED);
                    }
                    let wait = self.lane_wait(place);
                    self.step(SupervisorInput::Queues { id, wait });
                }
                LaneNews::Failed { id, lane, error } => {
                    let at = self.now().wall;
                    let text = format!("lane {lane} cannot be used, so commands start without it: {error}");
                    self.shared.session().notice(at, text, true);
                    self.admit_task(id);
                }
            }
        }
        self.settle_lanes();
    }

    fn admit_task(&mut self, id: TaskId) {
        self.step(SupervisorInput::Admitted { id, by: Actor::System });
    }

    fn lane_wait(&self, place: QueuePlace) -> LaneWait {
        let QueuePlace { lane, slots, running, behind, pressure } = place;
        let before = behind.as_ref().and_then(|id| self.supervisor.get(id));
        let by = match (pressure, before) {
            (Some(percent), _) => LaneObstacle::Pressure(percent),
            (None, Some(task)) => LaneObstacle::Task {
                task: task.id.clone(),
                number: task.number,
                cmd: one_line(mask(&task.cmd).trim(), CMD_CHARS),
            },
            (None, None) => LaneObstacle::Elsewhere,
        };
        LaneWait { lane, running, slots, by }
    }
}
