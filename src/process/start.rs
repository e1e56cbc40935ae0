//! The host's half of a start: forks the second stage and finds out whether it became the command.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitOptions, kill_process, waitpid};

use super::cgroup::Cgroup;
use super::wire::{self, Failure, Stage};
use super::{exec, sys};

/// No step of a start takes longer than this, unless a file system hangs.
pub(super) const PATIENCE: Duration = Duration::from_secs(10);

/// The second stage, waiting for the command it will become. It exits when this is dropped.
pub(super) struct SecondStage {
    control: UnixStream,
    pid: Pid,
}

/// Forks the second stage into the control group of its command, before the command is known.
pub(super) fn prepare(group: Option<&Cgroup>) -> Result<SecondStage, Failure> {
    let failed = |error: io::Error| Stage::Process.failed(error);
    let (control, theirs) = UnixStream::pair().map_err(failed)?;
    let folder = group.and_then(Cgroup::folder);
    let pid = sys::fork(folder.as_ref().map(AsFd::as_fd), || exec::second_stage(&theirs)).map_err(failed)?;
    let pid = Pid::from_raw(pid).ok_or_else(|| failed(io::ErrorKind::InvalidData.into()))?;
    Ok(SecondStage { control, pid })
}

/// Starts the command of `spec`, as it came. Gives up when `lifeline` closes meanwhile.
pub(super) fn start(
    stage: SecondStage,
    spec: &[u8],
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

fn hand_over(control: &UnixStream, spec: &[u8], fds: Vec<OwnedFd>) -> Result<(), Failure> {
    let borrowed: Vec<_> = fds.iter().map(OwnedFd::as_fd).collect();
    control
        .set_write_timeout(Some(PATIENCE))
        .and_then(|()| wire::send_encoded(control, spec, &borrowed))
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
    // The runtime sends nothing before it knows that the start succeeded: it can only have closed its end.
    if fds[0].revents().is_empty() {
        return Err(Stage::Exec.failed(Errno::CANCELED));
    }
    match wire::receive::<Failure>(control) {
        Ok(None) => Ok(()),
        Ok(Some((failure, _))) => Err(failure),
        Err(error) => Err(Stage::Exec.failed(error)),
    }
}
