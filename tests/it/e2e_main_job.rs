//! The main job, end to end: an agent runs a command; a person watches, types and stops it. It makes no difference
//! whether the console or the agent was there first.

use serde_json::json;

use crate::support::{Agent, Console, Home};

/// Asks, reacts to the answer, then stays.
const ASKING: &str = "printf 'Name? '; read -r name; echo \"hello $name\"; while read -r more; do :; done";

/// Everything that the person and the agent do together.
fn the_main_job(home: &Home, console: &Console, agent: &Agent) {
    let ran = agent.call("ExecCommand", &json!({"cmd": ASKING, "tty": true, "yield_time_ms": 250}));
    assert!(ran.receipt.starts_with("Command promoted to background task"), "{}", ran.receipt);
    let task = ran.task();
    console.shows("Name?");
    let so_far = agent.call("TaskOutput", &json!({"task_id": task, "block": false}));
    assert_eq!(so_far.result("/retrieval_status"), "not_ready");
    let cursor = so_far.result("/task/next_cursor").clone();
    let next = agent.ask("TaskOutput", &json!({"task_id": task, "since": cursor}));

    console.keys(b"\r");
    console.shows(" INPUT t");
    console.keys(b"ada\r");
    console.shows("hello ada");
    let refused = agent.call("TaskInput", &json!({"task_id": task, "input": "bob\n"}));
    assert_eq!(refused.result("/accepted_input"), false);
    assert_eq!(refused.result("/rejection/reason"), "held_by_operator");
    // Typed text is echoed before the program reacts: the agent reads on from there.
    let mut read = agent.answer(next);
    let mut heard = String::new();
    loop {
        assert_eq!(read.result("/retrieval_status"), "success");
        heard.push_str(read.result("/task/output_preview").as_str().unwrap_or_default());
        if heard.contains("hello ada") {
            break;
        }
        let cursor = read.result("/task/next_cursor").clone();
        read = agent.call("TaskOutput", &json!({"task_id": task, "since": cursor}));
    }

    console.keys(b"\x1d");
    console.shows(" OBSERVE ");
    let ended = agent.ask("TaskOutput", &json!({"task_id": task}));
    console.keys(b"s");
    console.shows(" STOP? ");
    console.keys(b"s");
    let ended = agent.answer(ended);
    assert_eq!(ended.result("/task/status"), "cancelled");
    assert!(ended.receipt.contains("stopped by operator"), "{}", ended.receipt);
    console.shows("cancelled");
    assert_eq!(home.run(&["task", "list"]).status.code(), Some(0));
}

#[test]
fn the_main_job_works_with_the_console_first() {
    for size in [(80, 24), (120, 40), (200, 60)] {
        let home = Home::new();
        let mut console = Console::open(&home, &[], size);
        console.shows("no agent yet");
        let agent = Agent::connect(&home, &["--label", "builder"]);
        console.shows("builder");
        the_main_job(&home, &console, &agent);
        assert_eq!(agent.errors(), "");
        agent.leave();
        console.shows("○ builder");
        console.keys(b"q");
        assert_eq!(console.exit(), 0);
        console.is_as_it_was();
    }
}

#[test]
fn the_main_job_works_with_the_agent_first() {
    let home = Home::new();
    let agent = Agent::connect_first(&home, &["--label", "builder"]);
    assert!(agent.errors().contains("started a runtime"), "{}", agent.errors());
    let mut console = Console::open(&home, &[], (80, 24));
    console.shows("builder");
    the_main_job(&home, &console, &agent);
    console.keys(b"q");
    assert_eq!(console.exit(), 0);
    console.is_as_it_was();
    let answer = agent.call("ExecCommand", &json!({"cmd": "echo still here"}));
    assert_eq!(answer.result("/stdout_preview"), "still here\n");
}
