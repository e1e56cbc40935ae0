//! Standard input as lines, and whether typed text is echoed there.

use std::io::{self, IsTerminal as _};
use std::os::fd::OwnedFd;
use std::thread::JoinHandle;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::retry_on_intr;
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::termios::{LocalModes, OptionalActions, tcgetattr, tcsetattr};
use tokio::sync::mpsc;

use jiff::Timestamp;

use crate::clock::Clock;
use crate::console::plain::{EnteredLine, LineSplitter};

/// Maximum number of lines queued for the loop.
const LINES_AHEAD: usize = 64;
/// Lines of a person that follow each other this closely were pasted.
const AT_ONCE: Timespec = Timespec { tv_sec: 0, tv_nsec: 50_000_000 };

/// What comes from standard input.
#[derive(Debug)]
pub(super) enum StdinText {
    /// What was entered, and when it was read.
    Entered(EnteredLine, Timestamp),
    /// Control-D at a terminal: more may follow.
    EndKey,
    /// The terminal is gone.
    Gone,
}

/// What comes from standard input; closed when no more will come.
pub(super) type Lines = mpsc::Receiver<StdinText>;

/// The reader of standard input.
pub(super) struct StdinReader {
    /// When closed, ends the reading.
    wake: OwnedFd,
    thread: JoinHandle<()>,
}

impl StdinReader {
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
pub(super) fn lines(clock: Clock) -> io::Result<(Lines, StdinReader)> {
    let (told, lines) = mpsc::channel(LINES_AHEAD);
    let (closed, wake) = pipe_with(PipeFlags::CLOEXEC)?;
    let thread = std::thread::Builder::new().name("lines".into()).spawn(move || {
        let now = || clock.now().wall;
        let tell = |typed| told.blocking_send(typed).ok();
        let mut splitter = LineSplitter::new(is_person());
        // The receiver is gone, or no more will come.
        let _ = if is_person() {
            read_person(&closed, &mut splitter, now, tell)
        } else {
            read_lines(&closed, &mut splitter, |entered| tell(StdinText::Entered(entered, now())))
        };
    })?;
    Ok((lines, StdinReader { wake, thread }))
}

/// Reads lines until nobody wants them or no more will come.
fn read_lines(
    closed: &OwnedFd,
    splitter: &mut LineSplitter,
    tell: impl Fn(EnteredLine) -> Option<()>,
) -> Option<()> {
    loop {
        match read(closed, splitter, None)? {
            StdinRead::Some => {}
            StdinRead::Nothing | StdinRead::End | StdinRead::Gone => return splitter.rest().and_then(tell),
        }
        while let Some(entered) = splitter.line() {
            tell(entered)?;
        }
    }
}

/// Does the same at a terminal, where lines that come at once are told as one paste.
fn read_person(
    closed: &OwnedFd,
    splitter: &mut LineSplitter,
    now: impl Fn() -> Timestamp,
    tell: impl Fn(StdinText) -> Option<()>,
) -> Option<()> {
    let mut came_at = None;
    loop {
        if splitter.collect() {
            came_at.get_or_insert_with(&now);
        }
        match (read(closed, splitter, came_at.and(Some(&AT_ONCE)))?, came_at) {
            (StdinRead::Some, _) => {}
            (StdinRead::Gone, _) => return tell(StdinText::Gone),
            (read, at) => {
                came_at = None;
                if let Some((entered, at)) = splitter.take_lines().zip(at) {
                    tell(StdinText::Entered(entered, at))?;
                }
                if matches!(read, StdinRead::End) {
                    tell(StdinText::EndKey)?;
                }
            }
        }
    }
}

/// What was read.
enum StdinRead {
    /// Something.
    Some,
    /// Nothing within the time.
    Nothing,
    /// The end: for good, or typed at a terminal.
    End,
    /// The other end of a terminal is gone.
    Gone,
}

/// Waits for more input; returns `None` when nobody wants it.
fn read(closed: &OwnedFd, splitter: &mut LineSplitter, patience: Option<&Timespec>) -> Option<StdinRead> {
    let stdin = io::stdin();
    let mut fds = [PollFd::new(&stdin, PollFlags::IN), PollFd::new(closed, PollFlags::empty())];
    let ready = retry_on_intr(|| poll(&mut fds, patience)).unwrap_or(0);
    if !fds[1].revents().is_empty() {
        return None;
    }
    if ready == 0 {
        return Some(StdinRead::Nothing);
    }
    let is_gone = fds[0].revents().intersects(PollFlags::HUP | PollFlags::ERR | PollFlags::NVAL);
    let mut bytes = [0; 4_096];
    match retry_on_intr(|| rustix::io::read(&stdin, &mut bytes)) {
        Ok(count @ 1..) => splitter.add(bytes.get(..count)?),
        Err(_) => return Some(StdinRead::Gone),
        Ok(_) => return Some(if is_gone { StdinRead::Gone } else { StdinRead::End }),
    }
    Some(StdinRead::Some)
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
