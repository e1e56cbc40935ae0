//! The two threads that wait on the terminal: one reads its input, the other watches for it to go away.

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
use crate::console::keys::decode::{KeyDecoder, TerminalInput};
use crate::console::msg::Msg;

/// Maximum number of keys queued for the loop.
const KEYS_AHEAD: usize = 256;
/// How long the shutdown may take once the terminal is gone.
const LAST_WORDS: Duration = Duration::from_secs(8);
/// How long to wait for the terminal's answers to our queries; later ones are discarded.
const ANSWERING: Duration = Duration::from_secs(1);

/// What comes from the terminal.
#[derive(Debug)]
pub(in crate::console) enum Heard {
    /// A key, mouse event, paste or focus change.
    Msg(Msg),
    /// Its answers to all queries.
    Outer(Box<HostTerminal>),
    /// The terminal is gone.
    Gone,
}

/// When dropped, cancels the shutdown deadline and ends both threads: the shutdown is complete.
pub(in crate::console) struct ShutdownDone {
    _alive: SyncSender<()>,
    /// When closed, wakes both threads.
    wake: OwnedFd,
    threads: [JoinHandle<()>; 2],
}

impl ShutdownDone {
    /// Returns once nothing reads or holds the terminal any more. The receiver of the keys must have been
    /// dropped.
    pub(in crate::console) fn stop_reading(self) {
        let Self { _alive: alive, wake, threads } = self;
        drop((alive, wake));
        // A panic on either thread has already ended the program.
        threads.into_iter().for_each(|thread| drop(thread.join()));
    }
}

/// Starts both threads.
///
/// # Errors
/// When the terminal cannot be read, or a thread cannot be started.
pub(in crate::console) fn listen(
    tty: &File,
    is_asked: bool,
    clock: &Clock,
) -> io::Result<(mpsc::Receiver<Heard>, ShutdownDone)> {
    let (heard, keys) = mpsc::channel(KEYS_AHEAD);
    let (alive, dead) = sync_channel(0);
    let (tty, gone) = (tty.try_clone()?, heard.clone());
    let (closed, wake) = pipe_with(PipeFlags::CLOEXEC)?;
    let over = closed.try_clone()?;
    let mut reader = KeyboardReader {
        input: input()?,
        closed,
        decoder: KeyDecoder::default(),
        survey: is_asked.then(HostTerminal::default),
        until: clock.now().mono + ANSWERING,
        clock: clock.clone(),
    };
    let keys_thread = std::thread::Builder::new().name("keys".into()).spawn(move || {
        // The receiver or the terminal is gone: either way, there is nothing more to read.
        let _ = reader.read(&heard);
    })?;
    let tty_thread = std::thread::Builder::new().name("tty".into()).spawn(move || {
        if !tty::wait_until_gone(&tty, &over) {
            return;
        }
        drop(tty);
        tty::forget();
        // If the queue is full, the loop has keys to read and will then see the signal, or else the deadline
        // applies.
        let _ = gone.try_send(Heard::Gone);
        if dead.recv_timeout(LAST_WORDS) == Err(RecvTimeoutError::Timeout) {
            end_now();
        }
    })?;
    Ok((keys, ShutdownDone { _alive: alive, wake, threads: [keys_thread, tty_thread] }))
}

/// The task hosts notice that the console has died and end their tasks; the journal has been written all
/// along.
#[expect(clippy::disallowed_methods, reason = "the dead-terminal path: nothing else is left to do")]
fn end_now() {
    std::process::exit(129);
}

/// Opens standard input if it is the terminal, or else the controlling terminal.
fn input() -> io::Result<File> {
    let stdin = io::stdin();
    if stdin.is_terminal() {
        return Ok(File::from(stdin.as_fd().try_clone_to_owned()?));
    }
    File::open("/dev/tty")
}

/// Reads the terminal, and collects its answers while they are expected.
struct KeyboardReader {
    input: File,
    /// Becomes readable when reading must stop.
    closed: OwnedFd,
    decoder: KeyDecoder,
    survey: Option<HostTerminal>,
    /// Until when answers are expected.
    until: Duration,
    clock: Clock,
}

impl KeyboardReader {
    fn read(&mut self, heard: &mpsc::Sender<Heard>) -> Option<()> {
        let mut bytes = [0; 4_096];
        loop {
            let decoded = match self.wait() {
                Ok(None) => return None,
                Ok(Some(false)) => self.decoder.time_out(self.clock.now().mono),
                Ok(Some(true)) => match rustix::io::read(&self.input, &mut bytes) {
                    Ok(0) => return heard.blocking_send(Heard::Gone).ok(),
                    Ok(read) => self.decoder.feed(self.clock.now().mono, &bytes[..read]),
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

    /// Waits for input, or until what has been received must be processed; tells whether there is input.
    /// Returns `None` if reading must stop.
    fn wait(&self) -> rustix::io::Result<Option<bool>> {
        let answers = self.survey.as_ref().map(|_| self.until);
        let due = self.decoder.due().into_iter().chain(answers).min();
        let patience = due.map(|due| due.saturating_sub(self.clock.now().mono));
        let patience = patience.and_then(|patience| Timespec::try_from(patience).ok());
        let mut fds =
            [PollFd::new(&self.input, PollFlags::IN), PollFd::new(&self.closed, PollFlags::empty())];
        retry_on_intr(|| poll(&mut fds, patience.as_ref()))?;
        Ok(fds[1].revents().is_empty().then(|| !fds[0].revents().is_empty()))
    }

    fn take(&mut self, decoded: TerminalInput) -> Option<Heard> {
        Some(Heard::Msg(match decoded {
            TerminalInput::Key(key) => Msg::Key(key),
            TerminalInput::Mouse(mouse) => Msg::Mouse(mouse),
            TerminalInput::Paste(text) => Msg::Paste(text),
            TerminalInput::PasteTrouble(trouble) => Msg::PasteTrouble(trouble),
            TerminalInput::Focus(has_focus) => Msg::Focus(has_focus),
            TerminalInput::Answer(answer) => {
                // A late answer is discarded, and must not be taken for a key.
                let is_last = self.survey.as_mut()?.record(answer);
                return is_last.then(|| self.survey.take()).flatten().map(Box::new).map(Heard::Outer);
            }
            TerminalInput::PasteBegins => return None,
        }))
    }
}
