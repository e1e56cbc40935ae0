//! Standard input for a stream of short lines: read on this thread if that cannot block, otherwise on another one.

use std::io;
use std::os::fd::{AsFd as _, OwnedFd};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{FileType, fstat};
use rustix::io::{Errno, retry_on_intr};
use tokio::io::unix::AsyncFd;
use tokio::io::{AsyncRead, Interest, ReadBuf, Stdin};

use crate::process;

/// Standard input. If it is a pipe or a socket, this must be its only reader.
pub(super) enum StdinLines {
    Watched(AsyncFd<OwnedFd>),
    Patient(Stdin),
}

impl StdinLines {
    pub(super) fn new() -> Self {
        watch_stdin().map_or_else(|| Self::Patient(tokio::io::stdin()), Self::Watched)
    }
}

/// Watches standard input for readiness if it is a pipe or a socket; not a file, and not a terminal, which others
/// read as well.
fn watch_stdin() -> Option<AsyncFd<OwnedFd>> {
    let input = io::stdin().as_fd().try_clone_to_owned().ok()?;
    let kind = FileType::from_raw_mode(fstat(&input).ok()?.st_mode);
    if !matches!(kind, FileType::Fifo | FileType::Socket) {
        return None;
    }
    process::watch(input, Interest::READABLE).ok()
}

impl AsyncRead for StdinLines {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Patient(patient) => Pin::new(patient).poll_read(cx, buffer),
            Self::Watched(input) => loop {
                let mut guard = ready!(input.poll_read_ready(cx))?;
                if is_ready(input.get_ref()) {
                    match retry_on_intr(|| rustix::io::read(input.get_ref(), buffer.initialize_unfilled())) {
                        Err(Errno::AGAIN) => {}
                        read => {
                            return Poll::Ready(read.map(|read| buffer.advance(read)).map_err(Into::into));
                        }
                    }
                }
                // The descriptor is not made non-blocking, because its open file is shared with the process that
                // provided it. So it is polled before each read.
                guard.clear_ready();
            },
        }
    }
}

fn is_ready(input: &OwnedFd) -> bool {
    let mut asked = [PollFd::new(input, PollFlags::IN)];
    let at_once = Timespec { tv_sec: 0, tv_nsec: 0 };
    matches!(poll(&mut asked, Some(&at_once)), Ok(1..))
}
