//! Idempotency keys: a repeated request gets the first answer again, and nothing is executed twice.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::call::{CallAnswer, call_until};
use super::early_end::{CutHandle, CutReason};
use super::verb::Caller;
use crate::envelope::{Envelope, ErrorKind, SafeText, TaskId, ToolError};
use crate::runtime::Handle;

/// The maximum length of a key, in bytes.
const KEY_BYTES: usize = 256;

/// The keys used in one recording. The recording holds their answers.
#[derive(Debug, Default)]
pub struct IdempotencyKeys {
    // A mutex is enough: it is held for one map operation per call.
    first_uses: Mutex<HashMap<String, FirstUse>>,
}

/// The first request of a key. The lock is held while it runs, so that a second request waits for it.
type FirstUse = Arc<tokio::sync::Mutex<Option<FirstRequest>>>;

#[derive(Debug)]
struct FirstRequest {
    /// Of the tool and its input.
    digest: [u8; 32],
    call: u64,
    cut: Option<CutReason>,
    task: Option<TaskId>,
}

impl FirstRequest {
    /// Returns the answer on record, or a note if that cannot be read.
    async fn answer(&self, runtime: &Handle, tool: &str) -> CallAnswer {
        let recorded = runtime.call(self.call).await.and_then(|record| {
            let envelope = serde_json::from_value(record.envelope.clone()?).ok()?;
            Some((envelope, SafeText::lines(record.receipt.as_deref()?)))
        });
        let (envelope, receipt) = recorded.unwrap_or_else(|| {
            let summary = "done before; its answer cannot be read from the recording";
            (Envelope::success(tool, summary, &json!({ "call": self.call })), SafeText::lines(summary))
        });
        let Self { call: seq, cut, ref task, .. } = *self;
        CallAnswer { seq, envelope, receipt, repeated: true, cut, is_unbegun: false, task: task.clone() }
    }
}

impl IdempotencyKeys {
    fn first_use(&self, key: &str) -> FirstUse {
        let mut first_uses = self.first_uses.lock().unwrap_or_else(PoisonError::into_inner);
        first_uses.entry(key.to_owned()).or_default().clone()
    }
}

/// Returns the digest of a request. The order of an object's members does not count.
fn digest(tool: &str, input: &Value) -> [u8; 32] {
    let mut sorted = input.clone();
    sorted.sort_all_objects();
    Sha256::new().chain_update(tool).chain_update([0]).chain_update(sorted.to_string()).finalize().into()
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
        return refusal_answer(tool, ErrorKind::InvalidToolInput, reason, key, "give a key of that length");
    }
    let first_use = idempotency.first_use(key);
    let mut first = tokio::select! {
        biased;
        reason = cut.wait_for_cut() => return unbegun(tool, reason),
        first = first_use.lock() => first,
    };
    let digest = digest(tool, &input);
    match &*first {
        Some(first) if first.digest == digest => first.answer(runtime, tool).await,
        Some(_) => {
            let reason = "This idempotency key stands for another request already.".to_owned();
            let hint = "use one key for one request: a new key for a new request";
            refusal_answer(tool, ErrorKind::IdempotencyConflict, reason, key, hint)
        }
        None => {
            let answer = call_until(runtime, caller, tool, input, cut).await;
            let is_success = !answer.envelope.is_error() && !answer.is_unbegun;
            if is_success || runtime.has_begun(answer.seq) {
                let CallAnswer { seq: call, cut, ref task, .. } = answer;
                *first = Some(FirstRequest { digest, call, cut, task: task.clone() });
            }
            answer
        }
    }
}

fn refusal_answer(tool: &str, kind: ErrorKind, reason: String, key: &str, hint: &str) -> CallAnswer {
    let shown: String = key.chars().take(64).collect();
    let error = ToolError::new(kind, reason)
        .with_details(json!({ "field": "idempotency-key", "idempotency_key": shown }))
        .with_hint(hint);
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
    fn a_request_is_the_same_if_its_tool_and_input_are_whatever_the_order_of_members() {
        let [one, other, third] =
            [json!({"a": 1, "b": {"c": 2, "d": 3}}), json!({"b": {"d": 3, "c": 2}, "a": 1}), json!({"a": 1})];
        assert_eq!(digest("ExecCommand", &one), digest("ExecCommand", &other));
        assert_ne!(digest("ExecCommand", &one), digest("TaskStop", &one));
        assert_ne!(digest("ExecCommand", &one), digest("ExecCommand", &third));
    }
}
