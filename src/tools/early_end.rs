//! Ending a call early: its caller wants an answer now, and gets whatever there is by then.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use serde::{Deserialize, Serialize};
use tokio_util::sync::CancellationToken;

use crate::envelope::units::exact;

/// The sequence number of a call, set once it is recorded.
pub type CallNumber = Arc<OnceLock<u64>>;

/// Why a call was ended before it had an answer of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CutReason {
    /// It took longer than its caller gave it, in milliseconds.
    Timeout(u64),
    /// A signal ended its caller.
    Signal(u8),
    /// Its caller hung up.
    HungUp,
}

impl CutReason {
    /// Returns the reason for ending a command.
    pub fn why(self) -> String {
        match self {
            Self::Timeout(ms) => format!("its caller gave it {}", exact(ms)),
            Self::Signal(signal) => format!("its caller was ended by signal {signal}"),
            Self::HungUp => "its caller hung up".to_owned(),
        }
    }
}

/// A handle by which a caller can end its call early.
#[derive(Debug, Clone, Default)]
pub struct CutHandle(Arc<CutState>);

#[derive(Debug, Default)]
struct CutState {
    asked: CancellationToken,
    reason: OnceLock<CutReason>,
    /// Whether the request was sent to a runtime, which may have accepted it.
    is_sent: AtomicBool,
    /// The call's sequence number, once it is known to be recorded.
    begun: CallNumber,
    /// Whether the call was in progress and was ended before it finished by itself.
    is_cut: AtomicBool,
}

impl CutHandle {
    /// Asks the call to end. The first reason given is kept.
    pub fn ask(&self, reason: CutReason) {
        let _ = self.0.reason.set(reason);
        self.0.asked.cancel();
    }

    /// Waits until the call is asked to end.
    pub async fn wait_for_cut(&self) -> CutReason {
        self.0.asked.cancelled().await;
        self.reason().unwrap_or(CutReason::HungUp)
    }

    /// Returns why the call was asked to end, if it was.
    pub fn reason(&self) -> Option<CutReason> {
        self.0.reason.get().copied()
    }

    /// Records that the request is being sent: from now on it may be accepted.
    pub fn mark_sent(&self) {
        self.0.is_sent.store(true, Ordering::Relaxed);
    }

    /// Returns whether the request was sent.
    pub fn is_sent(&self) -> bool {
        self.0.is_sent.load(Ordering::Relaxed)
    }

    /// Returns the cell that holds the call's sequence number once it is recorded.
    pub fn call_number(&self) -> &CallNumber {
        &self.0.begun
    }

    /// Records that the call was ended before it finished by itself.
    pub(super) fn took(&self) {
        self.0.is_cut.store(true, Ordering::Relaxed);
    }

    /// Returns why the call was ended before it finished by itself, if it was.
    pub(super) fn outcome(&self) -> Option<CutReason> {
        self.reason().filter(|_| self.0.is_cut.load(Ordering::Relaxed))
    }
}
