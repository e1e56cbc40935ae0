//! Connects a command to its workspace's runtime within a short time, for callers that may be able to do without one.

use std::path::Path;
use std::time::Duration;

use rustix::event::{Timespec, poll};
use rustix::fs::{FlockOperation, flock};

use super::lock::Holder;
use super::shell::{ShellCall, ShellFallback, ShellRequest};
use super::{Error, Hello, background};
use crate::clock::Clock;
use crate::paths::Places;

/// How long a runtime that is there may take to answer: less is no silence on a busy machine.
const ANSWER: Duration = Duration::from_secs(10);
/// Pause between two attempts while a runtime starts.
const RETRY: Duration = Duration::from_millis(5);
/// How long a runtime may take to have room for the connection, and the longest pause between two attempts.
const ROOM: Duration = Duration::from_secs(20);
const LONGEST: Duration = Duration::from_secs(1);

/// Connects to the workspace's runtime to request a command, starting a runtime if there is none, within the time
/// `budget`; a runtime that has no room is waited for. An environment that is too large to be sent makes the request
/// unfit: it then only asks whether the caller may run the command.
///
/// # Errors
/// If no runtime is available in time, or one refuses; [`ShellFallback::by`] says what follows.
pub fn ask_at_once(
    places: &Places,
    program: &Path,
    budget: Duration,
    hello: &mut Hello,
    request: &mut ShellRequest,
) -> Result<ShellCall, Error> {
    match join(places, program, (budget, ROOM), hello) {
        Err(error) if ShellFallback::by(&error) == ShellFallback::Oversized => {
            request.unfit = Some(error.to_string());
            hello.environment = None;
            join(places, program, (budget, ROOM), hello)
        }
        joined => joined,
    }
}

/// Connects to the workspace's runtime, starting one if there is none, to be known to it; returns once it is. Waits at
/// most `budget` for a runtime to start or to have room.
///
/// # Errors
/// If no runtime is available in time, or one refuses.
pub fn announce_at_once(
    places: &Places,
    program: &Path,
    budget: Duration,
    hello: &Hello,
) -> Result<(), Error> {
    join(places, program, (budget, budget), hello)?.until_closed()
}

/// While starting a runtime, the caller holds the lock on its log, so that only one of many concurrent callers does.
fn join(
    places: &Places,
    program: &Path,
    (budget, room): (Duration, Duration),
    hello: &Hello,
) -> Result<ShellCall, Error> {
    let clock = Clock::start();
    let (mut starting, mut pause) = (None, RETRY);
    loop {
        let holder = Holder::of(places);
        let error = match ShellCall::dial(&holder.places(places).agent_socket(), hello, ANSWER) {
            Ok(call) => return Ok(call),
            Err(error) => error,
        };
        let waited = clock.now().mono;
        match ShellFallback::by(&error) {
            // What answers nothing at first may be starting or ending.
            ShellFallback::Silence if error.is_absence() && waited < budget => {}
            ShellFallback::Silence if error.is_absence() && holder == Holder::Nobody => {
                return Err(background::failure(&background::log_path(places)).unwrap_or(error));
            }
            ShellFallback::Busy if waited < room => pause = (2 * pause).min(LONGEST),
            _ => return Err(error),
        }
        if holder == Holder::Nobody && starting.is_none() {
            let path = background::log_path(places);
            let log = background::open_log(&path).map_err(Error::io("write the log", &path))?;
            if flock(&log, FlockOperation::NonBlockingLockExclusive).is_ok() {
                background::start(places, program, false)?;
                starting = Some(log);
            }
        }
        let _ = poll(&mut [], Timespec::try_from(pause).ok().as_ref());
    }
}
