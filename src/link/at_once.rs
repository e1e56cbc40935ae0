//! Connects to a workspace's runtime within a short time limit, for callers that can work without one.

use std::path::Path;
use std::time::Duration;

use rustix::event::{Timespec, poll};
use rustix::fs::{FlockOperation, flock};

use super::lock::Holder;
use super::{Error, background};
use crate::clock::Clock;
use crate::paths::Places;

/// Pause between two attempts.
const RETRY: Duration = Duration::from_millis(5);

/// Connects to the workspace's runtime using `dial`, starting a runtime if there is none, within the time `budget`.
/// While starting it, the caller holds the lock on the runtime's log, so that only one of many concurrent callers
/// does.
///
/// # Errors
/// If the runtime refuses or is not available in time.
pub fn join_at_once<T>(
    places: &Places,
    program: &Path,
    budget: Duration,
    dial: impl Fn(&Path) -> Result<T, Error>,
) -> Result<T, Error> {
    let clock = Clock::start();
    let deadline = clock.now().mono + budget;
    let mut starting = None;
    loop {
        let holder = Holder::of(places);
        let absence = match dial(&holder.places(places).agent_socket()) {
            Err(error) if error.is_absence() => error,
            done => return done,
        };
        if clock.now().mono >= deadline {
            return Err(absence);
        }
        if holder == Holder::Nobody && starting.is_none() {
            let log = background::open_log(&background::log_path(places)).ok();
            let is_mine =
                log.as_ref().is_some_and(|log| flock(log, FlockOperation::NonBlockingLockExclusive).is_ok());
            if is_mine {
                background::start(places, program, false)?;
                starting = log;
            }
        }
        let _ = poll(&mut [], Timespec::try_from(RETRY).ok().as_ref());
    }
}
