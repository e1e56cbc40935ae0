//! A runtime whose disk does not answer: what must be on record first waits, everything else goes on.

use std::path::Path;
use std::time::Duration;

use serde_json::json;

use super::*;
use crate::journal::Block;

/// Started on one thread: whatever blocks it blocks the test.
fn runtime(dir: &Path, block: &Block) -> Handle {
    let options = Options {
        workspace: dir.to_owned(),
        recordings: dir.join("recordings"),
        socket: dir.join("agent.sock"),
        headless: true,
        environment: Vec::new(),
        env: Env::default(),
        spawner: Spawner::with_program("/nonexistent".into()),
        limits: Limits::default(),
    };
    let create = |recording: &Path, meta: &Meta, clock, changed| {
        Journal::create_blocked(block, recording, meta, clock, changed)
    };
    Handle::start_on(options, create).expect("starts")
}

async fn shows(handle: &Handle, what: impl Fn(&Snapshot) -> bool) -> Arc<Snapshot> {
    let mut snapshot = handle.snapshot();
    let shown = tokio::time::timeout(Duration::from_secs(20), snapshot.wait_for(|now| what(now)));
    shown.await.expect("shown in time").expect("the runtime lives").clone()
}

#[tokio::test]
async fn f44_while_the_disk_does_not_answer_calls_wait_the_rest_goes_on_and_the_console_says_so() {
    let dir = tempfile::tempdir().expect("temp dir");
    let block = Block::default();
    let handle = runtime(dir.path(), &block);
    let seq = handle.begin_call(&Actor::Cli, "TaskList", &json!({})).await;
    block.set(true);
    let own = handle.clone();
    let call = tokio::spawn(async move {
        own.begin_call(&Actor::Cli, "TaskStop", &json!({"task_id": "task_22222222"})).await
    });
    let shown = shows(&handle, |now| now.record.degraded.is_some()).await;
    let said = shown.record.degraded.as_deref().unwrap_or_default();
    assert!(said.starts_with("the disk has not answered for "), "{said}");
    assert!(block.held() > 0 && !call.is_finished(), "the call waits for its row");
    assert!(handle.shared.check().is_ok(), "what comes is not refused, it waits too");
    // More than there is room for: nobody who only tells is held up, and the driver takes orders.
    for _ in 0..10_000 {
        handle.shared.note(&Row::Agent {
            label: "a",
            client: "c",
            pid: 1,
            uid: 0,
            profile: "receipt",
            connected: true,
        });
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
        crate::journal::Reader::open(&handle.shared.recording).expect("opens").find_map(|item| match item {
            crate::journal::Item::Record(record) if record.header.kind == "gap" => Some(record),
            _ => None,
        });
    assert!(gap.is_some(), "what found no room is counted");
}
