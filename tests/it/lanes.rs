//! Lanes: of the commands of one kind so many run at the same time, in all runtimes together; the others wait in the order
//! they came, and are told so.

use std::path::Path;

use pilothouse::config::{Lane, Limits};
use pilothouse::envelope::Actor;
use pilothouse::runtime::Handle;
use pilothouse::tools::{CallAnswer, Caller, call};
use serde_json::{Value, json};

use crate::support::{start_limited, wait_until};

fn lane(slots: usize) -> Limits {
    let lane = Lane { name: "build".into(), slots, prefix: vec!["./build".into(), "sleep".into()] };
    Limits { lanes: vec![lane], ..Limits::default() }
}

async fn ask(runtime: &Handle, workspace: &Path, tool: &str, input: Value) -> CallAnswer {
    let caller = Caller::new(Actor::Agent("claude".into()), workspace.to_owned());
    call(runtime, &caller, tool, input).await
}

async fn exec(runtime: &Handle, workspace: &Path, cmd: &str, input: Value) -> CallAnswer {
    let mut whole = json!({"cmd": cmd, "shell": "/bin/sh", "yield_time_ms": 0});
    let fields = whole.as_object_mut().expect("an object");
    fields.extend(input.as_object().cloned().unwrap_or_default());
    ask(runtime, workspace, "ExecCommand", whole).await
}

fn task_of(answer: &CallAnswer) -> Value {
    answer.envelope.result().expect("a result")["task_handle"]["task_id"].clone()
}

async fn status(runtime: &Handle, workspace: &Path, task: &Value) -> Value {
    let answer = ask(runtime, workspace, "TaskStatus", json!({"task_id": task})).await;
    answer.envelope.result().expect("a result")["task"].clone()
}

fn until_running(runtime: &Handle, task: &Value) {
    let id = task.as_str().expect("an id").parse().expect("an id");
    wait_until("it runs", || runtime.task(&id).is_some_and(|task| task.started_at.is_some()));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_second_waits_is_told_so_and_starts_by_itself() {
    let dir = tempfile::tempdir().expect("temp dir");
    let (runtime, workspace) = start_limited(dir.path(), lane(1));
    let first = task_of(&exec(&runtime, &workspace, "sleep 300", json!({})).await);
    until_running(&runtime, &first);
    let other = exec(&runtime, &workspace, "echo other", json!({"yield_time_ms": 30_000})).await;
    assert_eq!(other.envelope.result().expect("a result")["exit_status"], 0, "it is in no lane");

    let answer = exec(&runtime, &workspace, "touch ran; sleep 0", json!({"yield_time_ms": 250})).await;
    let result = answer.envelope.result().expect("a result").clone();
    let place = format!("lane build 1/1, behind {} sleep 300", first.as_str().expect("an id"));
    assert_eq!((&result["disposition"], &result["queued"]), (&json!("queued"), &json!(place)), "{result}");
    assert_eq!(
        answer.receipt,
        format!(
            "Command waits for its turn; nothing has been run\nTask: {}\nPlace: {place}. It starts by itself; do not \
             send it again.\n\nNext: TaskOutput to wait for it, TaskStop to withdraw it.",
            result["task_handle"]["task_id"].as_str().expect("an id")
        )
    );
    let second = task_of(&answer);
    let told = status(&runtime, &workspace, &second).await;
    assert_eq!((&told["status"], &told["queued"]), (&json!("queued"), &json!(place)), "{told}");
    assert_eq!(told["summary"], json!(format!("queued ({place})")));
    let listed = ask(&runtime, &workspace, "TaskList", json!({})).await;
    assert_eq!(listed.envelope.result().expect("a result")["tasks"][0]["queued"], json!(place));
    assert!(!workspace.join("ran").exists());

    ask(&runtime, &workspace, "TaskStop", json!({"task_id": first})).await;
    let id = second.as_str().expect("an id").parse().expect("an id");
    wait_until("it has ended", || runtime.task(&id).is_some_and(|task| task.status.is_terminal()));
    let told = status(&runtime, &workspace, &second).await;
    assert_eq!((&told["status"], &told["queued"]), (&json!("completed"), &Value::Null), "{told}");
    assert!(workspace.join("ran").exists());
    runtime.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_stopped_while_it_waits_never_ran_and_says_so() {
    let dir = tempfile::tempdir().expect("temp dir");
    let (runtime, workspace) = start_limited(dir.path(), lane(1));
    let first = task_of(&exec(&runtime, &workspace, "sleep 300", json!({})).await);
    until_running(&runtime, &first);
    let second = task_of(&exec(&runtime, &workspace, "touch ran; sleep 0", json!({})).await);
    let third = task_of(&exec(&runtime, &workspace, "touch third; sleep 0", json!({})).await);
    let answer = ask(&runtime, &workspace, "TaskStop", json!({"task_id": second})).await;
    assert!(answer.receipt.contains("stopped by agent:claude before it ran"), "{}", answer.receipt);
    let told = status(&runtime, &workspace, &second).await;
    assert_eq!((&told["status"], &told["exit_status"]), (&json!("cancelled"), &Value::Null), "{told}");
    // It does not hold up those behind it.
    let id = third.as_str().expect("an id").parse().expect("an id");
    let behind = |number| {
        wait_until("it moves up", || {
            let task = runtime.task(&id).expect("the third");
            task.queued.as_ref().is_some_and(|wait| wait.to_string().contains(number))
        });
    };
    behind("behind t01");
    ask(&runtime, &workspace, "TaskStop", json!({"task_id": first})).await;
    wait_until("the third has ended", || workspace.join("third").exists());
    assert!(!workspace.join("ran").exists());
    runtime.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_command_leaves_behind_and_is_kept_has_no_slot() {
    let dir = tempfile::tempdir().expect("temp dir");
    let (runtime, workspace) = start_limited(dir.path(), lane(1));
    let daemon =
        "setsid sh -c 'exec sh -c \"while :; do read x; done\" < /dev/zero' > /dev/null 2>&1 & sleep 0";
    let kept = task_of(&exec(&runtime, &workspace, daemon, json!({"leftovers": "keep"})).await);
    let next = exec(&runtime, &workspace, "sleep 0", json!({"yield_time_ms": 30_000})).await;
    assert_eq!(next.envelope.result().expect("a result")["exit_status"], 0, "{}", next.receipt);
    assert_eq!(status(&runtime, &workspace, &kept).await["status"], "running");
    runtime.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_batch_waits_for_its_items_no_longer_than_its_own_time() {
    let dir = tempfile::tempdir().expect("temp dir");
    let limits = Limits { batch_deadline: std::time::Duration::from_secs(2), ..lane(1) };
    let (runtime, workspace) = start_limited(dir.path(), limits);
    let first = task_of(&exec(&runtime, &workspace, "sleep 300", json!({})).await);
    until_running(&runtime, &first);
    let items = json!([{"cmd": "echo free"}, {"cmd": "touch ran; sleep 0"}]);
    let answer = ask(&runtime, &workspace, "ExecCommandBatch", json!({"items": items})).await;
    let result = answer.envelope.result().expect("a result");
    assert_eq!(result["items"][0]["status"], "completed", "{result}");
    assert_eq!(
        (&result["items"][1]["status"], &result["items"][1]["reason"]),
        (&json!("skipped"), &json!("batch_deadline")),
        "{result}"
    );
    assert!(!workspace.join("ran").exists());
    ask(&runtime, &workspace, "TaskStop", json!({"task_id": first})).await;
    let items = json!([{"cmd": "sleep 0"}, {"cmd": "sleep 0; echo two"}]);
    let answer = ask(&runtime, &workspace, "ExecCommandBatch", json!({"items": items})).await;
    assert_eq!(answer.envelope.result().expect("a result")["completed_count"], 2, "{}", answer.receipt);
    runtime.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_runtime_without_lanes_has_no_file_of_one() {
    let dir = tempfile::tempdir().expect("temp dir");
    let (runtime, workspace) = start_limited(dir.path(), Limits::default());
    exec(&runtime, &workspace, "sleep 0", json!({"yield_time_ms": 30_000})).await;
    assert!(!dir.path().join("lanes").exists());
    runtime.shutdown().await;
}
