//! The lock over descriptors that a process started now would inherit.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Held while a descriptor may lack close-on-exec (`portable-pty` sets it after opening) and while
/// a fork server is started. A lock, not a message: it must hold for the whole process, tests included.
static SPAWNING: Mutex<()> = Mutex::new(());

/// Waits until no descriptor lacks close-on-exec, and lets none come about.
pub(super) fn spawning() -> MutexGuard<'static, ()> {
    SPAWNING.lock().unwrap_or_else(PoisonError::into_inner)
}
