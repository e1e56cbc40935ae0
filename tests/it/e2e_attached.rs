//! Consoles and agents come and go; tasks keep running until somebody ends them on purpose.

use std::io::{Read, Write};
use std::process::Stdio;

use rustix::process::Signal;
use serde_json::json;

use crate::support::{Agent, Console, Home, Tag, wait_until};

const SIZE: (u16, u16) = (80, 24);

/// An agent's task that carries a tag and prints that it runs.
fn tagged_task(agent: &Agent, tag: &Tag) -> String {
    agent.task(&format!("echo it-runs; exec sleep {}", tag.0))
}

#[test]
fn f33_a_second_console_attaches_to_the_first_ones_runtime_and_either_may_type() {
    let home = Home::new();
    let mut first = Console::open(&home, &[], SIZE);
    wait_until("the first one serves", || home.places().operator_socket().exists());
    let mut second = Console::open(&home, &[], (120, 40));
    let agent = Agent::connect(&home, &[]);
    let task = agent.task("while read -r line; do echo \"<$line>\"; done");
    for (console, word) in [(&first, "one"), (&second, "two")] {
        console.shows("waiting for input");
        console.keys(b"\r");
        console.shows(" INPUT t01");
        console.keys(format!("{word}\r").as_bytes());
        first.shows(&format!("<{word}>"));
        second.shows(&format!("<{word}>"));
        console.keys(b"\x1d");
        console.shows(" OBSERVE ");
    }
    second.kill(Signal::TERM);
    second.exit();
    let listed = agent.call("TaskStatus", &json!({"task_id": task}));
    assert_eq!(listed.result("/task/status"), "running", "its tasks are the first one's");
    agent.leave();
    first.stop_all_and_quit();
}

#[test]
fn an_attached_console_that_is_killed_or_quits_leaves_the_tasks_running() {
    let home = Home::new();
    let tag = Tag::new();
    let agent = Agent::connect(&home, &[]);
    tagged_task(&agent, &tag);
    let mut killed = Console::open(&home, &[], SIZE);
    let mut left = Console::open(&home, &[], SIZE);
    killed.shows("it-runs");
    killed.kill(Signal::KILL);
    assert_eq!(killed.exit(), 128 + 9);

    left.shows("it-runs");
    left.keys(b"q");
    left.shows("d detach");
    left.keys(b"d");
    assert_eq!(left.exit(), 0);
    left.is_as_it_was();

    let again = Console::open(&home, &[], SIZE);
    again.shows("it-runs");
    assert_eq!(tag.holders().len(), 1);
    assert!(home.run(&["serve", "--stop"]).status.success());
    assert_eq!(tag.holders(), Vec::<u32>::new());
    again.shows("RUNTIME GONE");
}

#[test]
fn an_agent_outlives_the_console_that_held_its_runtime() {
    let home = Home::new();
    let tag = Tag::new();
    let mut console = Console::open(&home, &[], SIZE);
    console.shows("no agent yet");
    let agent = Agent::connect(&home, &[]);
    let task = tagged_task(&agent, &tag);
    console.shows("it-runs");
    let waiting = agent.ask("TaskOutput", &json!({"task_id": task}));
    console.keys(b"3");
    console.shows("TaskOutput");
    console.stop_all_and_quit();
    console.is_as_it_was();
    assert_eq!(tag.holders(), Vec::<u32>::new());
    let answer = agent.answer(waiting);
    let kind = &answer.envelope["error"]["kind"];
    let ended = answer.envelope["result"]["task"]["status"] == "interrupted";
    assert!(kind == "runtime_shutting_down" || ended, "{}", answer.envelope);

    let again = agent.call("ExecCommand", &json!({"cmd": "echo again"}));
    assert_eq!(again.result("/stdout_preview"), "again\n");
    assert!(agent.errors().contains("started a runtime"), "{}", agent.errors());
}

#[test]
fn a_headless_runtime_holds_no_descriptor_of_the_agent_that_started_it() {
    let home = Home::new();
    // The agent's own pipe, which a careless parent has left open in the shim.
    let mut shell = std::process::Command::new("sh");
    home.settle(&mut shell);
    let line = format!("{} mcp 3>&1 >/dev/null 2>&1", crate::support::program_word());
    let shell = shell.args(["-c", &line]).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut shell = shell.spawn().expect("starts");
    let mut pipe = shell.stdout.take().expect("a pipe");
    let reading = std::thread::spawn(move || pipe.read_to_end(&mut Vec::new()));
    let mut input = shell.stdin.take().expect("a pipe");
    let client = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "a", "version": "1"}});
    for (id, method, params) in
        [(1, "initialize", client), (2, "tools/call", json!({"name": "TaskList", "arguments": {}}))]
    {
        let request = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        writeln!(input, "{request}").expect("taken");
    }
    wait_until("a runtime was started", || home.places().agent_socket().exists());
    drop(input);
    shell.wait().expect("the shim ends with its input");
    wait_until("nobody holds the pipe", || reading.is_finished());
}
