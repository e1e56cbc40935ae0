//! The driver's state: the live tasks and the callers that wait for them.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinSet;

use super::lane_jobs::LaneJobs;
use super::listening::ListeningLook;
use super::looks::Looks;
use super::order::{DriverOrder, Reply};
use super::start::StartKit;
use super::timers::Timers;
use crate::config::Ceilings;
use crate::envelope::TaskId;
use crate::model::{Error, ExecOutcome, QuestionId, QuestionOutcome, RecordedAnswer, UnendedProcess};
use crate::process::{HostHandle, Spawner};
use crate::runtime::bytes::{Parsers, TaskIo};
use crate::runtime::call_costs::CallCosts;
use crate::runtime::caller_command::WaitingCaller;
use crate::runtime::ended_outputs::EndedOutputs;
use crate::runtime::lanes::LaneQueues;
use crate::runtime::question::QuestionMachine;
use crate::runtime::shared::RuntimeShared;
use crate::runtime::supervisor::Supervisor;
use crate::runtime::task_list::RecentTasks;

/// The driver's state.
pub(in crate::runtime) struct Driver {
    pub(super) shared: Arc<RuntimeShared>,
    pub(super) supervisor: Supervisor,
    pub(super) spawner: Arc<Spawner>,
    pub(super) parsers: Arc<Parsers>,
    pub(super) own: mpsc::Sender<DriverOrder>,
    pub(super) live: HashMap<TaskId, Live>,
    pub(super) tasks: RecentTasks,
    pub(super) outputs: EndedOutputs,
    pub(super) questions: Questions,
    /// Batches waiting for the operator, by ticket.
    pub(super) batches: HashMap<u64, Reply<()>>,
    /// What everything that waits for the operator would cost.
    pub(super) costs: CallCosts,
    /// Whether a pause ends as soon as these are computed again.
    pub(super) ends_pause: bool,
    pub(super) timers: Timers,
    pub(super) spares: SpareTimes,
    // A lock, not a message: only one look at a time holds it, and none waits for it.
    pub(super) listening: Arc<Mutex<ListeningLook>>,
    /// Whether there was a task at the last look.
    pub(super) is_listening: bool,
    /// How many more seconds are looked at although nothing happens.
    pub(super) seconds_left: u8,
    /// Seconds counted while there were tasks.
    pub(super) seconds: u32,
    // A lock, not a message: only one job at a time holds it, and none waits for it.
    pub(super) lanes: Arc<Mutex<LaneQueues>>,
    pub(super) lane_jobs: LaneJobs,
    pub(super) jobs: JoinSet<()>,
    /// Whether the trees of tasks with polled ceilings are being measured.
    pub(super) is_measuring: bool,
    pub(super) closing: Vec<oneshot::Sender<Vec<UnendedProcess>>>,
    /// What could not be ended of the tasks that have ended.
    pub(super) unended: Vec<UnendedProcess>,
    /// The deadline for programs, once every task has ended during shutdown.
    pub(super) programs_by: Option<tokio::time::Instant>,
    /// No program is running by then, or the deadline has passed.
    pub(super) programs_are_over: bool,
}

/// The resources of a live task, beyond its state.
pub(super) struct Live {
    pub(super) io: Arc<TaskIo>,
    pub(super) host: Option<HostHandle>,
    pub(super) waiter: Option<Reply<ExecOutcome>>,
    pub(super) start_error: Option<Error>,
    /// What its command is started with, until then.
    pub(super) kit: Option<StartKit>,
    /// The program that waits for it, if it is a command from an agent's own shell.
    pub(super) caller: Option<WaitingCaller>,
    /// Number of bytes typed into it.
    pub(super) typed_bytes: u64,
    pub(super) looks: Looks,
    /// What it may take, once it starts.
    pub(super) ceilings: Ceilings,
    /// The ceilings that no control group holds.
    pub(super) polled: Option<Ceilings>,
    /// Whether it has a ticket of its lane, or asks for one.
    pub(super) is_in_lane: bool,
    /// Whether its caller was informed that nobody answers its question.
    pub(super) is_told: bool,
    /// Whether it was looked up, after it had failed, who holds a port that it could not have.
    pub(super) is_explained: bool,
}

impl Driver {
    pub(in crate::runtime) fn new(
        shared: Arc<RuntimeShared>,
        spawner: Arc<Spawner>,
        parsers: Arc<Parsers>,
        own: mpsc::Sender<DriverOrder>,
        lanes: PathBuf,
    ) -> Self {
        Self {
            supervisor: Supervisor::new(&shared.limits),
            shared,
            spawner,
            parsers,
            own,
            live: HashMap::new(),
            tasks: RecentTasks::default(),
            outputs: EndedOutputs::default(),
            questions: Questions::default(),
            batches: HashMap::new(),
            costs: CallCosts::default(),
            ends_pause: false,
            timers: Timers::default(),
            spares: SpareTimes::default(),
            listening: Arc::default(),
            is_listening: false,
            seconds_left: 0,
            seconds: 0,
            lanes: Arc::new(Mutex::new(LaneQueues::new(lanes))),
            lane_jobs: LaneJobs::default(),
            jobs: JoinSet::new(),
            is_measuring: false,
            closing: Vec::new(),
            unended: Vec::new(),
            programs_by: None,
            programs_are_over: false,
        }
    }

    pub(super) fn adopt(
        &mut self,
        io: Arc<TaskIo>,
        kit: StartKit,
        caller: Option<WaitingCaller>,
        waiter: Reply<ExecOutcome>,
    ) {
        let id = io.id.clone();
        self.shared.ios().insert(id.clone(), io.clone());
        self.live.insert(
            id,
            Live {
                io,
                host: None,
                waiter: Some(waiter),
                start_error: None,
                kit: Some(kit),
                caller,
                typed_bytes: 0,
                looks: Looks::default(),
                ceilings: Ceilings::default(),
                polled: None,
                is_in_lane: false,
                is_told: false,
                is_explained: false,
            },
        );
    }
}

/// The question state machine, and the callers waiting for its decisions.
#[derive(Debug, Default)]
pub(super) struct Questions {
    pub(super) machine: QuestionMachine,
    pub(super) askers: HashMap<QuestionId, Reply<QuestionOutcome>>,
    pub(super) answerers: HashMap<QuestionId, Reply<RecordedAnswer>>,
}

/// When something is to be done about spare hosts.
#[derive(Debug, Default)]
pub(super) struct SpareTimes {
    /// When they must be prepared.
    pub(super) due: Option<Duration>,
    /// Until when they are kept.
    pub(super) until: Option<Duration>,
}

impl SpareTimes {
    pub(super) fn first(&self) -> Option<Duration> {
        [self.due, self.until].into_iter().flatten().min()
    }
}
