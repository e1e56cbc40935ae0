//! Notices that an agent gets with its next answer: what happened without it, and what in its call was read differently.

use std::io::Write;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::support::{Home, Wire, wait_until};

/// Calls a tool; returns the answer's receipt and notices.
pub(crate) fn call(agent: &mut Wire, tool: &str, arguments: Value) -> (String, Vec<String>) {
    let answer = agent.ask(json!("call"), "tools/call", json!({"name": tool, "arguments": arguments}));
    let text = answer["result"]["content"][0]["text"].as_str().expect("a receipt").to_owned();
    let notices = &answer["result"]["_meta"]["dev.pilothouse/notices"];
    (text, serde_json::from_value(notices.clone()).unwrap_or_default())
}

/// Writes lines to a plain-line console; returns its output.
fn console(home: &Home, lines: &str) -> String {
    let mut console = home.command(&["--accessible"]);
    let mut console = console.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("starts");
    console.stdin.take().expect("an input").write_all(lines.as_bytes()).expect("reads");
    let said = console.wait_with_output().expect("ends");
    String::from_utf8_lossy(&said.stdout).into_owned()
}

#[test]
fn an_answer_and_the_record_say_how_an_inexact_input_was_read() {
    let home = Home::new();
    let mut agent = Wire::open_here(&home, "claude-code");
    let (text, notices) =
        call(&mut agent, "ExecCommand", json!({"command": "echo hello", "yield_time_ms": 60_000}));
    let told = ["`command` was taken as `cmd`", "`yield_time_ms` 60000 counts as 30000, the most"];
    assert_eq!(notices, told);
    assert!(text.ends_with(&format!("hello\n\nNote: {}; {}.", told[0], told[1])), "{text}");
    let (text, notices) = call(&mut agent, "ExecCommand", json!({"cmd": "echo hello"}));
    assert!(text.ends_with("hello") && notices.is_empty(), "{text}");
    drop(agent);
    let shown = home.call(&["receipt", "show", "1", "--output", "json"]);
    let shown: Value = serde_json::from_slice(&shown.stdout).expect("JSON");
    assert_eq!(shown["data"]["notices"], json!(told), "{shown}");
}

#[test]
fn the_end_of_a_task_is_told_once_with_the_next_answer() {
    let home = Home::new();
    let mut agent = Wire::open_here(&home, "claude-code");
    let gate = home.fifo("gate");
    let task = agent.task(&format!("cat {}; exit 3", gate.display()));
    let (text, _) = call(&mut agent, "TaskStatus", json!({"task_id": task}));
    assert!(!text.contains("Since your last call"), "{text}");
    std::fs::write(&gate, "").expect("opened");
    wait_until("the task has ended", || {
        let listed = home.call(&["task", "list", "--output", "json"]);
        let listed: Value = serde_json::from_slice(&listed.stdout).expect("JSON");
        listed["data"]["total"] == 0
    });
    let (text, notices) = call(&mut agent, "ExecCommand", json!({"cmd": "true"}));
    let [notice] = notices.as_slice() else { panic!("{text}") };
    assert!(
        notice.starts_with(&format!("{task} (`cat ")) && notice.contains(" ended: exit 3 after "),
        "{notice}"
    );
    assert!(text.ends_with(&format!("\n\nSince your last call: {notice}.")), "{text}");
    let (text, notices) = call(&mut agent, "ExecCommand", json!({"cmd": "true"}));
    assert!(notices.is_empty() && !text.contains("Since your last call"), "{text}");
}

#[test]
fn a_call_that_was_withdrawn_is_told_with_what_became_of_it() {
    let home = Home::new();
    let mut agent = Wire::open_here(&home, "claude-code");
    let begun = home.workspace().join("begun");
    let cmd = format!("touch {}; exec sleep 100", begun.display());
    let arguments = json!({"cmd": cmd, "yield_time_ms": 30_000});
    agent.send(json!("long"), "tools/call", json!({"name": "ExecCommand", "arguments": arguments}));
    wait_until("the command runs", || begun.exists());
    agent.write(br#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"long"}}"#);
    let mut told = String::new();
    wait_until("the answer tells it", || {
        let (text, _) = call(&mut agent, "TaskList", json!({}));
        told = text.split_once("Since your last call: ").map(|(_, told)| told.to_owned()).unwrap_or_default();
        !told.is_empty()
    });
    assert!(told.starts_with("your call `touch ") && told.contains(" was withdrawn after "), "{told}");
    assert!(
        told.contains("its command was stopped") || told.contains("its command is being stopped"),
        "{told}"
    );
}

#[test]
fn words_of_the_person_reach_the_agent_with_its_next_answer_and_are_on_record() {
    let home = Home::new();
    let mut agent = Wire::open(&home, "claude-code");
    call(&mut agent, "ExecCommand", json!({"cmd": "true"}));
    let said = console(&home, "tell claude-code use uv, not pip\ntell nobody hello\nquit\n");
    assert!(said.contains("name an agent behind it, then the words: claude-code"), "{said}");
    let (text, notices) = call(&mut agent, "ExecCommand", json!({"cmd": "echo hello"}));
    assert!(notices.contains(&"the operator says: \"use uv, not pip\"".to_owned()), "{text} {said}");
    let (text, _) = call(&mut agent, "ExecCommand", json!({"cmd": "echo hello"}));
    assert!(!text.contains("use uv"), "told twice: {text}");
    let rows = home.run(&["audit", "show", "latest", "--kind", "words"]);
    let rows = String::from_utf8_lossy(&rows.stdout).into_owned();
    assert!(rows.contains("operator") && rows.contains("claude-code") && rows.contains("use uv"), "{rows}");
}

#[test]
fn a_held_call_says_who_can_decide_it_and_not_to_send_it_again() {
    let home = Home::new();
    home.configure("config.toml", "[[approvals]]\nprefix = \"rm\"\n");
    let mut agent = Wire::open_here(&home, "claude-code");
    let (text, notices) = call(&mut agent, "ExecCommand", json!({"cmd": "rm x", "yield_time_ms": 250}));
    assert!(text.contains("Do not send it again."), "{text}");
    let place = home.workspace();
    let told =
        format!("no console is open to decide it: ask the user to run `pilothouse` in {}", place.display());
    assert_eq!(notices, [told]);
    let task = text.lines().find_map(|line| line.strip_prefix("Task: ")).expect("a task").to_owned();
    let (text, _) = call(&mut agent, "TaskOutput", json!({"task_id": task, "block": false}));
    assert!(text.contains("Do not send it again.") && text.contains("ask the user to run"), "{text}");
}

#[test]
fn every_command_is_listed_with_how_it_ended() {
    let home = Home::new();
    let mut agent = Wire::open_here(&home, "gemini-cli-mcp-client");
    call(&mut agent, "ExecCommand", json!({"cmd": "exit 3"}));
    let gate = home.fifo("gate");
    let arguments = json!({"cmd": format!("cat {}", gate.display()), "yield_time_ms": 30_000});
    agent.send(json!("long"), "tools/call", json!({"name": "ExecCommand", "arguments": arguments}));
    wait_until("it runs", || {
        let (text, _) = call(&mut agent, "TaskList", json!({"scope": "active"}));
        text.starts_with("1 active task") && text.contains(" running, ")
    });
    let (text, _) = call(&mut agent, "TaskList", json!({"scope": "all"}));
    let is_end = |line: &str| {
        line.contains(" failed, exit 3 after ") && line.ends_with("s, started by agent:gemini: exit 3")
    };
    assert!(text.lines().any(is_end) && text.contains(" running, "), "{text}");
    std::fs::write(&gate, "").expect("opened");
}

#[test]
fn progress_tells_the_last_line_the_time_and_the_longest_wait() {
    let home = Home::new();
    let mut agent = Wire::open_here(&home, "claude-code");
    let arguments = json!({"cmd": "echo compiling; exec sleep 60", "yield_time_ms": 30_000});
    let params = json!({"name": "ExecCommand", "arguments": arguments, "_meta": {"progressToken": "p"}});
    agent.send(json!("long"), "tools/call", params);
    let told = loop {
        let line = agent.read();
        assert_ne!(line["id"], "long", "answered without progress: {line}");
        // The first one may come before the command has printed anything.
        let has_line = line["params"]["message"].as_str().is_some_and(|text| text.contains("last line"));
        if line["method"] == "notifications/progress" && has_line {
            break line["params"].clone();
        }
    };
    assert_eq!(told["total"], 30.0, "{told}");
    let message = told["message"].as_str().expect("a message");
    assert!(message.starts_with("ExecCommand: ") && message.ends_with(" s; last line: compiling"), "{told}");
}
