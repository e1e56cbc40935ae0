//! Standard input as lines, and whether what is written there is seen.

use std::io::{self, IsTerminal as _};
use std::os::fd::OwnedFd;
use std::thread::JoinHandle;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::retry_on_intr;
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::termios::{LocalModes, OptionalActions, tcgetattr, tcsetattr};
use tokio::sync::mpsc;

use jiff::Timestamp;

use crate::clock::Clock;

/// Lines that may wait for the loop.
const LINES_AHEAD: usize = 64;
/// Bytes of a line; what is longer is cut into several.
const MOST: usize = 64 << 10;

/// Lines, each with the time at which it was read; closed when no more will come.
pub(super) type Lines = mpsc::Receiver<(String, Timestamp)>;

/// Who reads standard input.
pub(super) struct Reading {
    /// Closed, it ends the reading.
    wake: OwnedFd,
    thread: JoinHandle<()>,
}

impl Reading {
    /// Returns when nothing reads standard input any more. Whoever takes lines must have gone.
    pub(super) fn stop(self) {
        drop(self.wake);
        // A panic on it has ended the program.
        drop(self.thread.join());
    }
}

/// Reads lines from now on, on a thread of its own.
///
/// # Errors
/// When the thread cannot be started.
pub(super) fn lines(clock: Clock) -> io::Result<(Lines, Reading)> {
    let (told, lines) = mpsc::channel(LINES_AHEAD);
    let (closed, wake) = pipe_with(PipeFlags::CLOEXEC)?;
    let thread = std::thread::Builder::new().name("lines".into()).spawn(move || {
        let tell = |line: &[u8]| {
            let text = String::from_utf8_lossy(line);
            let text = text.trim_end_matches(['\n', '\r']).to_owned();
            told.blocking_send((text, clock.now().wall)).ok()
        };
        let mut waiting = Vec::new();
        while let Some(()) = read(&closed, &mut waiting) {
            while let Some(length) = line_length(&waiting) {
                let line: Vec<u8> = waiting.drain(..length).collect();
                let Some(()) = tell(&line) else { return };
            }
        }
        if !waiting.is_empty() {
            tell(&waiting);
        }
    })?;
    Ok((lines, Reading { wake, thread }))
}

/// Waits for more; `None` when no more will come, or nobody wants it.
fn read(closed: &OwnedFd, waiting: &mut Vec<u8>) -> Option<()> {
    let stdin = io::stdin();
    let mut fds = [PollFd::new(&stdin, PollFlags::IN), PollFd::new(closed, PollFlags::empty())];
    retry_on_intr(|| poll(&mut fds, None)).ok()?;
    if !fds[1].revents().is_empty() {
        waiting.clear();
        return None;
    }
    let mut bytes = [0; 4_096];
    let count = retry_on_intr(|| rustix::io::read(&stdin, &mut bytes)).ok().filter(|count| *count > 0)?;
    waiting.extend_from_slice(bytes.get(..count)?);
    Some(())
}

/// The length of the first line, end included, or of as much of it as one may have.
fn line_length(waiting: &[u8]) -> Option<usize> {
    let end = waiting.iter().take(MOST).position(|byte| *byte == b'\n').map(|at| at + 1);
    end.or_else(|| (waiting.len() >= MOST).then_some(MOST))
}

/// Tells whether somebody sits at standard input.
pub(super) fn is_person() -> bool {
    io::stdin().is_terminal()
}

/// Whether the terminal shows what is written. Dropped, it shows it again.
#[derive(Debug, Default)]
pub(super) struct Echo {
    is_off: bool,
}

impl Echo {
    /// Hides what is written from now on, or shows it again. A line's end is shown in any case.
    pub(super) fn hide(&mut self, hide: bool) {
        if hide == self.is_off || !is_person() {
            return;
        }
        let turned = tcgetattr(io::stdin()).and_then(|mut termios| {
            termios.local_modes.set(LocalModes::ECHO, !hide);
            termios.local_modes.set(LocalModes::ECHONL, hide);
            tcsetattr(io::stdin(), OptionalActions::Now, &termios)
        });
        match turned {
            Ok(()) => self.is_off = hide,
            Err(error) => tracing::warn!(%error, "turn the terminal's echo"),
        }
    }

    /// Tells whether it is hidden.
    pub(super) fn is_off(&self) -> bool {
        self.is_off
    }
}

impl Drop for Echo {
    fn drop(&mut self) {
        self.hide(false);
    }
}
