//! The keeper: adopts every process that escapes a task, and outlives the program for as long as it takes to end
//! them.

use std::os::fd::OwnedFd;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, WaitOptions, WaitStatus, wait};

use super::forwarding::{Forwarding, ReceivedSignal};
use super::guard::{self, ENDING, KEEPER, Launcher};
use super::orphans;
use crate::clock::Clock;

/// Waits until the program is gone, then ends what is left of its tasks, and itself.
pub(super) fn keep(program: Pid, launcher: Option<Launcher>, signals: &OwnedFd) -> ! {
    guard::become_guard(KEEPER);
    let forwarding = Forwarding::new(launcher.as_ref().map(|launcher| launcher.pid.as_raw_pid()));
    let mut keeper = Keeper { program, launcher, signals, forwarding, clock: Clock::start(), kill_at: None };
    let status = keeper.until_the_program_is_gone();
    orphans::end_all(Some(program));
    guard::end_as(Some(status))
}

struct Keeper<'a> {
    program: Pid,
    /// The launcher, until it is gone.
    launcher: Option<Launcher>,
    signals: &'a OwnedFd,
    forwarding: Forwarding,
    clock: Clock,
    /// When a program whose launcher is gone is killed.
    kill_at: Option<Duration>,
}

impl Keeper<'_> {
    fn until_the_program_is_gone(&mut self) -> WaitStatus {
        loop {
            if let Some(status) = self.reap() {
                return status;
            }
            self.wait_for_signal();
            let now = self.clock.now().mono;
            while let Some(signal) = ReceivedSignal::next(self.signals) {
                self.forwarding.receive(signal, now);
            }
            self.forwarding.due(now).into_iter().for_each(|number| guard::send(self.program, number));
        }
    }

    /// Reaps what has ended; returns how the program ended. When it stops, so must the launcher, which the shell sees.
    fn reap(&self) -> Option<WaitStatus> {
        let watched = WaitOptions::NOHANG | WaitOptions::UNTRACED | WaitOptions::CONTINUED;
        while let Ok(Some((pid, status))) = wait(watched) {
            if pid != self.program {
                continue;
            }
            if status.stopped() {
                self.notify_launcher(libc::SIGTSTP);
            } else if status.continued() {
                self.notify_launcher(libc::SIGCONT);
            } else {
                return Some(status);
            }
        }
        None
    }

    fn notify_launcher(&self, number: i32) {
        if let Some(launcher) = &self.launcher {
            guard::send(launcher.pid, number);
        }
    }

    /// Waits until a signal comes or the launcher is gone; without a launcher the program is asked to end.
    fn wait_for_signal(&mut self) {
        let now = self.clock.now().mono;
        if self.kill_at.take_if(|at| *at <= now).is_some() {
            guard::send(self.program, libc::SIGKILL);
        }
        let next = self.kill_at.into_iter().chain(self.forwarding.deadline()).min();
        let left = next.and_then(|at| Timespec::try_from(at.saturating_sub(now)).ok());
        let mut fds = vec![PollFd::new(self.signals, PollFlags::IN)];
        fds.extend(self.launcher.iter().map(|launcher| PollFd::new(&launcher.handle, PollFlags::IN)));
        let _ = poll(&mut fds, left.as_ref());
        if fds.get(1).is_some_and(|launcher| !launcher.revents().is_empty()) {
            drop(fds);
            self.launcher = None;
            self.kill_at = Some(now + ENDING);
            guard::ask_to_end(self.program);
        }
    }
}
