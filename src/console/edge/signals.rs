//! The signals of a program that owns a terminal.

use std::io;

use tokio::signal::unix::{Signal, SignalKind, signal};

/// What a signal asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::console) enum Asked {
    /// The end, with this exit code.
    End(u8),
    /// The end; the terminal is gone.
    HangUp,
    /// The terminal has another size.
    Resize,
    /// Stop until continued.
    Suspend,
    /// Continued after a stop nobody announced.
    Continue,
}

/// Listens to all of them.
pub(in crate::console) struct Signals {
    terminate: Signal,
    interrupt: Signal,
    quit: Signal,
    hang_up: Signal,
    resize: Signal,
    suspend: Signal,
    resume: Signal,
}

impl Signals {
    /// Listens from now on; none of them ends the process by itself any more.
    ///
    /// # Errors
    /// When the kernel refuses.
    pub(in crate::console) fn listen() -> io::Result<Self> {
        Ok(Self {
            terminate: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
            quit: signal(SignalKind::quit())?,
            hang_up: signal(SignalKind::hangup())?,
            resize: signal(SignalKind::window_change())?,
            suspend: signal(SignalKind::from_raw(libc::SIGTSTP))?,
            resume: signal(SignalKind::from_raw(libc::SIGCONT))?,
        })
    }

    /// Waits for the next one.
    pub(in crate::console) async fn next(&mut self) -> Asked {
        tokio::select! {
            // The kernel continues whom it tells of a hang-up: the hang-up came first and comes first.
            biased;
            _ = self.hang_up.recv() => Asked::HangUp,
            _ = self.terminate.recv() => Asked::End(143),
            _ = self.interrupt.recv() => Asked::End(130),
            _ = self.quit.recv() => Asked::End(131),
            _ = self.resize.recv() => Asked::Resize,
            _ = self.suspend.recv() => Asked::Suspend,
            _ = self.resume.recv() => Asked::Continue,
        }
    }
}
