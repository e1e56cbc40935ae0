//! Whether anything has moved in the tree since it was last looked at. Whoever starts a command asks before it begins, and does
//! not wait for a look that is under way.

use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex, PoisonError};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::retry_on_intr;

/// What is known since the last look.
#[derive(Debug, Clone, Default)]
pub(in crate::runtime) struct StillTree(Arc<Mutex<Option<LastLook>>>);

/// A look after which nothing had moved.
#[derive(Debug)]
struct LastLook {
    /// It can be read when something moves.
    inotify: Arc<OwnedFd>,
    number: u64,
}

impl StillTree {
    /// Notes that nothing has moved since the look with this number, unless `inotify` can be read.
    pub(super) fn begin(&self, inotify: Arc<OwnedFd>, number: u64) {
        self.set(Some(LastLook { inotify, number }));
    }

    /// Notes that something may have moved.
    pub(super) fn end(&self) {
        self.set(None);
    }

    fn set(&self, look: Option<LastLook>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = look;
    }

    /// Returns the number of the last look if nothing has moved since.
    pub(super) fn since(&self) -> Option<u64> {
        let look = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let LastLook { inotify, number } = look.as_ref()?;
        let mut ready = [PollFd::new(inotify, PollFlags::IN)];
        let at_once = Timespec { tv_sec: 0, tv_nsec: 0 };
        // A signal says nothing of the tree.
        let is_silent = retry_on_intr(|| poll(&mut ready, Some(&at_once))) == Ok(0);
        is_silent.then_some(*number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tree_is_still_until_an_event_is_reported() {
        let (reader, writer) = std::io::pipe().expect("a pipe");
        let still = StillTree::default();
        assert_eq!(still.since(), None);
        still.begin(Arc::new(reader.into()), 3);
        assert_eq!(still.since(), Some(3));
        std::io::Write::write_all(&mut &writer, b"x").expect("written");
        assert_eq!(still.since(), None);
        still.end();
        assert_eq!(still.since(), None);
    }
}
