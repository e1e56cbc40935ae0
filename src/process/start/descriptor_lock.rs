//! The lock that protects against descriptors being inherited by a process started at the same time.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Held while a descriptor may lack close-on-exec (`portable-pty` sets it after opening) and while a fork server is
/// started. A lock, not a message: it must hold for the whole process, tests included.
static SPAWNING: Mutex<()> = Mutex::new(());

/// Waits until no descriptor lacks close-on-exec, and prevents new ones until the guard is dropped.
pub(in crate::process) fn spawning() -> MutexGuard<'static, ()> {
    SPAWNING.lock().unwrap_or_else(PoisonError::into_inner)
}
