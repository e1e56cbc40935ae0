//! The recent calls of a runtime, in memory.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;

use crate::clock::{Moment, millis};
use crate::envelope::{Actor, Envelope, TaskId};
use crate::model::calls::{ABANDONED, SHELL_CALL};
use crate::model::native_call::{NativeCandidate, SoughtCall};
use crate::model::{CallEnd, CallRecord, CallSummary, NativeCall, StreamView};

/// Bytes of recent calls kept in full; older ones keep only their summary in memory, and are read from the recording.
const WHOLE_BYTES: usize = 32 << 20;

/// How many of the last calls are looked through for one of which nothing was told.
const LATELY: usize = 16;

#[derive(Debug, Default)]
pub(crate) struct RecentCalls {
    next: u64,
    capacity: usize,
    calls: VecDeque<CallEntry>,
    /// Bytes of the ended calls that are kept in full.
    bytes: usize,
}

#[derive(Debug)]
struct CallEntry {
    /// `None` once it has been evicted from memory.
    record: Option<Arc<CallRecord>>,
    /// The record's size, once the call has ended.
    bytes: usize,
    summary: Arc<CallSummary>,
    begun: Duration,
    /// When the call was on record and could take effect.
    admitted: Option<Duration>,
}

impl RecentCalls {
    pub(crate) fn new(capacity: usize) -> Self {
        Self { capacity, ..Self::default() }
    }

    /// Adds a call and returns its record.
    pub(crate) fn begin(&mut self, now: Moment, actor: &Actor, tool: &str, input: Value) -> Arc<CallRecord> {
        self.next += 1;
        let record = Arc::new(CallRecord {
            seq: self.next,
            at: now.wall,
            actor: actor.clone(),
            tool: tool.to_owned(),
            input,
            envelope: None,
            receipt: None,
            notices: Vec::new(),
            duration_ms: None,
            native: None,
        });
        let summary = Arc::new(record.summary(None, None));
        if self.calls.len() == self.capacity
            && let Some(oldest) = self.calls.pop_front()
        {
            self.bytes -= oldest.bytes;
        }
        let entry =
            CallEntry { record: Some(record.clone()), bytes: 0, summary, begun: now.mono, admitted: None };
        self.calls.push_back(entry);
        record
    }

    /// Notes that a call is on record and may take effect.
    pub(crate) fn admit(&mut self, now: Moment, seq: u64) {
        if let Some(entry) = self.entry(seq) {
            entry.admitted = Some(now.mono);
        }
    }

    /// Completes a call; returns its full record and its admission latency, unless the call is too old to be found.
    pub(crate) fn end(
        &mut self,
        now: Moment,
        seq: u64,
        task: Option<&TaskId>,
        envelope: &Envelope,
        (receipt, notices): (&str, Vec<String>),
    ) -> Option<(Arc<CallRecord>, Option<u64>)> {
        let at = self.place(seq)?;
        let entry = self.calls.get_mut(at)?;
        let duration = millis(now.mono.saturating_sub(entry.begun));
        let record = Arc::make_mut(entry.record.as_mut()?);
        record.envelope = Some(envelope.to_value());
        // A hook may be faster.
        if record.native.is_none() {
            record.receipt = Some(receipt.to_owned());
        }
        record.notices = notices;
        record.duration_ms = Some(duration);
        let summary = Arc::make_mut(&mut entry.summary);
        summary.status = Some(envelope.status().to_owned());
        summary.summary = envelope.summary_text().to_owned();
        summary.task = task.cloned();
        summary.end = record.envelope.as_ref().and_then(CallEnd::of);
        summary.duration_ms = Some(duration);
        let record = entry.record.clone()?;
        entry.bytes = size(&record);
        self.bytes += entry.bytes;
        let latency = entry.admitted.map(|admitted| millis(admitted.saturating_sub(entry.begun)));
        self.let_go();
        Some((record, latency))
    }

    /// Evicts the oldest ended calls from memory until the rest fits.
    fn let_go(&mut self) {
        for entry in &mut self.calls {
            if self.bytes <= WHOLE_BYTES {
                return;
            }
            if entry.bytes > 0 {
                entry.record = None;
                self.bytes -= std::mem::take(&mut entry.bytes);
            }
        }
    }

    /// Keeps the result of an open call that will not be sent to anyone.
    pub(crate) fn leave_behind(&mut self, seq: u64, envelope: &Envelope, receipt: &str) {
        if let Some(entry) = self.open(seq)
            && let Some(record) = entry.record.as_mut().map(Arc::make_mut)
        {
            record.envelope = Some(envelope.to_value());
            record.receipt = Some(receipt.to_owned());
            Arc::make_mut(&mut entry.summary).summary = envelope.summary_text().to_owned();
        }
    }

    /// Closes a call whose client stopped waiting; returns its record if it was still open.
    pub(crate) fn abandon(&mut self, now: Moment, seq: u64) -> Option<Arc<CallRecord>> {
        let entry = self.open(seq)?;
        let duration = millis(now.mono.saturating_sub(entry.begun));
        let record = entry.record.as_mut()?;
        Arc::make_mut(record).duration_ms = Some(duration);
        let record = record.clone();
        entry.bytes = size(&record);
        let bytes = entry.bytes;
        let summary = Arc::make_mut(&mut entry.summary);
        summary.status = Some(ABANDONED.to_owned());
        summary.duration_ms = Some(duration);
        self.bytes += bytes;
        self.let_go();
        Some(record)
    }

    /// Returns the commands of an agent's own shell that its hook may tell of, the likeliest first: the one it told of before;
    /// or else those of which nothing was told, the last that ended first.
    pub(crate) fn sought(&self, sought: &SoughtCall) -> Vec<NativeCandidate> {
        let mut ended = Vec::new();
        let mut open = Vec::new();
        for entry in self.calls.iter().rev() {
            let Some(record) = entry.record.as_ref().filter(|record| is_sought(record, sought)) else {
                continue;
            };
            let candidate = NativeCandidate { seq: record.seq, task: entry.summary.task.clone() };
            match &record.native {
                Some(native) if native.id.is_some() && native.id == sought.id => return vec![candidate],
                Some(_) => {}
                None if entry.summary.status.is_some() => ended.push(candidate),
                None => open.push(candidate),
            }
        }
        ended.extend(open);
        ended
    }

    /// Tells whether a command of an agent's own shell is open, or is among the last calls, of which nothing was told: its hook
    /// may write it in another way.
    pub(crate) fn has_untold(&self, sought: &SoughtCall) -> bool {
        let is_untold = |entry: &CallEntry| {
            entry.record.as_ref().is_some_and(|record| is_by(record, sought) && record.native.is_none())
        };
        let mut lately = self.calls.iter().rev().take(LATELY);
        lately.any(is_untold)
            || self.calls.iter().any(|entry| entry.summary.status.is_none() && is_untold(entry))
    }

    /// Keeps the text that a model was given of a command of its agent's own shell, as the receipt of the call.
    pub(crate) fn tell(&mut self, seq: u64, receipt: String, native: NativeCall) {
        let Some(entry) = self.place(seq).and_then(|at| self.calls.get_mut(at)) else { return };
        let Some(record) = entry.record.as_mut().map(Arc::make_mut) else { return };
        record.tell(receipt, native);
        Arc::make_mut(&mut entry.summary).native = record.native.clone();
        // An open call is weighed at its end.
        if entry.bytes > 0 {
            let before = std::mem::replace(&mut entry.bytes, size(record));
            self.bytes = self.bytes + entry.bytes - before;
            self.let_go();
        }
    }

    fn open(&mut self, seq: u64) -> Option<&mut CallEntry> {
        self.entry(seq).filter(|entry| entry.summary.status.is_none())
    }

    fn entry(&mut self, seq: u64) -> Option<&mut CallEntry> {
        let at = self.place(seq)?;
        self.calls.get_mut(at)
    }

    /// Finds a call by binary search: calls are sorted by number.
    fn place(&self, seq: u64) -> Option<usize> {
        self.calls.binary_search_by_key(&seq, |entry| entry.summary.seq).ok()
    }

    /// Shows the progress of an open call that is a stream.
    pub(crate) fn progress(&mut self, seq: u64, stream: StreamView) {
        if let Some(entry) = self.open(seq) {
            let summary = Arc::make_mut(&mut entry.summary);
            summary.summary = stream.progress_line();
            summary.stream = Some(stream);
        }
    }

    pub(crate) fn get(&self, seq: u64) -> Option<Arc<CallRecord>> {
        self.calls.get(self.place(seq)?)?.record.clone()
    }

    pub(crate) fn summaries(&self) -> Vec<Arc<CallSummary>> {
        self.calls.iter().map(|entry| entry.summary.clone()).collect()
    }
}

/// Returns whether a call is one of the shell of an agent, or of its session under whatever name.
fn is_by(record: &CallRecord, sought: &SoughtCall) -> bool {
    let session = record.input["session"].as_str();
    let is_session = session.is_some() && session == sought.session.as_deref();
    record.tool == SHELL_CALL && (record.actor == sought.actor || is_session)
}

fn is_sought(record: &CallRecord, sought: &SoughtCall) -> bool {
    let is_session = |session: &str| sought.session.as_ref().is_none_or(|sought| sought == session);
    is_by(record, sought)
        && record.actor == sought.actor
        && record.input["session"].as_str().is_none_or(is_session)
        && record.input["cmd"].as_str().is_some_and(|cmd| cmd.trim() == sought.cmd.trim())
}

/// Returns the approximate size of a call, in bytes.
fn size(record: &CallRecord) -> usize {
    let receipt = record.receipt.as_ref().map_or(0, String::len);
    weight(&record.input) + record.envelope.as_ref().map_or(0, weight) + receipt
}

/// Returns the approximate size of a value, in bytes.
fn weight(value: &Value) -> usize {
    const NODE: usize = 32;
    NODE + match value {
        Value::String(text) => text.len(),
        Value::Array(items) => items.iter().map(weight).sum(),
        Value::Object(members) => members.iter().map(|(key, value)| key.len() + weight(value)).sum(),
        Value::Null | Value::Bool(_) | Value::Number(_) => 0,
    }
}
