//! ExecCommandBatch against real processes: order, rejections, timings, stops, and counters.

use std::path::PathBuf;
use std::time::Duration;

use pilothouse::config::Limits;
use pilothouse::envelope::Actor;
use pilothouse::model::{Snapshot, Stop, TaskView};
use pilothouse::runtime::Handle;
use pilothouse::tools::{CallAnswer, Caller, RECEIPT_CHARS, call};
use serde_json::{Value, json};

use crate::support::start_limited;

const PATIENCE: Duration = crate::support::PATIENCE;

/// A runtime in a throw-away workspace.
struct Bench {
    runtime: Handle,
    workspace: PathBuf,
    _dir: tempfile::TempDir,
}

impl Bench {
    fn start() -> Self {
        Self::limited(Limits::default())
    }

    fn limited(limits: Limits) -> Self {
        let dir = tempfile::tempdir().expect("temp dir");
        let (runtime, workspace) = start_limited(dir.path(), limits);
        Self { runtime, workspace, _dir: dir }
    }

    fn caller(&self) -> Caller {
        Caller::new(Actor::Agent("claude".into()), self.workspace.clone())
    }

    async fn call(&self, input: Value) -> CallAnswer {
        call(&self.runtime, &self.caller(), "ExecCommandBatch", input).await
    }

    /// Waits until the runtime's snapshot satisfies `fact`.
    async fn sees(&self, what: &str, fact: impl FnMut(&Snapshot) -> bool) {
        let mut fact = fact;
        let mut snapshot = self.runtime.snapshot();
        let seen = tokio::time::timeout(PATIENCE, snapshot.wait_for(|now| fact(now))).await;
        assert!(seen.is_ok_and(|seen| seen.is_ok()), "waited for {what}");
    }

    /// Waits until the item with this number has printed something, and returns it.
    async fn item_that_printed(&self, index: usize) -> TaskView {
        let has = |task: &TaskView| task.item.is_some_and(|item| item.index == index);
        self.sees("the item's start", |now| {
            now.tasks.iter().any(|task| has(task) && task.started_at.is_some())
        })
        .await;
        let find = || self.runtime.newest(1, has).1.pop().expect("the item");
        let until = pilothouse::model::Until::Output { beyond: 0 };
        assert!(self.runtime.wait(&find().id, until, PATIENCE).await.expect("known"), "the item prints");
        (*find()).clone()
    }

    fn exists(&self, name: &str) -> bool {
        self.workspace.join(name).exists()
    }
}

/// An item run by /bin/sh, without a profile.
fn item(cmd: &str) -> Value {
    json!({"cmd": cmd, "shell": "/bin/sh", "login": false})
}

fn with(mut item: Value, more: Value) -> Value {
    for (name, value) in more.as_object().expect("fields") {
        item[name] = value.clone();
    }
    item
}

fn result(answer: &CallAnswer) -> &Value {
    answer.envelope.result().unwrap_or_else(|| panic!("failed: {}", answer.receipt))
}

fn statuses(answer: &CallAnswer) -> Vec<&str> {
    let items = result(answer)["items"].as_array().expect("items");
    items.iter().map(|item| item["status"].as_str().expect("a status")).collect()
}

fn counts(answer: &CallAnswer) -> [u64; 5] {
    ["item_count", "completed_count", "failed_count", "rejected_count", "skipped_count"]
        .map(|name| result(answer)[name].as_u64().expect("a count"))
}

#[tokio::test]
async fn every_item_has_its_own_end_and_none_becomes_a_task() {
    let bench = Bench::start();
    let answer = bench
        .call(json!({"items": [
            item("echo ok"),
            item("printf no >&2; exit 7"),
            with(item("touch interactive"), json!({"tty": true})),
            with(item("printf '%0300d' 5"), json!({"max_output_tokens": 20})),
        ]}))
        .await;
    assert_eq!(counts(&answer), [4, 2, 1, 1, 0]);
    assert_eq!(answer.envelope.summary_text(), "ExecCommandBatch completed 2/4 items");
    assert_eq!(statuses(&answer), ["completed", "failed", "rejected", "completed"]);
    let items = &result(&answer)["items"];
    assert_eq!((&items[0]["stdout_preview"], &items[0]["stderr_preview"]), (&json!("ok\n"), &Value::Null));
    assert_eq!((&items[1]["exit_status"], &items[1]["stderr_preview"]), (&json!(7), &json!("no")));
    assert_eq!(items[2]["error"]["kind"], "unsupported_batch_command_field");
    assert_eq!(
        (&items[3]["truncated"], &items[3]["stdout_preview"]),
        (&json!(true), &json!(format!("{}[…]", "0".repeat(77))))
    );
    let path = items[3]["artifacts"][0]["path"].as_str().expect("a path");
    assert_eq!(std::fs::read_to_string(path).expect("the file"), format!("{:0300}", 5));
    assert!(items[0].get("artifacts").is_none());
    assert!(!bench.exists("interactive"));
    let listed = call(&bench.runtime, &bench.caller(), "TaskList", json!({})).await;
    assert_eq!(result(&listed)["total"], 0);
    let listed = call(&bench.runtime, &bench.caller(), "TaskList", json!({"scope": "all"})).await;
    let ended = [0, 1, 2].map(|at| result(&listed)["tasks"][at]["ended"].clone());
    assert_eq!(
        ended.map(|ended| ended.as_str().and_then(|text| text.get(..6)).map(str::to_owned)),
        [Some("exit 0".to_owned()), Some("exit 7".to_owned()), Some("exit 0".to_owned())]
    );
}

#[tokio::test]
async fn after_the_first_error_the_rest_is_skipped_if_asked() {
    let bench = Bench::start();
    for (first, status) in
        [(item("exit 9"), "failed"), (with(item("true"), json!({"accepts_input": false})), "rejected")]
    {
        let items = json!([first, item("touch ran"), item("touch ran")]);
        let answer = bench.call(json!({"items": items, "stop_on_error": true})).await;
        assert_eq!(statuses(&answer), [status, "skipped", "skipped"]);
        assert_eq!(result(&answer)["items"][1]["reason"], "stop_on_error");
        assert!(answer.receipt.contains("\n[3] skipped=stop_on_error touch ran"), "{}", answer.receipt);
        assert!(!bench.exists("ran"));
    }
    let answer = bench.call(json!({"items": [item("exit 9"), item("touch ran")]})).await;
    assert_eq!(statuses(&answer), ["failed", "completed"]);
    assert!(bench.exists("ran"));
}

#[tokio::test]
async fn an_unusable_item_is_rejected_when_its_turn_comes() {
    let bench = Bench::start();
    let answer = bench
        .call(json!({"items": [
            item("mkdir sub"),
            with(item("pwd"), json!({"workdir": "sub"})),
            with(item("touch ran"), json!({"workdir": "missing"})),
            with(item("touch ran"), json!({"workdir": "../outside"})),
            item(" \n"),
            item("a\0b"),
            with(item("touch ran"), json!({"shell": "/definitely/not/a/shell"})),
        ]}))
        .await;
    let [done, no, broken] = ["completed", "rejected", "failed"];
    assert_eq!(statuses(&answer), [done, done, no, no, no, no, broken], "{}", answer.receipt);
    let kinds: Vec<_> = result(&answer)["items"]
        .as_array()
        .expect("items")
        .iter()
        .skip(2)
        .map(|item| item["error"]["kind"].clone())
        .collect();
    let expected = [
        "workdir_not_found",
        "execution_root_violation",
        "invalid_tool_input",
        "invalid_tool_input",
        "command_spawn_failed",
    ];
    assert_eq!(kinds, expected);
    assert!(!bench.exists("ran") && !bench.exists("sub/ran"));
}

#[tokio::test]
async fn a_call_that_does_not_fit_the_schema_runs_nothing() {
    let bench = Bench::start();
    for input in [
        json!({"items": []}),
        json!({"items": vec![item("touch ran"); 13]}),
        json!({"items": [item("touch ran"), with(item("true"), json!({"timeout_ms": 5}))]}),
        json!({"cmd": "touch ran"}),
    ] {
        let answer = bench.call(input).await;
        assert!(answer.envelope.is_error(), "{}", answer.receipt);
    }
    assert!(!bench.exists("ran"));
    assert_eq!(bench.runtime.newest(1, |_| true).0, 0);
}

#[tokio::test]
async fn an_item_over_its_time_is_ended_and_keeps_what_it_printed() {
    let bench = Bench::start();
    // Long enough for a shell to start and print on a busy machine.
    let slow = with(item("printf before; sleep 60; touch ran"), json!({"yield_time_ms": 5_000}));
    let answer = bench.call(json!({"items": [slow, item("printf after")]})).await;
    let items = &result(&answer)["items"];
    assert_eq!((&items[0]["status"], &items[0]["exit_status"]), (&json!("failed"), &json!(124)));
    assert_eq!((&items[0]["timed_out"], &items[0]["stdout_preview"]), (&json!(true), &json!("before")));
    assert_eq!(items[1]["stdout_preview"], "after");
    assert!(answer.receipt.contains("\n[1] exit=124 (timed out after "), "{}", answer.receipt);
    assert!(!bench.exists("ran"));
}

#[tokio::test]
async fn no_item_starts_after_the_deadline_and_the_one_in_flight_is_bound_by_it() {
    // Long enough for a shell to start and print on a busy machine.
    let bench = Bench::limited(Limits { batch_deadline: Duration::from_secs(5), ..Limits::default() });
    let long = with(item("printf before; sleep 60"), json!({"yield_time_ms": 30_000}));
    let interactive = with(item("touch ran"), json!({"tty": true}));
    let answer = bench.call(json!({"items": [long, item("touch ran"), interactive]})).await;
    assert_eq!(counts(&answer), [3, 0, 1, 0, 2]);
    let items = &result(&answer)["items"];
    assert_eq!((&items[0]["timed_out"], &items[0]["stdout_preview"]), (&json!(true), &json!("before")));
    assert_eq!(
        (&items[1]["reason"], &items[2]["reason"]),
        (&json!("batch_deadline"), &json!("batch_deadline"))
    );
    assert_eq!(result(&answer)["batch_deadline_ms"], 5_000);
    assert!(
        answer.receipt.contains("\n[2] skipped=batch_deadline (limit 5 s) touch ran\n"),
        "{}",
        answer.receipt
    );
    assert!(!bench.exists("ran"));

    let bench = Bench::limited(Limits { batch_deadline: Duration::ZERO, ..Limits::default() });
    let answer = bench.call(json!({"items": [item("touch ran")]})).await;
    assert_eq!(counts(&answer), [1, 0, 0, 0, 1]);
    assert!(!bench.exists("ran"));
}

#[tokio::test]
async fn a_child_that_holds_the_pipe_delays_nobody() {
    let bench = Bench::start();
    // The shell ends only when its child has become the `sleep` that is to be named.
    let holds = item("sleep 60 & until grep -q sleep /proc/$!/comm; do :; done; printf done");
    let answer = bench.call(json!({"items": [holds, item("printf next")]})).await;
    assert_eq!(statuses(&answer), ["completed", "completed"]);
    let items = &result(&answer)["items"];
    assert_eq!(items[0]["stdout_preview"], "done");
    let left = json!({"count": 1, "names": ["sleep"], "action": "ended"});
    assert_eq!((&items[0]["timed_out"], &items[0]["leftover_processes"]), (&json!(false), &left));
    assert!(
        answer.receipt.contains("\nEnded 1 leftover process: sleep. Its output may be cut; `leftovers: \"keep\"` of ExecCommand lets it run on.\nstdout:\ndone\n\n[2] "),
        "{}",
        answer.receipt
    );
}

#[tokio::test]
async fn items_are_bounded_commands_without_input() {
    let bench = Bench::start();
    let answer = bench.call(json!({"items": [item("cat; printf end")]})).await;
    assert_eq!(result(&answer)["items"][0]["stdout_preview"], "end");
}

#[tokio::test]
async fn executions_are_counted_apart_from_calls() {
    let bench = Bench::start();
    let tty = with(item("true"), json!({"tty": true}));
    let nowhere = with(item("true"), json!({"shell": "/definitely/not/a/shell"}));
    bench.call(json!({"items": [item("true"), item("true"), item("false"), tty, nowhere]})).await;
    bench.call(json!({"items": [item("false"), item("true")], "stop_on_error": true})).await;
    call(&bench.runtime, &bench.caller(), "ExecCommand", json!({"cmd": "true", "login": false})).await;
    bench.sees("both calls", |now| now.metrics.tool_calls.len() == 2).await;
    let metrics = bench.runtime.snapshot().borrow().metrics.clone();
    assert_eq!((metrics.batched_exec_command_items, metrics.exec_command_items), (4, 1));
    assert_eq!((metrics.shell_commands(), metrics.model_rounds_saved()), (5, 2));
    assert_eq!(metrics.tool_calls["ExecCommandBatch"]["success"], 2);
    assert_eq!(metrics.promotions, 0);
}

#[tokio::test]
async fn a_stop_by_the_operator_ends_the_batch_and_its_answer_says_so() {
    let bench = Bench::start();
    let caller = bench.caller();
    let input = json!({"items": [item("printf one"), item("printf two; exec sleep 60"), item("touch ran"), item("touch ran")]});
    let running = call(&bench.runtime, &caller, "ExecCommandBatch", input);
    let stopping = async {
        let task = bench.item_that_printed(2).await;
        assert!(!task.promoted);
        bench.runtime.stop(&Actor::Operator, &task.id, Stop::default()).await.expect("stops");
    };
    let (answer, ()) = tokio::join!(running, stopping);
    assert_eq!(statuses(&answer), ["completed", "failed", "skipped", "skipped"]);
    let items = &result(&answer)["items"];
    assert_eq!((&items[1]["stopped_by"], &items[1]["stdout_preview"]), (&json!("operator"), &json!("two")));
    assert_eq!((&items[2]["reason"], &items[3]["reason"]), (&json!("cancelled"), &json!("cancelled")));
    assert!(answer.receipt.contains("\n[2] killed=SIGTERM (stopped by operator)\n"), "{}", answer.receipt);
    assert!(!bench.exists("ran"));
}

#[tokio::test]
async fn a_call_that_is_dropped_ends_its_item_and_leaves_what_it_came_to_on_record() {
    let bench = Bench::start();
    let caller = bench.caller();
    let input = json!({"items": [item("printf one"), item("printf two; sleep 60"), item("touch ran")]});
    let mut pending = Box::pin(call(&bench.runtime, &caller, "ExecCommandBatch", input));
    tokio::select! {
        answer = &mut pending => panic!("it ended: {answer:?}"),
        _ = bench.item_that_printed(2) => {}
    }
    drop(pending);
    bench.sees("the end of all", |now| now.tasks.iter().all(|task| task.status.is_terminal())).await;
    bench.sees("the abandoned call", |now| now.calls[0].status.as_deref() == Some("abandoned")).await;
    let record = bench.runtime.call(1).await.expect("on record");
    let items = record.envelope.as_ref().expect("an envelope")["result"]["items"].clone();
    let seen: Vec<_> = items.as_array().expect("items").iter().map(|item| item["status"].clone()).collect();
    assert_eq!(seen, ["completed", "failed", "skipped"]);
    assert_eq!((&items[1]["error"]["kind"], &items[2]["reason"]), (&json!("cancelled"), &json!("cancelled")));
    assert_eq!(
        record.receipt.as_deref().and_then(|text| text.lines().next()),
        Some("ExecCommandBatch completed 1/3 items")
    );
    bench.sees("the counts", |now| now.metrics.tool_calls["ExecCommandBatch"]["abandoned"] == 1).await;
    assert_eq!(bench.runtime.snapshot().borrow().metrics.batched_exec_command_items, 2);
    assert!(!bench.exists("ran"));
}

#[tokio::test]
async fn a_shutdown_ends_the_item_in_flight_and_skips_the_rest() {
    let bench = Bench::start();
    let caller = bench.caller();
    let input = json!({"items": [item("printf one; sleep 60"), item("touch ran")]});
    let running = call(&bench.runtime, &caller, "ExecCommandBatch", input);
    let ending = async {
        bench.item_that_printed(1).await;
        bench.runtime.shutdown().await;
    };
    let (answer, ()) = tokio::join!(running, ending);
    assert_eq!(statuses(&answer), ["failed", "skipped"]);
    let items = &result(&answer)["items"];
    assert_eq!(items[0]["error"]["kind"], "runtime_shutting_down");
    assert_eq!(items[1]["reason"], "cancelled");
    assert!(!bench.exists("ran"));
}

#[tokio::test]
async fn the_longest_batch_fits_its_receipt_and_files_what_it_cuts() {
    let bench = Bench::start();
    let long = with(item("seq 1 60000"), json!({"max_output_tokens": 64_000}));
    let mut items = vec![long; 11];
    items.push(item("printf short"));
    let answer = bench.call(json!({"items": items})).await;
    assert_eq!(counts(&answer), [12, 12, 0, 0, 0]);
    let length = answer.receipt.chars().count();
    assert!((25_000..=RECEIPT_CHARS).contains(&length), "{length}");
    for index in 1..=12 {
        assert!(answer.receipt.contains(&format!("\n\n[{index}] ")), "{index}");
    }
    assert!(
        answer
            .receipt
            .contains("[12] printf short\nstdout:\nshort\n\nNote: `max_output_tokens` 64000 counts as ")
    );
    let items = result(&answer)["items"].as_array().expect("items");
    for item in &items[..11] {
        let path = item["artifacts"][0]["path"].as_str().expect("a path");
        assert!(!answer.receipt.contains(path), "a path outside the workspace is no way to read on");
        let id = item["output_id"].as_str().expect("an id");
        assert!(answer.receipt.contains(&format!("\nread on: TaskOutput {id} lines|match")));
        assert_eq!(std::fs::read_to_string(path).expect("the file").lines().count(), 60_000);
    }
    assert!(items[11].get("artifacts").is_none());
}
