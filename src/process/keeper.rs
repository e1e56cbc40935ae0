//! The keeper: adopts whatever leaves a task and outlives the program by as long as it takes to end that.

use std::os::fd::OwnedFd;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, WaitOptions, WaitStatus, wait};

use super::guard::{self, Above, ENDING, KEEPER};
use super::sieve::Sieve;
use super::{arrived, orphan};
use crate::clock::Clock;

/// Keeps the program until it is gone, then ends what is left of its tasks, and itself.
pub(super) fn keep(program: Pid, above: Option<Above>, signals: &OwnedFd) -> ! {
    guard::settle(KEEPER);
    let sieve = Sieve::new(above.as_ref().map(|above| above.pid.as_raw_pid()));
    let mut keeper = Keeper { program, above, signals, sieve, clock: Clock::start(), kill_at: None };
    let status = keeper.until_the_program_is_gone();
    orphan::end_all(Some(program));
    guard::end_as(Some(status))
}

struct Keeper<'a> {
    program: Pid,
    /// The launcher, until it is gone.
    above: Option<Above>,
    signals: &'a OwnedFd,
    sieve: Sieve,
    clock: Clock,
    /// When a program whose launcher is gone has had the time to end.
    kill_at: Option<Duration>,
}

impl Keeper<'_> {
    fn until_the_program_is_gone(&mut self) -> WaitStatus {
        loop {
            if let Some(status) = self.reap() {
                return status;
            }
            self.rest();
            let now = self.clock.now().mono;
            while let Some(arrived) = arrived::next(self.signals) {
                self.sieve.take(arrived, now);
            }
            self.sieve.due(now).into_iter().for_each(|number| guard::send(self.program, number));
        }
    }

    /// Reaps who has ended; returns how the program has. Its stops are the launcher's, whom the shell sees.
    fn reap(&self) -> Option<WaitStatus> {
        let watched = WaitOptions::NOHANG | WaitOptions::UNTRACED | WaitOptions::CONTINUED;
        while let Ok(Some((pid, status))) = wait(watched) {
            if pid != self.program {
                continue;
            }
            if status.stopped() {
                self.tell(libc::SIGTSTP);
            } else if status.continued() {
                self.tell(libc::SIGCONT);
            } else {
                return Some(status);
            }
        }
        None
    }

    fn tell(&self, number: i32) {
        if let Some(above) = &self.above {
            guard::send(above.pid, number);
        }
    }

    /// Rests until a signal comes or the launcher goes; without it the program is asked to end.
    fn rest(&mut self) {
        let now = self.clock.now().mono;
        if self.kill_at.take_if(|at| *at <= now).is_some() {
            guard::send(self.program, libc::SIGKILL);
        }
        let next = self.kill_at.into_iter().chain(self.sieve.deadline()).min();
        let left = next.and_then(|at| Timespec::try_from(at.saturating_sub(now)).ok());
        let mut fds = vec![PollFd::new(self.signals, PollFlags::IN)];
        fds.extend(self.above.iter().map(|above| PollFd::new(&above.handle, PollFlags::IN)));
        let _ = poll(&mut fds, left.as_ref());
        if fds.get(1).is_some_and(|launcher| !launcher.revents().is_empty()) {
            drop(fds);
            self.above = None;
            self.kill_at = Some(now + ENDING);
            guard::send(self.program, libc::SIGTERM);
            guard::send(self.program, libc::SIGCONT);
        }
    }
}
