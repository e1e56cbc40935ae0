//! When a host that was asked for something is late.

use std::time::Duration;

use tokio::time::Instant;

use super::host_event::HostEvent;
use super::wire::HostRequest;
use crate::model::Leftovers;

/// A host that is this late, beyond the grace period, is stuck: by itself it gives up on unkillable processes after
/// ten seconds.
pub(super) const HOST_PATIENCE: Duration = Duration::from_secs(15);

/// Tracks when a host is late.
#[derive(Debug, Default)]
pub(super) struct LatenessWatch {
    /// When the grace period of a requested end is over.
    ending: Option<Instant>,
    finishing: Option<Leftovers>,
    /// When it should have begun to end what outlived the shell.
    clearing: Option<Instant>,
    pub(super) shell_gone: bool,
}

impl LatenessWatch {
    pub(super) fn note_request(&mut self, request: &HostRequest, now: Instant) {
        match request {
            HostRequest::Signal { .. } | HostRequest::Turn(_) | HostRequest::Next(_) => {}
            HostRequest::End { grace_ms } => {
                let end = now.checked_add(Duration::from_millis(*grace_ms)).unwrap_or(now);
                self.ending = Some(self.ending.map_or(end, |before| before.min(end)));
            }
            HostRequest::Finish { leftovers, .. } => {
                self.finishing = Some(*leftovers);
                self.clearing = (*leftovers == Leftovers::End).then_some(now);
            }
        }
    }

    pub(super) fn note_event(&mut self, event: &HostEvent, now: Instant) {
        match event {
            HostEvent::Exited(_) => self.shell_gone = true,
            HostEvent::AtWork { .. } => self.clearing = None,
            HostEvent::Leftovers { .. } if self.finishing == Some(Leftovers::End) => {
                self.clearing = Some(now)
            }
            HostEvent::Leftovers { .. }
            | HostEvent::Counted(_)
            | HostEvent::Ended { .. }
            | HostEvent::Lost { .. } => {}
        }
    }

    /// Returns when the host is late. Between the shell's end and `finish` the runtime drains the output, so nothing
    /// is expected of the host.
    pub(super) fn deadline(&self) -> Option<Instant> {
        let is_expected = !self.shell_gone || self.finishing.is_some();
        self.ending.max(self.clearing).filter(|_| is_expected).map(|ending| ending + HOST_PATIENCE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_is_late_only_for_what_was_requested() {
        let now = Clock::origin();
        let second = Duration::from_secs(1);
        let mut watch = LatenessWatch::default();
        assert_eq!(watch.deadline(), None);
        watch.note_request(&HostRequest::End { grace_ms: 5000 }, now);
        assert_eq!(watch.deadline(), Some(now + 5 * second + HOST_PATIENCE));
        watch.note_request(&HostRequest::End { grace_ms: 0 }, now + second);
        assert_eq!(watch.deadline(), Some(now + second + HOST_PATIENCE));
        watch.shell_gone = true;
        assert_eq!(watch.deadline(), None, "the runtime drains");
        watch
            .note_request(&HostRequest::Finish { leftovers: Leftovers::End, waits: false }, now + 3 * second);
        assert_eq!(watch.deadline(), Some(now + 3 * second + HOST_PATIENCE));
    }

    #[test]
    fn kept_processes_may_take_for_ever() {
        let mut watch = LatenessWatch { shell_gone: true, ..LatenessWatch::default() };
        watch
            .note_request(&HostRequest::Finish { leftovers: Leftovers::Keep, waits: false }, Clock::origin());
        assert_eq!(watch.deadline(), None);
    }

    #[test]
    fn waiting_for_processes_of_the_command_has_no_deadline_and_ending_them_has_one() {
        let (now, second) = (Clock::origin(), Duration::from_secs(1));
        let mut watch = LatenessWatch { shell_gone: true, ..LatenessWatch::default() };
        watch.note_request(&HostRequest::Finish { leftovers: Leftovers::End, waits: true }, now);
        assert_eq!(watch.deadline(), Some(now + HOST_PATIENCE), "it has to look");
        watch.note_event(&HostEvent::AtWork { names: Vec::new() }, now + second);
        assert_eq!(watch.deadline(), None);
        watch.note_event(&HostEvent::Leftovers { names: Vec::new() }, now + 60 * second);
        assert_eq!(watch.deadline(), Some(now + 60 * second + HOST_PATIENCE));
        watch.note_event(&HostEvent::AtWork { names: Vec::new() }, now);
        watch.note_request(&HostRequest::End { grace_ms: 5000 }, now + second);
        assert_eq!(watch.deadline(), Some(now + 6 * second + HOST_PATIENCE));
    }

    struct Clock;

    impl Clock {
        fn origin() -> Instant {
            crate::clock::Clock::start().instant(Duration::ZERO)
        }
    }
}
