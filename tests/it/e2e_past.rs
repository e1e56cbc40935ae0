//! A runtime with a long history: whoever attaches sees everything that there is to see.

use serde_json::json;

use crate::support::{Agent, Console, Home};

/// Makes `count` calls, each with a command of about `bytes` bytes, eight at a time.
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

/// Calls after which a task is no longer in memory, but still in the record, which keeps 64 MiB.
const LATER: usize = 520;

/// A console attaches after `short` calls and `long` calls of 100 KB; a task no longer in memory is still found by id.
fn attaches_after(short: usize, long: usize) {
    let home = Home::new();
    let mut served = home.serve();
    let agent = Agent::connect(&home, &[]);
    calls(&agent, short - LATER, 20);
    let task = agent.call("ExecCommand", &json!({"cmd": "echo long ago", "yield_time_ms": 0})).task();
    calls(&agent, LATER, 20);
    calls(&agent, long, 100_000);
    let console = Console::open(&home, &[], (120, 40));
    console.shows(" short commands ");
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
fn a_console_tells_how_long_a_command_usually_takes_out_of_earlier_recordings() {
    let home = Home::new();
    let run = json!({"cmd": "sleep 0.1", "shell": "/bin/sh", "login": false, "yield_time_ms": 30_000});
    let failed =
        json!({"cmd": "sleep 0.1; false", "shell": "/bin/sh", "login": false, "yield_time_ms": 30_000});
    for _ in 0..2 {
        let mut served = home.serve();
        let agent = Agent::connect(&home, &[]);
        (0..2).for_each(|_| drop(agent.call("ExecCommand", &run)));
        drop(agent.call("ExecCommand", &failed));
        agent.leave();
        home.run(&["serve", "--stop"]);
        let _ = served.wait();
    }
    let mut served = home.serve();
    let agent = Agent::connect(&home, &[]);
    drop(agent.call("ExecCommand", &run));
    let console = Console::open(&home, &[], (120, 40));
    console.shows("sleep 0.1");
    console.keys(b"w");
    console.shows("s: the median of 4 earlier runs");
    agent.leave();
    drop(console);
    home.run(&["serve", "--stop"]);
    let _ = served.wait();
}

#[test]
#[ignore = "minutes; .ci/long runs it"]
fn long_a_console_attaches_after_20_000_calls_and_300_of_100_kb() {
    attaches_after(20_000, 300);
}
