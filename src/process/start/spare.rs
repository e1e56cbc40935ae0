//! Spare hosts, kept ready for the next commands so that they need not wait for one to start up. Each carries the id
//! of a future task, along with its mark and control group.

use std::mem;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::task::JoinHandle;

use super::hosts::{self, HostProcess};
use super::spawner::{PreparedHost, Spawner};
use crate::envelope::TaskId;
use crate::process::running::Control;

/// Spare hosts kept ready: one for the next command, and one for the command after it, which may follow before a
/// third is ready.
pub const SPARES: usize = 2;
/// How long a host may take to exit when its runtime ends.
const LEAVING: Duration = Duration::from_secs(1);

/// The spare hosts. Clones share them.
#[derive(Debug, Clone, Default)]
// A lock, not a message: it is held for one check.
pub(in crate::process) struct Spares(Arc<Mutex<SpareState>>);

#[derive(Debug, Default)]
struct SpareState {
    /// Hosts that are starting up.
    coming: usize,
    ready: Vec<Spare>,
    /// Hosts whose id was given to a caller that has not started yet, oldest first.
    promised: Vec<Spare>,
    /// Hosts whose commands have ended, for the next tasks.
    ended: Vec<(Control, HostProcess)>,
    /// Whether more commands are expected.
    is_expecting: bool,
    /// How often all of them were given up; a host that was ordered before that is not kept.
    given_up: u64,
}

/// A spare host to be prepared.
struct SpareOrder {
    /// How often the spare hosts had been given up.
    given_up: u64,
    /// The host to use again; without one, another is started.
    ended: Option<(Control, HostProcess)>,
}

impl SpareOrder {
    /// Orders a spare host, if one is missing.
    fn any(state: &mut SpareState) -> Option<Self> {
        let is_missing = state.ready.len() + state.coming < SPARES;
        state.coming += usize::from(is_missing);
        is_missing.then(|| Self { given_up: state.given_up, ended: state.ended.pop() })
    }

    /// Orders a spare host, if one is missing and there is a host to use again, or if there is none at all although more
    /// commands are expected.
    fn soon(state: &mut SpareState) -> Option<Self> {
        let has_none = state.is_expecting && state.ready.is_empty() && state.coming == 0;
        if state.ended.is_empty() && !has_none { None } else { Self::any(state) }
    }
}

#[derive(Debug)]
struct Spare {
    id: TaskId,
    host: PreparedHost,
}

impl Spawner {
    /// Keeps hosts whose commands have ended for the next commands, until the spare hosts are given up.
    pub fn expect_more(&self) {
        self.spares.state().is_expecting = true;
    }

    /// Prepares spare hosts for the next commands until there are [`SPARES`]. For each, `folder` first creates the
    /// folder of the task with its id, if it can.
    pub fn keep_spares(&self, folder: impl Fn(TaskId) -> JoinHandle<Option<PathBuf>>) {
        self.prepare_spares(SpareOrder::any, folder);
    }

    /// Like [`Spawner::keep_spares`], but only from hosts whose commands have ended, unless there would be none for the
    /// next command: for the moment in which a start waits for the disk and no processor is needed.
    pub fn renew_spares(&self, folder: impl Fn(TaskId) -> JoinHandle<Option<PathBuf>>) {
        self.prepare_spares(SpareOrder::soon, folder);
    }

    fn prepare_spares(
        &self,
        next: fn(&mut SpareState) -> Option<SpareOrder>,
        folder: impl Fn(TaskId) -> JoinHandle<Option<PathBuf>>,
    ) {
        let order = || next(&mut self.spares.state());
        while let Some(SpareOrder { given_up, ended }) = order() {
            let (hosts, spares, id) = (self.hosts.clone(), self.spares.clone(), TaskId::random());
            let folder = folder(id.clone());
            self.links.spawn(async move {
                let folder = folder.await.ok().flatten();
                let renewed = match ended {
                    Some(ended) => hosts::renew(ended, id.as_str(), folder.as_deref()).await.ok(),
                    None => None,
                };
                let started = match renewed {
                    Some(host) => Some(host),
                    // Nobody waits for it: if it fails, the next command starts a host of its own.
                    None => hosts.start(Some(id.as_str()), folder.as_deref()).await.ok(),
                };
                let host = started.map(|started| PreparedHost::of(started, Some(id.to_string())));
                spares.came(given_up, host.map(|host| Spare { id, host }));
            });
        }
    }

    /// Drops the spare hosts.
    pub fn give_up_spares(&self) {
        drop(self.spares.take_all());
    }

    /// Returns an id for the next task: that of a spare host, if there is one.
    pub fn next_id(&self) -> TaskId {
        self.spares.promise().unwrap_or_else(TaskId::random)
    }

    /// Drops the spare hosts and waits until they are gone.
    pub(in crate::process) async fn end_spares(&self) {
        let (spares, ended) = self.spares.take_all();
        let ended = ended.into_iter().map(|ended| PreparedHost::of(ended, None));
        for host in spares.into_iter().map(|spare| spare.host).chain(ended) {
            host.end(LEAVING).await;
        }
    }
}

impl Spares {
    fn state(&self) -> MutexGuard<'_, SpareState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes that a spare host has started up or could not be started.
    fn came(&self, given_up: u64, spare: Option<Spare>) {
        let mut state = self.state();
        if state.given_up == given_up {
            state.coming -= 1;
            state.ready.extend(spare);
        }
    }

    /// Promises a spare host to a task, if one is ready and running. A host that was promised but not taken is dropped
    /// when others are promised; the caller it was promised to starts another one.
    fn promise(&self) -> Option<TaskId> {
        let mut state = self.state();
        let mut gone = Vec::new();
        let mut promised = None;
        while promised.is_none() && !state.ready.is_empty() {
            let spare = state.ready.remove(0);
            if spare.host.is_well() {
                promised = Some(spare.id.clone());
                state.promised.push(spare);
            } else {
                gone.push(spare);
            }
        }
        if state.promised.len() > SPARES {
            gone.push(state.promised.remove(0));
        }
        drop(state);
        drop(gone);
        promised
    }

    /// Takes the host that was promised under an id.
    pub(in crate::process) fn take_for(&self, wanted: &str) -> Option<PreparedHost> {
        let mut state = self.state();
        let at = state.promised.iter().position(|spare| spare.id.as_str() == wanted)?;
        Some(state.promised.remove(at).host)
    }

    /// Keeps a host whose command has ended, to make a spare host of it when one is missing; returns it if there are
    /// enough. Commands that follow one another need one more than [`SPARES`], for the one that runs.
    pub(in crate::process) fn reuse(&self, host: (Control, HostProcess)) -> Option<(Control, HostProcess)> {
        let mut state = self.state();
        let is_enough = state.ready.len() + state.coming + state.ended.len() > SPARES;
        if is_enough || !state.is_expecting {
            return Some(host);
        }
        state.ended.push(host);
        None
    }

    fn take_all(&self) -> (Vec<Spare>, Vec<(Control, HostProcess)>) {
        let mut state = self.state();
        let mut spares = mem::take(&mut state.ready);
        spares.append(&mut state.promised);
        state.coming = 0;
        state.is_expecting = false;
        state.given_up += 1;
        (spares, mem::take(&mut state.ended))
    }
}
