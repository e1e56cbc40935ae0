//! The handle's part for calls and streams: their place on record, and what is counted of them.

use std::sync::Arc;

use serde_json::Value;

use super::Handle;
use crate::envelope::{Actor, Envelope, TaskId};
use crate::journal::Durability;
use crate::runtime::calls::CallRecord;
use crate::runtime::metrics::Metrics;
use crate::runtime::stream::StreamView;

impl Handle {
    /// Puts a call on record before its effect and returns its number. `durability` tells when its row is: only what a
    /// later row does not bring to disk in time must be synced by itself.
    pub async fn begin_call(&self, actor: &Actor, tool: &str, durability: Durability, input: &Value) -> u64 {
        self.shared.begin_call(actor, tool, durability, input).await
    }

    /// Puts the answer of a call on record before anybody gets it: a kill right after loses nothing that was told.
    pub async fn end_call(&self, seq: u64, task: Option<&TaskId>, envelope: &Envelope, receipt: &str) {
        self.shared.end_call(seq, task, envelope, receipt).await;
    }

    /// Notes what a call that is being abandoned has come to; it is sent to nobody.
    pub fn leave_behind(&self, seq: u64, envelope: &Envelope, receipt: &str) {
        self.shared.leave_behind(seq, envelope, receipt);
    }

    /// Shows how far a call that is a stream of commands has come.
    pub fn progress(&self, seq: u64, stream: StreamView) {
        self.shared.progress(seq, stream);
    }

    /// Puts the end of a stream of commands on record.
    pub fn end_stream(&self, seq: u64, envelope: &Envelope, receipt: &str) {
        self.shared.end_stream(seq, envelope, receipt);
    }

    /// Puts on record that nobody waits for a call's answer any more.
    pub fn abandon_call(&self, seq: u64) {
        self.shared.abandon_call(seq);
    }

    /// Returns a call, as long as the record has it.
    pub async fn call(&self, seq: u64) -> Option<Arc<CallRecord>> {
        self.shared.call(seq).await
    }

    /// Returns the counters as they stand.
    #[must_use]
    pub fn metrics(&self) -> Metrics {
        let session = self.shared.session();
        let mut metrics = session.counters.metrics.clone();
        session.calls.percentiles(&mut metrics);
        drop(session);
        let snapshot = self.shared.snapshot.borrow().clone();
        metrics.gauges = self.shared.gauges(&snapshot.tasks, metrics.output_bytes_in);
        metrics
    }
}
