//! Which signals a keeper passes on, decided purely. One that went to the whole process group has reached
//! the program already: the keeper got it directly too, and again from the launcher.

use std::time::Duration;

use super::arrived::Arrived;

/// How long the launcher's word waits for a direct one; both come of the same system call.
const HOLD: Duration = Duration::from_millis(20);
/// How long a direct one speaks for a word that comes late.
const REMEMBERED: Duration = Duration::from_secs(1);

/// What has arrived and is not yet settled. Times are monotonic.
#[derive(Debug, Default)]
pub(super) struct Sieve {
    /// The launcher, where there is one: only its word counts then.
    launcher: Option<i32>,
    held: Vec<(i32, Duration)>,
    direct: Vec<(i32, Duration)>,
}

impl Sieve {
    /// Returns the sieve of a keeper below this launcher, or below none.
    pub(super) fn new(launcher: Option<i32>) -> Self {
        Self { launcher, ..Self::default() }
    }

    /// Takes a signal that arrived.
    pub(super) fn take(&mut self, arrived: Arrived, now: Duration) {
        let Arrived { number, sender, is_from_kernel } = arrived;
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

    /// Returns what is to be passed on now.
    pub(super) fn due(&mut self, now: Duration) -> Vec<i32> {
        let due = self.held.extract_if(.., |(_, at)| *at <= now);
        due.map(|(number, _)| number).collect()
    }

    /// Returns when something is due next.
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

    fn arrived(number: i32, sender: i32) -> Arrived {
        Arrived { number, sender, is_from_kernel: false }
    }

    fn ms(count: u64) -> Duration {
        Duration::from_millis(count)
    }

    #[test]
    fn what_only_the_launcher_got_is_passed_on() {
        let mut sieve = Sieve::new(Some(LAUNCHER));
        sieve.take(arrived(TERM, LAUNCHER), ms(0));
        assert_eq!((sieve.due(ms(19)), sieve.deadline()), (vec![], Some(ms(20))));
        assert_eq!((sieve.due(ms(20)), sieve.deadline()), (vec![TERM], None));
    }

    #[test]
    fn what_went_to_the_group_is_not_whichever_word_comes_first() {
        for senders in [[SHELL, LAUNCHER], [LAUNCHER, SHELL]] {
            let mut sieve = Sieve::new(Some(LAUNCHER));
            for (at, sender) in senders.into_iter().enumerate() {
                sieve.take(arrived(TERM, sender), ms(at as u64));
            }
            assert_eq!(sieve.due(ms(900)), Vec::<i32>::new(), "{senders:?}");
        }
    }

    #[test]
    fn a_direct_one_speaks_for_one_word_and_not_for_ever() {
        let mut sieve = Sieve::new(Some(LAUNCHER));
        sieve.take(arrived(TERM, SHELL), ms(0));
        sieve.take(arrived(TERM, LAUNCHER), ms(1));
        sieve.take(arrived(TERM, LAUNCHER), ms(5));
        assert_eq!(sieve.due(ms(25)), [TERM]);
        sieve.take(arrived(TERM, SHELL), ms(30));
        sieve.take(arrived(TERM, LAUNCHER), ms(1_100));
        assert_eq!(sieve.due(ms(1_120)), [TERM]);
    }

    #[test]
    fn without_a_launcher_all_is_passed_on_but_what_the_kernel_made() {
        let mut sieve = Sieve::new(None);
        sieve.take(arrived(TERM, SHELL), ms(0));
        sieve.take(Arrived { is_from_kernel: true, ..arrived(libc::SIGINT, 0) }, ms(0));
        sieve.take(arrived(libc::SIGCHLD, SHELL), ms(0));
        assert_eq!(sieve.due(ms(0)), [TERM]);
    }
}
