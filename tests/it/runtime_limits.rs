//! Things that are too large or cannot be written: the task or call fails with a specific error, the rest continues.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use pilothouse::config::{Limits, RecordSettings};
use pilothouse::envelope::Actor;
use pilothouse::journal::{JournalItem, JournalReader};
use pilothouse::model::Until;
use pilothouse::runtime::{Handle, past};
use pilothouse::tools::{CallAnswer, Caller, call};
use serde_json::{Value, json};

use crate::support::{must_be_an_envelope, start_limited, wait_until};

const LONG: Duration = crate::support::PATIENCE;

async fn exec(runtime: &Handle, workspace: &Path, cmd: &str, wait_ms: u64) -> CallAnswer {
    let caller = Caller::new(Actor::Agent("claude".into()), workspace.to_owned());
    let input = json!({"cmd": cmd, "shell": "/bin/sh", "login": false, "yield_time_ms": wait_ms,
        "max_output_tokens": 50});
    let answer = call(runtime, &caller, "ExecCommand", input).await;
    must_be_an_envelope(&answer.envelope.to_value());
    answer
}

#[tokio::test]
async fn a_command_that_writes_past_the_hard_stop_fails_by_name_and_keeps_what_it_wrote() {
    let dir = tempfile::tempdir().expect("temp dir");
    let limits = Limits { output_bytes: Some(100_000), ..Limits::default() };
    let (runtime, workspace) = start_limited(dir.path(), limits);
    let answer = exec(&runtime, &workspace, "yes", 20_000).await;
    let result = answer.envelope.result().expect("a result");
    assert_eq!(result["error"]["kind"], "output_limit_exceeded", "{result}");
    assert!(result["stdout_preview"].as_str().is_some_and(|text| text.starts_with("y\ny\n")), "{result}");
    assert!(answer.receipt.contains("output_limit_exceeded"), "{}", answer.receipt);
    // Exactly at the limit is still allowed.
    let whole = exec(&runtime, &workspace, "head -c 100000 /dev/zero", 20_000).await;
    assert_eq!(whole.envelope.result().expect("a result")["exit_status"], 0);
    runtime.shutdown().await;
}

#[tokio::test]
async fn a_place_for_the_artifact_that_is_taken_costs_the_file_and_nothing_else() {
    let dir = tempfile::tempdir().expect("temp dir");
    let (runtime, workspace) = start_limited(dir.path(), Limits::default());
    let cmd = "read x < go; yes | head -n 5000; yes e | head -n 5000 >&2";
    rustix::fs::mkfifoat(rustix::fs::CWD, workspace.join("go"), 0o600.into()).expect("fifo");
    let promoted = exec(&runtime, &workspace, cmd, 0).await;
    let id = promoted.envelope.result().expect("a result")["task_handle"]["task_id"].clone();
    let task = runtime.task(&id.as_str().expect("an id").parse().expect("an id")).expect("the task");
    for taken in ["stdout.log", "stderr.log"] {
        fs::create_dir(task.folder.join(taken)).expect("a folder in the way");
    }
    fs::write(workspace.join("go"), "on\n").expect("goes on");
    assert!(runtime.wait(&task.id, Until::Terminal, LONG).await.expect("wait"), "it ends");
    let caller = Caller::new(Actor::Agent("claude".into()), workspace);
    let answer = call(&runtime, &caller, "TaskOutput", json!({"task_id": id, "max_output_tokens": 50})).await;
    let read = &answer.envelope.result().expect("a result")["task"];
    assert_eq!((&read["status"], &read["exit_status"]), (&json!("completed"), &json!(0)), "{read}");
    assert!(read["output_preview"].as_str().is_some_and(|text| text.contains('y')), "{read}");
    let offered = read["artifacts"].as_array().cloned().unwrap_or_default();
    assert!(offered.iter().all(|one| one["path"].as_str().is_some_and(|path| Path::new(path).is_file())));
    runtime.shutdown().await;
}

#[tokio::test]
async fn f20_a_log_that_cannot_be_made_refuses_the_command_before_it_starts() {
    let dir = tempfile::tempdir().expect("temp dir");
    let (runtime, workspace) = start_limited(dir.path(), Limits::default());
    let tasks = recordings(dir.path()).pop().expect("the recording").join("tasks");
    fs::remove_dir(&tasks).expect("empty");
    fs::write(&tasks, "in the way").expect("a file in the way");
    let answer = exec(&runtime, &workspace, "touch started", 20_000).await;
    let error = &answer.envelope.to_value()["error"];
    assert_eq!(error["kind"], "internal_error", "{error}");
    assert!(error["details"]["reason"].as_str().is_some_and(|text| text.contains("tasks")), "{error}");
    assert!(!workspace.join("started").exists() && runtime.snapshot().borrow().tasks.is_empty());
    fs::remove_file(&tasks).and_then(|()| fs::create_dir(&tasks)).expect("out of the way");
    let again = exec(&runtime, &workspace, "printf on", 20_000).await;
    assert_eq!(again.envelope.result().expect("a result")["stdout_preview"], "on");
    runtime.shutdown().await;
}

fn recordings(dir: &Path) -> Vec<PathBuf> {
    past::list(&dir.join("recordings"), None).into_iter().map(|listed| listed.folder).collect()
}

fn rows(recording: &Path, kind: &str) -> Vec<Value> {
    let rows = JournalReader::open(recording).expect("opens").filter_map(|item| match item {
        JournalItem::Record(record) if record.header.kind == kind => Some(record),
        _ => None,
    });
    rows.map(|record| record.data(recording).expect("data")).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_oldest_recordings_go_once_there_are_half_as_many_again_as_are_kept() {
    let dir = tempfile::tempdir().expect("temp dir");
    for _ in 0..4 {
        let (runtime, _) = start_limited(dir.path(), Limits::default());
        runtime.shutdown().await;
    }
    let before = recordings(dir.path());
    let record = RecordSettings { keep_recordings: 2, ..RecordSettings::default() };
    let (runtime, _) = start_limited(dir.path(), Limits { record, ..Limits::default() });
    wait_until("the two oldest are gone", || recordings(dir.path()).len() == 3);
    runtime.shutdown().await;
    let after = recordings(dir.path());
    assert_eq!(after[..2], before[2..]);
    let said = rows(&after[2], "pruned");
    let names: Vec<_> = said.iter().map(|row| row["recording"].as_str().unwrap_or_default()).collect();
    let gone: Vec<_> =
        before[..2].iter().map(|path| path.file_name().expect("a name").to_string_lossy()).collect();
    assert_eq!(names, gone);
    assert!(said.iter().all(|row| row["reason"] == "count" && row["hash"].is_string()), "{said:?}");
}

#[tokio::test]
async fn the_oldest_outputs_go_once_a_live_recording_has_too_many() {
    let dir = tempfile::tempdir().expect("temp dir");
    let record = RecordSettings { keep_live_bytes: 4 * (64 << 10), ..RecordSettings::default() };
    let (runtime, workspace) = start_limited(dir.path(), Limits { record, ..Limits::default() });
    for number in 0..4 {
        exec(&runtime, &workspace, &format!("echo {number}"), 20_000).await;
    }
    let folders: Vec<PathBuf> =
        runtime.snapshot().borrow().tasks.iter().map(|task| task.folder.clone()).collect();
    exec(&runtime, &workspace, "echo 4", 20_000).await;
    assert!(folders.iter().all(|folder| folder.is_dir()), "what has just ended is still read");
    tokio::time::pause();
    tokio::time::advance(Duration::from_secs(11)).await;
    tokio::time::resume();
    exec(&runtime, &workspace, "echo 5", 20_000).await;
    let is_gone = |at: usize| !folders[at].exists();
    wait_until("the three oldest are gone", || is_gone(0) && is_gone(1) && is_gone(2));
    assert!(folders[3].is_dir(), "there is room for this one");
    let tasks = runtime.snapshot().borrow().tasks.clone();
    assert_eq!(tasks.len(), 6, "all of them are still listed");
    let caller = Caller::new(Actor::Agent("claude".into()), workspace);
    let read = |at: usize| json!({"task_id": tasks[at].id, "lines": "1-"});
    let gone = call(&runtime, &caller, "TaskOutput", read(0)).await;
    assert!(gone.receipt.contains("is gone"), "{}", gone.receipt);
    let there = call(&runtime, &caller, "TaskOutput", read(3)).await;
    assert!(there.receipt.contains("1: 3"), "{}", there.receipt);
    runtime.shutdown().await;
    let recording = recordings(dir.path()).pop().expect("the recording");
    let said = rows(&recording, "outputs_removed");
    assert_eq!(said, [json!({"tasks": 3, "last": tasks[2].id, "bytes": 3 * (64 << 10)})]);
}
