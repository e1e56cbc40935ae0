//! Signals that ask the program to end.

use color_eyre::eyre::{Result, WrapErr};
use tokio::signal::unix::{Signal, SignalKind, signal};

/// Waits for the first signal that asks for the end.
pub(super) struct EndSignals {
    terminate: Signal,
    interrupt: Signal,
    hangup: Signal,
}

impl EndSignals {
    /// Listens from now on; the signals no longer end the process by themselves.
    pub(super) fn listen() -> Result<Self> {
        let listen = |kind| signal(kind).wrap_err("listen to signals");
        Ok(Self {
            terminate: listen(SignalKind::terminate())?,
            interrupt: listen(SignalKind::interrupt())?,
            hangup: listen(SignalKind::hangup())?,
        })
    }

    /// Returns the number of the signal that came.
    pub(super) async fn wait(&mut self) -> u8 {
        tokio::select! {
            _ = self.terminate.recv() => 15,
            _ = self.interrupt.recv() => 2,
            _ = self.hangup.recv() => 1,
        }
    }
}
