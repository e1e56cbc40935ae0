//! A started command as the runtime holds it: its streams, the orders to its host, the host's
//! events, and the one async task that carries both.

use std::io;
use std::os::fd::OwnedFd;
use std::time::Duration;

use tokio::io::AsyncWriteExt as _;
use tokio::net::UnixStream;
use tokio::process::Child;
use tokio::sync::mpsc;
use tokio::time::{Instant, Interval, MissedTickBehavior, interval, sleep_until, timeout};

use super::orphans::Search;
use super::wire::{self, Frames, Order, Report};
use super::{ExitStatus, Leftovers, Pty, Scope, Signal, tree};

/// A host has at most four things to say; nothing is ever dropped.
const EVENTS: usize = 8;
/// More orders than a person or an agent can have in flight to one command.
const ORDERS: usize = 64;
/// A host that is this late for what it was ordered, beyond the grace, is stuck: it gives up on
/// unkillable processes after ten seconds itself.
const HOST_PATIENCE: Duration = Duration::from_secs(15);
/// How often it is looked whether a host stands still. Nobody but what it is to end would stop it.
const LOOK_INTERVAL: Duration = Duration::from_secs(2);
/// A host that is found standing still so many times in a row is given up.
const STILL_LOOKS: u32 = 4;

/// A started command.
#[derive(Debug)]
pub struct Running {
    /// The shell's process id; for the console only.
    pub pid: u32,
    /// Our ends of its streams.
    pub io: Io,
    /// Orders to its host.
    pub host: Host,
    /// What its host says. Dropping the receiver ends the command.
    pub events: mpsc::Receiver<HostEvent>,
}

/// Our ends of a command's streams, all non-blocking and close-on-exec.
#[derive(Debug)]
pub enum Io {
    /// Pipes.
    Pipes {
        /// To its standard input, when kept open.
        stdin: Option<OwnedFd>,
        /// From its standard output.
        stdout: OwnedFd,
        /// From its standard error.
        stderr: OwnedFd,
    },
    /// A terminal.
    Pty(Pty),
}

/// What a host says, in this order: `Exited`, then, once `finish` was ordered, `Leftovers` and
/// `Ended`. `Ended` without `Exited` means that not even the shell could be killed. `Lost` may come
/// at any time and is the last.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HostEvent {
    /// The shell ended; other processes may still run and write.
    Exited(ExitStatus),
    /// Who outlived a shell that ended by itself, by name. Being ended, or kept as ordered. Nobody when
    /// the whole tree is being ended on order.
    Leftovers {
        /// The names, one for each process.
        names: Vec<String>,
    },
    /// Nothing is left, and `exit.json` is written.
    Ended {
        /// Who could not be killed, by name.
        survivors: Vec<String>,
    },
    /// The host was killed. What could be found of the command was killed too.
    Lost,
}

/// Orders to the host of one command. They never block and never fail: what they lead to comes as
/// events, and a host that follows none is killed, which is [`HostEvent::Lost`].
#[derive(Debug, Clone)]
pub struct Host {
    pid: Option<u32>,
    orders: mpsc::Sender<Order>,
}

impl Host {
    /// Returns its process id, while it has one.
    #[must_use]
    pub fn pid(&self) -> Option<u32> {
        self.pid
    }

    /// Sends a signal to the processes in `scope`.
    pub fn signal(&self, signal: Signal, scope: Scope) {
        self.order(Order::Signal { signal, scope });
    }

    /// Ends the whole tree: asks, waits `grace`, kills. A second order with a shorter grace shortens
    /// it; without grace the tree is killed at once.
    pub fn end(&self, grace: Duration) {
        self.order(Order::End { grace_ms: u64::try_from(grace.as_millis()).unwrap_or(u64::MAX) });
    }

    /// Says that the output is drained and what becomes of processes that outlived the shell.
    pub fn finish(&self, leftovers: Leftovers) {
        self.order(Order::Finish(leftovers));
    }

    fn order(&self, order: Order) {
        // Full: the host has taken none of the last orders and is about to be given up. Closed: it
        // is gone and the last event says so.
        let _ = self.orders.try_send(order);
    }
}

/// Carries orders and events between the runtime and one host until the host is gone.
pub(super) struct Link {
    control: UnixStream,
    host: Child,
    shell: u32,
    task_id: Option<String>,
    frames: Frames,
    events: mpsc::Sender<HostEvent>,
    orders: mpsc::Receiver<Order>,
    watch: Watch,
    looks: Interval,
    /// How many looks in a row found it standing still.
    still: u32,
}

/// How a link comes to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Parting {
    /// The host said its last word.
    Ended,
    /// Nobody listens to it any more.
    Forgotten,
    /// It is gone without a word, or takes no orders.
    Lost,
}

enum Turn {
    Readable,
    Order(Order),
    Forgotten,
    Late,
    Look,
}

impl Link {
    /// Links a host whose command, with this shell, has started.
    pub(super) fn new(parts: super::spawner::Started) -> (Self, Host, mpsc::Receiver<HostEvent>) {
        let (events, receiver) = mpsc::channel(EVENTS);
        let (sender, orders) = mpsc::channel(ORDERS);
        let pid = parts.host.id();
        let mut looks = interval(LOOK_INTERVAL);
        looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let link = Self {
            control: parts.control,
            host: parts.host,
            shell: parts.shell,
            task_id: parts.task_id,
            frames: parts.frames,
            events,
            orders,
            watch: Watch::default(),
            looks,
            still: 0,
        };
        (link, Host { pid, orders: sender }, receiver)
    }

    /// Runs until the host is gone and reaped.
    pub(super) async fn run(mut self) {
        let parting = self.carry().await;
        let Self { control, mut host, shell, task_id, events, watch, .. } = self;
        // The lifeline: a host that is still there ends the tree now.
        drop(control);
        if parting == Parting::Lost {
            let _ = host.start_kill();
        }
        if timeout(HOST_PATIENCE, host.wait()).await.is_err() {
            let _ = host.start_kill();
            let _ = host.wait().await;
        }
        if parting == Parting::Lost {
            let session = (!watch.shell_gone).then_some(shell);
            let search = Search { session, task_id, since: 0, adopted: true };
            let orphans = tokio::task::spawn_blocking(move || search.end()).await;
            tracing::warn!(shell, ?orphans, "the task host is gone; what it left was killed");
            let _ = events.try_send(HostEvent::Lost);
        }
    }

    async fn carry(&mut self) -> Parting {
        loop {
            // First: what came together with the word of the start is here already.
            match self.pass_on() {
                Ok(false) => {}
                Ok(true) => return Parting::Ended,
                Err(_) => return Parting::Lost,
            }
            let carried = match self.turn().await {
                Turn::Readable => self.read(),
                Turn::Order(order) => self.write(&order).await,
                Turn::Forgotten => return Parting::Forgotten,
                Turn::Late => return Parting::Lost,
                Turn::Look if self.is_still() => return Parting::Lost,
                Turn::Look => Ok(()),
            };
            if carried.is_err() {
                return Parting::Lost;
            }
        }
    }

    async fn turn(&mut self) -> Turn {
        let late = self.watch.deadline();
        tokio::select! {
            biased;
            _ = self.control.readable() => Turn::Readable,
            Some(order) = self.orders.recv() => Turn::Order(order),
            () = self.events.closed() => Turn::Forgotten,
            () = sleep_until(late.unwrap_or_else(Instant::now)), if late.is_some() => Turn::Late,
            _ = self.looks.tick() => Turn::Look,
        }
    }

    /// Tells whether the host has been standing still for too long.
    fn is_still(&mut self) -> bool {
        self.still = if self.host.id().is_some_and(tree::stands_still) { self.still + 1 } else { 0 };
        self.still >= STILL_LOOKS
    }

    fn read(&mut self) -> io::Result<()> {
        let mut bytes = [0; 4096];
        match self.control.try_read(&mut bytes) {
            Ok(0) => Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(read) => {
                self.frames.push(bytes.get(..read).unwrap_or_default());
                Ok(())
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Passes on what the host said; true after its last word.
    fn pass_on(&mut self) -> io::Result<bool> {
        while let Some(report) = self.frames.next()? {
            let event = match report {
                Report::Started { .. } | Report::NotStarted(_) => continue,
                Report::Exited(status) => HostEvent::Exited(status),
                Report::Leftovers { names } => HostEvent::Leftovers { names },
                Report::Ended { survivors } => HostEvent::Ended { survivors },
            };
            self.watch.shell_gone |= matches!(event, HostEvent::Exited(_));
            let is_last = matches!(event, HostEvent::Ended { .. });
            let _ = self.events.try_send(event);
            if is_last {
                return Ok(true);
            }
        }
        Ok(false)
    }

    async fn write(&mut self, order: &Order) -> io::Result<()> {
        self.watch.ordered(order, Instant::now());
        let bytes = wire::encode(order)?;
        timeout(HOST_PATIENCE, self.control.write_all(&bytes)).await?
    }
}

/// Tells when a host is late.
#[derive(Debug, Default)]
struct Watch {
    /// When the grace of what was ordered is over.
    ending: Option<Instant>,
    finishing: Option<Leftovers>,
    shell_gone: bool,
}

impl Watch {
    fn ordered(&mut self, order: &Order, now: Instant) {
        match order {
            Order::Signal { .. } => {}
            Order::End { grace_ms } => {
                let end = now.checked_add(Duration::from_millis(*grace_ms)).unwrap_or(now);
                self.ending = Some(self.ending.map_or(end, |before| before.min(end)));
            }
            Order::Finish(leftovers) => {
                self.finishing = Some(*leftovers);
                if *leftovers == Leftovers::End {
                    self.ending = Some(self.ending.map_or(now, |before| before.max(now)));
                }
            }
        }
    }

    /// Between the shell's end and `finish` the runtime drains: the host owes nothing then.
    fn deadline(&self) -> Option<Instant> {
        let owes = !self.shell_gone || self.finishing.is_some();
        self.ending.filter(|_| owes).map(|ending| ending + HOST_PATIENCE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_is_late_only_for_what_it_was_ordered() {
        let now = Clock::origin();
        let second = Duration::from_secs(1);
        let mut watch = Watch::default();
        assert_eq!(watch.deadline(), None);
        watch.ordered(&Order::End { grace_ms: 5000 }, now);
        assert_eq!(watch.deadline(), Some(now + 5 * second + HOST_PATIENCE));
        watch.ordered(&Order::End { grace_ms: 0 }, now + second);
        assert_eq!(watch.deadline(), Some(now + second + HOST_PATIENCE));
        watch.shell_gone = true;
        assert_eq!(watch.deadline(), None, "the runtime drains");
        watch.ordered(&Order::Finish(Leftovers::End), now + 3 * second);
        assert_eq!(watch.deadline(), Some(now + 3 * second + HOST_PATIENCE));
    }

    #[test]
    fn kept_processes_may_take_for_ever() {
        let mut watch = Watch { shell_gone: true, ..Watch::default() };
        watch.ordered(&Order::Finish(Leftovers::Keep), Clock::origin());
        assert_eq!(watch.deadline(), None);
    }

    struct Clock;

    impl Clock {
        fn origin() -> Instant {
            crate::clock::Clock::start().instant(Duration::ZERO)
        }
    }
}
