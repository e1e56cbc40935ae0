//! The two threads that wait on the terminal: one reads what it sends, one watches for its end.

use std::fs::File;
use std::io::{self, IsTerminal as _};
use std::os::fd::{AsFd as _, OwnedFd};
use std::sync::mpsc::{RecvTimeoutError, SyncSender, sync_channel};
use std::thread::JoinHandle;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::retry_on_intr;
use rustix::pipe::{PipeFlags, pipe_with};
use tokio::sync::mpsc;

use crate::clock::Clock;
use crate::terminal::host_terminal::HostTerminal;

use super::tty;
use crate::console::keys::decode::{Decoded, Decoder};
use crate::console::msg::Msg;

/// Keys that may wait for the loop.
const KEYS_AHEAD: usize = 256;
/// How long the end may take once the terminal is gone.
const LAST_WORDS: Duration = Duration::from_secs(8);
/// How long a terminal may think about what it was asked; what it says later is left out.
const ANSWERING: Duration = Duration::from_secs(1);

/// What the terminal has to say.
#[derive(Debug)]
pub(in crate::console) enum Heard {
    /// A key, the mouse, a paste, the focus.
    Msg(Msg),
    /// What it answered to all that it was asked.
    Outer(Box<HostTerminal>),
    /// The terminal is gone.
    Gone,
}

/// Ends the wait for a slow end, and both threads, when dropped: the end has come.
pub(in crate::console) struct Ended {
    _alive: SyncSender<()>,
    /// Closed, it wakes both.
    wake: OwnedFd,
    threads: [JoinHandle<()>; 2],
}

impl Ended {
    /// Returns when nothing reads or holds the terminal any more. Whoever takes keys must have gone.
    pub(in crate::console) fn stop_reading(self) {
        let Self { _alive: alive, wake, threads } = self;
        drop((alive, wake));
        // A panic on one of them has ended the program.
        threads.into_iter().for_each(|thread| drop(thread.join()));
    }
}

/// Starts both threads.
///
/// # Errors
/// When the terminal cannot be read, or a thread not be started.
pub(in crate::console) fn listen(
    tty: &File,
    is_asked: bool,
    clock: &Clock,
) -> io::Result<(mpsc::Receiver<Heard>, Ended)> {
    let (heard, keys) = mpsc::channel(KEYS_AHEAD);
    let (alive, dead) = sync_channel(0);
    let (tty, gone) = (tty.try_clone()?, heard.clone());
    let (closed, wake) = pipe_with(PipeFlags::CLOEXEC)?;
    let over = closed.try_clone()?;
    let mut reader = Reader {
        input: input()?,
        closed,
        decoder: Decoder::default(),
        survey: is_asked.then(HostTerminal::default),
        until: clock.now().mono + ANSWERING,
        clock: clock.clone(),
    };
    let keys_thread = std::thread::Builder::new().name("keys".into()).spawn(move || {
        // Whoever listens has gone, or the terminal has: in both cases there is no more to read.
        let _ = reader.read(&heard);
    })?;
    let tty_thread = std::thread::Builder::new().name("tty".into()).spawn(move || {
        if !tty::wait_until_gone(&tty, &over) {
            return;
        }
        drop(tty);
        tty::forget();
        // A full queue means that the loop has keys to read and then sees the signal, or the deadline.
        let _ = gone.try_send(Heard::Gone);
        if dead.recv_timeout(LAST_WORDS) == Err(RecvTimeoutError::Timeout) {
            end_now();
        }
    })?;
    Ok((keys, Ended { _alive: alive, wake, threads: [keys_thread, tty_thread] }))
}

/// The tasks' hosts see the console die and end their tasks; the journal has been written all along.
#[expect(clippy::disallowed_methods, reason = "the dead-terminal path: nothing else is left to do")]
fn end_now() {
    std::process::exit(129);
}

/// Standard input where it is the terminal, else the controlling one.
fn input() -> io::Result<File> {
    let stdin = io::stdin();
    if stdin.is_terminal() {
        return Ok(File::from(stdin.as_fd().try_clone_to_owned()?));
    }
    File::open("/dev/tty")
}

/// Reads the terminal, and gathers its answers while they are due.
struct Reader {
    input: File,
    /// Readable when there is no more to read.
    closed: OwnedFd,
    decoder: Decoder,
    survey: Option<HostTerminal>,
    /// When answers are due no longer.
    until: Duration,
    clock: Clock,
}

impl Reader {
    fn read(&mut self, heard: &mpsc::Sender<Heard>) -> Option<()> {
        let mut bytes = [0; 4_096];
        loop {
            let decoded = match self.wait() {
                Ok(None) => return None,
                Ok(Some(false)) => self.decoder.time_out(),
                Ok(Some(true)) => match rustix::io::read(&self.input, &mut bytes) {
                    Ok(0) => return heard.blocking_send(Heard::Gone).ok(),
                    Ok(read) => self.decoder.feed(&bytes[..read]),
                    Err(rustix::io::Errno::INTR | rustix::io::Errno::AGAIN) => continue,
                    Err(_) => return heard.blocking_send(Heard::Gone).ok(),
                },
                Err(_) => return heard.blocking_send(Heard::Gone).ok(),
            };
            for decoded in decoded {
                if let Some(next) = self.take(decoded) {
                    heard.blocking_send(next).ok()?;
                }
            }
            if self.clock.now().mono >= self.until
                && let Some(outer) = self.survey.take()
            {
                heard.blocking_send(Heard::Outer(Box::new(outer))).ok()?;
            }
            self.decoder.is_asked = self.survey.is_some();
        }
    }

    /// Waits for a byte, or until what there is has to do; tells whether a byte came. `None`: there is no more to read.
    fn wait(&self) -> rustix::io::Result<Option<bool>> {
        let answers = self.survey.as_ref().map(|_| self.until.saturating_sub(self.clock.now().mono));
        let patience = self.decoder.patience().into_iter().chain(answers).min();
        let patience = patience.and_then(|patience| Timespec::try_from(patience).ok());
        let mut fds =
            [PollFd::new(&self.input, PollFlags::IN), PollFd::new(&self.closed, PollFlags::empty())];
        retry_on_intr(|| poll(&mut fds, patience.as_ref()))?;
        Ok(fds[1].revents().is_empty().then(|| !fds[0].revents().is_empty()))
    }

    fn take(&mut self, decoded: Decoded) -> Option<Heard> {
        Some(Heard::Msg(match decoded {
            Decoded::Key(key) => Msg::Key(key),
            Decoded::Mouse(mouse) => Msg::Mouse(mouse),
            Decoded::Paste(text) => Msg::Paste(text),
            Decoded::Focus(has_focus) => Msg::Focus(has_focus),
            Decoded::Answer(answer) => {
                // One that comes too late is no key, and nothing else.
                let is_last = self.survey.as_mut()?.record(answer);
                return is_last.then(|| self.survey.take()).flatten().map(Box::new).map(Heard::Outer);
            }
            Decoded::PasteBegins => return None,
        }))
    }
}
