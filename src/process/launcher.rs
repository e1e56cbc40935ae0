//! The launcher: the process that a person's shell started and waits for. It ends and stops as the program
//! does, and takes the keeper's place should that be killed.

use std::os::fd::OwnedFd;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, Signal, WaitOptions, WaitStatus, getpid, kill_process, wait};

use super::arrived::{self, Arrived};
use super::guard::{self, ENDING, LAUNCHER};
use super::orphan;
use crate::clock::Clock;

/// Waits for the keeper, which says over `told` who the program is.
pub(super) fn launch(keeper: Pid, told: OwnedFd, signals: &OwnedFd) -> ! {
    guard::settle(LAUNCHER);
    let mut pid = [0; size_of::<i32>()];
    // A keeper that could make no program ends without a word.
    let read = rustix::io::retry_on_intr(|| rustix::io::read(&told, &mut pid));
    let program = read.is_ok_and(|read| read == pid.len()).then(|| i32::from_ne_bytes(pid));
    drop(told);
    let program = program.and_then(Pid::from_raw);
    let mut launcher = Launcher { keeper, program, signals, ended: None };
    let kept = launcher.until_gone(keeper, None);
    let status = match program {
        // The keeper was killed: the program is this process's child now, and was told to end.
        Some(program) if launcher.is_below(program) => {
            guard::send(program, libc::SIGTERM);
            guard::send(program, libc::SIGCONT);
            let at = Clock::start();
            launcher.until_gone(program, Some(&at))
        }
        _ => kept,
    };
    orphan::end_all(program);
    guard::end_as(launcher.ended.or(status))
}

struct Launcher<'a> {
    keeper: Pid,
    program: Option<Pid>,
    signals: &'a OwnedFd,
    /// How the program ended, when the keeper was no longer there to see it.
    ended: Option<WaitStatus>,
}

impl Launcher<'_> {
    /// Waits until a child is gone; with a clock, started now, no longer than a program may take to end.
    fn until_gone(&mut self, child: Pid, ending: Option<&Clock>) -> Option<WaitStatus> {
        loop {
            if let Some(status) = self.reap(child) {
                return status;
            }
            let waited = ending.map(|clock| clock.now().mono);
            if waited.is_some_and(|waited| waited >= ENDING) {
                guard::send(child, libc::SIGKILL);
            }
            let left = waited.and_then(|waited| Timespec::try_from(ENDING.saturating_sub(waited)).ok());
            let mut fds = [PollFd::new(self.signals, PollFlags::IN)];
            let _ = poll(&mut fds, left.as_ref());
            while let Some(arrived) = arrived::next(self.signals) {
                self.take(child, arrived);
            }
        }
    }

    /// Reaps who has ended; returns how `child` has, or `Some(None)` when it is nobody's child any more.
    fn reap(&mut self, child: Pid) -> Option<Option<WaitStatus>> {
        loop {
            match wait(WaitOptions::NOHANG | WaitOptions::UNTRACED) {
                Ok(Some((pid, status))) if status.stopped() => {
                    // A keeper that stands still keeps nothing.
                    if pid == self.keeper {
                        guard::send(pid, libc::SIGCONT);
                    }
                }
                Ok(Some((pid, status))) => {
                    if Some(pid) == self.program {
                        self.ended = Some(status);
                    }
                    if pid == child {
                        return Some(Some(status));
                    }
                }
                Ok(None) => return None,
                Err(rustix::io::Errno::INTR) => {}
                Err(_) => return Some(None),
            }
        }
    }

    fn take(&self, child: Pid, arrived: Arrived) {
        let Arrived { number, sender, is_from_kernel } = arrived;
        match number {
            libc::SIGCHLD => {}
            // The keeper says that the program stopped, or goes on: the shell is to see the same.
            libc::SIGTSTP if sender == self.keeper.as_raw_pid() => {
                let _ = kill_process(getpid(), Signal::STOP);
            }
            libc::SIGCONT if sender == self.keeper.as_raw_pid() => {}
            _ if is_from_kernel => {}
            _ => guard::send(child, number),
        }
    }

    fn is_below(&self, program: Pid) -> bool {
        self.ended.is_none() && super::tree::children(getpid().as_raw_pid()).contains(&program.as_raw_pid())
    }
}
