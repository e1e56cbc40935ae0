//! The host's half of a start: creates the second stage and finds out whether it became the command.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitOptions, kill_process, waitpid};

use super::second_stage::Launch;
use crate::process::sys;
use crate::process::wire::{self, StartFailure, StartStage};

/// The longest time a step of a start takes, unless a file system hangs.
pub(in crate::process) const PATIENCE: Duration = Duration::from_secs(10);

/// Starts a command in the control group with this folder. Gives up if `lifeline` closes meanwhile.
pub(in crate::process) fn start(
    group: Option<&OwnedFd>,
    launch: &Launch,
    (fds, terminal): (&[OwnedFd], Option<&OwnedFd>),
    lifeline: &UnixStream,
) -> Result<Pid, StartFailure> {
    let failed = |error: io::Error| StartStage::Process.failure(error);
    let (control, theirs) = UnixStream::pair().map_err(failed)?;
    let pid =
        sys::spawn(group.map(AsFd::as_fd), || launch.carry_out(fds, terminal, &theirs)).map_err(failed)?;
    drop(theirs);
    let pid = Pid::from_raw(pid).ok_or_else(|| failed(io::ErrorKind::InvalidData.into()))?;
    let started = outcome(&control, lifeline);
    if started.is_err() {
        let _ = kill_process(pid, Signal::KILL);
        let _ = waitpid(Some(pid), WaitOptions::empty());
    }
    started.map(|()| pid)
}

/// Waits for the second stage to fail or to close its socket by becoming the command.
fn outcome(control: &UnixStream, lifeline: &UnixStream) -> Result<(), StartFailure> {
    let mut fds = [PollFd::new(control, PollFlags::IN), PollFd::new(lifeline, PollFlags::IN)];
    let limit = Timespec::try_from(PATIENCE).map_err(|_| StartStage::Exec.failure(Errno::INVAL))?;
    let ready = rustix::io::retry_on_intr(|| poll(&mut fds, Some(&limit)));
    if ready.map_err(|errno| StartStage::Exec.failure(errno))? == 0 {
        return Err(StartStage::Exec.failure(Errno::TIMEDOUT));
    }
    // The runtime sends nothing before it knows that the start succeeded, so it must have closed its end.
    if fds[0].revents().is_empty() {
        return Err(StartStage::Exec.failure(Errno::CANCELED));
    }
    match wire::receive::<StartFailure>(control) {
        Ok(None) => Ok(()),
        Ok(Some((failure, _))) => Err(failure),
        Err(error) => Err(StartStage::Exec.failure(error)),
    }
}
