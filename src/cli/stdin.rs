//! Standard input for a stream of short lines: read by this thread where that cannot block, else on another one.

use std::io;
use std::os::fd::{AsFd as _, OwnedFd};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{FileType, fstat};
use rustix::io::{Errno, retry_on_intr};
use tokio::io::unix::AsyncFd;
use tokio::io::{AsyncRead, ReadBuf, Stdin};

use crate::process;

/// Standard input. Of a pipe or a socket it must be the only reader.
pub(super) enum Lines {
    Watched(AsyncFd<OwnedFd>),
    Patient(Stdin),
}

impl Lines {
    pub(super) fn new() -> Self {
        watched().map_or_else(|| Self::Patient(tokio::io::stdin()), Self::Watched)
    }
}

/// Watches standard input, where a read can be told to return at once: a pipe or a socket, not a file and not a terminal,
/// which others read as well.
fn watched() -> Option<AsyncFd<OwnedFd>> {
    let input = io::stdin().as_fd().try_clone_to_owned().ok()?;
    let kind = FileType::from_raw_mode(fstat(&input).ok()?.st_mode);
    if !matches!(kind, FileType::Fifo | FileType::Socket) {
        return None;
    }
    process::watch(input).ok()
}

impl AsyncRead for Lines {
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
                // The file is not set to return at once: it is shared with whoever gave it. So it is asked before each read.
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
