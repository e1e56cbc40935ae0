//! Tests of a runtime whose disk does not respond: whatever must be recorded first waits, everything else continues.
//! And of a runtime with a long past: what it keeps in memory and publishes does not grow.

use std::path::Path;
use std::time::Duration;

use serde_json::json;

use super::*;
use crate::journal::{DiskBlock, Durability};
use crate::model::{AgentPeer, SHELL_PROFILE};
use crate::runtime::record_row::AgentConnection;

/// Starts a runtime on one thread: anything that blocks it blocks the test.
fn runtime(dir: &Path, block: &DiskBlock) -> Handle {
    let create = |recording: &Path, meta: &RecordingMeta, clock, changed| {
        Journal::create_blocked(block, recording, meta, clock, changed)
    };
    Handle::start_on(Options::of_test(dir), create).expect("starts")
}

async fn shows(handle: &Handle, what: impl Fn(&Snapshot) -> bool) -> Arc<Snapshot> {
    let mut snapshot = handle.snapshot();
    let shown = tokio::time::timeout(Duration::from_secs(20), snapshot.wait_for(|now| what(now)));
    shown.await.expect("shown in time").expect("the runtime lives").clone()
}

#[tokio::test]
async fn f44_while_the_disk_does_not_answer_calls_wait_the_rest_goes_on_and_the_console_says_so() {
    let dir = tempfile::tempdir().expect("temp dir");
    let block = DiskBlock::default();
    let handle = runtime(dir.path(), &block);
    let seq = handle.begin_call(&Actor::Cli, "TaskList", Durability::Written, &json!({})).await;
    block.set(true);
    let own = handle.clone();
    let call = tokio::spawn(async move {
        own.begin_call(&Actor::Cli, "TaskStop", Durability::Synced, &json!({"task_id": "task_22222222"}))
            .await
    });
    let shown = shows(&handle, |now| now.record.degraded.is_some()).await;
    let said = shown.record.degraded.as_deref().unwrap_or_default();
    assert!(said.starts_with("the disk has not answered for "), "{said}");
    assert!(block.wait_count() > 0 && !call.is_finished(), "the call waits for its row");
    assert!(handle.shared.check().is_ok(), "what comes is not refused, it waits too");
    // More rows than there is room for: `note` does not block, and the driver still takes orders.
    for _ in 0..10_000 {
        handle.shared.note(&Fact::Agent(AgentConnection {
            label: "a".into(),
            client: "c".into(),
            pid: 1,
            uid: Some(0),
            profile: Some("receipt".into()),
            connected: true,
        }));
    }
    handle.notice("still here", false);
    shows(&handle, |now| now.notices.iter().any(|notice| notice.text == "still here")).await;
    let unknown = "task_22222222".parse().expect("an id");
    assert!(matches!(handle.stop(&Actor::Cli, &unknown, Stop::default()).await, Err(Error::UnknownTask(_))));
    assert!(!call.is_finished());
    block.set(false);
    assert_eq!(call.await.expect("joins"), seq + 1);
    shows(&handle, |now| now.record.degraded.is_none()).await;
    handle.shutdown().await;
    let told = crate::journal::verify(&handle.shared.recording).expect("verifies");
    assert!(told.is_whole(), "{told:?}");
    let gap =
        crate::journal::JournalReader::open(&handle.shared.recording).expect("opens").find_map(|item| {
            match item {
                crate::journal::JournalItem::Record(record) if record.header.kind == "gap" => Some(record),
                _ => None,
            }
        });
    assert!(gap.is_some(), "what found no room is counted");
}

/// A command that cannot start: a cheap way to get an ended task.
fn failing(cmd: String) -> ExecRequest {
    ExecRequest {
        actor: Actor::Agent("a".into()),
        call: 1,
        cmd,
        shell: Some("/bin/sh".into()),
        login: false,
        workdir: None,
        base: "/".into(),
        tty: false,
        size: None,
        accepts_input: false,
        yield_after: None,
        timeout: None,
        leftovers: crate::model::Leftovers::End,
        description: None,
        item: None,
        step: None,
        native: None,
    }
}

#[tokio::test]
async fn thousands_of_ended_tasks_leave_the_snapshot_and_memory_but_not_the_record() {
    const TASKS: usize = 2_000;
    let dir = tempfile::tempdir().expect("temp dir");
    let handle = runtime(dir.path(), &DiskBlock::default());
    let long =
        |n: usize| format!("true {n}; : {}", "x".repeat(if n.is_multiple_of(100) { 100_000 } else { 3_000 }));
    let mut first = None;
    for from in (0..TASKS).step_by(50) {
        let starts = (from..from + 50).map(|n| {
            let request = ExecRequest { base: dir.path().to_owned(), ..failing(long(n)) };
            let own = handle.clone();
            tokio::spawn(async move { own.exec(request).await })
        });
        for start in starts.collect::<Vec<_>>() {
            let refused = start.await.expect("joins");
            assert!(matches!(refused, Err(Error::Spawn { .. })), "{refused:?}");
        }
        first = first.or_else(|| handle.snapshot().borrow().tasks.first().cloned());
    }
    let shown = shows(&handle, |now| now.tasks_left + now.tasks.len() as u64 == TASKS as u64).await;
    assert_eq!((shown.tasks.len(), shown.tasks_left), (500, 1_500));
    assert_eq!(
        shown.count(crate::model::TaskStatus::Failed),
        TASKS as u64,
        "the bar and the farewell count all of them"
    );
    let bytes = serde_json::to_vec(&*shown).expect("serialises").len();
    assert!(bytes < 2 << 20, "{bytes} bytes for {} tasks", shown.tasks.len());
    let last = shown.tasks.last().expect("a task");
    assert!(last.cmd.ends_with(" characters)") && last.cmd_chars.is_some(), "{}", last.cmd);
    let whole = handle.task(&last.id).expect("at hand");
    assert_eq!(whole.cmd_chars.map_or(whole.cmd.chars().count() as u64, |_| 0), last.cmd_chars.unwrap_or(0));
    // The first tasks are recorded in full.
    let first = first.expect("seen");
    assert!(handle.task(&first.id).is_none(), "it has left memory");
    let found = handle.find(&first.id).await.expect("on record");
    let number = found.cmd.split([' ', ';']).nth(1).and_then(|n| n.parse().ok()).expect("a number");
    assert_eq!(
        (found.cmd.as_str(), found.number, found.status),
        (long(number).as_str(), first.number, first.status)
    );
    assert!(handle.find(&"task_22222222".parse().expect("an id")).await.is_none());
    let typed = handle.input(&Actor::Cli, &last.id, TypedInput::Text("x".into())).await.expect("answered");
    assert!(typed.rejection.is_some(), "{typed:?}");
    assert_eq!(
        handle.stop(&Actor::Cli, &last.id, Stop::default()).await.expect("told").effect,
        StopEffect::Noop
    );
    handle.rename(&last.id, Some("the last".into())).await;
    handle.dismiss(&shown.tasks[0].id).await;
    let now = shows(&handle, |now| {
        now.tasks.len() == 499
            && now.tasks.last().is_some_and(|task| task.name.as_deref() == Some("the last"))
    })
    .await;
    // Only what has changed is reallocated, however many tasks there are.
    let kept = now.tasks.iter().zip(&shown.tasks[1..]).filter(|(now, before)| Arc::ptr_eq(now, before));
    assert_eq!(kept.count(), 498, "one of 499 was renamed");
    handle.shutdown().await;
}

#[tokio::test]
async fn calls_too_large_to_keep_are_read_from_the_record() {
    let dir = tempfile::tempdir().expect("temp dir");
    let handle = runtime(dir.path(), &DiskBlock::default());
    let input = |n: usize| json!({"cmd": format!("{n} {}", "x".repeat(400_000))});
    for n in 1..=100 {
        let seq = handle.begin_call(&Actor::Cli, "ExecCommand", Durability::Written, &input(n)).await;
        handle.abandon_call(seq);
    }
    let held = handle.shared.session().calls.get(1).is_some();
    assert!(!held, "40 MB of input are not kept");
    assert!(handle.shared.session().calls.get(100).is_some());
    let first = handle.call(1).await.expect("on record");
    assert_eq!(first.input, input(1));
    handle.shutdown().await;
}

#[tokio::test]
async fn a_callers_environment_is_dropped_once_no_caller_and_no_start_needs_it() {
    let dir = tempfile::tempdir().expect("temp dir");
    let handle = runtime(dir.path(), &DiskBlock::default());
    let start = |handle: &Handle, yield_after| {
        let own = handle.clone();
        let request = ExecRequest { base: dir.path().to_owned(), yield_after, ..failing("true".into()) };
        tokio::spawn(async move { own.exec(request).await })
    };
    let env = Environment::new(vec![("API_TOKEN".into(), "hunter2".into())], None);
    let agent = handle.for_caller(&env);
    let held = agent.environment.downgrade();
    handle.pause(true, None).await;
    let waits = start(&agent, Some(Duration::ZERO)).await.expect("joins").expect("held");
    let ExecOutcome::Held(task) = waits else { panic!("{waits:?}") };
    drop(agent);
    assert!(held.upgrade().is_some(), "its command may yet be started");
    handle.stop(&Actor::Operator, &task.id, Stop::default()).await.expect("stopped");
    let is_dropped = async |held: std::sync::Weak<_>| {
        let dropped = async {
            while held.upgrade().is_some() {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        };
        tokio::time::timeout(Duration::from_secs(20), dropped).await.is_ok()
    };
    assert!(is_dropped(held).await, "nothing will start it any more");
    // The same for a command that was started.
    handle.pause(false, None).await;
    let agent = handle.for_caller(&env);
    let held = agent.environment.downgrade();
    let started = start(&agent, None);
    drop(agent);
    assert!(matches!(started.await.expect("joins"), Err(Error::Spawn { .. })));
    assert!(is_dropped(held).await);
}

#[tokio::test]
async fn an_agent_counts_as_connected_before_the_published_state_shows_it() {
    let dir = tempfile::tempdir().expect("temp dir");
    let handle = runtime(dir.path(), &DiskBlock::default());
    let peer = AgentPeer { client: "c".into(), pid: 1, uid: 0, profile: "receipt" };
    let label = handle.agent_connected("a", &peer);
    // Nothing else has run on this thread since: the driver cannot have published anything.
    assert!(handle.has_agent() && handle.snapshot().borrow().agents.is_empty());
    handle.agent_gone(&label, &peer);
    assert!(!handle.has_agent());
}

#[tokio::test]
async fn the_notice_of_a_departed_agent_names_the_message_that_it_has_not_read() {
    let dir = tempfile::tempdir().expect("temp dir");
    let handle = runtime(dir.path(), &DiskBlock::default());
    let peer = AgentPeer { client: "c".into(), pid: 1, uid: 0, profile: SHELL_PROFILE };
    let said = |handle: &Handle| {
        let session = handle.shared.session();
        session.notices.iter().map(|notice| notice.text.clone()).collect::<Vec<_>>()
    };
    let label = handle.agent_connected("a", &peer);
    handle.agent_gone(&label, &peer);
    assert_eq!(said(&handle), ["agent a has disconnected"]);

    let label = handle.agent_connected("b", &peer);
    handle.shared.session().words(&label, "use TOKEN=abcdefgh12345678 here");
    let words = handle.words_for(&label);
    assert_eq!(words.sentences(), ["use TOKEN=abcdefgh12345678 here"]);
    // It was not delivered.
    drop(words);
    assert_eq!(handle.shared.session().agents[1].unread.len(), 1);
    handle.agent_gone(&label, &peer);
    let last = said(&handle).pop().expect("a notice");
    assert!(last.starts_with("agent b has not read what it was told: \"use TOKEN="), "{last}");
    assert!(!last.contains("abcdefgh12345678"), "{last}");
    handle.words_for(&label).mark_delivered();
    assert!(handle.shared.session().agents[1].unread.is_empty());
    // The next one of that name does not get what was for this one.
    handle.shared.session().words(&label, "stop");
    handle.agent_ended(&label);
    assert!(handle.shared.session().agents[1].unread.is_empty());
    assert!(handle.words_for(&label).sentences().is_empty());
}
