//! Connects to a workspace's runtime: the one that serves it, wherever that is, or else one that is started.

use std::fs::File;
use std::path::PathBuf;
use std::time::Duration;

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;
use tokio::time::{Instant, sleep};

use super::lock::Holder;
use super::{Error, StartedRuntime, background};
use crate::paths::Places;

/// How long a running runtime that does not answer may keep its caller waiting: it may be shutting down.
const PATIENCE: Duration = Duration::from_secs(10);
/// The same for a runtime that was started and has no address yet.
const STARTING: Duration = Duration::from_secs(30);
/// Pause between two attempts.
const RETRY: Duration = Duration::from_millis(20);

/// How to reach the runtime of a workspace.
#[derive(Debug, Clone)]
pub struct Access {
    /// The folders of the workspace, according to the caller's environment variables.
    pub places: Places,
    /// The path of this program, for starting a runtime.
    pub program: PathBuf,
    /// Whether a started runtime should survive the caller's last logout, where the machine's systemd can provide
    /// that.
    pub outlives_logout: bool,
}

impl Access {
    /// Connects to the workspace's runtime using `dial`; if none serves it, one is started if it `may_start`, otherwise
    /// this fails with [`Error::NoRuntime`]. Waits for a runtime that is just starting or shutting down. Also returns
    /// what was started, if anything.
    ///
    /// # Errors
    /// If the runtime refuses, cannot be reached from here, or does not answer within 10 s (30 s while it is
    /// starting).
    pub async fn join<T, D, F>(&self, may_start: bool, dial: D) -> Result<(T, Option<StartedRuntime>), Error>
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
            // A runtime without an address is only just starting, on a machine that may be busy.
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
                    Some((_, started)) if !started.is_alive() => {
                        background::failure(&started.log).map_or(Ok(None), Err)?
                    }
                    starting => starting,
                };
            }
            sleep(RETRY).await;
        }
    }

    /// Tells whether no runtime serves the workspace or is about to.
    pub fn is_vacant(&self) -> bool {
        Holder::of(&self.places) == Holder::Nobody
    }

    /// Starts a runtime, unless another process is about to: of many concurrent callers, one starts it.
    async fn start(&self) -> Result<Option<(File, StartedRuntime)>, Error> {
        let own = self.clone();
        let started = tokio::task::spawn_blocking(move || {
            background::check_room(&own.places)?;
            let Some(turn) = own.turn()? else { return Ok(None) };
            background::start(&own.places, &own.program, own.outlives_logout)
                .map(|started| Some((turn, started)))
        });
        started.await.unwrap_or(Ok(None))
    }

    /// Takes the turn to start a runtime, held until the file is closed; `None` while another process has it.
    fn turn(&self) -> Result<Option<File>, Error> {
        let log = background::log_path(&self.places);
        let file = background::open_log(&log).map_err(Error::io("open", &log))?;
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Err(Errno::WOULDBLOCK) => Ok(None),
            // If files cannot be locked, any caller may start one: the runtimes settle it among themselves.
            _ => Ok(Some(file)),
        }
    }

    fn given_up(&self, holder: &Holder, absence: Error) -> Error {
        match holder.explain(absence) {
            Error::NoRuntime { .. } => Error::Silent { log: background::log_path(&self.places) },
            absence => absence,
        }
    }
}
