//! Where the runtime lives: a process of its own that belongs to no caller, one for each workspace.

use std::io::Write as _;
use std::process::{Child, Stdio};

use pilothouse::link::Holder;
use serde_json::Value;

use crate::support::{Home, Tag, wait_until};

fn json(home: &Home, args: &[&str]) -> Value {
    let output = home.run(args);
    serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{args:?}: {error}: {}", String::from_utf8_lossy(&output.stderr)))
}

fn start(home: &Home, args: &[&str]) -> Child {
    home.command(args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("starts")
}

fn write(fifo: &std::path::Path) {
    let mut writer = std::fs::OpenOptions::new().write(true).open(fifo).expect("a reader");
    writeln!(writer, "go on").expect("written");
}

#[test]
fn a_command_does_not_end_with_the_one_shot_that_came_first() {
    let home = Home::new();
    let (first_gate, second_gate) = (home.fifo("first"), home.fifo("second"));
    let mut first = start(&home, &["command", "run", "cat first"]);
    write(&first_gate);
    let second = start(&home, &["command", "run", "echo begun > f; cat second; echo finished >> f"]);
    let text = || std::fs::read_to_string(home.workspace().join("f")).unwrap_or_default();
    wait_until("the second command has begun", || text() == "begun\n");
    assert!(first.wait().expect("ends").success());
    write(&second_gate);
    let output = second.wait_with_output().expect("ends");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    assert_eq!(text(), "begun\nfinished\n");
}

#[test]
fn a_task_outlives_its_one_shot_and_is_listed_and_stopped_by_others() {
    let home = Home::new();
    let tag = Tag::new();
    let cmd = format!("sleep {}", tag.0);
    let ran = home.run(&["command", "run", &cmd, "--yield-time-ms", "0"]);
    let told = String::from_utf8_lossy(&ran.stderr).into_owned();
    assert!(ran.status.success() && told.contains("started a runtime"), "{told}");
    tag.asleep();
    let listed = json(&home, &["task", "list"]);
    assert_eq!(listed["data"]["total"], 1, "{listed}");
    let task = listed["data"]["tasks"][0]["task_id"].as_str().expect("an id").to_owned();
    let stopped = json(&home, &["task", "stop", &task]);
    assert_eq!(stopped["ok"], true, "{stopped}");
    wait_until("the task is gone", || tag.holders().is_empty());
}

/// Starts so many one-shots at once where no runtime serves; returns what went wrong.
fn failures_of(calls: usize) -> Vec<String> {
    let home = Home::new();
    let all: Vec<Child> = (0..calls)
        .map(|number| start(&home, &["command", "run", &format!("echo number {number}")]))
        .collect();
    let ended = all.into_iter().enumerate().map(|(number, child)| {
        let output = child.wait_with_output().expect("ends");
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        let is_well = output.status.success() && said.contains(&format!("number {number}\\n"));
        (!is_well).then(|| format!("{number}: {said} {}", String::from_utf8_lossy(&output.stderr)))
    });
    ended.flatten().collect()
}

#[test]
fn one_shots_that_start_at_once_share_one_runtime() {
    let failures = failures_of(16);
    assert!(failures.is_empty(), "{failures:#?}");
}

#[test]
#[ignore = "minutes: .ci/long calls"]
#[expect(clippy::print_stdout, reason = "the figures are what it is for")]
fn long_sixty_four_one_shots_at_once_twenty_times() {
    let failures: Vec<String> = (0..20).flat_map(|_| failures_of(64)).collect();
    println!("64 one-shots at once, 20 rounds: {} of 1280 failed", failures.len());
    assert!(failures.is_empty(), "{failures:#?}");
}

#[test]
fn a_private_command_serves_nobody_else_and_takes_its_tasks_with_it() {
    let home = Home::new();
    let tag = Tag::new();
    let ran =
        home.run(&["command", "run", "--private", &format!("sleep {}", tag.0), "--yield-time-ms", "250"]);
    let told = String::from_utf8_lossy(&ran.stderr);
    assert!(told.contains("ends with this command") && told.contains("task_"), "{told}");
    assert!(tag.holders().is_empty());
    let places = home.places();
    assert!(!places.runtime_dir.exists() && !places.lock.exists());
    // Beside a runtime that serves, it stays by itself all the same.
    let _one = home.run(&["command", "run", "true"]);
    assert!(matches!(Holder::of(&places), Holder::Runtime(Some(_))));
    let ran = home.run(&["command", "run", "--private", "sleep 60", "--yield-time-ms", "0"]);
    assert!(ran.status.success());
    assert_eq!(json(&home, &["task", "list"])["data"]["total"], 0);
}
