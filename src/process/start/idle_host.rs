//! The life of a task host, a copy of the fork server: it waits for a command, starts it, sees it through to its end
//! ([`crate::process::host`]), and is then used for another task, unless something of the command is left.

use std::io::{self, Read as _};
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::ExitCode;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::process::{getpid, ioctl_tiocsctty, set_child_subreaper, setsid};

use super::creation;
use super::second_stage::Launch;
use crate::clock::Clock;
use crate::config::Ceilings;
use crate::model::Exit;
use crate::process::cgroup::Cgroup;
use crate::process::detach::give_up_terminal;
use crate::process::environment::OsText;
use crate::process::exit_record::ExitRecordFile;
use crate::process::host::TaskHost;
use crate::process::survey::SurvivorSurvey;
use crate::process::tree::ProcessEntry;
use crate::process::wire::{self, Frames, GoAhead, HostReport, HostRequest, HostTask, Spec, StartStage};
use crate::process::{EndReason, ExitRecord, ShellProfile, sys};

/// Runs a copy of the fork server as a host, with the control socket as standard input. `rename` names the process
/// after the id of its task.
pub(in crate::process) fn host_main(
    task: HostTask,
    rename: impl Fn(&str) -> io::Result<()>,
) -> io::Result<ExitCode> {
    task.id.as_deref().map_or(Ok(()), &rename)?;
    setsid()?;
    set_child_subreaper(Some(getpid()))?;
    rustix::thread::set_name(c"pilothouse-host")?;
    let control = UnixStream::from(io::stdin().as_fd().try_clone_to_owned()?);
    let mut idle = IdleHost { control, child_signals: sys::child_signals()?, frames: Frames::default() };
    let mut ready = idle.prepare(task);
    warm_up();
    // If a command cannot be started or its host must not be used again, the runtime knows: it got a report, or the
    // socket closes without one.
    while let Some(host) = ready.begin()? {
        let Some(after) = host.run() else { break };
        idle = after;
        let Some(task) = idle.next() else { break };
        // That beside the streams of the command before: nothing else is left in its session, and the hangup is ignored
        // here. If it cannot be given up, the next command does without one.
        let _ = give_up_terminal();
        task.id.as_deref().map_or(Ok(()), &rename)?;
        ready = idle.prepare(task);
        wire::send_now(&ready.host.control, &[HostReport::Forked { pid: std::process::id() }])?;
        ready.host.control.set_nonblocking(false)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// A host that has no task.
pub(in crate::process) struct IdleHost {
    pub(in crate::process) control: UnixStream,
    pub(in crate::process) child_signals: OwnedFd,
    pub(in crate::process) frames: Frames,
}

/// A host that waits for the command of its task.
struct ReadyHost {
    host: IdleHost,
    group: Option<Cgroup>,
    record: Option<ExitRecordFile>,
}

impl IdleHost {
    /// Does for a task what can be done before its command is known.
    fn prepare(self, task: HostTask) -> ReadyHost {
        let group = task.group.and_then(|group| Cgroup::make(group.into_os().into()));
        let record = task.folder.map(|folder| ExitRecordFile::make(folder.into_os().into()));
        ReadyHost { host: self, group, record }
    }

    /// Waits for another task; `None` if the runtime has none and closes the socket.
    fn next(&mut self) -> Option<HostTask> {
        loop {
            match self.frames.next() {
                Ok(Some(HostRequest::Next(task))) => return Some(task),
                // A request about the command that has ended.
                Ok(Some(_)) => {}
                Ok(None) => {
                    let mut bytes = [0; 4096];
                    let _ = poll(&mut [PollFd::new(&self.control, PollFlags::IN)], None);
                    match self.control.read(&mut bytes) {
                        Ok(read @ 1..) => self.frames.push(bytes.get(..read).unwrap_or_default()),
                        Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                        _ => return None,
                    }
                }
                Err(_) => return None,
            }
        }
    }
}

impl ReadyHost {
    /// Receives the command and starts it; `None` if there is none or it could not be started.
    fn begin(self) -> io::Result<Option<TaskHost>> {
        let Self { host: IdleHost { control, child_signals, frames }, group, record } = self;
        let folder = group.as_ref().and_then(Cgroup::folder);
        let Some((spec, fds)) = wire::receive::<Spec<'_>>(&control)? else { return Ok(None) };
        let (tty, has_stdin) = (spec.tty, spec.stdin && !spec.tty);
        let (ceilings, must_hold) = (spec.ceilings, spec.must_hold);
        let record = record.unwrap_or_else(|| ExitRecordFile::make(PathBuf::from(spec.folder.to_os())));
        let launch = Launch::of(spec);
        // The wait is unbounded, because the command may first have to be recorded.
        let Some((GoAhead::Go, terminal)) = wire::receive(&control)? else { return Ok(None) };
        let terminal = terminal.into_iter().next().filter(|terminal| ioctl_tiocsctty(terminal).is_ok());
        let held = folder.as_ref().and(group.as_ref());
        let mut polled = held.map_or(ceilings, |group| group.hold(&ceilings));
        let started = launch.and_then(|launch| {
            if must_hold && polled.is_bound() {
                return Err(StartStage::Ceilings.failure(Errno::OPNOTSUPP));
            }
            creation::start(folder.as_ref(), &launch, (&fds, terminal.as_ref()), &control)
        });
        if let (Ok(pid), true) = (&started, ceilings.is_bound())
            && !held.is_some_and(|group| group.has(*pid))
        {
            polled = ceilings;
        }
        // The workdir and the standard input come before them.
        let survey = SurvivorSurvey::of(fds.get(1 + usize::from(has_stdin)..).unwrap_or_default());
        drop((fds, terminal));
        let report = match &started {
            Ok(pid) => HostReport::Started { pid: pid.as_raw_nonzero().get().unsigned_abs(), polled },
            Err(failure) => HostReport::NotStarted(*failure),
        };
        control.set_nonblocking(true)?;
        let _ = wire::send_now(&control, &[report]);
        let Ok(shell) = started else { return Ok(None) };
        let host = IdleHost { control, child_signals, frames };
        Ok(Some(TaskHost::new(host, shell, tty, (record, group), survey)))
    }
}

/// Goes through the motions of a command once, so that the memory they need is there when one arrives: in a copy of
/// the fork server, each page is mapped or copied when it is first touched.
fn warm_up() {
    let sample = Spec {
        shell: OsText::of("/bin/sh"),
        profile: ShellProfile::Usual,
        cmd: "true".to_owned(),
        text: None,
        args: None,
        inherited: None,
        descriptors: Vec::new(),
        env: vec![(OsText::of("PATH"), OsText::of("/bin"))],
        umask: None,
        tty: false,
        stdin: false,
        descriptor_limit: None,
        ceilings: Ceilings::default(),
        must_hold: false,
        folder: OsText::of("/"),
    };
    let spec = wire::encode(&sample).and_then(|message| wire::decode::<Spec<'_>>(&message));
    let launch = spec.ok().map(Launch::of);
    let now = Clock::start().now().wall;
    let ended = ExitRecord {
        pid: std::process::id(),
        start: ProcessEntry::read(getpid().as_raw_pid()).map_or(0, |own| own.start),
        started_at: now,
        exit: Some(Exit::Code(0)),
        exited_at: Some(now),
        ended_at: now,
        leftovers: Vec::new(),
        survivors: Vec::new(),
        reason: EndReason::Exited,
    };
    let reports =
        [HostReport::Started { pid: 0, polled: Ceilings::default() }, HostReport::Exited(Exit::Code(0))];
    let _ = std::hint::black_box((launch.is_some(), serde_json::to_vec(&ended), wire::encode(&reports)));
}
