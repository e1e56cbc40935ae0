//! Input: written at once to a terminal that takes it, else by the pump as the task takes it; its echo is read before
//! the program's reaction to it.

use rustix::event::epoll::{self, EventFlags};
use rustix::io::Errno;

use super::fd_entry::{READS, WRITER, data_of};
use super::inlet::PIECE;
use super::pump::Worker;
use super::task_io::TaskIo;

/// How many bytes of room an empty queue keeps.
const KEPT: usize = 4_096;

impl TaskIo {
    /// Writes queued input to the terminal that the task's streams are, as far as that takes it now; returns whether
    /// nothing is left for the pump.
    pub(crate) fn write_queued(&self) -> bool {
        let Some(pty) = self.pty.get().filter(|_| self.tty) else { return false };
        let mut typed = self.lock_typed();
        while !typed.bytes.is_empty() {
            match pty.write(typed.bytes.as_slices().0) {
                Ok(written) => drop(typed.bytes.drain(..written)),
                Err(_) => return false,
            }
        }
        !typed.close
    }
}

impl Worker {
    pub(super) fn can_write(&mut self, key: u64, flags: EventFlags) {
        self.write(key);
        // No process has the other end open. epoll would report that again and again, whatever events were requested.
        // A terminal may be opened again, so its writer is kept.
        if flags.intersects(EventFlags::ERR | EventFlags::HUP)
            && let Some(entry) = self.entries.get_mut(&key)
            && let Some(writer) = &entry.writer
        {
            let _ = epoll::delete(&self.poll, writer);
            if flags.contains(EventFlags::ERR) {
                entry.io.lock_typed().close = true;
                entry.writer = None;
            }
        }
    }

    /// Takes what a caller has typed.
    pub(super) fn can_take(&mut self, key: u64) {
        let Some(entry) = self.entries.get_mut(&key) else { return };
        let Some(inlet) = &entry.inlet else { return };
        let mut typed = [0; PIECE];
        match inlet.read(&mut typed) {
            // It was hung up.
            Ok(0) => entry.inlet = None,
            Ok(length) => {
                entry.io.queue_typed(&typed[..length]);
                self.write(key);
            }
            Err(Errno::AGAIN | Errno::INTR) => {}
            Err(_) => entry.inlet = None,
        }
    }

    pub(super) fn write(&mut self, key: u64) {
        let Some(entry) = self.entries.get_mut(&key) else { return };
        let mut typed = entry.io.lock_typed();
        let Some(writer) = &entry.writer else {
            typed.bytes.clear();
            return;
        };
        let mut interest = EventFlags::empty();
        let mut was_typed = false;
        while !typed.bytes.is_empty() {
            match rustix::io::write(writer, typed.bytes.as_slices().0) {
                Ok(written) => {
                    drop(typed.bytes.drain(..written));
                    was_typed = true;
                }
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => {
                    interest = EventFlags::OUT;
                    break;
                }
                // No reader is left: the input is lost, as in any terminal.
                Err(_) => {
                    typed.bytes.clear();
                    typed.close = true;
                }
            }
        }
        if typed.bytes.is_empty() {
            // A long paste has left much room behind.
            typed.bytes.shrink_to(KEPT);
        }
        let data = data_of(key, WRITER);
        if typed.close && typed.bytes.is_empty() {
            let _ = epoll::delete(&self.poll, writer);
            drop(typed);
            entry.writer = None;
        } else {
            let _ = epoll::modify(&self.poll, writer, data, interest);
            let waits = !typed.bytes.is_empty();
            drop(typed);
            entry.inlet.iter_mut().for_each(|inlet| inlet.hold(&self.poll, key, waits));
        }
        if was_typed {
            self.note_input(key);
            self.read_echo(key);
        }
    }

    /// Reads what a terminal beside the streams has echoed of the input just written, before the program's reaction
    /// to it.
    fn read_echo(&mut self, key: u64) {
        let Some(entry) = self.entries.get(&key) else { return };
        if let (Some(aside), Some(pty)) = (entry.aside(), entry.io.pty.get()) {
            pty.settle();
            self.read(key, aside as u64, READS);
        }
    }
}
