//! Signals that ask the program to end.

use color_eyre::eyre::{Result, WrapErr};
use tokio::signal::unix::{Signal, SignalKind, signal};

/// Waits for the first signal that asks for the end.
pub(super) struct EndSignals {
    terminate: Signal,
    interrupt: Signal,
    hangup: Signal,
    /// There is no terminal that a hang-up could be about.
    ignores_hangup: bool,
}

impl EndSignals {
    /// Listens from now on; the signals no longer end the process by themselves.
    pub(super) fn listen() -> Result<Self> {
        let listen = |kind| signal(kind).wrap_err("listen to signals");
        Ok(Self {
            terminate: listen(SignalKind::terminate())?,
            interrupt: listen(SignalKind::interrupt())?,
            hangup: listen(SignalKind::hangup())?,
            ignores_hangup: false,
        })
    }

    /// As `listen`, for a program that has left its terminal: what came of that hang-up may still be on its way.
    #[cfg(feature = "console")]
    pub(super) fn without_hangup() -> Result<Self> {
        Ok(Self { ignores_hangup: true, ..Self::listen()? })
    }

    /// Returns the number of the signal that came.
    pub(super) async fn wait(&mut self) -> u8 {
        tokio::select! {
            _ = self.terminate.recv() => 15,
            _ = self.interrupt.recv() => 2,
            _ = self.hangup.recv(), if !self.ignores_hangup => 1,
        }
    }
}
