//! The input of one task: what waits to be written, what is known of what was, and what is lost.

use std::collections::VecDeque;
use std::os::fd::OwnedFd;
use std::sync::{Arc, Weak};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::ioctl_fionread;

use super::input_trace::InputTrace;
use crate::model::{InputLoss, LostInput};
use crate::process::read_end;
use crate::terminal::Terminal;

/// Why a task takes no input, now or any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum InputRefusal {
    /// The queue is full.
    Full {
        /// How many bytes wait to be read.
        waiting: usize,
    },
    /// A line is longer than its terminal takes.
    LongLine {
        /// Bytes of the line.
        length: usize,
        /// Whether it began in an earlier input.
        is_begun: bool,
    },
    /// Its end was sent.
    Ended,
    /// No process has it open.
    NoReader,
}

/// Bytes waiting to be written to the task.
#[derive(Debug, Default)]
pub(super) struct InputQueue {
    pub(super) bytes: VecDeque<u8>,
    /// How many of them were replies to the program's queries; more than there are once some were written.
    replies: usize,
    /// Whether to close stdin once they are written.
    pub(super) close: bool,
    /// The pipe to its standard input, once it has one and for as long as that is open.
    pipe: Option<Weak<OwnedFd>>,
    /// The pipe's other end, if something lies in it that the program could still read when the pipe was closed.
    rest: Option<OwnedFd>,
    /// Whether no process has its standard input open any more.
    has_no_reader: bool,
    /// How far a terminal's input was read.
    pub(super) trace: InputTrace,
    /// What was lost since that was last told.
    lost: Vec<LostInput>,
}

impl InputQueue {
    /// Returns how many of the bytes may be replies to the program's own queries.
    fn replies(&self) -> usize {
        self.replies.min(self.bytes.len())
    }

    /// Returns how many of the bytes were certainly sent by somebody.
    pub(super) fn sent_count(&self) -> usize {
        self.bytes.len() - self.replies()
    }

    /// Adds replies, which wait until the program reads them; tells whether there was room.
    pub(super) fn reply(&mut self, bytes: &[u8]) -> bool {
        let waiting = self.replies();
        let has_room = waiting + bytes.len() <= Terminal::MAX_REPLIES;
        if has_room {
            self.bytes.extend(bytes);
            self.trace.add_untold(bytes.len());
            self.replies = waiting + bytes.len();
        }
        has_room
    }

    /// Notes the pipe that the bytes are written to.
    pub(super) fn watch_pipe(&mut self, pipe: &Arc<OwnedFd>) {
        self.pipe = Some(Arc::downgrade(pipe));
    }

    /// Says why nothing more can be written, if so.
    pub(super) fn end(&self) -> Option<InputRefusal> {
        let pipe = self.pipe.as_ref().map(Weak::upgrade);
        let is_broken = |pipe: &Arc<OwnedFd>| {
            let mut end = [PollFd::new(&**pipe, PollFlags::empty())];
            poll(&mut end, Some(&Timespec { tv_sec: 0, tv_nsec: 0 })).is_ok()
                && end[0].revents().contains(PollFlags::ERR)
        };
        match pipe {
            Some(Some(pipe)) if is_broken(&pipe) => Some(InputRefusal::NoReader),
            _ if self.has_no_reader => Some(InputRefusal::NoReader),
            Some(None) => Some(InputRefusal::Ended),
            _ if self.close => Some(InputRefusal::Ended),
            _ => None,
        }
    }

    /// Counts what was written to a pipe, or waits for that, and was not read.
    pub(super) fn unread_in_pipe(&self) -> u64 {
        let pipe = self.pipe.as_ref().and_then(Weak::upgrade);
        let lying = pipe.as_deref().or(self.rest.as_ref()).and_then(|pipe| ioctl_fionread(pipe).ok());
        lying.unwrap_or_default() + self.bytes.len() as u64
    }

    /// Notes that the pipe is about to be closed: the program may still read what lies in it.
    pub(super) fn end_pipe(&mut self) {
        let Some(pipe) = self.pipe.as_ref().and_then(Weak::upgrade) else { return };
        if ioctl_fionread(&*pipe).is_ok_and(|bytes| bytes > 0) {
            self.rest = read_end(&pipe).ok();
        }
        self.pipe = Some(Weak::new());
    }

    /// Notes that no process has the other end open: what waits is lost, and of a pipe what lies in it.
    pub(super) fn lose_reader(&mut self) {
        if self.pipe.is_some() {
            let unread = self.unread_in_pipe();
            self.lose(LostInput { bytes: unread, at_most: false, cause: InputLoss::NeverRead });
            (self.pipe, self.has_no_reader) = (Some(Weak::new()), true);
        }
        self.bytes.clear();
        self.close = true;
    }

    /// Notes that no process is left that could read.
    pub(super) fn end_input(&mut self) {
        self.bytes.clear();
        (self.pipe, self.rest) = (Some(Weak::new()), None);
    }

    /// Notes that input was lost.
    pub(super) fn lose(&mut self, lost: LostInput) {
        if lost.bytes > 0 {
            self.lost.push(lost);
        }
    }

    /// Returns what was lost and not taken.
    pub(super) fn lost_input(&self) -> &[LostInput] {
        &self.lost
    }

    /// Takes what was lost.
    pub(super) fn take_lost(&mut self) -> Vec<LostInput> {
        std::mem::take(&mut self.lost)
    }
}

#[cfg(test)]
mod tests {
    use rustix::io::{read, write};
    use rustix::pipe::pipe;

    use super::*;

    #[test]
    fn replies_wait_up_to_their_bound_and_leave_all_room_for_what_is_sent() {
        let mut typed = InputQueue::default();
        let reply = [b'x'; 1_000];
        let taken = (0..100).filter(|_| typed.reply(&reply)).count();
        assert_eq!(taken, Terminal::MAX_REPLIES / reply.len());
        assert_eq!((typed.sent_count(), typed.bytes.len()), (0, taken * reply.len()));
        typed.bytes.extend([b'y'; 500]);
        assert_eq!(typed.sent_count(), 500);
        drop(typed.bytes.drain(..));
        assert!(typed.reply(&reply), "they were read");
        assert_eq!((typed.sent_count(), typed.replies()), (0, reply.len()));
    }

    /// A queue with a pipe: its two ends.
    fn queue_with_pipe() -> (InputQueue, OwnedFd, Arc<OwnedFd>) {
        let (reader, writer) = pipe().expect("a pipe");
        let (mut typed, writer) = (InputQueue::default(), Arc::new(writer));
        typed.watch_pipe(&writer);
        (typed, reader, writer)
    }

    #[test]
    fn what_lies_in_a_pipe_counts_as_unread_until_it_is_read_also_once_the_pipe_is_closed() {
        let (mut typed, reader, writer) = queue_with_pipe();
        write(&*writer, b"hello").expect("written");
        typed.bytes.extend(*b"more");
        assert_eq!((typed.unread_in_pipe(), typed.end()), (9, None));
        typed.bytes.clear();
        typed.end_pipe();
        drop(writer);
        assert_eq!((typed.unread_in_pipe(), typed.end()), (5, Some(InputRefusal::Ended)));
        assert_eq!(read(&reader, &mut [0; 2]), Ok(2));
        assert_eq!(typed.unread_in_pipe(), 3);
    }

    #[test]
    fn what_a_pipe_holds_is_lost_with_its_last_reader() {
        let (mut typed, reader, writer) = queue_with_pipe();
        write(&*writer, b"hello").expect("written");
        drop(reader);
        assert_eq!(typed.end(), Some(InputRefusal::NoReader));
        typed.lose_reader();
        let lost = LostInput { bytes: 5, at_most: false, cause: InputLoss::NeverRead };
        assert_eq!((typed.take_lost(), typed.take_lost()), (vec![lost], vec![]));
        assert_eq!((typed.unread_in_pipe(), typed.end()), (0, Some(InputRefusal::NoReader)));
    }
}
