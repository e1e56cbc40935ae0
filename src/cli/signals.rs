//! Signals that ask the program to end.

use std::future::pending;

use color_eyre::eyre::{Result, WrapErr};
use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::process::ignores_from_start;

/// Waits for the first signal that asks the program to end. One that its caller has it ignore (`nohup`, a script's `&`)
/// does not.
pub(super) struct EndSignals {
    terminate: Signal,
    interrupt: Option<Signal>,
    hangup: Option<Signal>,
}

impl EndSignals {
    /// Starts listening; from now on the signals no longer end the process by themselves.
    pub(super) fn listen() -> Result<Self> {
        let listen = |kind| signal(kind).wrap_err("listen to signals");
        let heeded =
            |kind: SignalKind| (!ignores_from_start(kind.as_raw_value())).then(|| listen(kind)).transpose();
        Ok(Self {
            terminate: listen(SignalKind::terminate())?,
            interrupt: heeded(SignalKind::interrupt())?,
            hangup: heeded(SignalKind::hangup())?,
        })
    }

    /// Like `listen`, but for a program that has left its terminal: that terminal's hang-up signal may still arrive, and
    /// does nothing.
    #[cfg(feature = "console")]
    pub(super) fn without_hangup() -> Result<Self> {
        Ok(Self { hangup: None, ..Self::listen()? })
    }

    /// Waits for a signal and returns its number.
    pub(super) async fn wait(&mut self) -> u8 {
        tokio::select! {
            _ = self.terminate.recv() => 15,
            () = await_signal(&mut self.interrupt) => 2,
            () = await_signal(&mut self.hangup) => 1,
        }
    }
}

async fn await_signal(signal: &mut Option<Signal>) {
    match signal {
        Some(signal) => drop(signal.recv().await),
        None => pending().await,
    }
}
