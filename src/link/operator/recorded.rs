//! A console's view of a past recording: everything can be read, nothing can be changed.

use std::collections::BTreeMap;
use std::sync::Arc;

use tokio::sync::{Notify, watch};

use super::connection::{ConsoleConnection, PendingReply};
use crate::link::Error;
use crate::link::protocol::{Act, Reply, Request};
use crate::model::{CallRecord, PlaceId, Snapshot, Subject};
use crate::runtime::past::Recording;

/// A finished recording.
#[derive(Clone)]
pub struct PastConnection {
    name: String,
    snapshot: Arc<watch::Sender<Arc<Snapshot>>>,
    connected: Arc<watch::Sender<bool>>,
    calls: Arc<BTreeMap<u64, Arc<CallRecord>>>,
    /// Never notified: nothing on screen changes any more.
    screens: Arc<Notify>,
}

impl PastConnection {
    pub(super) fn new(recording: &Recording) -> Self {
        let calls = recording.calls.iter().map(|(seq, call)| (*seq, Arc::new(call.record.clone())));
        Self {
            name: recording.name(),
            snapshot: Arc::new(watch::Sender::new(Arc::new(recording.snapshot()))),
            connected: Arc::new(watch::Sender::new(true)),
            calls: Arc::new(calls.collect()),
            screens: Arc::new(Notify::new()),
        }
    }

    /// Returns the recording's name.
    pub fn name(&self) -> &str {
        &self.name
    }
}

impl ConsoleConnection for PastConnection {
    fn link_state(&self) -> watch::Receiver<bool> {
        self.connected.subscribe()
    }

    fn snapshot(&self) -> watch::Receiver<Arc<Snapshot>> {
        self.snapshot.subscribe()
    }

    fn screens_changed(&self) -> Arc<Notify> {
        Arc::clone(&self.screens)
    }

    /// Answers requests that only read; refuses all others.
    fn ask_at<'a>(&'a self, _place: Option<&'a PlaceId>, request: Request) -> PendingReply<'a> {
        let reply = match (request.subject, request.act) {
            (Subject::Call(seq), Act::Record) => Ok(Reply::Record(self.calls.get(&seq).cloned())),
            _ => Err(Error::ReadOnly),
        };
        Box::pin(std::future::ready(reply))
    }
}
