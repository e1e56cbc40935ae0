//! Idempotency keys: a repeated request gets the first answer again, and nothing is executed twice.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::{Value, json};

use super::call::{CallAnswer, call_until};
use super::early_end::{CutHandle, CutReason};
use super::verb::Caller;
use crate::envelope::{Envelope, ErrorKind, SafeText, ToolError};
use crate::runtime::Handle;

/// Bytes of answers kept in memory, as estimated from their receipts; of older ones, only the sequence number is kept.
const KEPT_BYTES: usize = 4 << 20;
/// The maximum length of a key, in bytes.
const KEY_BYTES: usize = 256;

/// The keys used in one recording.
#[derive(Debug, Default)]
pub struct IdempotencyKeys {
    // A mutex is enough: it is held for one map operation per call.
    entries: Mutex<KeyEntries>,
}

#[derive(Debug, Default)]
struct KeyEntries {
    entries: HashMap<String, FirstUse>,
    /// Those whose answers are in memory, oldest first, with the sizes of the answers.
    answered: VecDeque<(FirstUse, usize)>,
    bytes: usize,
}

/// The first request of a key. The lock is held while it runs, so that a second request waits for it.
type FirstUse = Arc<tokio::sync::Mutex<Option<FirstRequest>>>;

#[derive(Debug)]
struct FirstRequest {
    tool: String,
    input: Value,
    answer: CallAnswer,
}

impl FirstRequest {
    /// Replaces the answer by a note that it is on record.
    fn forget(&mut self) {
        let note =
            json!({ "call": self.answer.seq, "answer": "no longer in memory; it is in the recording" });
        let summary = "done before; the first answer is in the recording";
        self.answer.envelope = Envelope::success(self.answer.envelope.tool_name(), summary, &note);
        self.answer.receipt = SafeText::lines(summary);
    }
}

impl IdempotencyKeys {
    fn first_use(&self, key: &str) -> FirstUse {
        self.lock().entries.entry(key.to_owned()).or_default().clone()
    }

    /// Notes that a key has an answer. Beyond `most` bytes of answers, the oldest ones are replaced by a note that names
    /// their calls.
    fn note_answer(&self, first_use: &FirstUse, answer: &CallAnswer, most: usize) {
        let size = answer.receipt.len() * 3;
        let mut entries = self.lock();
        entries.bytes += size;
        entries.answered.push_back((first_use.clone(), size));
        while entries.bytes > most
            && let Some((oldest, size)) = entries.answered.pop_front()
        {
            entries.bytes -= size;
            // Whoever has it at this moment repeats the answer.
            if let Ok(mut oldest) = oldest.try_lock()
                && let Some(oldest) = &mut *oldest
            {
                oldest.forget();
            }
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, KeyEntries> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Calls a tool. A request whose key already has an answer gets that answer, and nothing is executed. Successes count, and
/// whatever has begun a command, however it ended; any other request may be retried under its key. One that `cut` ends
/// while another request has the key does nothing.
pub async fn call_once(
    runtime: &Handle,
    caller: &Caller,
    idempotency: &IdempotencyKeys,
    key: Option<&str>,
    tool: &str,
    input: Value,
    cut: &CutHandle,
) -> CallAnswer {
    let Some(key) = key else { return call_until(runtime, caller, tool, input, cut).await };
    if key.is_empty() || key.len() > KEY_BYTES {
        let reason = format!("An idempotency key has 1 to {KEY_BYTES} bytes.");
        return refusal_answer(tool, ErrorKind::InvalidToolInput, reason, key);
    }
    let first_use = idempotency.first_use(key);
    let mut first = tokio::select! {
        biased;
        reason = cut.wait_for_cut() => return unbegun(tool, reason),
        first = first_use.lock() => first,
    };
    match &*first {
        Some(first) if first.tool == tool && first.input == input => {
            CallAnswer { repeated: true, ..first.answer.clone() }
        }
        Some(_) => {
            let reason = "This idempotency key stands for another request already.".to_owned();
            refusal_answer(tool, ErrorKind::IdempotencyConflict, reason, key)
        }
        None => {
            let answer = call_until(runtime, caller, tool, input.clone(), cut).await;
            let is_success = !answer.envelope.is_error() && !answer.is_unbegun;
            if is_success || runtime.has_begun(answer.seq) {
                idempotency.note_answer(&first_use, &answer, KEPT_BYTES);
                *first = Some(FirstRequest { tool: tool.to_owned(), input, answer: answer.clone() });
            }
            answer
        }
    }
}

fn refusal_answer(tool: &str, kind: ErrorKind, reason: String, key: &str) -> CallAnswer {
    let shown: String = key.chars().take(64).collect();
    let error = ToolError::new(kind, reason)
        .with_details(json!({ "field": "idempotency-key", "idempotency_key": shown }))
        .with_hint("use one key for one request: a new key for a new request");
    let envelope = Envelope::error(tool, error);
    let receipt = super::table::render(&envelope);
    CallAnswer { seq: 0, envelope, receipt, repeated: false, cut: None, is_unbegun: false, task: None }
}

/// Returns the answer to a request that was ended before its turn.
fn unbegun(tool: &str, reason: CutReason) -> CallAnswer {
    let summary = "ended before it began";
    let (envelope, receipt) = (Envelope::success(tool, summary, &Value::Null), SafeText::lines(summary));
    CallAnswer { seq: 0, envelope, receipt, repeated: false, cut: Some(reason), is_unbegun: true, task: None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_answers_stay_in_memory_and_every_key_is_remembered() {
        let keys = IdempotencyKeys::default();
        let answer = |seq| CallAnswer {
            seq,
            ..refusal_answer("ExecCommand", ErrorKind::InternalError, "x".repeat(1_000), "")
        };
        for seq in 0..10 {
            let (first_use, answer) = (keys.first_use(&seq.to_string()), answer(seq));
            let (tool, input) = ("ExecCommand".to_owned(), json!({}));
            keys.note_answer(&first_use, &answer, 3 * 3 * answer.receipt.len());
            *first_use.try_lock().expect("free") = Some(FirstRequest { tool, input, answer });
        }
        for seq in 0..10 {
            let first_use = keys.first_use(&seq.to_string());
            let first = first_use.try_lock().expect("free");
            let first = first.as_ref().expect("it is remembered");
            assert_eq!((first.answer.seq, first.answer.receipt.len() > 100), (seq, seq >= 7));
        }
    }
}
