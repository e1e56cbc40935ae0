//! Starts a command: resolves where and how it runs, creates its folder, records the intent and spawns it.

use std::borrow::Cow;
use std::ffi::OsString;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::sync::Arc;

use super::order::{Order, Reply};
use super::start_files::{StartFiles, not_entered, root};
use super::{Driver, streams};
use crate::envelope::{TaskId, with_causes};
use crate::journal::Durability;
use crate::model::{Error, Fact, TaskView};
use crate::process::environment::{Environment, Terminals};
use crate::process::{
    ComingHost, Command, CommandOrder, Exact, Profile, Running, SpawnError, Spawner, Stdio, Workdir,
    environment, script, workdir,
};
use crate::runtime::bytes::{TaskIo, TaskIoSpec};
use crate::runtime::native::{Caller, Stage};
use crate::runtime::request::{ExecOutcome, ExecRequest, Marked, Within};
use crate::runtime::shared::Shared;
use crate::runtime::supervisor::{Input, NewTask};
use crate::runtime::task_folder::TaskFolder;
use crate::terminal::Size;

/// A command ready to start: where and how it runs is decided, and its folder and log exist.
#[derive(Debug)]
pub(in crate::runtime) struct Prepared {
    io: Arc<TaskIo>,
    new: Box<NewTask>,
    folder: TaskFolder,
    environment: Environment,
    host: ComingHost,
    caller: Option<Caller>,
}

/// A task about to be created: its id, its host, and whether the host provides a terminal beside the task's streams.
#[derive(Debug)]
pub(in crate::runtime) struct Coming {
    pub(in crate::runtime) id: TaskId,
    pub(in crate::runtime) host: ComingHost,
    pub(in crate::runtime) side_terminal: bool,
}

/// Does the file-system work of a start outside the driver, which must never wait for a disk. If this fails or is
/// dropped, nothing has happened.
pub(in crate::runtime) async fn prepare(
    shared: &Arc<Shared>,
    request: ExecRequest,
    coming: Coming,
    environment: Environment,
) -> Result<Prepared, Error> {
    let (files, request) = StartFiles::find(shared, request, &coming.id).await?;
    Prepared::new(shared, (request, files), coming, environment)
}

impl Prepared {
    /// Adds what the caller of a command from an agent's own shell passed in.
    pub(in crate::runtime) fn called_by(self, caller: Caller) -> Self {
        Self { caller: Some(caller), ..self }
    }
}

/// Accepts a command, or refuses it before anything has happened.
pub(super) fn exec(
    driver: &mut Driver,
    prepared: Prepared,
    within: Option<&Within>,
    reply: Reply<ExecOutcome>,
) {
    let mut prepared = prepared;
    let supervisor = &driver.supervisor;
    prepared.new.behind = within.and_then(|within| supervisor.behind(within));
    if let Some(refusal) = supervisor.refusal(&prepared.new) {
        // The caller may be gone by now; nothing was started.
        let _ = reply.send(Err(refusal));
        return driver.blocking_job(move || drop(prepared));
    }
    let Prepared { io, new, folder, environment, host, caller } = prepared;
    folder.keep();
    let id = new.id.clone();
    driver.shared.viewers.refresh(&io);
    driver.shared.commands().begin(&new.id, &new.request.cmd);
    driver.adopt(io, (environment, host), caller, reply);
    driver.step(Input::Start(new));
    // A command that is held gets another host when it is released.
    if let Some(live) = driver.live.get_mut(&id) {
        live.coming = None;
    }
}

impl Prepared {
    fn new(
        shared: &Shared,
        (request, files): (ExecRequest, StartFiles),
        Coming { id, host, side_terminal }: Coming,
        environment: Environment,
    ) -> Result<Self, Error> {
        let StartFiles { workdir, mut folder } = files;
        let shell = environment::choose_shell(request.shell.as_deref(), environment.get("SHELL"));
        let io = TaskIo::begin(TaskIoSpec {
            id: id.clone(),
            folder: folder.path().to_owned(),
            files: folder.take_files()?,
            tty: request.tty,
            size: request.size.unwrap_or_default(),
            head_bytes: shared.limits.stream_head_bytes,
            tail_bytes: shared.limits.stream_tail_bytes,
            output_bytes: shared.limits.output_bytes,
            clock: shared.clock.clone(),
            counted: shared.counted.clone(),
        });
        let shell = shell.to_string_lossy().into_owned();
        let path = folder.path().to_owned();
        let new = NewTask { id, request, behind: None, workdir, shell, folder: path, side_terminal };
        Ok(Self { io, new: Box::new(new), folder, environment, host, caller: None })
    }
}

/// Starts the process outside the loop, which reports back to the driver by an order.
pub(super) fn spawn(driver: &mut Driver, id: &TaskId) {
    let live = driver.live.get_mut(id);
    let (environment, coming, native) = live.map_or((None, None, None), |live| {
        let native = live.caller.as_mut().and_then(|caller| caller.start.take());
        (live.environment.take(), live.coming.take(), native)
    });
    let (Some(task), Some(view), Some(environment)) =
        (driver.supervisor.get(id), driver.view(id), environment)
    else {
        return;
    };
    let intent = Intent {
        id: id.clone(),
        view,
        cmd: task.request.cmd.clone(),
        login: task.request.login,
        is_step: task.request.step.is_some(),
        native,
        variables: task.request.step.iter().flat_map(|step| step.variables.iter().cloned()).collect(),
        marked: task.request.step.as_ref().map(|step| step.marked.clone()),
        tty: task.request.tty,
        is_asked: task.side_terminal,
        shell: PathBuf::from(&task.shell),
        stdio: if task.request.tty {
            Stdio::Pty { size: task.size }
        } else {
            Stdio::Pipes { stdin: task.request.accepts_input }
        },
        workdir: task.workdir.clone(),
        folder: task.folder.clone(),
        environment,
    };
    let (shared, spawner, own) = (driver.shared.clone(), driver.spawner.clone(), driver.own.clone());
    driver.job(async move {
        let id = intent.id.clone();
        let size = intent.is_asked.then(Size::default);
        let host = coming.unwrap_or_else(|| spawner.begin(Some(id.as_str()), size));
        let order = match intent.start(&shared, &spawner, host).await {
            Ok(running) => Order::Started { id, running: Box::new(running) },
            Err(error) => Order::StartFailed { id, error },
        };
        // The driver is gone only when the runtime has ended, and then the host ends the task.
        let _ = own.send(order).await;
    });
}

/// Takes over a command that its host was told to start: its descriptors, and the events of the host.
pub(super) fn started(driver: &mut Driver, id: &TaskId, running: Running) {
    let Running { pid, io: streams, side, host, mut events } = running;
    if let Some(live) = driver.live.get_mut(id) {
        live.host = Some(host);
        streams::watch(&driver.shared, &live.io, (streams, side), live.caller.as_mut());
        if let (Some(caller), Some(_)) = (&live.caller, pid) {
            caller.tell(Stage::Started);
        }
    }
    let (own, name) = (driver.own.clone(), id.clone());
    driver.job(async move {
        while let Some(event) = events.recv().await {
            if own.send(Order::Host { id: name.clone(), event }).await.is_err() {
                return;
            }
        }
    });
    // Otherwise the only event says that the host is lost.
    if let Some(pid) = pid {
        driver.step(Input::Started { id: id.clone(), pid });
        driver.expect_more(id);
    }
}

/// Ends a task whose command could not be started; the caller gets the error.
pub(super) fn failed(driver: &mut Driver, id: &TaskId, error: Error) {
    let row = (error.start_kind().as_str().to_owned(), error.to_string());
    if let Some(live) = driver.live.get_mut(id) {
        live.start_error = Some(error);
    }
    driver.step(Input::StartFailed { id: id.clone(), error: row });
}

/// A command about to be started.
struct Intent {
    id: TaskId,
    view: Arc<TaskView>,
    cmd: String,
    login: bool,
    is_step: bool,
    /// How and where to start a command from an agent's own shell.
    native: Option<(Exact, OwnedFd)>,
    variables: Vec<(String, String)>,
    marked: Option<Marked>,
    tty: bool,
    /// Whether it has a terminal beside its streams.
    is_asked: bool,
    shell: PathBuf,
    stdio: Stdio,
    workdir: PathBuf,
    folder: PathBuf,
    environment: Environment,
}

impl Intent {
    async fn start(mut self, shared: &Shared, spawner: &Spawner, host: ComingHost) -> Result<Running, Error> {
        let native = self.native.take();
        let (base, umask) = (self.environment.iter().cloned(), self.environment.umask());
        let mut env = match (self.is_step, &native) {
            (_, Some(_)) => environment::for_native(base, &self.id),
            (true, None) => environment::for_step(base, &self.id, &self.variables),
            (false, None) => environment::for_task(base, self.terminals(), &self.id, &shared.env.set),
        };
        if let Some(terminal) = &host.terminal {
            environment::ask_at(&mut env, terminal);
        }
        let failed =
            |error| spawn_error(&error, self.shell.to_string_lossy().into_owned(), self.workdir.clone());
        let handed_over = async {
            let order = self.order((shared, spawner), native, &env, umask);
            let (order, host) = tokio::join!(order, host.ready());
            let (order, mut host) = (order?, host.map_err(failed)?);
            host.instruct(&order).await.map_err(failed)?;
            Ok((host, order))
        };
        // Meanwhile the command's streams are opened, its host comes up and works out how to start it, the start is
        // recorded, and the mark of a program's run is written; the command waits for all of these.
        let (recorded, marked, handed_over) =
            tokio::join!(self.record(shared, &env), self.is_marked(), handed_over);
        recorded?;
        marked?;
        let (host, order) = handed_over?;
        spawner.start(host, order).await.map_err(failed)
    }

    fn terminals(&self) -> Terminals {
        match (self.tty, self.is_asked) {
            (true, _) => Terminals::Own,
            (false, true) => Terminals::Aside,
            (false, false) => Terminals::None,
        }
    }

    /// Prepares everything the command needs from this process.
    async fn order(
        &self,
        (shared, spawner): (&Shared, &Spawner),
        native: Option<(Exact, OwnedFd)>,
        env: &[(OsString, OsString)],
        umask: Option<u32>,
    ) -> Result<CommandOrder, Error> {
        let path = self.workdir.to_string_lossy().into_owned();
        let (exact, place) = match native {
            Some((exact, fd)) => (Some(exact), Workdir { fd, path: self.workdir.clone() }),
            // Reopened right before the start: a directory that was swapped in the meantime is refused.
            None => {
                let place = workdir::resolve(root(shared, self.is_step), &self.workdir, Some(&path));
                (None, place.map_err(|error| not_entered(path, &error))?)
            }
        };
        let (profile, cmd) = match (self.is_step, self.login) {
            (true, _) => {
                let written = script::write(&self.folder, &self.cmd);
                (Profile::Nothing, written.map_err(Error::io("write the command into", &self.folder))?)
            }
            (false, true) => {
                let path = self.environment.get("PATH");
                (Profile::Login, script::with_callers_path(self.cmd.clone(), &self.shell, path))
            }
            (false, false) => (Profile::Usual, self.cmd.clone()),
        };
        let command = Command {
            shell: self.shell.clone(),
            profile,
            cmd,
            workdir: place,
            env: env.to_vec(),
            umask,
            stdio: self.stdio,
            exact,
            folder: self.folder.clone(),
        };
        let shell = self.shell.to_string_lossy().into_owned();
        spawner.order(command).await.map_err(|error| spawn_error(&error, shell, self.workdir.clone()))
    }

    async fn is_marked(&self) -> Result<(), Error> {
        let Some(marked) = &self.marked else { return Ok(()) };
        let unmarked = |reason| Error::Unrecorded { reason, is_full: false };
        marked.on_disk().await.map_err(unmarked)
    }

    async fn record(&self, shared: &Shared, env: &[(OsString, OsString)]) -> Result<(), Error> {
        let names = env.iter().filter_map(|(name, _)| name.to_str()).collect();
        shared.write(&Fact::Start { task: Cow::Borrowed(&self.view), env: names }, Durability::Synced).await
    }
}

fn spawn_error(error: &SpawnError, shell: String, workdir: PathBuf) -> Error {
    let message = with_causes(error);
    match error.exhausted() {
        Some(resource) => Error::Exhausted { resource, message },
        None => Error::Spawn { shell, workdir, message },
    }
}
