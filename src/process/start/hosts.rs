//! Starts task hosts: the runtime's side of the fork server, and a host as a child of this process.

use std::io;
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{
    Pid, PidfdFlags, Signal, WaitId, WaitIdOptions, pidfd_open, pidfd_send_signal, waitid,
};
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;
use tokio::process::Child;
use tokio::time::timeout;

use super::creation::PATIENCE;
use super::descriptor_lock::spawning;
use super::fork_server::{FORK, PLACEHOLDER};
use crate::process::cgroup::Cgroup;
use crate::process::environment::{Environment, OsText, TASK_ID, is_for_loader};
use crate::process::peer::is_gone;
use crate::process::running::Control;
use crate::process::wire::{self, HostReport, HostRequest, HostTask};
use crate::process::{sys, tree};

/// The fork server of a runtime, started along with the first host. Clones share it.
#[derive(Debug, Clone)]
pub(in crate::process) struct Hosts {
    program: PathBuf,
    /// Whether other spawners need the server as well.
    is_shared: bool,
    // A lock, not a message: it is held for one `sendmsg`.
    server: Arc<Mutex<Option<ForkServer>>>,
}

#[derive(Debug)]
struct ForkServer {
    orders: UnixStream,
    process: Child,
}

impl Hosts {
    pub(in crate::process) fn of(program: PathBuf) -> Self {
        Self { program, is_shared: false, server: Arc::default() }
    }

    pub(in crate::process) fn for_another(&self) -> Self {
        Self { is_shared: true, ..self.clone() }
    }

    pub(in crate::process) fn program(&self) -> &Path {
        &self.program
    }

    /// Starts a host that waits for its command. `folder` is that of its task, if it exists already.
    ///
    /// # Errors
    /// If none can be started.
    pub(in crate::process) async fn start(
        &self,
        task_id: Option<&str>,
        folder: Option<&Path>,
    ) -> io::Result<(Control, HostProcess)> {
        match self.order(task_id, folder).await {
            // The server may have been killed before it read the order, e.g. by a command, which can do that.
            Err(error) if is_loss(&error) => self.order(task_id, folder).await,
            started => started,
        }
    }

    async fn order(
        &self,
        task_id: Option<&str>,
        folder: Option<&Path>,
    ) -> io::Result<(Control, HostProcess)> {
        let (ours, theirs) = UnixStream::pair()?;
        ours.set_nonblocking(true)?;
        let mut control = Control::new(ours)?;
        self.ensure().await?;
        let server = self.send((task_id, folder), theirs.into())?;
        let report = timeout(PATIENCE, control.receive()).await.unwrap_or_else(|late| Err(late.into()));
        match report {
            Ok(HostReport::Forked { pid }) => Ok((control, HostProcess::of(pid)?)),
            Ok(HostReport::NotForked { errno }) => Err(io::Error::from_raw_os_error(errno)),
            Ok(_) => Err(io::ErrorKind::InvalidData.into()),
            Err(error) => {
                // The server is gone or stuck. A server that was started meanwhile is neither, so leave it alone.
                drop(self.lock().take_if(|other| other.process.id() == server));
                Err(error)
            }
        }
    }

    /// Starts the fork server unless it is running.
    async fn ensure(&self) -> io::Result<()> {
        if self.lock().is_some() {
            return Ok(());
        }
        let hosts = self.clone();
        let started = tokio::task::spawn_blocking(move || {
            let mut server = hosts.lock();
            if server.is_none() {
                *server = Some(ForkServer::start(&hosts.program)?);
            }
            Ok(())
        });
        started.await.map_err(io::Error::from)?
    }

    /// Sends an order; returns the process id of the server that received it.
    fn send(
        &self,
        (task_id, folder): (Option<&str>, Option<&Path>),
        control: OwnedFd,
    ) -> io::Result<Option<u32>> {
        let task = HostTask::of(task_id, folder);
        let mut server = self.lock();
        let ForkServer { orders, process } = server.as_ref().ok_or(io::ErrorKind::BrokenPipe)?;
        let (id, sent) = (process.id(), wire::send(orders, &task, &[control.as_fd()]));
        if sent.is_err() {
            server.take();
        }
        sent.map(|()| id)
    }

    /// Ends the fork server, unless others need it, and waits until it is gone.
    pub(in crate::process) async fn close(&self) {
        if self.is_shared {
            return;
        }
        let Some(ForkServer { orders, mut process }) = self.lock().take() else { return };
        drop(orders);
        if timeout(PATIENCE, process.wait()).await.is_err() {
            // The server is stuck.
            let _ = process.kill().await;
        }
    }

    fn lock(&self) -> MutexGuard<'_, Option<ForkServer>> {
        self.server.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Makes a host whose command has ended the host of another task.
///
/// # Errors
/// If it does not become that.
pub(in crate::process) async fn renew(
    (mut control, process): (Control, HostProcess),
    task_id: &str,
    folder: Option<&Path>,
) -> io::Result<(Control, HostProcess)> {
    let request = wire::encode(&HostRequest::Next(HostTask::of(Some(task_id), folder)))?;
    let renewed = async {
        control.send(&request, &[]).await?;
        control.receive().await
    };
    match timeout(PATIENCE, renewed).await {
        Ok(Ok(HostReport::Forked { .. })) => Ok((control, process)),
        Ok(Err(error)) => Err(error),
        Ok(Ok(_)) => Err(io::ErrorKind::InvalidData.into()),
        Err(late) => {
            process.start_kill();
            Err(late.into())
        }
    }
}

impl HostTask {
    fn of(task_id: Option<&str>, folder: Option<&Path>) -> Self {
        let text = |path: PathBuf| OsText::from(path.into_os_string());
        Self {
            id: task_id.map(str::to_owned),
            group: task_id.and_then(Cgroup::path).map(text),
            folder: folder.map(|folder| text(folder.to_owned())),
        }
    }
}

/// Tells whether an error means that the fork server was lost with an order.
fn is_loss(error: &io::Error) -> bool {
    use io::ErrorKind::{TimedOut, UnexpectedEof, WouldBlock};
    is_gone(error) || matches!(error.kind(), TimedOut | UnexpectedEof | WouldBlock)
}

impl ForkServer {
    /// Runs the program as a fork server with its socket as standard input: no other descriptor has to be inherited,
    /// so nothing has to run between fork and exec.
    fn start(program: &Path) -> io::Result<Self> {
        let (orders, theirs) = UnixStream::pair()?;
        // A server that accepts no orders is stuck.
        orders.set_nonblocking(true)?;
        let mut command = tokio::process::Command::new(program);
        // Commands could read this process's environment through their host, so it is not passed on; only the
        // loader's variables are kept.
        let own = Environment::own();
        let of_loader =
            own.iter().flat_map(Environment::iter).filter(|(name, _)| is_for_loader(name)).cloned();
        command.env_clear().envs(of_loader).env(TASK_ID, PLACEHOLDER);
        command.arg0("pilothouse").args([FORK, PLACEHOLDER]).stdin(OwnedFd::from(theirs));
        command.stdout(Stdio::null()).stderr(Stdio::null()).kill_on_drop(true);
        let _spawning = spawning();
        Ok(Self { orders, process: command.spawn()? })
    }
}

/// A host, as a child of this process. It is reaped even after this value is dropped.
#[derive(Debug)]
pub(in crate::process) struct HostProcess {
    pid: Pid,
    /// Readable once the host has ended; `None` after it was reaped.
    handle: Option<AsyncFd<OwnedFd>>,
}

impl HostProcess {
    pub(in crate::process) fn of(pid: u32) -> io::Result<Self> {
        let pid = i32::try_from(pid).ok().and_then(Pid::from_raw).ok_or(io::ErrorKind::InvalidData)?;
        // Only this process reaps it, so the process id is still its own.
        let handle = sys::watch(pidfd_open(pid, PidfdFlags::empty())?, Interest::READABLE)?;
        Ok(Self { pid, handle: Some(handle) })
    }

    /// Returns its process id, while it has one.
    pub(in crate::process) fn id(&self) -> Option<u32> {
        self.handle.as_ref().map(|_| self.pid.as_raw_nonzero().get().unsigned_abs())
    }

    /// Tells whether it is running: neither ended nor stopped.
    pub(in crate::process) fn is_well(&self) -> bool {
        let Some(handle) = &self.handle else { return false };
        let mut ended = [PollFd::new(handle.get_ref(), PollFlags::IN)];
        let at_once = Timespec { tv_sec: 0, tv_nsec: 0 };
        poll(&mut ended, Some(&at_once)) == Ok(0) && !self.id().is_some_and(tree::is_stopped)
    }

    pub(in crate::process) fn start_kill(&self) {
        if let Some(handle) = &self.handle {
            // A process that has ended needs no signal.
            let _ = pidfd_send_signal(handle.get_ref(), Signal::KILL);
        }
    }

    /// Waits until it has ended, and reaps it. Cancellation-safe.
    pub(in crate::process) async fn wait(&mut self) {
        let Some(handle) = &self.handle else { return };
        if handle.readable().await.is_ok() {
            reap(handle);
        }
        self.handle = None;
    }
}

fn reap(handle: &AsyncFd<OwnedFd>) {
    let _ = waitid(WaitId::PidFd(handle.get_ref().as_fd()), WaitIdOptions::EXITED);
}

impl Drop for HostProcess {
    fn drop(&mut self) {
        let Some(handle) = self.handle.take() else { return };
        // Dropping the rest closes its socket, so it ends. Without a tokio runtime to wait on, this process is ending
        // as well.
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(async move {
                if handle.readable().await.is_ok() {
                    reap(&handle);
                }
            });
        }
    }
}
