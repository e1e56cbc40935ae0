//! Decides which signals a keeper forwards to the program. Pure. A signal sent to the whole process group has already
//! reached the program; the keeper receives it directly as well, and once more from the launcher.

use std::os::fd::OwnedFd;
use std::time::Duration;

/// How long a signal from the launcher is delayed, in case the same signal arrives directly; both come from the same
/// system call.
const HOLD: Duration = Duration::from_millis(20);
/// How long a direct signal cancels one from the launcher that arrives late.
const REMEMBERED: Duration = Duration::from_secs(1);
/// The size of the kernel's record of one signal, `signalfd_siginfo`.
const RECORD: usize = 128;

/// A blocked signal that was sent to a guard.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ReceivedSignal {
    pub(super) number: i32,
    /// The process that sent it; 0 if no process did.
    pub(super) sender: i32,
    /// Whether the kernel raised it (a key, a hang-up, the end of a child): then every process concerned received it.
    pub(super) is_from_kernel: bool,
}

impl ReceivedSignal {
    /// Takes the next signal from a non-blocking descriptor; `None` if there is none.
    pub(super) fn next(signals: &OwnedFd) -> Option<Self> {
        let mut record = [0; RECORD];
        let read = rustix::io::retry_on_intr(|| rustix::io::read(signals, &mut record)).ok()?;
        Self::parse(record.get(..read)?)
    }

    /// Parses the first fields of a record: number, errno, code, sender.
    fn parse(record: &[u8]) -> Option<Self> {
        let field = |at: usize| Some(i32::from_ne_bytes(record.get(at..at + 4)?.try_into().ok()?));
        Some(Self { number: field(0)?, sender: field(12)?, is_from_kernel: field(8)? > 0 })
    }
}

/// The signals that have been received but not settled yet. Times are monotonic.
#[derive(Debug, Default)]
pub(super) struct SignalForwarding {
    /// The launcher, if there is one: then only its signals are forwarded.
    launcher: Option<i32>,
    held: Vec<(i32, Duration)>,
    direct: Vec<(i32, Duration)>,
}

impl SignalForwarding {
    /// Creates the state of a keeper below the given launcher, or without one.
    pub(super) fn new(launcher: Option<i32>) -> Self {
        Self { launcher, ..Self::default() }
    }

    /// Handles a signal that was received.
    pub(super) fn receive(&mut self, signal: ReceivedSignal, now: Duration) {
        let ReceivedSignal { number, sender, is_from_kernel } = signal;
        self.direct.retain(|(_, at)| now.saturating_sub(*at) < REMEMBERED);
        if is_from_kernel || number == libc::SIGCHLD {
            return;
        }
        match self.launcher {
            Some(launcher) if sender != launcher => {
                self.held.retain(|(held, _)| *held != number);
                self.direct.push((number, now));
            }
            Some(_) if self.direct.iter().any(|(direct, _)| *direct == number) => {
                self.direct.retain(|(direct, _)| *direct != number);
            }
            Some(_) => self.held.push((number, now + HOLD)),
            None => self.held.push((number, now)),
        }
    }

    /// Returns the signals to forward now.
    pub(super) fn due(&mut self, now: Duration) -> Vec<i32> {
        let due = self.held.extract_if(.., |(_, at)| *at <= now);
        due.map(|(number, _)| number).collect()
    }

    /// Returns when the next signal is due.
    pub(super) fn deadline(&self) -> Option<Duration> {
        self.held.iter().map(|(_, at)| *at).min()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LAUNCHER: i32 = 10;
    const SHELL: i32 = 7;
    const TERM: i32 = libc::SIGTERM;

    fn received(number: i32, sender: i32) -> ReceivedSignal {
        ReceivedSignal { number, sender, is_from_kernel: false }
    }

    fn ms(count: u64) -> Duration {
        Duration::from_millis(count)
    }

    #[test]
    fn a_signal_that_only_the_launcher_got_is_forwarded() {
        let mut forwarding = SignalForwarding::new(Some(LAUNCHER));
        forwarding.receive(received(TERM, LAUNCHER), ms(0));
        assert_eq!((forwarding.due(ms(19)), forwarding.deadline()), (vec![], Some(ms(20))));
        assert_eq!((forwarding.due(ms(20)), forwarding.deadline()), (vec![TERM], None));
    }

    #[test]
    fn a_signal_to_the_whole_group_is_not_forwarded_in_whichever_order_it_arrives() {
        for senders in [[SHELL, LAUNCHER], [LAUNCHER, SHELL]] {
            let mut forwarding = SignalForwarding::new(Some(LAUNCHER));
            for (at, sender) in senders.into_iter().enumerate() {
                forwarding.receive(received(TERM, sender), ms(at as u64));
            }
            assert_eq!(forwarding.due(ms(900)), Vec::<i32>::new(), "{senders:?}");
        }
    }

    #[test]
    fn a_direct_signal_cancels_one_from_the_launcher_and_only_for_a_second() {
        let mut forwarding = SignalForwarding::new(Some(LAUNCHER));
        forwarding.receive(received(TERM, SHELL), ms(0));
        forwarding.receive(received(TERM, LAUNCHER), ms(1));
        forwarding.receive(received(TERM, LAUNCHER), ms(5));
        assert_eq!(forwarding.due(ms(25)), [TERM]);
        forwarding.receive(received(TERM, SHELL), ms(30));
        forwarding.receive(received(TERM, LAUNCHER), ms(1_100));
        assert_eq!(forwarding.due(ms(1_120)), [TERM]);
    }

    #[test]
    fn without_a_launcher_all_signals_but_the_kernels_are_forwarded() {
        let mut forwarding = SignalForwarding::new(None);
        forwarding.receive(received(TERM, SHELL), ms(0));
        forwarding.receive(ReceivedSignal { is_from_kernel: true, ..received(libc::SIGINT, 0) }, ms(0));
        forwarding.receive(received(libc::SIGCHLD, SHELL), ms(0));
        assert_eq!(forwarding.due(ms(0)), [TERM]);
    }

    #[test]
    fn the_kernels_record_is_read() {
        let mut record = [0; RECORD];
        record[0] = 15;
        record[12..16].copy_from_slice(&4242_i32.to_ne_bytes());
        let expected = ReceivedSignal { number: 15, sender: 4242, is_from_kernel: false };
        assert_eq!(ReceivedSignal::parse(&record), Some(expected));
        record[8] = 0x80;
        assert_eq!(ReceivedSignal::parse(&record), Some(ReceivedSignal { is_from_kernel: true, ..expected }));
        assert_eq!(ReceivedSignal::parse(&record[..10]), None);
    }
}
