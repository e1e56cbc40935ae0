//! Programs that refuse to end, and what is left of them: nothing.

use std::time::{Duration, Instant};

use rustix::process::Signal;
use serde_json::json;

use crate::support::{Agent, Console, HOLDERS, Home, Tag, send, wait_until};

/// The number of hostile trees at once.
const TASKS: usize = 20;

/// Kills a console that runs twenty hostile trees; returns how long the last process survived.
#[expect(clippy::disallowed_methods, reason = "the time is the result")]
fn kill_a_console() -> Duration {
    let home = Home::new();
    let tag = Tag::new();
    let mut console = Console::open(&home, &[], (120, 40));
    console.shows("no agent yet");
    let agent = Agent::connect(&home, &[]);
    for number in 0..TASKS {
        let input = json!({"cmd": tag.hostile_tree(), "tty": number % 2 == 0, "yield_time_ms": 0});
        agent.call("ExecCommand", &input).task();
    }
    wait_until("all trees are there", || tag.holders().len() >= TASKS * HOLDERS);
    let killed = Instant::now();
    send(console.family().program, Signal::KILL);
    assert_eq!(console.exit(), 128 + 9);
    wait_until("nothing survives", || tag.holders().is_empty());
    killed.elapsed()
}

#[test]
fn f01_nothing_survives_a_console_that_is_killed() {
    kill_a_console();
}

#[test]
#[ignore = "minutes; .ci/long runs it"]
fn long_nothing_survives_twenty_killed_consoles_for_three_seconds() {
    let times: Vec<Duration> = (0..20).map(|_| kill_a_console()).collect();
    eprintln!("last survivor of {TASKS} hostile trees, 20 runs: {times:?}");
    assert!(times.iter().all(|time| *time < Duration::from_secs(3)), "{times:?}");
}

/// Runs a command that leaves a sleeper behind; returns how long the answer took.
#[expect(clippy::disallowed_methods, reason = "the time is the result")]
fn leave_a_sleeper(agent: &Agent, cmd: &str) -> Duration {
    let asked = Instant::now();
    let answer = agent.call("ExecCommand", &json!({"cmd": cmd, "yield_time_ms": 30_000}));
    let took = asked.elapsed();
    assert_eq!(answer.result("/disposition"), "completed", "{}", answer.envelope);
    assert_eq!(answer.result("/stdout_preview"), "done", "{}", answer.envelope);
    assert_eq!(answer.result("/leftover_processes/action"), "ended", "{}", answer.envelope);
    assert!(answer.receipt.contains("sleep"), "{}", answer.receipt);
    took
}

/// Commands whose sleep keeps the pipe open after their shell has exited.
const SLEEPERS: [&str; 3] = [
    "(sleep 30) & printf done",
    "setsid -f sleep 30; printf done",
    "exec 3> >(sleep 30 < /dev/null); printf done",
];

#[test]
fn f04_a_sleeper_that_holds_the_pipe_delays_no_answer_and_is_named() {
    let home = Home::new();
    let agent = Agent::here(&home, None);
    for cmd in SLEEPERS {
        let took = leave_a_sleeper(&agent, &format!("bash -c '{cmd}'"));
        assert!(took < Duration::from_secs(15), "{cmd}: {took:?}");
    }
}

#[test]
#[ignore = "minutes; .ci/long runs it"]
fn long_a_sleeper_that_holds_the_pipe_delays_no_answer_by_a_second() {
    let home = Home::new();
    let agent = Agent::connect(&home, &[]);
    let sh = |cmd: &str| format!("sh -c '{cmd}'");
    let times: Vec<Duration> = (0..50).map(|_| leave_a_sleeper(&agent, &sh(SLEEPERS[0]))).collect();
    eprintln!("{}: {:?} at most, 50 runs", SLEEPERS[0], times.iter().max());
    assert!(times.iter().all(|time| *time < Duration::from_secs(1)), "{times:?}");
}

#[test]
fn a_stop_ends_a_hostile_tree_and_names_no_survivor() {
    let home = Home::new();
    let tag = Tag::new();
    let agent = Agent::here(&home, None);
    let task = agent.task(&tag.hostile_tree());
    wait_until("the tree is there", || tag.holders().len() >= HOLDERS);
    agent.call("TaskStop", &json!({"task_id": task, "force": true}));
    let ended = agent.call("TaskOutput", &json!({"task_id": task}));
    assert_eq!(ended.result("/task/status"), "cancelled");
    assert!(ended.envelope["result"]["task"]["unended_processes"].is_null(), "{}", ended.envelope);
    assert_eq!(tag.holders(), Vec::<u32>::new());
}
