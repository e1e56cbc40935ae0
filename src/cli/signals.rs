//! Signals that ask the program to end.

use color_eyre::eyre::{Result, WrapErr};
use tokio::signal::unix::{Signal, SignalKind, signal};

/// Waits for the first signal that asks the program to end.
pub(super) struct EndSignals {
    terminate: Signal,
    interrupt: Signal,
    hangup: Signal,
    /// Whether to ignore hang-ups because there is no terminal any more.
    ignores_hangup: bool,
}

impl EndSignals {
    /// Starts listening; from now on the signals no longer end the process by themselves.
    pub(super) fn listen() -> Result<Self> {
        let listen = |kind| signal(kind).wrap_err("listen to signals");
        Ok(Self {
            terminate: listen(SignalKind::terminate())?,
            interrupt: listen(SignalKind::interrupt())?,
            hangup: listen(SignalKind::hangup())?,
            ignores_hangup: false,
        })
    }

    /// Like `listen`, but for a program that has left its terminal: that terminal's hang-up signal may still arrive.
    #[cfg(feature = "console")]
    pub(super) fn without_hangup() -> Result<Self> {
        Ok(Self { ignores_hangup: true, ..Self::listen()? })
    }

    /// Waits for a signal and returns its number.
    pub(super) async fn wait(&mut self) -> u8 {
        tokio::select! {
            _ = self.terminate.recv() => 15,
            _ = self.interrupt.recv() => 2,
            _ = self.hangup.recv(), if !self.ignores_hangup => 1,
        }
    }
}
