//! A runtime with a long past: whoever attaches sees what there is to see.

use serde_json::json;

use crate::support::{Agent, Console, Home};

/// Runs so many calls, each with a command of about so many bytes, eight at a time.
fn calls(agent: &Agent, count: usize, bytes: usize) {
    let filling = "x".repeat(bytes);
    for from in (0..count).step_by(8) {
        let asked: Vec<_> = (from..(from + 8).min(count))
            .map(|n| {
                let cmd = format!("true {n}; : {filling}");
                agent.ask(
                    "ExecCommand",
                    &json!({"cmd": cmd, "shell": "/bin/sh", "login": false, "yield_time_ms": 30_000}),
                )
            })
            .collect();
        for call in asked {
            assert_eq!(*agent.answer(call).result("/exit_status"), 0);
        }
    }
}

/// Calls after which a task has left memory and is still on record, which keeps 64 MiB.
const LATER: usize = 520;

/// A console attaches after `short` calls and `long` calls of 100 KB, and the id of a task that has left memory answers.
fn attaches_after(short: usize, long: usize) {
    let home = Home::new();
    let mut served = home.serve();
    let agent = Agent::connect(&home, &[]);
    calls(&agent, short - LATER, 20);
    let task = agent.call("ExecCommand", &json!({"cmd": "echo long ago", "yield_time_ms": 0})).task();
    calls(&agent, LATER, 20);
    calls(&agent, long, 100_000);
    let console = Console::open(&home, &[], (120, 40));
    console.shows(&format!("true {}", long.max(1) - 1));
    let read = agent.call("TaskOutput", &json!({"task_id": task}));
    assert_eq!(*read.result("/retrieval_status"), "success");
    assert_eq!(*read.result("/task/output_preview"), "long ago\n");
    let status = agent.call("TaskStatus", &json!({"task_id": task}));
    assert_eq!(*status.result("/task/command/cmd"), "echo long ago");
    let last = agent.call("ExecCommand", &json!({"cmd": "echo the very last; exit 3"}));
    assert_eq!(*last.result("/exit_status"), 3);
    console.shows("the very last");
    agent.leave();
    drop(console);
    home.run(&["serve", "--stop"]);
    let _ = served.wait();
}

#[test]
fn a_console_attaches_to_a_runtime_with_a_past() {
    attaches_after(LATER, 8);
}

#[test]
#[ignore = "minutes; .ci/long runs it"]
fn long_a_console_attaches_after_20_000_calls_and_300_of_100_kb() {
    attaches_after(20_000, 300);
}
