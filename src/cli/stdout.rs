//! Standard output for a stream of short lines: written directly if that cannot block, otherwise on a thread, so that
//! a reader that has stopped reading blocks neither signals nor the runtime.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::stdio::stdout;
use tokio::io::{AsyncWrite, Stdout};

/// The largest write that a ready pipe accepts without blocking (`PIPE_BUF`).
const AT_ONCE: usize = 4_096;

/// Standard output.
pub(super) struct StdoutLines {
    patient: Stdout,
    /// Whether earlier output is still being written by the thread; nothing may overtake it.
    is_busy: bool,
}

impl StdoutLines {
    pub(super) fn new() -> Self {
        Self { patient: tokio::io::stdout(), is_busy: false }
    }
}

impl AsyncWrite for StdoutLines {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        if !self.is_busy && is_ready() {
            let piece = bytes.get(..AT_ONCE).unwrap_or(bytes);
            match rustix::io::write(stdout(), piece) {
                Err(rustix::io::Errno::AGAIN | rustix::io::Errno::INTR) => {}
                written => return Poll::Ready(written.map_err(Into::into)),
            }
        }
        self.is_busy = true;
        Pin::new(&mut self.patient).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if !self.is_busy {
            return Poll::Ready(Ok(()));
        }
        let flushed = Pin::new(&mut self.patient).poll_flush(cx);
        self.is_busy = flushed.is_pending();
        flushed
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.poll_flush(cx)
    }
}

fn is_ready() -> bool {
    let out = stdout();
    let mut asked = [PollFd::new(&out, PollFlags::OUT)];
    let at_once = Timespec { tv_sec: 0, tv_nsec: 0 };
    matches!(poll(&mut asked, Some(&at_once)), Ok(1..)) && asked[0].revents().contains(PollFlags::OUT)
}
