//! The console's decisions joined to a real runtime, both in this process: what a person's keys do to tasks, and what
//! agents hear of it.

use serde_json::json;

use crate::support::{Agent, Desk, Home};

const SIZE: (u16, u16) = (100, 30);

/// A person decides what an agent may run: let go, denied with words, and no longer asked.
fn decide(home: &Home, mut desk: Desk, agent: &Agent) -> Desk {
    let ran = home.workspace().join("ran");
    desk.keys(b"p");
    desk.shows("PAUSED");
    let asked = agent.call("ExecCommand", &json!({"cmd": "touch ran; printf done", "yield_time_ms": 250}));
    assert_eq!(asked.result("/disposition"), "awaiting_operator");
    assert_eq!(asked.result("/task_handle/status"), "queued");
    assert!(!ran.exists());
    let read = agent.ask("TaskOutput", &json!({"task_id": asked.task()}));
    desk.shows("needs approval");
    desk.keys(b"A");
    desk.shows("wants to run a command");
    desk.shows("touch ran; printf done");
    desk.asks_until(b"y", "exit 0");
    let read = agent.answer(read);
    assert_eq!(
        (read.result("/task/status"), read.result("/task/output_preview")),
        (&json!("completed"), &json!("done"))
    );
    assert!(ran.exists());

    let asked = agent.ask("ExecCommand", &json!({"cmd": "touch never", "yield_time_ms": 30000}));
    desk.shows("needs approval");
    desk.keys(b"A");
    desk.shows("touch never");
    desk.asks_until(b"n", "why not?");
    desk.keys(b"\x15not today\r");
    let denied = agent.answer(asked);
    assert_eq!(denied.envelope["error"]["kind"], "operator_denied", "{}", denied.envelope);
    assert_eq!(denied.envelope["error"]["details"]["note"], "not today");
    assert!(!home.workspace().join("never").exists());

    desk.wait_for("nothing is held", |screen| !screen.contains("1 held"));
    desk.keys(b"p");
    desk.wait_for("the pause is over", |screen| !screen.contains("PAUSED"));
    assert!(agent.call("ExecCommand", &json!({"cmd": "printf free"})).receipt.contains("free"));
    desk
}

#[test]
fn a_person_decides_held_commands_beside_the_runtime_and_attached_to_it() {
    for is_attached in [false, true] {
        let home = Home::new();
        let agent = Agent::here(&home, Some("claude"));
        let desk = if is_attached { Desk::open(&home, (120, 40)) } else { Desk::inside(&home, (80, 24)) };
        let mut desk = decide(&home, desk, &agent);
        agent.leave();
        desk.shows("○ claude");
        // Nothing runs and nobody is connected: there is nothing to ask.
        desk.keys(b"q");
        assert!(desk.left.is_some(), "{}", desk.text());
    }
}

#[test]
fn a_stopped_process_is_told_as_stopped_at_the_console_and_to_agents() {
    let home = Home::new();
    let agent = Agent::here(&home, None);
    let mut desk = Desk::open(&home, SIZE);
    desk.shows("rmcp");
    let ran = agent.call("ExecCommand", &json!({"cmd": "kill -STOP $$; true", "yield_time_ms": 0}));
    let task = ran.task();
    crate::e2e_waiting::comes_to_wait(&home, &task, "stopped", "halted");
    let status = agent.call("TaskStatus", &json!({"task_id": task})).receipt;
    assert!(status.contains("It has been stopped for at least ") && status.contains("SIGCONT"), "{status}");
    let listed = agent.call("TaskList", &json!({})).receipt;
    assert!(listed.contains("stopped for "), "{listed}");
    desk.shows("stopped");
    agent.call("TaskStop", &json!({"task_id": task}));
    agent.leave();
    desk.shows("has disconnected");
    desk.keys(b"q");
    assert!(desk.left.is_some(), "{}", desk.text());
}
