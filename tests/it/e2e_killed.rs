//! A runtime that is killed at any moment, with an undo, a prompt, a held call, a command with an idempotency key and live
//! trees under way: nothing acknowledged is lost, nothing runs twice or unasked, and nothing survives.

use std::fs;
use std::io::Write as _;
use std::process::{Child, Stdio};
use std::time::Duration;

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::agent_prompts::{hook, printed, told};
use crate::e2e_tree::rounds;
use crate::ledger::has_git;
use crate::ledger_undo::undoable;
use crate::shell_door::Door;
use crate::shell_killed::{Random, let_pass};
use crate::support::{Agent, Console, Family, Tag, exec_command, send, wait_until};

/// The files that the undone command has written.
const FILES: usize = 60;
/// Upper limits of the random delays, in milliseconds.
const MOMENTS_MS: [u64; 4] = [1, 10, 60, 250];

/// What was under way when a runtime was killed.
#[derive(Debug, Default)]
struct Figures {
    acknowledged: usize,
    /// Undoes that had been answered, and that went on afterwards.
    undone: [usize; 2],
    /// Keyed commands that had been answered.
    answered: usize,
}

fn keyed() -> String {
    let options = json!({"idempotency-key": "k"});
    json!({"_cmd": "command.run", "_opts": options, "cmd": "echo x >> once"}).to_string() + "\n"
}

/// Starts a script with the keyed command.
fn send_keyed(door: &Door) -> Child {
    let mut sender = exec_command(&door.home, &[]);
    sender.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut sender = sender.spawn().expect("starts");
    sender.stdin.take().expect("piped").write_all(keyed().as_bytes()).expect("taken");
    sender
}

fn is_ok(answer: &[u8]) -> bool {
    let line = answer.split(|byte| *byte == b'\n').next().unwrap_or_default();
    serde_json::from_slice::<Value>(line).is_ok_and(|answer| answer["ok"] == true)
}

fn holds(door: &Door, text: &str) -> bool {
    let work = door.home.workspace();
    (0..FILES).all(|n| fs::read_to_string(work.join(format!("f{n}"))).is_ok_and(|held| held == text))
}

/// One runtime that is killed at a moment that depends on the seed.
fn kill_a_runtime(seed: u64, figures: &mut Figures) {
    let (door, tag, mut random) = (Door::new(), Tag::new(), Random(seed));
    door.home.configure("config.toml", "ledger = \"on\"\n[[approvals]]\nprefix = \"touch held\"\n");
    let work = door.home.workspace();
    (0..FILES).for_each(|n| fs::write(work.join(format!("f{n}")), "old\n").expect("written"));
    let mut served = door.home.serve();
    let mut console = Console::open(&door.home, &[], (100, 30));
    console.shows(" OBSERVE ");
    let undone = undoable(&door.home, "for f in f*; do echo new > $f; done");
    assert!(holds(&door, "new\n"), "{seed}");
    let agent = Agent::connect(&door.home, &[]);
    let tasks = [agent.task(&tag.hostile_tree()), agent.task("sleep 600")];
    let prompt = hook(&door.home, &told("PermissionRequest", "s1", "touch asked"));
    let mut held = door.of_claude("one", "touch held");
    let mut held = held.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("starts");
    console.shows("2 FOR YOU");
    let undo = ["task", "undo", &undone, "--output", "json"];
    let mut undoing = door.home.command(&undo);
    let undoing = undoing.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("starts");
    let sender = send_keyed(&door);
    let latest_ms = MOMENTS_MS[usize::try_from(random.below(4)).expect("small")];
    let_pass(Duration::from_micros(random.below(latest_ms * 1_000)));
    send(Family::of(served.id()).program, Signal::KILL);
    served.wait().expect("gone");
    assert_eq!(tag.holders(), Vec::<u32>::new(), "{seed}: the keeper leaves when nothing is left");
    let was_undone = is_ok(&undoing.wait_with_output().expect("ends").stdout);
    let was_answered = is_ok(&sender.wait_with_output().expect("ends").stdout);
    assert_eq!(printed(prompt), "", "{seed}: nobody has allowed it");
    assert_eq!(held.wait().expect("ends").code(), Some(75), "{seed}");
    console.kill(Signal::KILL);
    console.exit();

    let mut served = door.home.serve();
    for task in &tasks {
        let status = door.home.run(&["task", "status", task, "--output", "json"]);
        let said = String::from_utf8_lossy(&status.stdout).into_owned();
        assert!(said.contains("interrupted"), "{seed}: {task} is not on record: {said}");
    }
    assert!(!was_undone || holds(&door, "old\n"), "{seed}: it was said to be undone");
    let again = door.home.run(&undo);
    assert!(again.status.success() && holds(&door, "old\n"), "{seed}: {again:?}");
    // A key holds within a recording: what was answered has run, and nothing has run twice.
    let lines = fs::read_to_string(work.join("once")).unwrap_or_default().lines().count();
    assert!(lines <= 1 && (!was_answered || lines == 1), "{seed}: it ran {lines} times");
    assert!(!work.join("held").exists() && !work.join("asked").exists(), "{seed}: it ran unasked");
    wait_until("no rest of the undo is there", || !work.join(".pilothouse-undo").exists());
    agent.leave();
    door.home.stop(&mut served);
    figures.acknowledged += tasks.len();
    figures.undone[usize::from(!was_undone)] += 1;
    figures.answered += usize::from(was_answered);
}

fn kill_runtimes(count: usize) {
    if !has_git() {
        return;
    }
    let mut figures = Figures::default();
    (0..count as u64).for_each(|seed| kill_a_runtime(seed, &mut figures));
    let Figures { acknowledged, undone: [before, after], answered } = figures;
    eprintln!(
        "{count} runtimes killed: {acknowledged} acknowledged tasks, {before} undoes answered before and {after} gone on \
         with after, {answered} keyed commands answered: 0 lost, 0 twice, 0 unasked, 0 survivors"
    );
}

#[test]
fn f65_a_runtime_killed_with_all_under_way_loses_nothing_and_runs_nothing_twice_or_unasked() {
    kill_runtimes(3);
}

#[test]
#[ignore = "minutes; .ci/long runs it"]
fn long_f65_300_runtimes_killed_with_all_under_way_lose_nothing() {
    kill_runtimes(rounds(300));
}
