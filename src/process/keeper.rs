//! The keeper: adopts every process that escapes a task, and outlives the program for as long as it takes to end
//! them.

use std::os::fd::OwnedFd;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, WaitOptions, WaitStatus, wait};

use super::detach::{LEAVE, leave_terminal};
use super::forwarding::{ReceivedSignal, SignalForwarding};
use super::guard::{self, DISMISS, ENDING, KEEPER, LauncherHandle};
use super::orphans;
use crate::clock::Clock;

/// Waits until the program is gone, then ends what is left of its tasks, and finally itself.
pub(super) fn keep(
    program: Pid,
    launcher: Option<LauncherHandle>,
    orders: Option<OwnedFd>,
    signals: &OwnedFd,
) -> ! {
    guard::become_guard(KEEPER);
    let forwarding = SignalForwarding::new(launcher.as_ref().map(|launcher| launcher.pid.as_raw_pid()));
    let clock = Clock::start();
    let mut keeper = Keeper { program, launcher, orders, signals, forwarding, clock, kill_at: None };
    let status = keeper.until_the_program_is_gone();
    orphans::end_all(Some(program));
    guard::end_as(Some(status))
}

struct Keeper<'a> {
    program: Pid,
    /// The launcher, until it is gone.
    launcher: Option<LauncherHandle>,
    /// The pipe on which the program reports that it leaves its terminal.
    orders: Option<OwnedFd>,
    signals: &'a OwnedFd,
    forwarding: SignalForwarding,
    clock: Clock,
    /// When to kill a program whose launcher is gone.
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

    /// Reaps ended processes; returns how the program ended. If the program stops, so must the launcher, which the
    /// shell sees.
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

    /// Waits until a signal arrives or the launcher is gone; once the launcher is gone, asks the program to end.
    fn wait_for_signal(&mut self) {
        let now = self.clock.now().mono;
        if self.kill_at.take_if(|at| *at <= now).is_some() {
            guard::send(self.program, libc::SIGKILL);
        }
        let next = self.kill_at.into_iter().chain(self.forwarding.deadline()).min();
        let left = next.and_then(|at| Timespec::try_from(at.saturating_sub(now)).ok());
        let mut fds = vec![PollFd::new(self.signals, PollFlags::IN)];
        fds.extend(self.orders.iter().map(|orders| PollFd::new(orders, PollFlags::IN)));
        fds.extend(self.launcher.iter().map(|launcher| PollFd::new(&launcher.handle, PollFlags::IN)));
        let _ = poll(&mut fds, left.as_ref());
        let mut ready = fds.iter().skip(1).map(|fd| !fd.revents().is_empty());
        let is_ordered = self.orders.is_some() && ready.next() == Some(true);
        let is_launcher_gone = self.launcher.is_some() && ready.next() == Some(true);
        if is_ordered {
            self.take_order();
        }
        if is_launcher_gone && self.launcher.take().is_some() {
            self.kill_at = Some(now + ENDING);
            guard::ask_to_end(self.program);
        }
    }

    /// Reads the program's order: that it detaches, or end-of-file.
    fn take_order(&mut self) {
        let (Some(orders), mut order) = (self.orders.take(), [0]) else { return };
        let read = rustix::io::retry_on_intr(|| rustix::io::read(&orders, &mut order));
        if read != Ok(1) || order != [LEAVE] {
            return;
        }
        // Leave the group first: a launcher that leads the session hangs up on the processes left in it.
        let _ = leave_terminal();
        if let Some(launcher) = self.launcher.take() {
            guard::send(launcher.pid, DISMISS);
        }
        self.forwarding = SignalForwarding::new(None);
    }
}
