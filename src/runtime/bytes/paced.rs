//! The pump's handling of paced terminals: a set of their own, of which some are read in each turn.

use std::sync::Arc;

use rustix::event::{Timespec, epoll};

use super::fd_entry::SLOTS;
use super::pump::Worker;

const AT_ONCE: Timespec = Timespec { tv_sec: 0, tv_nsec: 0 };

impl Worker {
    /// Notes a piece that was read; terminals that are being typed into, or that have ended, are never paced.
    pub(super) fn note_piece(&mut self, key: u64, length: usize) {
        let Some(entry) = self.entries.get(&key) else { return };
        if entry.may_be_paced() && !self.prioritized.contains(&entry.io.id) {
            self.pacing.read(key, length, self.clock.now().mono);
        }
    }

    /// Notes that input was written to a task.
    pub(super) fn note_input(&mut self, key: u64) {
        if self.entries.get(&key).is_some_and(|entry| self.prioritized.contains(&entry.io.id)) {
            self.pacing.note_typing(self.clock.now().mono);
        }
    }

    /// Moves floods to the paced set, and reads some of those in it if it is time; returns whether to quit.
    pub(super) fn read_paced(&mut self) -> bool {
        if self.pacing.is_idle() {
            return false;
        }
        for key in self.pacing.join(self.clock.now().mono) {
            if let Some(entry) = self.entries.get_mut(&key) {
                entry.move_to(&self.paced, key);
            }
        }
        if self.pacing.wait(self.clock.now().mono).is_none_or(|wait| !wait.is_zero()) {
            return false;
        }
        let mut ready = Vec::with_capacity(self.pacing.terminals());
        // An interrupted call has found nothing, and the next turn follows soon.
        let _ = epoll::wait(&self.paced, rustix::buffer::spare_capacity(&mut ready), Some(&AT_ONCE));
        let keys: Vec<u64> = ready.iter().map(|event| event.data.u64() / SLOTS).collect();
        let quits = self.handle(&ready);
        for key in self.pacing.turn(&keys, self.clock.now().mono) {
            self.free(key);
        }
        quits
    }

    /// Stops pacing a task.
    pub(super) fn free(&mut self, key: u64) {
        self.pacing.leave(key);
        if let Some(entry) = self.entries.get_mut(&key)
            && Arc::ptr_eq(&entry.poll, &self.paced)
        {
            entry.move_to(&self.poll, key);
        }
    }
}
