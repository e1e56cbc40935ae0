//! Standard input as lines, and whether what is written there is seen.

use std::io::{self, BufRead as _, IsTerminal as _, Read as _};

use rustix::termios::{LocalModes, OptionalActions, tcgetattr, tcsetattr};
use tokio::sync::mpsc;

use jiff::Timestamp;

use crate::clock::Clock;

/// Lines that may wait for the loop.
const LINES_AHEAD: usize = 64;
/// Bytes of a line; what is longer is cut into several.
const MOST: u64 = 64 << 10;

/// Lines, each with the time at which it was read; closed when no more will come.
pub(super) type Lines = mpsc::Receiver<(String, Timestamp)>;

/// Reads lines from now on, on a thread that ends with the process: a blocking read cannot be called back.
///
/// # Errors
/// When the thread cannot be started.
pub(super) fn lines(clock: Clock) -> io::Result<Lines> {
    let (told, lines) = mpsc::channel(LINES_AHEAD);
    std::thread::Builder::new().name("lines".into()).spawn(move || {
        let mut input = io::stdin().lock();
        let mut line = Vec::new();
        while input.by_ref().take(MOST).read_until(b'\n', &mut line).is_ok_and(|read| read > 0) {
            let text = String::from_utf8_lossy(&line);
            let text = text.trim_end_matches(['\n', '\r']).to_owned();
            if told.blocking_send((text, clock.now().wall)).is_err() {
                return;
            }
            line.clear();
        }
    })?;
    Ok(lines)
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
