//! Bytes on their way to a terminal or a pipe. The other end may take nothing for as long as it likes: then the bytes
//! wait here, and never the loop that printed them.

use std::fs::File;
use std::io::{self, IsTerminal as _};
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::time::{ClockId, clock_gettime};
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

use super::tty;
use crate::envelope::SafeText;
use crate::process;

/// Where bytes go, and how much may be written there at once without blocking.
#[derive(Debug)]
pub struct ByteSink {
    file: File,
    step: WriteStep,
}

/// How much may be written at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WriteStep {
    /// Anything: the descriptor does not block.
    Any,
    /// At most this many bytes after the kernel has reported room: other processes share this description of the
    /// file, so it must not be made non-blocking.
    Bytes(usize),
}

impl WriteStep {
    /// The kernel reports room on a terminal from the first free byte on.
    pub(super) const SHARED_TERMINAL: Self = Self::Bytes(1);
    /// The kernel reports room in a pipe from a free page on.
    const SHARED_PIPE: Self = Self::Bytes(4_096);
}

impl ByteSink {
    pub(super) fn new(file: File, step: WriteStep) -> Self {
        Self { file, step }
    }

    /// Returns the sink of standard output.
    pub(in crate::console) fn of_stdout() -> io::Result<Self> {
        let stdout = io::stdout();
        if stdout.is_terminal() {
            return tty::open();
        }
        Ok(Self { file: File::from(stdout.as_fd().try_clone_to_owned()?), step: WriteStep::SHARED_PIPE })
    }

    /// Prints lines, for at most `patience`: whoever reads them may have stopped.
    pub(in crate::console) fn print(&self, lines: &str, patience: Duration) {
        let text = SafeText::lines(lines);
        // If the other end is gone, nobody reads this.
        let _ = self.write_within(text.as_bytes(), patience);
    }

    pub(super) fn try_clone(&self) -> io::Result<Self> {
        Ok(Self { file: self.file.try_clone()?, step: self.step })
    }

    pub(in crate::console) fn file(&self) -> &File {
        &self.file
    }

    /// Writes what fits now; returns how many bytes that was. Allowed in a signal handler.
    fn write_now(&self, bytes: &[u8]) -> io::Result<usize> {
        let mut written = 0;
        while let Some(rest) = bytes.get(written..).filter(|rest| !rest.is_empty()) {
            let piece = match self.step {
                WriteStep::Any => rest,
                WriteStep::Bytes(_) if !has_room(self.file.as_fd(), Duration::ZERO) => return Ok(written),
                WriteStep::Bytes(most) => rest.get(..most).unwrap_or(rest),
            };
            match rustix::io::write(&self.file, piece) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(count) => written += count,
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => return Ok(written),
                Err(error) => return Err(error.into()),
            }
        }
        Ok(written)
    }

    /// Writes bytes, waiting for room until `patience` has passed; tells whether all were written. Allowed in a signal
    /// handler.
    pub(super) fn write_within(&self, mut bytes: &[u8], patience: Duration) -> io::Result<bool> {
        let until = now() + patience;
        loop {
            bytes = bytes.get(self.write_now(bytes)?..).unwrap_or_default();
            let left = until.saturating_sub(now());
            if bytes.is_empty() || left.is_zero() {
                return Ok(bytes.is_empty());
            }
            has_room(self.file.as_fd(), left);
        }
    }
}

/// The monotonic clock, as a signal handler may read it.
fn now() -> Duration {
    Duration::try_from(clock_gettime(ClockId::Monotonic)).unwrap_or_default()
}

/// Tells whether there is room for more bytes, after waiting for it for at most `patience`. A broken descriptor has
/// room: writing to it reports the error.
fn has_room(fd: BorrowedFd<'_>, patience: Duration) -> bool {
    let mut fds = [PollFd::new(&fd, PollFlags::OUT)];
    let patience = Timespec::try_from(patience).unwrap_or_default();
    matches!(poll(&mut fds, Some(&patience)), Ok(1..))
}

/// Bytes that a sink has not taken yet.
#[derive(Debug)]
struct Backlog {
    sink: ByteSink,
    bytes: Vec<u8>,
    /// How many of them are written already.
    written: usize,
}

impl Backlog {
    fn rest(&self) -> &[u8] {
        self.bytes.get(self.written..).unwrap_or_default()
    }

    /// Writes as much as there is room for now.
    fn advance(&mut self) -> io::Result<()> {
        self.written += self.sink.write_now(self.rest())?;
        if self.rest().is_empty() {
            self.clear();
        }
        Ok(())
    }

    fn clear(&mut self) {
        self.bytes.clear();
        self.written = 0;
    }
}

/// A sink with the bytes that wait for it.
#[derive(Debug)]
pub struct BufferedSink {
    backlog: Backlog,
    /// Reports room; `None` for a file, which always has some.
    room: Option<AsyncFd<OwnedFd>>,
}

impl BufferedSink {
    /// Creates an output to a sink.
    ///
    /// # Errors
    /// When no more descriptors can be opened.
    pub fn new(sink: ByteSink) -> io::Result<Self> {
        // The kernel has no notion of room for files.
        let room = process::watch(sink.file.try_clone()?.into(), Interest::WRITABLE).ok();
        Ok(Self { backlog: Backlog { sink, bytes: Vec::new(), written: 0 }, room })
    }

    pub(in crate::console) fn sink(&self) -> &ByteSink {
        &self.backlog.sink
    }

    /// Tells whether everything was written.
    pub(super) fn is_empty(&self) -> bool {
        self.backlog.bytes.is_empty()
    }

    /// Returns how many bytes wait to be written.
    pub(super) fn waiting(&self) -> usize {
        self.backlog.rest().len()
    }

    /// Writes bytes behind those that wait, as far as there is room now.
    ///
    /// # Errors
    /// When the other end is gone.
    pub(super) fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.backlog.bytes.extend_from_slice(bytes);
        self.backlog.advance()
    }

    /// Waits until everything is written. Cancellation-safe.
    ///
    /// # Errors
    /// When the other end is gone.
    pub(super) async fn flush(&mut self) -> io::Result<()> {
        while !self.is_empty() {
            let Some(room) = &self.room else { return self.backlog.advance() };
            let mut ready = room.writable().await?;
            self.backlog.advance()?;
            if !self.backlog.bytes.is_empty() {
                ready.clear_ready();
            }
        }
        Ok(())
    }

    /// Writes what waits, for at most `patience`, and drops the rest: an escape sequence is cut short only if the other
    /// end takes nothing.
    pub(in crate::console) fn finish(&mut self, patience: Duration) {
        // If the other end is gone, nobody reads this.
        let _ = self.backlog.sink.write_within(self.backlog.rest(), patience);
        self.backlog.clear();
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use rustix::pipe::pipe;

    use super::*;

    /// Reads what is there, whole.
    fn read(from: &mut File, count: usize) -> Vec<u8> {
        let mut bytes = vec![0; count];
        from.read_exact(&mut bytes).expect("reads");
        bytes
    }

    #[tokio::test]
    async fn a_reader_that_takes_nothing_holds_up_nobody_and_gets_everything_in_order() {
        for step in [WriteStep::SHARED_PIPE, WriteStep::SHARED_TERMINAL] {
            let (from, to) = pipe().expect("a pipe");
            let (mut from, to) = (File::from(from), File::from(to));
            let mut output = BufferedSink::new(ByteSink::new(to, step)).expect("watched");
            let sent: Vec<u8> = (0..200_000_u32).map(|n| n.to_le_bytes()[0]).collect();
            for piece in sent.chunks(30_000) {
                output.send(piece).expect("sent");
            }
            assert!(!output.is_empty() && output.waiting() >= sent.len() - 65_536, "{step:?}");
            let pieces = async {
                let mut got = Vec::new();
                while got.len() < sent.len() {
                    let count = 10_000.min(sent.len() - got.len());
                    let (file, bytes) = tokio::task::spawn_blocking(move || {
                        let bytes = read(&mut from, count);
                        (from, bytes)
                    })
                    .await
                    .expect("joins");
                    from = file;
                    got.extend(bytes);
                }
                got
            };
            let (flushed, got) = tokio::join!(output.flush(), pieces);
            flushed.expect("flushed");
            assert!(output.is_empty() && got == sent, "{step:?}");
        }
    }

    #[tokio::test]
    async fn untaken_output_is_dropped_at_the_end_and_a_closed_reader_is_an_error() {
        let (from, to) = pipe().expect("a pipe");
        let mut output =
            BufferedSink::new(ByteSink::new(File::from(to), WriteStep::SHARED_PIPE)).expect("watched");
        output.send(&[b'x'; 100_000]).expect("sent");
        output.finish(Duration::from_millis(1));
        assert!(output.is_empty());
        output.send(b"more").expect("sent");
        drop(from);
        assert_eq!(output.flush().await.expect_err("gone").kind(), io::ErrorKind::BrokenPipe);
    }

    #[tokio::test]
    async fn a_file_always_has_room() {
        let file = tempfile::tempfile().expect("a file");
        let own = file.try_clone().expect("a descriptor");
        let mut output =
            BufferedSink::new(ByteSink::new(file, WriteStep::SHARED_PIPE)).expect("no need to watch it");
        output.send(&vec![b'x'; 1 << 20]).expect("sent");
        output.flush().await.expect("flushed");
        assert_eq!(own.metadata().expect("facts").len(), 1 << 20);
    }
}
