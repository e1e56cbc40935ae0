//! What an agent gets for calls that wait for the operator: against real processes.

use std::time::Duration;

use pilothouse::config::{ApprovalRule, Limits};
use pilothouse::envelope::Actor;
use pilothouse::model::{Decision, HeldCall};
use pilothouse::runtime::Handle;
use pilothouse::tools::{CallAnswer, Caller, call};
use serde_json::{Value, json};

use crate::support::{must_be_an_envelope, start_limited};

/// A runtime and an agent that uses it.
struct Bench {
    runtime: Handle,
    caller: Caller,
    _dir: tempfile::TempDir,
}

impl Bench {
    fn start(limits: Limits) -> Self {
        let dir = tempfile::tempdir().expect("temp dir");
        let (runtime, cwd) = start_limited(dir.path(), limits);
        let caller = Caller::new(Actor::Agent("claude".into()), cwd);
        Self { runtime, caller, _dir: dir }
    }

    async fn paused() -> Self {
        let bench = Self::start(Limits::default());
        bench.runtime.pause(true, None).await;
        bench
    }

    async fn call(&self, tool: &str, input: Value) -> CallAnswer {
        let answer = call(&self.runtime, &self.caller, tool, input).await;
        must_be_an_envelope(&answer.envelope.to_value());
        answer
    }

    /// Makes a call in the background, while somebody else decides.
    fn ask(&self, tool: &'static str, input: Value) -> tokio::task::JoinHandle<CallAnswer> {
        let (runtime, caller) = (self.runtime.clone(), self.caller.clone());
        tokio::spawn(async move { call(&runtime, &caller, tool, input).await })
    }

    async fn held(&self) -> HeldCall {
        let mut snapshots = self.runtime.snapshot();
        let held = snapshots.wait_for(|snapshot| !snapshot.gate.held.is_empty());
        let snapshot =
            tokio::time::timeout(crate::support::PATIENCE, held).await.expect("held").expect("lives");
        snapshot.gate.held[0].clone()
    }

    async fn decide(&self, decision: Decision) {
        let HeldCall { ticket, hash, .. } = self.held().await;
        self.runtime.decide(ticket, hash, decision, None).await.expect("decided");
    }
}

fn exec(cmd: &str, yield_time_ms: u64) -> Value {
    json!({"cmd": cmd, "shell": "/bin/sh", "login": false, "yield_time_ms": yield_time_ms})
}

fn denied(note: &str) -> Decision {
    Decision::Deny { note: note.into() }
}

/// Prints the envelope and the receipt side by side, without what differs from run to run.
fn shown(answer: &CallAnswer) -> String {
    let envelope = serde_json::to_string_pretty(&answer.envelope.to_value()).expect("json");
    let text = format!("{envelope}\n\n{}", answer.receipt);
    let id = answer.envelope.result().and_then(|result| {
        let of = |pointer| result.pointer(pointer).and_then(Value::as_str);
        of("/task_handle/task_id").or_else(|| of("/task/task_id"))
    });
    match id {
        Some(id) => text.replace(id, "task_xxxxxxxx"),
        None => text,
    }
}

#[tokio::test]
async fn a_paused_command_awaits_the_operator_and_runs_when_it_is_released() {
    let bench = Bench::paused().await;
    let _console = bench.runtime.viewer();
    let marker = bench.caller.cwd.join("ran");
    let asked = bench.call("ExecCommand", exec("touch ran; printf done", 250)).await;
    insta::assert_snapshot!("awaiting_operator", shown(&asked));
    let id = asked.envelope.result().expect("a result")["task_handle"]["task_id"].clone();
    let look = json!({"task_id": id, "block": false});
    let waiting = bench.call("TaskOutput", look.clone()).await;
    insta::assert_snapshot!("output_of_a_held_task", shown(&waiting));
    assert!(!marker.exists(), "nothing has run");

    bench.decide(Decision::Once).await;
    let read = bench.call("TaskOutput", json!({"task_id": id})).await;
    let task = &read.envelope.result().expect("a result")["task"];
    assert_eq!((&task["status"], &task["output_preview"]), (&json!("completed"), &json!("done")));
    assert!(marker.exists());
}

#[tokio::test]
async fn released_within_its_wait_a_command_answers_as_usual() {
    let bench = Bench::paused().await;
    let asked = bench.ask("ExecCommand", exec("printf done", 30_000));
    bench.held().await;
    bench.runtime.pause(false, None).await;
    let answer = asked.await.expect("joins");
    assert_eq!(answer.receipt, "Process exited with code 0\n\nstdout:\ndone");
}

#[tokio::test]
async fn a_denied_command_is_told_with_the_note_now_or_with_the_next_answer() {
    let bench = Bench::paused().await;
    let asked = bench.ask("ExecCommand", exec("touch ran", 30_000));
    bench.decide(denied("use the staging host")).await;
    insta::assert_snapshot!("denied_within_the_wait", shown(&asked.await.expect("joins")));

    let asked = bench.call("ExecCommand", exec("touch ran", 0)).await;
    let id = asked.envelope.result().expect("a result")["task_handle"]["task_id"].clone();
    bench.decide(denied("")).await;
    let read = bench.call("TaskOutput", json!({"task_id": id})).await;
    insta::assert_snapshot!("denied_later", shown(&read));
    assert!(!bench.caller.cwd.join("ran").exists());
}

#[tokio::test]
async fn a_command_that_waits_can_be_withdrawn() {
    let bench = Bench::paused().await;
    let asked = bench.call("ExecCommand", exec("touch ran", 0)).await;
    let id = asked.envelope.result().expect("a result")["task_handle"]["task_id"].clone();
    let stopped = bench.call("TaskStop", json!({"task_id": id})).await;
    assert_eq!(stopped.envelope.result().expect("a result")["effect"], "cancelled");
    assert!(bench.runtime.snapshot().borrow().gate.held.is_empty());
    bench.runtime.pause(false, None).await;
    let read = bench.call("TaskOutput", json!({"task_id": id})).await;
    assert_eq!(read.envelope.result().expect("a result")["task"]["status"], "cancelled");
    assert!(!bench.caller.cwd.join("ran").exists());
}

#[tokio::test]
async fn a_held_batch_runs_when_released_and_is_pending_when_its_wait_is_over() {
    let limits = Limits { batch_hold: Duration::from_millis(50), ..Limits::default() };
    let bench = Bench::start(limits);
    let _console = bench.runtime.viewer();
    bench.runtime.pause(true, None).await;
    let items = json!({"items": [{"cmd": "touch ran", "shell": "/bin/sh", "login": false}]});
    insta::assert_snapshot!("batch_pending", shown(&bench.call("ExecCommandBatch", items.clone()).await));
    assert!(!bench.caller.cwd.join("ran").exists());

    let bench = Bench::paused().await;
    let asked = bench.ask("ExecCommandBatch", items.clone());
    bench.decide(denied("no")).await;
    assert_eq!(asked.await.expect("joins").envelope.to_value()["error"]["kind"], "operator_denied");
    let asked = bench.ask("ExecCommandBatch", items);
    let held = bench.held().await;
    assert_eq!((held.task, held.commands.len()), (None, 1));
    bench.runtime.decide(held.ticket, held.hash, Decision::Once, None).await.expect("decided");
    assert_eq!(asked.await.expect("joins").envelope.result().expect("a result")["completed_count"], 1);
    assert!(bench.caller.cwd.join("ran").exists());
}

#[tokio::test]
async fn a_client_that_gives_up_leaves_nothing_to_approve() {
    let bench = Bench::paused().await;
    for (tool, input) in [
        ("ExecCommand", exec("touch ran", 30_000)),
        ("ExecCommandBatch", json!({"items": [{"cmd": "touch ran"}]})),
    ] {
        let asked = bench.ask(tool, input);
        bench.held().await;
        asked.abort();
        let mut snapshots = bench.runtime.snapshot();
        let gone = snapshots.wait_for(|snapshot| snapshot.gate.held.is_empty());
        tokio::time::timeout(crate::support::PATIENCE, gone).await.expect("forgotten").expect("lives");
    }
    assert!(!bench.caller.cwd.join("ran").exists());
}

#[tokio::test]
async fn a_rule_asks_for_what_it_names_alone_and_the_answer_is_on_record() {
    let rule = ApprovalRule { prefix: Some("touch".into()), ..ApprovalRule::default() };
    let bench = Bench::start(Limits { approvals: vec![rule], ..Limits::default() });
    assert!(bench.call("ExecCommand", exec("printf free", 30_000)).await.receipt.contains("free"));
    let asked = bench.ask("ExecCommand", exec("touch ran", 30_000));
    bench.decide(Decision::Exact).await;
    assert!(!asked.await.expect("joins").envelope.is_error());
    assert!(!bench.call("ExecCommand", exec("touch ran", 30_000)).await.envelope.is_error());
    let recording = bench.runtime.snapshot().borrow().recording.clone();
    bench.runtime.shutdown().await;
    let rows = std::fs::read_to_string(recording.join("journal-0001.jsonl")).expect("rows");
    let queued = rows.find(r#""kind":"queued""#).expect("the row of the wait");
    let approved = rows[queued..].find(r#""what":"approved""#).expect("the row of the answer");
    assert!(rows[queued + approved..].contains(r#""kind":"start""#), "the start stands after its approval");
}
