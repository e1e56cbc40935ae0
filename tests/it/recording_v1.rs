//! A recording written with journal version 1 is read as it was then: completely, with the same tasks, calls,
//! agents and counters. It contains direct commands, a batch, promoted and kept commands, a terminal that asks for
//! a password, a timeout, a death by signal, an approval, a denial, a pause, stops, a `.prose` program, a stream of
//! commands, and a runtime that ended while a command ran.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use pilothouse::model::{Snapshot, TaskView};
use pilothouse::runtime::past;

use crate::support::Home;

const NAME: &str = "20261122T175434.009Z-14010";

fn fixture() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus/recordings").join(NAME)
}

fn told(snapshot: &Snapshot) -> String {
    let mut text = String::new();
    for task in &snapshot.tasks {
        tell_task(&mut text, task);
    }
    for call in &snapshot.calls {
        let (tool, status) = (&call.tool, call.status.as_deref().unwrap_or("open"));
        let _ = writeln!(text, "call {} {:?} {tool} {status}: {}", call.seq, call.actor, call.summary);
    }
    for agent in &snapshot.agents {
        let _ = writeln!(text, "agent {} {:?}: {} calls", agent.label, agent.client, agent.calls);
    }
    for program in &snapshot.programs {
        let _ = writeln!(text, "program {:?}", program.state);
    }
    let metrics = serde_json::to_value(&snapshot.metrics).expect("counters are JSON");
    for (name, value) in metrics.as_object().into_iter().flatten() {
        let _ = writeln!(text, "{name} {value}");
    }
    text
}

fn tell_task(text: &mut String, task: &TaskView) {
    let (exit, signal) = match &task.ended {
        Some(ended) => (ended.exit_status, ended.signal.as_deref()),
        None => (None, None),
    };
    let _ = writeln!(
        text,
        "task {} {} {:?} exit {exit:?} signal {signal:?} by {:?}: {}",
        task.number, task.id, task.status, task.started_by, task.cmd
    );
    for event in &task.events {
        let _ = writeln!(text, "  {} {:?} {:?}", event.fact.word(), event.actor, event.fact.bytes());
    }
}

#[test]
fn tasks_calls_agents_and_counters_are_read_as_they_were() {
    let story = past::read(&fixture()).expect("a readable recording");
    insta::assert_snapshot!(told(&story.snapshot()));
}

#[test]
fn a_version_1_recording_is_whole_and_its_receipts_are_listed() {
    let home = Home::new();
    let copy = home.places().recordings().join(NAME);
    copy_folder(&fixture(), &copy);
    let verified = home.call(&["audit", "verify", NAME, "--output", "json"]);
    let verified: serde_json::Value = serde_json::from_slice(&verified.stdout).expect("an answer");
    assert_eq!(verified["data"]["whole"], true, "{verified}");
    assert_eq!(verified["data"]["rows"], 142, "{verified}");
    let listed = home.call(&["receipt", "list", "--recording", NAME, "--limit", "100", "--output", "json"]);
    let listed: serde_json::Value = serde_json::from_slice(&listed.stdout).expect("an answer");
    assert_eq!(listed["ok"], true, "{listed}");
}

fn copy_folder(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).expect("a folder");
    for entry in std::fs::read_dir(from).expect("the fixture").flatten() {
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy_folder(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), target).expect("copied");
        }
    }
}
