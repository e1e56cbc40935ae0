//! Starts commands: opens their streams, starts a task host, hands the command over and waits for the host's report.

use crate::model::Resource;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use std::{fmt, io};

use rustix::io::Errno;
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tokio_util::task::TaskTracker;

use super::creation::PATIENCE;
use super::hosts::{HostProcess, Hosts};
use super::spare::Spares;
use super::streams::CommandStreams;
use crate::config::Ceilings;
use crate::process::environment::TASK_ID;
use crate::process::running::{Control, HostLink, RunningCommand, StartingHost};
use crate::process::stopped_host_watch::StoppedHostWatch;
use crate::process::wire::{self, GoAhead, Spec, StartStage};
use crate::process::{HostedCommand, Pty};
use crate::terminal::Size;

/// Starts commands under task hosts.
#[derive(Debug, Clone)]
pub struct Spawner {
    pub(in crate::process) hosts: Hosts,
    pub(in crate::process) links: TaskTracker,
    pub(in crate::process) spares: Spares,
    stops: Arc<StoppedHostWatch>,
}

/// Why a command was not started.
#[derive(Debug, thiserror::Error)]
pub enum SpawnError {
    /// The system's pseudo-terminals are used up.
    #[error("open a terminal for the command: no pseudo-terminals left")]
    NoTerminals,
    /// The process's or the system's descriptors are used up.
    #[error("open {what} for the command: no file descriptors left")]
    NoDescriptors {
        /// What was being opened.
        what: &'static str,
    },
    /// A terminal or a pipe could not be opened.
    #[error("open {what} for the command")]
    Streams {
        /// What was being opened.
        what: &'static str,
        /// Why it failed.
        source: io::Error,
    },
    /// The task host failed.
    #[error("{action} the task host")]
    Host {
        /// What was attempted.
        action: &'static str,
        /// Why it failed.
        source: io::Error,
    },
    /// The command itself could not be started.
    #[error("{stage} {}", shell.display())]
    Start {
        /// The step that failed.
        stage: StartStage,
        /// The shell as requested.
        shell: PathBuf,
        /// The system's error.
        source: io::Error,
    },
}

impl SpawnError {
    /// Returns the exhausted resource, if that is the reason: the same command may start later.
    pub fn exhausted_resource(&self) -> Option<Resource> {
        match self {
            Self::NoTerminals => Some(Resource::Ptys),
            Self::NoDescriptors { .. } => Some(Resource::Descriptors),
            Self::Streams { what: TERMINAL, source } => {
                Resource::used_up(source).or(Some(Resource::Terminal))
            }
            Self::Streams { source, .. } | Self::Host { source, .. } | Self::Start { source, .. } => {
                Resource::used_up(source)
            }
        }
    }

    pub(in crate::process) fn opening(what: &'static str, source: io::Error) -> Self {
        match Errno::from_io_error(&source) {
            Some(Errno::NOSPC) if what == TERMINAL => Self::NoTerminals,
            Some(Errno::MFILE | Errno::NFILE) => Self::NoDescriptors { what },
            _ => Self::Streams { what, source },
        }
    }
}

pub(in crate::process) const TERMINAL: &str = "a terminal";
pub(in crate::process) const PIPE: &str = "a pipe";

impl fmt::Display for StartStage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Ceilings => "have the kernel hold the ceilings of",
            Self::Process => "make a process for",
            Self::Prepare => "prepare the process of",
            Self::Terminal => "give a controlling terminal to",
            Self::Workdir => "enter the workdir of",
            Self::Exec => "execute",
        })
    }
}

impl Default for Spawner {
    fn default() -> Self {
        Self::new()
    }
}

impl Spawner {
    /// Creates a spawner whose hosts run the current program, even if its file was replaced.
    pub fn new() -> Self {
        Self::with_program(PathBuf::from("/proc/self/exe"))
    }

    /// Creates a spawner whose hosts run another build of the program.
    pub fn with_program(program: PathBuf) -> Self {
        Self::with_hosts(Hosts::of(program))
    }

    /// Creates another spawner, of another runtime, with the same fork server. Draining it does not end that.
    pub fn another(&self) -> Self {
        Self::with_hosts(self.hosts.for_another())
    }

    fn with_hosts(hosts: Hosts) -> Self {
        Self { hosts, links: TaskTracker::new(), spares: Spares::default(), stops: Arc::default() }
    }

    /// Returns the program that its hosts run.
    pub fn program(&self) -> &Path {
        self.hosts.program()
    }

    /// Starts a command. Dropping the future ends whatever it started.
    ///
    /// # Errors
    /// If none of the command has run.
    pub async fn spawn(&self, command: HostedCommand) -> Result<RunningCommand, SpawnError> {
        let task_id = command.env.iter().find(|(name, _)| name == TASK_ID);
        let host = self.prepare(task_id.and_then(|(_, value)| value.to_str())).await?;
        let order = self.order(command).await?;
        self.start(host, order).await
    }

    /// Starts a host for a task that has no command yet. The host does nothing until it gets a command, and exits
    /// when dropped.
    ///
    /// # Errors
    /// If no process can be started.
    pub async fn prepare(&self, task_id: Option<&str>) -> Result<PreparedHost, SpawnError> {
        self.begin(task_id, None).ready().await
    }

    /// Like [`Spawner::prepare`], but concurrent with the caller. For an id from [`Spawner::next_id`], the host may
    /// already be running. With a size, the command gets a controlling terminal beside its streams, unless none can
    /// be opened.
    pub fn begin(&self, task_id: Option<&str>, terminal: Option<Size>) -> ComingHost {
        let side = terminal.and_then(|size| Pty::open_aside(size).ok());
        let terminal = side.as_ref().and_then(|(side, _)| side.path());
        if let Some(host) = task_id.and_then(|id| self.spares.take_for(id)) {
            let coming = HostProgress::Ready(Box::new(PreparedHost { side, ..host }));
            return ComingHost { terminal, coming };
        }
        let (hosts, task_id) = (self.hosts.clone(), task_id.map(str::to_owned));
        let start = |source| SpawnError::Host { action: "start", source };
        // In a task of its own: if nobody waits for it any more, the new host is informed and reaped.
        let coming = HostProgress::Under(self.links.spawn(async move {
            let host = PreparedHost::of(hosts.start(task_id.as_deref(), None).await.map_err(start)?, task_id);
            Ok(PreparedHost { side, ..host })
        }));
        ComingHost { terminal, coming }
    }

    /// Opens a command's streams and encodes the command for its host. Nothing runs yet.
    ///
    /// # Errors
    /// If a stream cannot be opened.
    pub async fn order(&self, command: HostedCommand) -> Result<CommandOrder, SpawnError> {
        let mut command = command;
        let streams = CommandStreams::open(&mut command).await?;
        let spec = wire::encode(&Spec::of(&command))
            .map_err(|source| SpawnError::Host { action: "instruct", source })?;
        let (stdin, descriptors) =
            command.exact.map_or_else(Default::default, |exact| (exact.stdin, exact.descriptors));
        let descriptors = descriptors.into_iter().map(|(_, fd)| fd).collect();
        Ok(CommandOrder {
            spec,
            streams,
            stdin,
            descriptors,
            workdir: command.workdir.fd,
            shell: command.shell,
        })
    }

    /// Starts a command under a prepared host. Dropping the future ends whatever it started.
    ///
    /// # Errors
    /// If none of the command has run: its host was not told to start it, or reported that it could not.
    pub async fn start(
        &self,
        mut host: PreparedHost,
        order: CommandOrder,
    ) -> Result<RunningCommand, SpawnError> {
        host.instruct(&order).await?;
        host.go().await?;
        // Our copies of the command's ends stay open until the command has them: otherwise a terminal's output could
        // be lost.
        let CommandOrder { streams: CommandStreams { io, theirs: _theirs }, shell, .. } = order;
        let PreparedHost { control, process, task_id, side, .. } = host;
        let (side, _side_end) = side.unzip();
        let host = StartingHost { control, process, is_aside: side.is_some(), task_id };
        let spares = self.spares.clone();
        let after = Box::new(move |host| spares.reuse(host));
        let (mut link, host, events) = HostLink::new(host, self.stops.begin(), after);
        let (pid, polled) = match link.start().await {
            Some(Ok((pid, polled))) => {
                self.links.spawn(link.run());
                (Some(pid), polled)
            }
            Some(Err(failure)) => {
                link.reap().await;
                let source = io::Error::from_raw_os_error(failure.errno);
                return Err(SpawnError::Start { stage: failure.stage, shell, source });
            }
            None => {
                // In a task of its own: what was started is found and killed even if nobody waits for that any more.
                let lost = self.links.spawn(link.lose()).await;
                lost.inspect_err(|error| tracing::error!(%error, "what a lost host had started")).ok();
                (None, Ceilings::default())
            }
        };
        Ok(RunningCommand { pid, polled, io, side, host, events })
    }

    /// Waits until every host is gone and reaped, along with the fork server. The hosts must have been ended first.
    pub async fn drain(&self) {
        self.links.close();
        self.links.wait().await;
        self.links.reopen();
        self.end_spares().await;
        self.hosts.close().await;
    }
}

/// A command with its streams, ready to be handed to a host.
#[derive(Debug)]
pub struct CommandOrder {
    spec: Vec<u8>,
    streams: CommandStreams,
    /// Its standard input, if that is its caller's.
    stdin: Option<OwnedFd>,
    /// Its descriptors above the standard streams.
    descriptors: Vec<OwnedFd>,
    workdir: OwnedFd,
    shell: PathBuf,
}

/// A host that is starting up. It exits when this is dropped.
#[derive(Debug)]
pub struct ComingHost {
    coming: HostProgress,
    /// The path of the terminal beside its command's streams.
    pub terminal: Option<PathBuf>,
}

#[derive(Debug)]
enum HostProgress {
    Under(JoinHandle<Result<PreparedHost, SpawnError>>),
    Ready(Box<PreparedHost>),
}

impl ComingHost {
    /// Waits until the host is ready.
    ///
    /// # Errors
    /// If no process can be started.
    pub async fn ready(self) -> Result<PreparedHost, SpawnError> {
        let start = |source| SpawnError::Host { action: "start", source };
        match self.coming {
            HostProgress::Under(coming) => coming.await.map_err(|error| start(error.into()))?,
            HostProgress::Ready(host) => Ok(*host),
        }
    }
}

/// A host that waits for its command. It can be started before the command may run.
#[derive(Debug)]
pub struct PreparedHost {
    control: Control,
    process: HostProcess,
    task_id: Option<String>,
    /// The terminal beside its command's streams, and the command's end of it.
    side: Option<(Pty, OwnedFd)>,
    /// Whether it has received its command.
    is_instructed: bool,
}

impl PreparedHost {
    pub(in crate::process) fn of(
        (control, process): (Control, HostProcess),
        task_id: Option<String>,
    ) -> Self {
        Self { control, process, task_id, side: None, is_instructed: false }
    }

    /// Tells whether it is running and not stopped: a command may have sent it a signal.
    pub(in crate::process) fn is_well(&self) -> bool {
        self.process.is_well()
    }

    /// Drops it and waits until it is gone; kills it if that takes longer than `patience`.
    pub(in crate::process) async fn end(self, patience: Duration) {
        let Self { control, mut process, .. } = self;
        drop(control);
        if timeout(patience, process.wait()).await.is_err() {
            process.start_kill();
            process.wait().await;
        }
    }

    /// Hands the command over, once. Nothing of the command runs until it is started.
    ///
    /// # Errors
    /// If the host does not take it.
    pub async fn instruct(&mut self, order: &CommandOrder) -> Result<(), SpawnError> {
        if self.is_instructed {
            return Ok(());
        }
        self.is_instructed = true;
        let fds: Vec<_> = [&order.workdir]
            .into_iter()
            .chain(&order.stdin)
            .chain(&order.streams.theirs)
            .chain(&order.descriptors)
            .map(OwnedFd::as_fd)
            .collect();
        self.send(&order.spec, &fds).await
    }

    /// Makes the host start the command it was given, with the terminal beside its streams.
    async fn go(&self) -> Result<(), SpawnError> {
        let go =
            wire::encode(&GoAhead::Go).map_err(|source| SpawnError::Host { action: "instruct", source })?;
        let terminal: Vec<_> = self.side.iter().map(|(_, theirs)| theirs.as_fd()).collect();
        self.send(&go, &terminal).await
    }

    async fn send(&self, message: &[u8], fds: &[BorrowedFd<'_>]) -> Result<(), SpawnError> {
        let sent = timeout(PATIENCE, self.control.send(message, fds)).await;
        sent.unwrap_or_else(|late| Err(late.into()))
            .map_err(|source| SpawnError::Host { action: "instruct", source })
    }
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::io::{Read as _, Write as _};
    use std::os::unix::net::UnixStream;
    use std::process::Child;

    use super::*;
    use crate::process::running::Io;
    use crate::process::{HostEvent, ShellProfile, Stdio, workdir};

    /// A process in place of a host, and its end of the control socket.
    fn played() -> (PreparedHost, Child, UnixStream) {
        let (ours, theirs) = UnixStream::pair().expect("a pair");
        ours.set_nonblocking(true).expect("set");
        let process = std::process::Command::new("sleep").arg("1000").spawn().expect("starts");
        let host = HostProcess::of(process.id()).expect("a child");
        (PreparedHost::of((Control::new(ours).expect("watched"), host), None), process, theirs)
    }

    async fn order(spawner: &Spawner) -> CommandOrder {
        let root = std::env::temp_dir().canonicalize().expect("a folder");
        let command = HostedCommand {
            shell: "/bin/sh".into(),
            profile: ShellProfile::Usual,
            cmd: "true".into(),
            text: None,
            workdir: workdir::resolve(&root, &root, None).expect("a folder"),
            env: Vec::new(),
            umask: None,
            stdio: Stdio::Pipes { stdin: false },
            exact: None,
            ceilings: Ceilings::default(),
            must_hold: false,
            folder: root,
        };
        spawner.order(command).await.expect("opened")
    }

    /// Takes the command as a host does, up to the word to start it; returns its standard output.
    fn told(socket: &UnixStream) -> File {
        let (_, fds) = wire::receive::<Spec<'_>>(socket).expect("receives").expect("a command");
        let (GoAhead::Go, _) = wire::receive(socket).expect("receives").expect("the word to start");
        fds.into_iter().nth(1).expect("a stream").into()
    }

    fn printed(running: RunningCommand) -> (Option<u32>, String) {
        let Io::Pipes { stdout, .. } = running.io else { panic!("a terminal") };
        rustix::io::ioctl_fionbio(&stdout, false).expect("set");
        let mut text = String::new();
        File::from(stdout).read_to_string(&mut text).expect("reads to the end");
        (running.pid, text)
    }

    #[tokio::test]
    async fn f54_a_host_that_dies_between_the_word_to_start_and_its_report_leaves_the_start_unknown() {
        let spawner = Spawner::new();
        let (host, mut process, socket) = played();
        let dying = tokio::task::spawn_blocking(move || {
            told(&socket).write_all(b"begun\n").expect("written");
            process.kill().expect("killed");
        });
        let mut running = spawner.start(host, order(&spawner).await).await.expect("no refusal");
        dying.await.expect("joins");
        assert_eq!(running.events.recv().await, Some(HostEvent::Lost { survivors: Vec::new() }));
        assert_eq!(running.events.recv().await, None);
        assert_eq!(printed(running), (None, "begun\n".to_owned()));
    }

    #[tokio::test(start_paused = true)]
    async fn f55_a_host_that_was_stopped_before_its_report_is_given_up_as_any_stopped_host() {
        let spawner = Spawner::new();
        let (host, process, socket) = played();
        let began = tokio::time::Instant::now();
        let stopped = tokio::task::spawn_blocking(move || {
            told(&socket).write_all(b"begun\n").expect("written");
            let pid = i32::try_from(process.id()).ok().and_then(rustix::process::Pid::from_raw);
            rustix::process::kill_process(pid.expect("a pid"), rustix::process::Signal::STOP).expect("sent");
            while !crate::process::tree::is_stopped(process.id()) {
                std::thread::yield_now();
            }
            // It keeps its end of the socket.
            socket
        });
        let mut running = spawner.start(host, order(&spawner).await).await.expect("no refusal");
        let took = began.elapsed();
        drop(stopped.await.expect("joins"));
        assert_eq!(running.events.recv().await, Some(HostEvent::Lost { survivors: Vec::new() }));
        assert_eq!(printed(running), (None, "begun\n".to_owned()));
        // The clock stands still while anything is done.
        assert!(took < 3 * PATIENCE, "{took:?}");
    }

    #[tokio::test]
    async fn f54_a_command_whose_host_died_before_the_order_has_not_begun() {
        let spawner = Spawner::new();
        let (host, mut process, socket) = played();
        process.kill().expect("killed");
        process.wait().expect("gone, with its end of the socket");
        // Not only dropped: a process that another test has just forked may have it for a moment.
        socket.shutdown(std::net::Shutdown::Both).expect("shut down");
        let refused = spawner.start(host, order(&spawner).await).await;
        assert!(matches!(refused, Err(SpawnError::Host { .. })), "{refused:?}");
    }

    #[test]
    fn a_resource_that_is_used_up_is_named() {
        let refused = |what, errno: Errno| SpawnError::opening(what, errno.into());
        let no_terminals = refused(TERMINAL, Errno::NOSPC);
        assert_eq!(no_terminals.to_string(), "open a terminal for the command: no pseudo-terminals left");
        let no_descriptors = refused(PIPE, Errno::MFILE);
        assert_eq!(no_descriptors.to_string(), "open a pipe for the command: no file descriptors left");
        assert_eq!(no_terminals.exhausted_resource(), Some(Resource::Ptys));
        assert_eq!(no_descriptors.exhausted_resource(), Some(Resource::Descriptors));
        assert_eq!(refused(TERMINAL, Errno::IO).exhausted_resource(), Some(Resource::Terminal));
        assert_eq!(refused(PIPE, Errno::IO).exhausted_resource(), None);
    }

    #[test]
    fn f19_a_start_that_failed_for_want_of_processes_may_be_tried_again() {
        let failed =
            |stage, errno: Errno| SpawnError::Start { stage, shell: "/bin/sh".into(), source: errno.into() };
        assert_eq!(failed(StartStage::Process, Errno::AGAIN).exhausted_resource(), Some(Resource::Processes));
        let missing = failed(StartStage::Exec, Errno::NOENT);
        assert_eq!((missing.exhausted_resource(), missing.to_string().as_str()), (None, "execute /bin/sh"));
    }
}
