//! Standard input as lines, and whether typed text is echoed there.

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

/// Maximum number of lines queued for the loop.
const LINES_AHEAD: usize = 64;
/// Maximum length of a line in bytes; longer ones are split.
const MOST: usize = 64 << 10;

/// Lines, each with the time it was read; closed when no more will come.
pub(super) type Lines = mpsc::Receiver<(String, Timestamp)>;

/// The reader of standard input.
pub(super) struct Reading {
    /// When closed, ends the reading.
    wake: OwnedFd,
    thread: JoinHandle<()>,
}

impl Reading {
    /// Returns once nothing reads standard input any more. The receiver of the lines must have been dropped.
    pub(super) fn stop(self) {
        drop(self.wake);
        // A panic on the thread has already ended the program.
        drop(self.thread.join());
    }
}

/// Starts reading lines, on a thread of its own.
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

/// Waits for more input; returns `None` when no more will come, or nobody wants it.
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

/// Returns the length of the first line including its end, or the maximum length if it is longer.
fn line_length(waiting: &[u8]) -> Option<usize> {
    let end = waiting.iter().take(MOST).position(|byte| *byte == b'\n').map(|at| at + 1);
    end.or_else(|| (waiting.len() >= MOST).then_some(MOST))
}

/// Tells whether standard input is a terminal, with a person in front of it.
pub(super) fn is_person() -> bool {
    io::stdin().is_terminal()
}

/// Whether the terminal echoes typed text. Echo is restored on drop.
#[derive(Debug, Default)]
pub(super) struct Echo {
    is_off: bool,
}

impl Echo {
    /// Turns echo off or on. The end of a line is echoed in any case.
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
