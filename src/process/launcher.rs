//! The launcher: the process that a person's shell started and waits for. It stops and ends when the program does,
//! and takes the keeper's place if that is killed.

use std::os::fd::OwnedFd;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, Signal, WaitOptions, WaitStatus, getpid, kill_process, wait};

use super::forwarding::ReceivedSignal;
use super::guard::{self, DISMISS, ENDING, LAUNCHER};
use super::orphans;
use super::sys;
use crate::clock::Clock;

/// Waits for the keeper, which announces the pid of the program through `announced`.
pub(super) fn launch(keeper: Pid, announced: OwnedFd, signals: &OwnedFd) -> ! {
    guard::become_guard(LAUNCHER);
    let mut pid = [0; size_of::<i32>()];
    // A keeper that could not start the program ends without announcing a pid.
    let read = rustix::io::retry_on_intr(|| rustix::io::read(&announced, &mut pid));
    let program = read.is_ok_and(|read| read == pid.len()).then(|| i32::from_ne_bytes(pid));
    drop(announced);
    let program = program.and_then(Pid::from_raw);
    let mut launcher = Launcher { keeper, program, signals, ended: None };
    let kept = launcher.until_gone(keeper, None);
    let status = match program {
        // The keeper was killed: the program is this process's child now, and gets time to end.
        Some(program) if launcher.is_below(program) => {
            guard::ask_to_end(program);
            let at = Clock::start();
            launcher.until_gone(program, Some(&at))
        }
        _ => kept,
    };
    orphans::end_all(program);
    guard::end_as(launcher.ended.or(status))
}

struct Launcher<'a> {
    keeper: Pid,
    program: Option<Pid>,
    signals: &'a OwnedFd,
    /// How the program ended, if the keeper was no longer there to see it.
    ended: Option<WaitStatus>,
}

impl Launcher<'_> {
    /// Waits until a child is gone; with a clock that was just started, for no longer than a program may take to end.
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
            while let Some(signal) = ReceivedSignal::next(self.signals) {
                self.forward(child, signal);
            }
        }
    }

    /// Reaps ended processes; returns how `child` ended, or `Some(None)` if it is no longer this process's child.
    fn reap(&mut self, child: Pid) -> Option<Option<WaitStatus>> {
        loop {
            match wait(WaitOptions::NOHANG | WaitOptions::UNTRACED) {
                Ok(Some((pid, status))) if status.stopped() => {
                    // A stopped keeper would guard nothing.
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

    fn forward(&self, child: Pid, signal: ReceivedSignal) {
        let ReceivedSignal { number, sender, is_from_kernel } = signal;
        match number {
            libc::SIGCHLD => {}
            // The keeper reports that the program stopped or continued: the shell must see the same of this process.
            libc::SIGTSTP if sender == self.keeper.as_raw_pid() => {
                let _ = kill_process(getpid(), Signal::STOP);
            }
            libc::SIGCONT if sender == self.keeper.as_raw_pid() => {}
            // The program has detached: it and its keeper continue, and the shell shows its prompt.
            DISMISS if sender == self.keeper.as_raw_pid() => sys::exit(0),
            _ if is_from_kernel => {}
            _ => guard::send(child, number),
        }
    }

    fn is_below(&self, program: Pid) -> bool {
        self.ended.is_none() && super::tree::children(getpid().as_raw_pid()).contains(&program.as_raw_pid())
    }
}
