//! Reaching the runtime of a workspace: the one that serves it, wherever it is, else one that is started.

use std::fs::File;
use std::path::PathBuf;
use std::time::Duration;

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;
use tokio::time::{Instant, sleep};

use super::lock::Holder;
use super::{Error, Started, background};
use crate::paths::Places;

/// How long a runtime that is there and does not answer may keep its caller waiting: it may be ending.
const PATIENCE: Duration = Duration::from_secs(10);
/// How long one may that was started and has said nothing yet.
const STARTING: Duration = Duration::from_secs(30);
/// Pause between two attempts meanwhile.
const RETRY: Duration = Duration::from_millis(20);

/// How the runtime of a workspace is reached.
#[derive(Debug, Clone)]
pub struct Access {
    /// The folders of the workspace, as the caller's variables name them.
    pub places: Places,
    /// This very program, to start a runtime with.
    pub program: PathBuf,
    /// A runtime that is started goes on after the caller's last logout, where the machine's systemd can see to that.
    pub outlives_logout: bool,
}

impl Access {
    /// Connects by `dial` to the runtime of the workspace, and starts one where there is none. A runtime that is just
    /// starting or ending is waited for. Tells what was started, if anything was.
    ///
    /// # Errors
    /// When the runtime refuses, cannot be reached from here, or does not answer in time: 10 s, 30 s while it is starting.
    pub async fn join<T, D, F>(&self, dial: D) -> Result<(T, Option<Started>), Error>
    where
        D: Fn(Places) -> F,
        F: Future<Output = Result<T, Error>>,
    {
        self.enter(true, dial).await
    }

    /// Connects by `dial` to the runtime that serves the workspace, and starts none: [`Error::NoRuntime`] when none
    /// does any more.
    ///
    /// # Errors
    /// As with [`Access::join`].
    pub async fn join_running<T, D, F>(&self, dial: D) -> Result<T, Error>
    where
        D: Fn(Places) -> F,
        F: Future<Output = Result<T, Error>>,
    {
        self.enter(false, dial).await.map(|(joined, _)| joined)
    }

    async fn enter<T, D, F>(&self, may_start: bool, dial: D) -> Result<(T, Option<Started>), Error>
    where
        D: Fn(Places) -> F,
        F: Future<Output = Result<T, Error>>,
    {
        let began = Instant::now();
        let mut starting = None;
        loop {
            let holder = Holder::of(&self.places);
            let absence = match dial(holder.places(&self.places)).await {
                Err(error) if error.is_absence() => error,
                joined => return joined.map(|joined| (joined, starting.map(|(_, started)| started))),
            };
            // One that has no address yet is only just starting, on a machine that may be busy.
            let patience = if holder.address().is_some() { PATIENCE } else { STARTING };
            if began.elapsed() >= patience {
                return Err(self.given_up(&holder, absence));
            }
            if holder == Holder::Nobody {
                if !may_start {
                    return Err(absence);
                }
                starting = match starting {
                    None => self.start().await?,
                    Some((_, started)) if !started.is_alive() => started.failure().map_or(Ok(None), Err)?,
                    starting => starting,
                };
            }
            sleep(RETRY).await;
        }
    }

    /// Tells whether no runtime serves the workspace, nor is about to.
    #[must_use]
    pub fn is_vacant(&self) -> bool {
        Holder::of(&self.places) == Holder::Nobody
    }

    /// Starts a runtime, unless somebody else is about to: of many callers at once, one starts it.
    async fn start(&self) -> Result<Option<(File, Started)>, Error> {
        let own = self.clone();
        let started = tokio::task::spawn_blocking(move || {
            background::check_room(&own.places)?;
            let Some(turn) = own.turn()? else { return Ok(None) };
            background::start(&own.places, &own.program, own.outlives_logout)
                .map(|started| Some((turn, started)))
        });
        started.await.unwrap_or(Ok(None))
    }

    /// Takes the turn to start a runtime, held until the file is closed; none while somebody else has it.
    fn turn(&self) -> Result<Option<File>, Error> {
        let log = background::log_path(&self.places);
        let file =
            background::open_log(&log).map_err(|source| Error::Io { verb: "open", path: log, source })?;
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Err(Errno::WOULDBLOCK) => Ok(None),
            // Where files cannot be locked everybody may: the runtimes agree among themselves.
            _ => Ok(Some(file)),
        }
    }

    fn given_up(&self, holder: &Holder, absence: Error) -> Error {
        match (holder, absence) {
            (Holder::Runtime(Some(address)), Error::NoRuntime { path }) => {
                Error::Unreachable { pid: address.pid, path }
            }
            (_, Error::NoRuntime { .. }) => Error::Silent { log: background::log_path(&self.places) },
            (_, absence) => absence,
        }
    }
}
