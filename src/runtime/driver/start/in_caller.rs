//! The part of a start that runs in the task of who calls.

use std::sync::Arc;

use super::files::StartFiles;
use crate::consequence::Consequence;
use crate::envelope::TaskId;
use crate::ledger::ComingStart;
use crate::model::{Error, ExecRequest};
use crate::process::environment::{self, Environment};
use crate::process::{ComingHost, claim_controllers};
use crate::runtime::PendingWrite;
use crate::runtime::bytes::{TaskIo, TaskIoSpec};
use crate::runtime::caller_command::WaitingCaller;
use crate::runtime::shared::RuntimeShared;
use crate::runtime::supervisor::NewTask;
use crate::runtime::task_folder::TaskFolder;

/// A command ready to start: where and how it runs is decided, and its folder and log exist.
#[derive(Debug)]
pub(in crate::runtime) struct PreparedStart {
    pub(super) io: Arc<TaskIo>,
    pub(super) new: Box<NewTask>,
    pub(super) folder: TaskFolder,
    pub(super) kit: StartKit,
    pub(super) caller: Option<WaitingCaller>,
}

/// What a command is started with, beside what its task says.
#[derive(Debug)]
pub(in crate::runtime::driver) struct StartKit {
    /// The environment it inherits.
    pub(in crate::runtime::driver) environment: Environment,
    /// Its host, which starts up before it is known whether it will be needed.
    pub(in crate::runtime::driver) host: Option<ComingHost>,
    /// What must be on disk before it begins.
    pub(in crate::runtime::driver) write: Option<PendingWrite>,
    /// Present while it is being started, not while it is held: lets the ledger rest.
    pub(in crate::runtime::driver) coming: Option<ComingStart>,
}

/// A task about to be created: its id, its host, and whether the host provides a terminal beside the task's streams.
#[derive(Debug)]
pub(in crate::runtime) struct StartingTask {
    pub(in crate::runtime) id: TaskId,
    pub(in crate::runtime) host: ComingHost,
    pub(in crate::runtime) side_terminal: bool,
}

/// Does the file-system work of a start outside the driver, which must never wait for a disk. If this fails or is
/// dropped, nothing has happened.
pub(in crate::runtime) async fn prepare(
    shared: &Arc<RuntimeShared>,
    request: ExecRequest,
    StartingTask { id, host, side_terminal }: StartingTask,
    environment: Environment,
) -> Result<PreparedStart, Error> {
    check_ceilings(shared, &request)?;
    shared.ledger.wait_until_read().await;
    let coming = Some(shared.ledger.coming());
    let (StartFiles { workdir, mut folder }, request) = StartFiles::find(shared, request, &id).await?;
    let shell = environment::choose_shell(request.shell.as_deref(), environment.get("SHELL"));
    let shell = shell.to_string_lossy().into_owned();
    let io = TaskIo::begin(TaskIoSpec {
        id: id.clone(),
        folder: folder.path().to_owned(),
        files: folder.take_files()?,
        tty: request.tty,
        answers: !request.has_callers_terminal(),
        size: request.size.unwrap_or_default(),
        head_bytes: shared.limits.stream_head_bytes,
        tail_bytes: shared.limits.stream_tail_bytes,
        output_bytes: shared.limits.output_bytes,
        clock: shared.clock.clone(),
        counted: shared.counted.clone(),
    });
    let path = folder.path().to_owned();
    let lane = shared.limits.lane(&request.cmd).cloned();
    let new = NewTask {
        id,
        request,
        behind: None,
        workdir,
        shell,
        folder: path,
        side_terminal,
        lane,
        cost: Vec::new(),
    };
    let kit = StartKit { environment, host: Some(host), write: None, coming };
    Ok(PreparedStart { io, new: Box::new(new), folder, kit, caller: None })
}

/// Refuses a command whose ceilings must be held by the kernel where it cannot.
fn check_ceilings(shared: &RuntimeShared, request: &ExecRequest) -> Result<(), Error> {
    let limits = &shared.limits;
    if !limits.require || !limits.ceilings(&request.cmd).is_bound() {
        return Ok(());
    }
    claim_controllers().map_err(|reason| Error::NoHardCeiling { reason: reason.to_owned() })
}

impl PreparedStart {
    /// Adds what the caller of a command from an agent's own shell passed in.
    pub(in crate::runtime) fn called_by(self, caller: WaitingCaller) -> Self {
        Self { caller: Some(caller), ..self }
    }

    /// Returns the command and the environment that it inherits, to compute what it would cost.
    pub(in crate::runtime) fn to_cost(&self) -> (&NewTask, &Environment) {
        (&self.new, &self.kit.environment)
    }

    /// Adds what the command would cost, for the rules that ask by it.
    pub(in crate::runtime) fn costs(&mut self, cost: Vec<Consequence>) {
        self.new.cost = cost;
    }

    /// Lets the command wait until `write` is on disk.
    pub(in crate::runtime) fn after(mut self, write: PendingWrite) -> Self {
        self.kit.write = Some(write);
        self
    }
}
