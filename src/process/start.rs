//! The host's half of a start: runs the second stage and learns whether it became the command.

use std::io;
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt as _;
use std::process::{Command, Stdio};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitOptions, kill_process, waitpid};

use super::wire::{self, Failure, Spec, Stage};

/// No step of a start takes longer, unless a file system hangs.
pub(super) const PATIENCE: Duration = Duration::from_secs(10);

/// The second stage, waiting for the command it will become. It leaves when this is dropped.
pub(super) struct SecondStage {
    control: UnixStream,
    pid: Pid,
}

/// Runs the second stage, before it is known what it will become: that takes longer than anything else.
pub(super) fn prepare() -> Result<SecondStage, Failure> {
    let failed = |error: io::Error| Stage::Process.failed(error);
    let (control, theirs) = UnixStream::pair().map_err(failed)?;
    let pid = run_second_stage(theirs).map_err(failed)?;
    Ok(SecondStage { control, pid })
}

/// Starts the command of `spec`. Gives up when `lifeline` closes meanwhile.
pub(super) fn start(
    stage: SecondStage,
    spec: &Spec,
    fds: Vec<OwnedFd>,
    lifeline: &UnixStream,
) -> Result<Pid, Failure> {
    let SecondStage { control, pid } = stage;
    let started = hand_over(&control, spec, fds).and_then(|()| outcome(&control, lifeline));
    if started.is_err() {
        let _ = kill_process(pid, Signal::KILL);
        let _ = waitpid(Some(pid), WaitOptions::empty());
    }
    started.map(|()| pid)
}

fn run_second_stage(control: UnixStream) -> io::Result<Pid> {
    let child = Command::new("/proc/self/exe")
        .arg0("pilothouse")
        .arg("__exec")
        .stdin(OwnedFd::from(control))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()?;
    let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    pid.ok_or_else(|| io::ErrorKind::InvalidData.into())
}

fn hand_over(control: &UnixStream, spec: &Spec, fds: Vec<OwnedFd>) -> Result<(), Failure> {
    let borrowed: Vec<_> = fds.iter().map(OwnedFd::as_fd).collect();
    control
        .set_write_timeout(Some(PATIENCE))
        .and_then(|()| wire::send(control, spec, &borrowed))
        .map_err(|error| Stage::Prepare.failed(error))
}

/// Waits for the second stage to fail or to close its socket by becoming the command.
fn outcome(control: &UnixStream, lifeline: &UnixStream) -> Result<(), Failure> {
    let mut fds = [PollFd::new(control, PollFlags::IN), PollFd::new(lifeline, PollFlags::IN)];
    let limit = Timespec::try_from(PATIENCE).map_err(|_| Stage::Exec.failed(Errno::INVAL))?;
    let ready = rustix::io::retry_on_intr(|| poll(&mut fds, Some(&limit)));
    if ready.map_err(|errno| Stage::Exec.failed(errno))? == 0 {
        return Err(Stage::Exec.failed(Errno::TIMEDOUT));
    }
    // The runtime orders nothing before it knows of the start: its end can only have closed.
    if fds[0].revents().is_empty() {
        return Err(Stage::Exec.failed(Errno::CANCELED));
    }
    match wire::receive::<Failure>(control) {
        Ok(None) => Ok(()),
        Ok(Some((failure, _))) => Err(failure),
        Err(error) => Err(Stage::Exec.failed(error)),
    }
}
