//! Ceilings of memory and processes: a command that passes its own is ended and told so through every door, and nothing
//! else is.

use std::path::Path;
use std::process::Command;

use pilothouse::config::{CeilingRule, Limits};
use pilothouse::envelope::Actor;
use pilothouse::envelope::units::Ceiling;
use pilothouse::journal::{JournalItem, JournalReader};
use pilothouse::runtime::{Handle, past};
use pilothouse::tools::{CallAnswer, Caller, call};
use serde_json::{Value, json};

use crate::shell_door::Door;
use crate::support::{skip, start_limited, wait_until};

const CEILING: u64 = 150 << 20;
/// Takes 600 MB, and would wait with them.
const HOG: &str = "python3 -c 'import time; x = bytearray(b\"x\") * 600_000_000; time.sleep(100)'";
/// Reserves 2 GB and touches none of it.
const RESERVES: &str =
    "python3 -c 'import mmap, time; x = mmap.mmap(-1, 2_000_000_000); time.sleep(1.2); print(\"kept\")'";

/// Tells whether Python runs here, which gives its memory a size.
fn has_python() -> bool {
    let runs = Command::new("python3").args(["-c", ""]).status().is_ok_and(|status| status.success());
    if !runs {
        skip("no python3");
    }
    runs
}

fn limits() -> Limits {
    Limits { memory: Some(CEILING), ..Limits::default() }
}

async fn ask(runtime: &Handle, workspace: &Path, tool: &str, input: Value) -> CallAnswer {
    let caller = Caller::new(Actor::Agent("claude".into()), workspace.to_owned());
    call(runtime, &caller, tool, input).await
}

async fn exec(runtime: &Handle, workspace: &Path, cmd: &str, wait_ms: u64) -> CallAnswer {
    let input = json!({"cmd": cmd, "shell": "/bin/sh", "login": false, "yield_time_ms": wait_ms});
    ask(runtime, workspace, "ExecCommand", input).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_command_over_its_memory_ceiling_is_ended_with_a_reason_and_others_go_on() {
    if !has_python() {
        return;
    }
    let dir = tempfile::tempdir().expect("temp dir");
    let (runtime, workspace) = start_limited(dir.path(), limits());
    let bystander = exec(&runtime, &workspace, "sleep 300", 0).await;
    let bystander = bystander.envelope.result().expect("a result")["task_handle"]["task_id"].clone();
    let reserves = exec(&runtime, &workspace, RESERVES, 60_000).await;
    assert_eq!(reserves.envelope.result().expect("a result")["stdout_preview"], "kept\n");
    let answer = exec(&runtime, &workspace, HOG, 60_000).await;
    let result = answer.envelope.result().expect("a result");
    assert_eq!((&result["exit_status"], &result["signal"]), (&json!(null), &json!("SIGKILL")), "{result}");
    let said = result["end_reason"].as_str().expect("a reason");
    assert!(said.starts_with("ended by Pilothouse at its memory ceiling (150 MiB); peak "), "{said}");
    assert_eq!(
        (&result["ceiling"]["kind"], &result["ceiling"]["limit"]),
        (&json!("memory_limit"), &json!(CEILING))
    );
    assert!(answer.receipt.contains(said), "{}", answer.receipt);

    let listed = ask(&runtime, &workspace, "TaskList", json!({"scope": "all"})).await;
    let rows = listed.envelope.result().expect("a result")["tasks"].as_array().cloned().expect("rows");
    let hog = rows.iter().find(|row| row["cmd"] == HOG).expect("the hog");
    assert!(
        hog["ended"].as_str().expect("ended").starts_with("ended by Pilothouse at its memory ceiling"),
        "{hog}"
    );
    assert!(hog["peak_memory"].as_u64().expect("measured") > CEILING, "{hog}");
    let status = ask(&runtime, &workspace, "TaskStatus", json!({"task_id": hog["task_id"]})).await;
    let status = &status.envelope.result().expect("a result")["task"];
    assert_eq!((&status["status"], &status["end_reason"]), (&json!("failed"), &json!(said)), "{status}");
    let untouched = rows.iter().find(|row| row["task_id"] == bystander).expect("the bystander");
    assert_eq!(untouched["status"], "running");
    // A plain kill is told apart.
    let killed = exec(&runtime, &workspace, "kill -9 $$", 60_000).await;
    let killed = killed.envelope.result().expect("a result");
    assert_eq!(
        (&killed["signal"], &killed["ceiling"], &killed["end_reason"]),
        (&json!("SIGKILL"), &json!(null), &json!(null))
    );
    runtime.shutdown().await;

    let recording = past::list(&dir.path().join("recordings"), None).pop().expect("a recording").folder;
    let rows = JournalReader::open(&recording).expect("opens").filter_map(|item| match item {
        JournalItem::Record(record) if record.header.kind == "task" => Some(record),
        _ => None,
    });
    let rows: Vec<Value> = rows.map(|record| record.data(&recording).expect("data")).collect();
    let met: Vec<&Value> = rows.iter().filter(|row| row["what"] == "ceiling").collect();
    assert_eq!(met.len(), 1, "{rows:#?}");
    assert_eq!(met[0]["note"], said);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_ceiling_by_prefix_ends_an_item_of_a_batch_and_the_others_go_on() {
    if !has_python() {
        return;
    }
    let dir = tempfile::tempdir().expect("temp dir");
    let memory = Some(Ceiling(Some(CEILING)));
    let rule = CeilingRule { prefix: "python3 -c".into(), memory, processes: None, cpu_weight: None };
    let (runtime, workspace) =
        start_limited(dir.path(), Limits { by_prefix: vec![rule], ..Limits::default() });
    let commands = json!([{"cmd": HOG}, {"cmd": "sleep 2; echo on"}]);
    let answer = ask(&runtime, &workspace, "ExecCommandBatch", json!({"items": commands})).await;
    assert!(
        answer.receipt.contains("ended by Pilothouse at its memory ceiling (150 MiB)"),
        "{}",
        answer.receipt
    );
    assert!(answer.receipt.contains("on"), "{}", answer.receipt);
    runtime.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tree_with_too_many_processes_is_ended() {
    let dir = tempfile::tempdir().expect("temp dir");
    let limits = Limits { processes: Some(20), ..Limits::default() };
    let (runtime, workspace) = start_limited(dir.path(), limits);
    let few = exec(&runtime, &workspace, "sleep 1 & sleep 1 & wait", 60_000).await;
    assert_eq!(few.envelope.result().expect("a result")["exit_status"], 0);
    let many = "i=0; while [ $i -lt 60 ]; do sleep 100 & i=$((i+1)); done; wait";
    let answer = exec(&runtime, &workspace, many, 60_000).await;
    let result = answer.envelope.result().expect("a result");
    assert_eq!(result["ceiling"]["kind"], "process_limit", "{result}");
    let said = result["end_reason"].as_str().expect("a reason");
    assert!(said.starts_with("ended by Pilothouse at its process ceiling (20); peak "), "{said}");
    runtime.shutdown().await;
}

#[test]
fn the_agents_own_shell_and_its_task_are_told_in_words() {
    if !has_python() {
        return;
    }
    let door = Door::new();
    door.home.configure("config.toml", "[limits]\nmemory = \"150 MiB\"\n");
    let mut served = door.home.serve();
    let output = door.of_claude("one", HOG).output().expect("runs");
    assert_ne!(output.status.code(), Some(0), "{output:?}");
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(
        told.contains("pilothouse: ended by Pilothouse at its memory ceiling (150 MiB); peak "),
        "{told}"
    );
    wait_until("its task has ended", || {
        !door.json(&["task", "list", "--scope", "all"])["data"]["tasks"][0]["ended"].is_null()
    });
    let task = &door.json(&["task", "list", "--scope", "all"])["data"]["tasks"][0];
    assert!(
        task["ended"]
            .as_str()
            .is_some_and(|said| said.starts_with("ended by Pilothouse at its memory ceiling (150 MiB)")),
        "{task}"
    );
    door.home.stop(&mut served);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_command_is_refused_where_the_kernel_must_hold_its_ceiling_and_cannot() {
    if pilothouse::process::claim_controllers().is_ok() {
        return skip("the kernel holds ceilings here");
    }
    let dir = tempfile::tempdir().expect("temp dir");
    let (runtime, workspace) = start_limited(dir.path(), Limits { require: true, ..limits() });
    let answer = exec(&runtime, &workspace, "touch ran", 60_000).await;
    let error = &answer.envelope.to_value()["error"];
    assert_eq!(
        (&error["kind"], &error["retryable"]),
        (&json!("ceiling_unavailable"), &json!(false)),
        "{error}"
    );
    assert!(error["details"]["reason"].is_string() && error["recovery_hint"].is_string(), "{error}");
    assert!(!workspace.join("ran").exists());
    runtime.shutdown().await;
    // What has no ceiling needs none.
    let dir = tempfile::tempdir().expect("temp dir");
    let (runtime, workspace) = start_limited(dir.path(), Limits { require: true, ..Limits::default() });
    let answer = exec(&runtime, &workspace, "touch ran", 60_000).await;
    assert_eq!(answer.envelope.result().expect("a result")["exit_status"], 0);
    runtime.shutdown().await;
}
