//! Input: written at once to a terminal that takes it, else by the pump as the task takes it; its echo is read before
//! the program's reaction to it.

use std::os::fd::OwnedFd;
use std::sync::Arc;

use rustix::event::epoll::{self, EventFlags};
use rustix::io::Errno;

use super::event::ByteEvent;
use super::fd_entry::{READS, WRITER, data_of};
use super::inlet::PIECE;
use super::input_queue::InputRefusal;
use super::pump::Worker;
use super::task_io::TaskIo;
use crate::model::{InputLoss, LostInput, MOST_INPUT, UnreadInput};
use crate::process::Pty;

/// The longest line that a terminal in canonical mode accepts; the kernel silently truncates longer ones.
pub(crate) const MOST_LINE: usize = 4_095;
/// How many bytes of room an empty queue keeps.
const KEPT: usize = 4_096;

impl TaskIo {
    /// Queues input, which is written as the task reads it. An empty queue takes any length.
    ///
    /// # Errors
    /// If the bytes do not fit behind those that wait, a line would be too long for the terminal, which would silently
    /// truncate it, or nothing can be read any more; none of them are queued then.
    pub(crate) fn queue(&self, bytes: &[u8]) -> Result<(), InputRefusal> {
        let unread = self.look_at_input();
        let mut typed = self.lock_typed();
        if let Some(end) = typed.end() {
            return Err(end);
        }
        let modes = self.pty.get().and_then(|pty| pty.modes().ok());
        // Where that is not known, no line is said to have begun.
        let begun = unread.map(|_| typed.trace.line().clone()).unwrap_or_default();
        let change = modes.map(|modes| begun.after(bytes, &modes)).unwrap_or_default();
        if change.longest > MOST_LINE {
            return Err(InputRefusal::LongLine { length: change.longest, is_begun: change.is_begun });
        }
        let waiting = typed.sent_count();
        if waiting > 0 && waiting + bytes.len() > MOST_INPUT {
            return Err(InputRefusal::Full { waiting });
        }
        self.note_input();
        typed.bytes.extend(bytes);
        typed.trace.add(bytes.len(), change);
        Ok(())
    }

    /// Queues what its caller has typed on the terminal that the task's stands for.
    pub(super) fn queue_typed(&self, bytes: &[u8]) {
        let mut typed = self.lock_typed();
        typed.bytes.extend(bytes);
        typed.trace.add_untold(bytes.len());
        drop(typed);
        self.count_typed(bytes.len());
    }

    /// Queues replies to the program's queries, in order with its other input. Whoever asks for more than fits and does
    /// not read gets none for the rest. Tells whether they were queued.
    pub(crate) fn queue_reply(&self, bytes: &[u8]) -> bool {
        self.lock_typed().reply(bytes)
    }

    /// Tells whether its terminal echoes what is typed and hands over whole lines: no program reads replies from it so.
    pub(crate) fn echoes_lines(&self) -> bool {
        let mode = self.pty.get().and_then(|pty| pty.input_mode().ok());
        mode.is_some_and(|mode| mode.echo && mode.canonical)
    }

    /// Requests that stdin be closed once the queue is written.
    ///
    /// # Errors
    /// If it is closed.
    pub(crate) fn queue_close(&self) -> Result<(), InputRefusal> {
        let mut typed = self.lock_typed();
        typed.end().map_or(Ok(()), Err)?;
        typed.close = true;
        Ok(())
    }

    /// Tells whether input is queued, or the end of it.
    pub(super) fn has_input(&self) -> bool {
        let typed = self.lock_typed();
        typed.close || !typed.bytes.is_empty()
    }

    /// Returns how many bytes wait to be written to the task.
    pub(crate) fn waiting_input(&self) -> usize {
        self.lock_typed().sent_count()
    }

    /// Notes the pipe to its standard input.
    pub(crate) fn watch_pipe(&self, pipe: &Arc<OwnedFd>) {
        self.lock_typed().watch_pipe(pipe);
    }

    /// Looks at what it has not read of its input; `None` if its terminal does not tell.
    pub(crate) fn look_at_input(&self) -> Option<UnreadInput> {
        let mut typed = self.lock_typed();
        let Some(pty) = self.pty.get() else {
            return Some(UnreadInput { bytes: typed.unread_in_pipe(), has_open_line: false });
        };
        let waiting = typed.bytes.len();
        pty.look_at_input().ok().map(|look| typed.trace.look(&look, waiting))
    }

    /// Looks again if lines were there that may have been read, or input was thrown away; tells whether the program has
    /// done that.
    pub(super) fn follow_input(&self, is_flushed: bool) -> bool {
        let mut typed = self.lock_typed();
        if !is_flushed && !typed.trace.has_lines() {
            return false;
        }
        let Some(Ok(look)) = self.pty.get().map(Pty::look_at_input) else { return false };
        let waiting = typed.bytes.len();
        if !is_flushed {
            typed.trace.look(&look, waiting);
            return false;
        }
        let lost = typed.trace.flush(&look, waiting);
        lost.into_iter().for_each(|lost| typed.lose(lost));
        lost.is_some()
    }

    /// Returns what was lost of its input since that was last taken.
    pub(crate) fn lost_input(&self) -> Vec<LostInput> {
        self.lock_typed().lost_input().to_vec()
    }

    /// Takes what was lost of its input since this was last called.
    pub(crate) fn take_lost(&self) -> Vec<LostInput> {
        self.lock_typed().take_lost()
    }

    /// Takes the same when no process is left that could read: all that was not read is lost.
    pub(crate) fn take_unread(&self) -> Vec<LostInput> {
        let unread = self.look_at_input().unwrap_or_default();
        let mut typed = self.lock_typed();
        typed.lose(LostInput { bytes: unread.bytes, at_most: false, cause: InputLoss::NeverRead });
        typed.end_input();
        typed.take_lost()
    }

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
            let _ = epoll::delete(&self.poll, &**writer);
            if flags.contains(EventFlags::ERR) {
                entry.io.lock_typed().lose_reader();
                entry.writer = None;
                let _ = self.events.blocking_send(ByteEvent::InputLost(entry.io.id.clone()));
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
        let (mut was_typed, mut is_lost) = (false, false);
        while !typed.bytes.is_empty() {
            match rustix::io::write(&**writer, typed.bytes.as_slices().0) {
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
                    typed.lose_reader();
                    is_lost = true;
                }
            }
        }
        if typed.bytes.is_empty() {
            // A long paste has left much room behind.
            typed.bytes.shrink_to(KEPT);
        }
        let data = data_of(key, WRITER);
        if typed.close && typed.bytes.is_empty() {
            let _ = epoll::delete(&self.poll, &**writer);
            typed.end_pipe();
            drop(typed);
            entry.writer = None;
        } else {
            let _ = epoll::modify(&self.poll, &**writer, data, interest);
            let waits = !typed.bytes.is_empty();
            drop(typed);
            entry.inlet.iter_mut().for_each(|inlet| inlet.hold(&self.poll, key, waits));
        }
        if is_lost {
            let _ = self.events.blocking_send(ByteEvent::InputLost(entry.io.id.clone()));
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
