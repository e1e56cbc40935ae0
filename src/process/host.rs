//! The task host with a command: one thread that reaps the command's whole tree, ends it on request or when the control
//! socket closes, and writes `exit.json`. No output flows through it, and while anything is due, none of its waits is
//! unbounded.

use std::io::{self, Read as _};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::time::Duration;

use jiff::Timestamp;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{Pid, WaitOptions, WaitStatus, getpid, getsid, wait};

use super::cgroup::Cgroup;
use super::exit_record::ExitRecordFile;
use super::start::idle_host::IdleHost;
use super::survey::SurvivorSurvey;
use super::termination::{Termination, TerminationAction};
use super::tree::{self, ProcessEntry, Remainder};
use super::unended::describe_unended;
use super::wire::{self, Frames, HostReport, HostRequest};
use super::{EndReason, ExitRecord, SignalScope};
use crate::clock::Clock;
use crate::model::{Exit, Signal};

/// How soon after the end of a process the others are looked at: many may end at once.
const AGAIN: Duration = Duration::from_millis(20);

/// Signals that would end or stop the host. A command may send them to every process it can reach.
pub(super) const IGNORED: [libc::c_int; 11] = [
    libc::SIGHUP,
    libc::SIGINT,
    libc::SIGQUIT,
    libc::SIGPIPE,
    libc::SIGALRM,
    libc::SIGTERM,
    libc::SIGUSR1,
    libc::SIGUSR2,
    libc::SIGTSTP,
    libc::SIGTTIN,
    libc::SIGTTOU,
];

/// A host and its running command.
pub(super) struct TaskHost {
    control: UnixStream,
    frames: Frames,
    child_signals: OwnedFd,
    clock: Clock,
    termination: Termination,
    tty: bool,
    record: ExitRecordFile,
    shell: Pid,
    /// The session of the shell.
    session: i32,
    shell_start: u64,
    started_at: Timestamp,
    exited_at: Option<Timestamp>,
    survey: SurvivorSurvey,
    /// Whether it has been reported that processes are still part of the command.
    is_at_work: bool,
    leftovers: Vec<String>,
    /// Whether the leftovers have been reported.
    are_named: bool,
    /// Reports that have not been sent to the runtime yet.
    untold: Vec<HostReport>,
    runtime_gone: bool,
    group: Option<Cgroup>,
}

impl TaskHost {
    /// Takes over a command that has just been started.
    pub(super) fn new(
        host: IdleHost,
        shell: Pid,
        tty: bool,
        (record, group): (ExitRecordFile, Option<Cgroup>),
        survey: SurvivorSurvey,
    ) -> Self {
        let IdleHost { control, child_signals, frames } = host;
        let clock = Clock::start();
        Self {
            control,
            frames,
            child_signals,
            termination: Termination::default(),
            tty,
            record,
            shell,
            session: getsid(Some(shell)).map_or(shell.as_raw_pid(), Pid::as_raw_pid),
            shell_start: ProcessEntry::read(shell.as_raw_pid()).map_or(0, |shell| shell.start),
            started_at: clock.now().wall,
            exited_at: None,
            survey,
            is_at_work: false,
            leftovers: Vec::new(),
            are_named: false,
            untold: Vec::new(),
            runtime_gone: false,
            group,
            clock,
        }
    }

    /// Runs until the command has ended. Returns the host if it can be used again.
    pub(super) fn run(mut self) -> Option<IdleHost> {
        loop {
            let childless = self.reap();
            if !childless {
                self.tell();
                if self.exited_at.is_some() {
                    self.survey.begin(self.clock.now().mono, family);
                }
            }
            let remainder = match childless {
                true => Remainder::Nothing,
                false if self.termination.is_ending() => tree::remainder(&family()),
                false => Remainder::Endable,
            };
            let now = self.clock.now().mono;
            for act in self.termination.due(now, remainder) {
                match act {
                    TerminationAction::Look => self.look(),
                    // If everything has ended by itself, the report at the end says so.
                    TerminationAction::NameLeftovers if childless => {}
                    TerminationAction::NameLeftovers => self.name_leftovers(),
                    TerminationAction::Ask => self.ask(),
                    TerminationAction::Kill => self.kill(),
                    TerminationAction::Exit => return self.finish(childless),
                }
            }
            self.wait();
            self.read_requests();
        }
    }

    /// Reaps ended processes; returns whether none are left.
    fn reap(&mut self) -> bool {
        loop {
            match wait(WaitOptions::NOHANG) {
                Ok(Some((pid, status))) if pid == self.shell => self.shell_ended(status),
                Ok(Some(_)) => self.termination.look_from(self.clock.now().mono + AGAIN),
                Err(Errno::INTR) => {}
                Ok(None) => return false,
                // Every descendant is below a child of this subreaper: without children there is no tree.
                Err(_) => return true,
            }
        }
    }

    fn shell_ended(&mut self, status: WaitStatus) {
        let signal = status.terminating_signal().map(|number| Exit::Signal(Signal::from_number(number)));
        let Some(exit) = status.exit_status().map(Exit::Code).or(signal) else { return };
        // A terminal that disappears with the runtime hangs up its shell, so check first whether the runtime is gone.
        self.read_requests();
        self.termination.shell_ended(exit);
        self.exited_at = Some(self.clock.now().wall);
        if exit == Exit::Signal(Signal::KILL) {
            self.count();
        }
        self.untold.push(HostReport::Exited(exit));
    }

    fn count(&mut self) {
        let counts = self.group.as_ref().and_then(Cgroup::counts);
        self.untold.extend(counts.map(HostReport::Counted));
    }

    /// Finds out whether any of the processes that outlived the shell are still part of the command.
    fn look(&mut self) {
        let at_work = self.survey.look(self.clock.now().mono, family);
        self.termination.note_look(at_work.as_ref().map(|at_work| at_work.again));
        if let Some(at_work) = at_work.filter(|_| !self.is_at_work) {
            self.is_at_work = true;
            self.untold.push(HostReport::AtWork { names: at_work.names });
            self.tell();
        }
    }

    /// Reports which processes outlived a shell that ended by itself. In a tree that is being ended as a whole, the
    /// order of deaths means nothing.
    fn name_leftovers(&mut self) {
        let is_by_itself = self.termination.reason() == EndReason::Exited;
        let names = if is_by_itself { tree::names(&family()) } else { Vec::new() };
        self.are_named = true;
        self.untold.push(HostReport::Leftovers { names: names.clone() });
        self.leftovers = if self.termination.is_keeping() { Vec::new() } else { names };
        self.tell();
    }

    /// Asks all current processes to end; processes that are started later, for cleaning up, are not asked.
    fn ask(&self) {
        let request: &[Signal] = if self.tty { &[Signal::HUP, Signal::TERM] } else { &[Signal::TERM] };
        let everyone = tree::repeat_until_stable(family);
        for signal in request.iter().chain(&[Signal::CONT]) {
            everyone.iter().for_each(|process| process.send(*signal));
        }
    }

    /// Kills all processes: through the control group if there is one, then those outside it.
    fn kill(&self) {
        self.group.iter().for_each(Cgroup::kill);
        tree::kill(family);
    }

    fn finish(mut self, childless: bool) -> Option<IdleHost> {
        let survivors = if childless { Vec::new() } else { describe_unended(&family()) };
        let ended = ExitRecord {
            pid: self.shell.as_raw_nonzero().get().unsigned_abs(),
            start: self.shell_start,
            started_at: self.started_at,
            exit: self.termination.shell(),
            exited_at: self.exited_at,
            ended_at: self.clock.now().wall,
            leftovers: std::mem::take(&mut self.leftovers),
            survivors: survivors.clone(),
            reason: self.termination.reason(),
        };
        if !self.are_named && ended.exit.is_some() {
            self.untold.push(HostReport::Leftovers { names: Vec::new() });
        }
        self.count();
        self.untold.push(HostReport::Ended { survivors });
        // If the record cannot be written (disk full, folder gone), the runtime still gets the report.
        let is_reusable = childless && !self.runtime_gone && ended.reason == EndReason::Exited;
        let Self { record, control, untold, child_signals, frames, .. } = self;
        let _ = record.fill(&ended);
        let _ = wire::send_now(&control, &untold);
        is_reusable.then_some(IdleHost { control, child_signals, frames })
    }

    /// Waits for a request, the end of a child, or the next step that is due.
    fn wait(&self) {
        let now = self.clock.now().mono;
        let until = self.termination.deadline(now).map(|deadline| deadline.saturating_sub(now));
        let timeout = until.and_then(|until| Timespec::try_from(until).ok());
        let mut fds = vec![PollFd::new(&self.child_signals, PollFlags::IN)];
        if !self.runtime_gone {
            fds.push(PollFd::new(&self.control, PollFlags::IN));
        }
        let _ = poll(&mut fds, timeout.as_ref());
        let mut pending = [0; 1024];
        while rustix::io::read(&self.child_signals, &mut pending).is_ok_and(|read| read == pending.len()) {}
    }

    fn read_requests(&mut self) {
        let mut bytes = [0; 4096];
        while !self.runtime_gone {
            match self.control.read(&mut bytes) {
                Ok(read @ 1..) if self.handle(bytes.get(..read).unwrap_or_default()) => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                _ => {
                    self.runtime_gone = true;
                    self.termination.runtime_gone(self.clock.now().mono);
                }
            }
        }
    }

    /// Carries out the requests in the bytes read; returns false if they are invalid.
    fn handle(&mut self, bytes: &[u8]) -> bool {
        self.frames.push(bytes);
        loop {
            match self.frames.next() {
                Ok(Some(request)) => self.carry_out(request),
                Ok(None) => return true,
                Err(_) => return false,
            }
        }
    }

    fn carry_out(&mut self, request: HostRequest) {
        match request {
            HostRequest::Signal { signal, scope } => self.signal(signal, scope),
            HostRequest::End { grace_ms } => {
                self.termination.end(self.clock.now().mono, Duration::from_millis(grace_ms));
            }
            HostRequest::Finish { leftovers, waits } => self.termination.finish(leftovers, waits),
            HostRequest::Turn(turn) => turn.give(),
            // Sent only after the last report.
            HostRequest::Next(_) => {}
        }
    }

    fn signal(&self, signal: Signal, scope: SignalScope) {
        let everyone = tree::repeat_until_stable(family);
        let own = self.shell.as_raw_pid();
        let foreground =
            everyone.iter().find(|process| process.session == self.session).map(|process| process.foreground);
        let group = match scope {
            SignalScope::Shell => {
                return everyone.iter().filter(|process| process.pid == own).for_each(|own| own.send(signal));
            }
            SignalScope::Tree => None,
            SignalScope::Group => Some(own),
            SignalScope::Foreground => Some(foreground.filter(|group| *group > 0).unwrap_or(own)),
        };
        let meant = everyone.iter().filter(|process| group.is_none_or(|group| process.group == group));
        meant.for_each(|process| process.send(signal));
    }

    /// Sends all pending reports to the runtime in one message. If the runtime does not read it, it is about to close
    /// the socket or to give up on this host.
    fn tell(&mut self) {
        if !self.untold.is_empty() {
            let _ = wire::send_now(&self.control, &std::mem::take(&mut self.untold));
        }
    }
}

/// Lists everything below this host.
fn family() -> Vec<ProcessEntry> {
    tree::descendants(getpid().as_raw_pid())
}
