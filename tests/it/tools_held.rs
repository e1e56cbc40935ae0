//! What an agent gets for calls that wait for the operator: against real processes.

use std::time::Duration;

use pilothouse::config::{ApprovalRule, Limits};
use pilothouse::consequence::Class;
use pilothouse::envelope::Actor;
use pilothouse::model::{Decision, Error, HeldCall, HoldReason, Notice, Snapshot};
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
        let shown = self.held().await.shown_call(None);
        self.runtime.decide(shown, decision, None).await.expect("decided");
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
    assert_eq!((&held.task, held.commands.len()), (&None, 1));
    bench.runtime.decide(held.shown_call(None), Decision::Once, None).await.expect("decided");
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

/// Waits until what the held call would cost was computed for the `revision`th time.
async fn costing(bench: &Bench, revision: u32) -> HeldCall {
    let mut snapshots = bench.runtime.snapshot();
    let costing =
        snapshots.wait_for(|it| it.gate.held.first().is_some_and(|held| held.cost.revision == revision));
    let snapshot =
        tokio::time::timeout(crate::support::PATIENCE, costing).await.expect("computed").expect("lives");
    snapshot.gate.held[0].clone()
}

/// Waits until what was computed of held calls is too old for an answer to it.
async fn costs_are_old(bench: &Bench) {
    let clock = bench.runtime.clock();
    let since = clock.now().mono;
    while clock.now().mono - since <= Duration::from_secs(6) {
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

/// Waits until a notice says that agents stay paused, and why.
async fn stays_paused(bench: &Bench, why: &str) {
    let mut snapshots = bench.runtime.snapshot();
    let begin = format!("agents stay paused: {why}");
    let told =
        snapshots.wait_for(|now| now.notices.iter().any(|notice: &Notice| notice.text.starts_with(&begin)));
    let now =
        tokio::time::timeout(crate::support::PATIENCE, told).await.expect("told").expect("lives").clone();
    assert!(now.gate.paused.is_some());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_held_command_is_told_with_what_it_would_cost_and_an_answer_is_bound_to_that() {
    let bench = Bench::paused().await;
    let folder = bench.caller.cwd.join("build");
    std::fs::create_dir(&folder).expect("a folder");
    std::fs::write(folder.join("a"), "1").expect("written");
    let asked = bench.ask("ExecCommand", exec("rm -r build", 60_000));
    let held = costing(&bench, 1).await;
    assert_eq!(held.cost.commands, [["deletes 1 file, 1 byte in build"]]);
    let other = bench.caller.cwd.join("other");
    std::fs::create_dir(&other).expect("a folder");
    std::fs::write(other.join("a"), "1").expect("written");
    let second = bench.ask("ExecCommand", exec("rm -r other", 60_000));
    let revision = |snapshot: &Snapshot, at: usize| snapshot.gate.held.get(at).map(|held| held.cost.revision);
    let mut snapshots = bench.runtime.snapshot();
    let is_told = snapshots.wait_for(|now| revision(now, 1) == Some(1));
    tokio::time::timeout(crate::support::PATIENCE, is_told).await.expect("computed").expect("lives");
    let decide = |cost| bench.runtime.decide(held.shown_call(Some(cost)), Decision::Once, None);
    assert!(matches!(decide(0).await, Err(Error::CostChanged)), "given before it was told");

    // What was told is old by then, and so it is computed again.
    std::fs::write(folder.join("b"), "1").expect("written");
    costs_are_old(&bench).await;
    assert!(matches!(decide(1).await, Err(Error::CostChanged)));
    let held = costing(&bench, 2).await;
    assert_eq!(held.cost.commands, [["deletes 2 files, 2 bytes in build"]]);
    assert_eq!(held.cost.gone, ["deletes 1 file, 1 byte in build"]);
    assert!(folder.exists());
    decide(2).await.expect("decided");
    assert!(asked.await.expect("joins").receipt.contains("exited with code 0"));
    assert!(!folder.exists());

    // Nor does the end of a pause let go what would cost something else by now.
    std::fs::write(other.join("b"), "1").expect("written");
    bench.runtime.pause(false, None).await;
    let held = costing(&bench, 2).await;
    assert_eq!(held.cost.commands, [["deletes 2 files, 2 bytes in other"]]);
    stays_paused(&bench, "what a held call would cost").await;
    assert!(other.exists());
    // It is as it was told now.
    bench.runtime.pause(false, None).await;
    assert!(second.await.expect("joins").receipt.contains("exited with code 0"));
    assert!(!other.exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn agents_that_are_paused_again_before_a_pause_has_ended_stay_paused() {
    let bench = Bench::paused().await;
    let asked = bench.ask("ExecCommand", exec("true", 60_000));
    costing(&bench, 1).await;
    costs_are_old(&bench).await;
    // What the held call would cost is computed between the two.
    bench.runtime.pause(false, None).await;
    bench.runtime.pause(true, None).await;
    stays_paused(&bench, "they were paused again").await;
    // Nor is it said again of a pause that two consoles have ended at once.
    costs_are_old(&bench).await;
    bench.runtime.pause(false, None).await;
    bench.runtime.pause(false, None).await;
    assert!(asked.await.expect("joins").receipt.contains("exited with code 0"));
    bench.call("ExecCommand", exec("true", 60_000)).await;
    let notices = bench.runtime.snapshot().borrow().notices.clone();
    assert_eq!(
        notices.iter().filter(|notice| notice.text.contains("paused again")).count(),
        1,
        "{notices:?}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rule_by_consequence_asks_before_a_command_or_a_batch_starts_and_says_why() {
    let rule = |class| ApprovalRule { consequence: Some(class), ..ApprovalRule::default() };
    let approvals = vec![rule(Class::Unset), rule(Class::Outside)];
    let bench = Bench::start(Limits { approvals, ..Limits::default() });
    let free = bench.call("ExecCommand", exec("rm -rf ./none", 60_000)).await;
    assert!(free.receipt.contains("exited with code 0"), "{}", free.receipt);
    // Even if it ran, the deletion would not; but that is known only to who runs it.
    let line = "[ -n \"$(uname --no-such-option)\" ] && rm \"$NOT_SET_HERE/\"*";
    let asked = bench.ask("ExecCommand", exec(line, 60_000));
    let held = costing(&bench, 1).await;
    let HoldReason::Rule(rule) = &held.reason else { panic!("{held:?}") };
    let why = "$NOT_SET_HERE is not set: \"$NOT_SET_HERE/\"* means /*";
    assert_eq!(*rule, format!("consequence \"unset\": {why}"));
    assert!(held.cost.commands[0].iter().any(|sentence| sentence == why), "{:?}", held.cost);
    bench.decide(denied("set it first")).await;
    assert!(asked.await.expect("joins").receipt.contains("set it first"));

    // A batch is asked about too, with a cost for each item.
    let items = json!({"items": [{"cmd": "true"}, {"cmd": "rm -f ../outside"}]});
    std::fs::write(bench.caller.cwd.join("../outside"), "1").expect("written");
    let asked = bench.ask("ExecCommandBatch", items);
    let held = costing(&bench, 1).await;
    assert_eq!(held.cost.commands[0], ["no cost computed"]);
    assert_eq!(held.cost.commands.len(), 2);
    assert!(
        matches!(&held.reason, HoldReason::Rule(rule) if rule.starts_with("consequence \"outside\": ")),
        "{held:?}"
    );
    bench.decide(denied("no")).await;
    asked.await.expect("joins");
    assert!(bench.caller.cwd.join("../outside").exists());

    // A call that ends while its cost is computed is not held, or run afterwards.
    let marker = bench.caller.cwd.join("ran");
    let asked = bench.ask("ExecCommand", exec("sleep 60; touch ran", 60_000));
    asked.abort();
    let _ = asked.await;
    let mut snapshots = bench.runtime.snapshot();
    let over = snapshots
        .wait_for(|it| it.gate.held.is_empty() && it.tasks.iter().all(|task| task.status.is_terminal()));
    tokio::time::timeout(crate::support::PATIENCE, over).await.expect("ended").expect("lives");
    assert!(!marker.exists());
}
