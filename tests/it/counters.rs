//! The counters of a runtime and of its recording agree: both are derived from the same rows.

use std::time::Duration;

use pilothouse::config::Limits;
use pilothouse::envelope::{Actor, Envelope, TaskId};
use pilothouse::journal::Durability;
use pilothouse::model::{
    AnswerInput, AnswerValue, Decision, Evidence, LineRange, NewQuestion, QuestionKind, QuestionOrigin,
    STREAM_CALL, Snapshot, Stop, StreamView, TypedInput, Until,
};
use pilothouse::runtime::{Handle, past};
use pilothouse::tools::{CallAnswer, Caller, call};
use serde_json::{Value, json};

use crate::support::start_limited;

const LONG: Duration = crate::support::PATIENCE;

struct Bench {
    runtime: Handle,
    caller: Caller,
}

impl Bench {
    async fn call(&self, tool: &str, input: Value) -> CallAnswer {
        call(&self.runtime, &self.caller, tool, input).await
    }

    /// Calls in the background and waits until the snapshot shows what the call is waiting for.
    async fn held(
        &self,
        tool: &'static str,
        input: Value,
    ) -> (tokio::task::JoinHandle<CallAnswer>, std::sync::Arc<Snapshot>) {
        let (runtime, caller) = (self.runtime.clone(), self.caller.clone());
        let asked = tokio::spawn(async move { call(&runtime, &caller, tool, input).await });
        (asked, self.seen(|snapshot| !snapshot.gate.held.is_empty()).await)
    }

    async fn seen(&self, fact: impl Fn(&Snapshot) -> bool) -> std::sync::Arc<Snapshot> {
        let mut snapshots = self.runtime.snapshot();
        let seen = tokio::time::timeout(LONG, snapshots.wait_for(|snapshot| fact(snapshot))).await;
        seen.expect("in time").expect("the runtime lives").clone()
    }

    async fn task(&self, input: Value) -> TaskId {
        let answer = self.call("ExecCommand", input).await.envelope.to_value();
        let id = answer.pointer("/result/task_handle/task_id").and_then(Value::as_str);
        id.and_then(|id| id.parse().ok()).unwrap_or_else(|| panic!("no task: {answer}"))
    }

    async fn commands(&self) {
        self.call("ExecCommand", json!({"cmd": "echo out; exit 3", "yield_time_ms": 20_000})).await;
        self.call("ExecCommand", json!({"cmd": "sleep 60", "timeout_ms": 100, "yield_time_ms": 20_000}))
            .await;
        let items = json!([{"cmd": "echo a"}, {"cmd": "echo b; exit 1"}, {"cmd": "true"}]);
        self.call("ExecCommandBatch", json!({"items": items})).await;
        self.call("TaskStatus", json!({"task_id": "task_22222222"})).await;
    }

    async fn held_calls(&self) {
        self.runtime.pause(true, None).await;
        let input = json!({"cmd": "echo approved", "yield_time_ms": 20_000});
        let (asked, seen) = self.held("ExecCommand", input).await;
        let held = &seen.gate.held[0];
        self.runtime.decide(held.shown_call(None), Decision::Once, None).await.expect("decided");
        asked.await.expect("answered");
        // The answer may come before the snapshot without it; the next held call must not be mistaken for this one.
        self.seen(|snapshot| snapshot.gate.held.is_empty()).await;
        let (asked, _) = self.held("ExecCommandBatch", json!({"items": [{"cmd": "echo resumed"}]})).await;
        self.runtime.pause(false, None).await;
        asked.await.expect("answered");
    }

    async fn input(&self) {
        let task =
            self.task(json!({"cmd": "read x; echo got $x; sleep 60", "tty": true, "yield_time_ms": 0})).await;
        let typed = self.runtime.input(&Actor::Operator, &task, TypedInput::Text("x\n".into())).await;
        assert!(typed.expect("a task").accepted);
        self.call("TaskInput", json!({"task_id": task, "input": "held by the operator"})).await;
        self.runtime.stop(&Actor::Operator, &task, Stop::default()).await.expect("stops");
        self.runtime.wait(&task, Until::Terminal, LONG).await.expect("ends");
        self.seen(|snapshot| snapshot.tasks.iter().any(|view| view.id == task && view.ended.is_some())).await;
        let late = self.runtime.input(&Actor::Operator, &task, TypedInput::Text("too late".into())).await;
        assert!(!late.expect("a task").accepted);
    }

    async fn question(&self) {
        let asking = NewQuestion {
            origin: QuestionOrigin {
                run: Some("run-1".into()),
                lines: Some(LineRange::one(3)),
                ..QuestionOrigin::default()
            },
            asked_by: Actor::Cli,
            kind: QuestionKind::Gate { allow: vec!["user".to_owned()] },
            text: "deploy?".to_owned(),
            evidence: Evidence::default(),
            within: None,
            agents: false,
            expected: None,
        };
        let runtime = self.runtime.clone();
        let asked = tokio::spawn(async move { runtime.ask(asking).await });
        let seen = self.seen(|snapshot| !snapshot.questions.is_empty()).await;
        let given = AnswerInput { value: AnswerValue::Approve, note: None };
        self.runtime.answer(&Actor::Operator, None, &seen.questions[0].id, given).await.expect("answered");
        asked.await.expect("asks").expect("settled");
    }

    async fn streams(&self) {
        let agent = Actor::Agent("codex".into());
        let begin = |tool| self.begin(&Actor::Cli, tool);
        let envelope = Envelope::success(STREAM_CALL, "2 done", &StreamView::default());
        self.runtime.end_stream(begin(STREAM_CALL).await, &envelope, "2 done");
        self.runtime.abandon_call(begin(STREAM_CALL).await);
        self.runtime.abandon_call(begin("TaskOutput").await);
        self.runtime.abandon_call(self.begin(&agent, "TaskOutput").await);
    }

    async fn begin(&self, actor: &Actor, tool: &str) -> u64 {
        self.runtime.begin_call(actor, tool, Durability::Written, &json!({})).await
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_recording_has_the_counters_its_runtime_had() {
    let dir = tempfile::tempdir().expect("temp dir");
    let (runtime, cwd) = start_limited(dir.path(), Limits::default());
    let bench = Bench { runtime, caller: Caller::new(Actor::Agent("codex".into()), cwd) };
    bench.commands().await;
    bench.held_calls().await;
    bench.input().await;
    bench.question().await;
    bench.streams().await;
    let recording = bench.runtime.snapshot().borrow().recording.clone();
    bench.runtime.shutdown().await;

    let live = serde_json::to_value(bench.runtime.metrics()).expect("counters are JSON");
    let read = past::read(&recording).expect("a readable recording").snapshot().metrics;
    let read = serde_json::to_value(read).expect("counters are JSON");
    // Limits in use and the rates of the last minute exist only for a running runtime.
    let of_now = ["gauges", "calls_per_second", "bytes_per_second", "history_at"];
    for (name, value) in live.as_object().expect("an object") {
        assert!(of_now.contains(&name.as_str()) || read[name] == *value, "{name}: {value} {}", read[name]);
    }
    // The workload changes every counter except those that need a server, a failing disk or parser, or a flood of output.
    let is_zero = |value: &Value| match value {
        Value::Object(members) => members.is_empty(),
        value => value.as_u64() == Some(0),
    };
    let zero: Vec<&String> = live
        .as_object()
        .into_iter()
        .flatten()
        .filter(|(name, value)| !of_now.contains(&name.as_str()) && is_zero(value))
        .map(|(name, _)| name)
        .collect();
    assert_eq!(zero, ["tasks_live", "listening", "output_bytes_dropped", "screen_resets"], "{live}");
    let waits: Vec<_> = read["wait_ms"].as_object().into_iter().flatten().map(|(name, _)| name).collect();
    assert_eq!(waits, ["first_byte", "stop"], "{read}");
    assert_eq!(read["tool_calls"].get(STREAM_CALL), None, "a stream is no tool call: {read}");
    assert_eq!(read["tool_calls"]["TaskOutput"], json!({"abandoned": 1}), "only the agent's: {read}");
    assert_eq!(
        read["by"],
        json!({"agent": {"calls": 9, "commands": 8, "batched": 4}, "cli": {"calls": 1, "commands": 0, "batched": 0}}),
        "{read}"
    );
    assert_eq!(read["call_ms"][STREAM_CALL][0], 1, "{read}");
    assert_eq!(
        read["operator_actions"],
        json!({"answer": 1, "approved": 1, "input": 1, "paused": 1, "resumed": 1, "stop": 1}),
        "{read}"
    );
    assert_eq!(read["input_refused"], json!({"held_by_operator": 1, "task_not_running": 1}), "{read}");
}
