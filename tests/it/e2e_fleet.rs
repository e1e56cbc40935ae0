//! One console over the runtimes of two workspaces: tasks typed into and stopped, calls approved, places lost and found.

use pilothouse::paths::Places;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;

use crate::hosts::configured;
use crate::listening::has_python;
use crate::support::{Agent, Console, Home, skip, wait_until};

const SIZE: (u16, u16) = (120, 40);

/// Goes to a task by name, using the palette.
pub(crate) fn go_to(console: &Console, name: &str) {
    console.keys(b":");
    console.shows("─ all ");
    console.keys(name.as_bytes());
    console.shows(&format!(" ▸ {name}"));
    console.keys(b"\r");
    console.wait_for("the palette is closed", |screen| !screen.contents().contains("─ all "));
}

/// Types into a task that echoes what it reads, and returns to the list.
fn type_into(console: &Console, name: &str, says: &str) {
    go_to(console, name);
    console.keys(b"\r");
    console.shows(&format!(" INPUT {name}"));
    console.keys(b"one\r");
    console.shows(&format!("{says} <one>"));
    console.keys(b"\x1d");
    console.shows(" OBSERVE ");
    console.keys(b"1");
}

#[test]
fn tasks_of_two_workspaces_are_seen_typed_into_and_stopped_in_one_console() {
    let home = Home::new();
    let other = home.another("web-fix");
    let agent = Agent::connect_first(&home, &[]);
    agent.task("while read -r line; do echo \"here <$line>\"; done");
    let there = Agent::connect_by(&home, other.command(&["mcp"]));
    there.task("while read -r line; do echo \"there <$line>\"; done");
    let mut console = Console::open(&home, &["fleet"], SIZE);
    console.shows("2 places");
    console.shows(" web-fix  1 task");
    console.shows(" workspace  1 task");

    for (name, says) in [("web-fix/t01", "there"), ("workspace/t01", "here")] {
        type_into(&console, name, says);
    }
    go_to(&console, "web-fix/t01");
    console.keys(b"s");
    console.shows("stop web-fix/t01?");
    console.keys(b"s");
    console.shows("cancelled");
    let listed = |command: &mut std::process::Command| {
        let output = command.output().expect("runs");
        let answer: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
        answer["data"]["tasks"].as_array().map_or(0, Vec::len)
    };
    assert_eq!(listed(&mut other.command(&["task", "list"])), 0);
    assert_eq!(listed(&mut home.command(&["task", "list"])), 1, "the task of the same name goes on");
    console.keys(b"q");
    console.shows("QUIT?");
    console.keys(b"d");
    assert_eq!(console.exit(), 0);
    assert_eq!(listed(&mut home.command(&["task", "list"])), 1);
}

#[test]
fn in_plain_lines_a_command_starts_at_the_place_that_is_named() {
    let home = Home::new();
    let other = home.another("web-fix");
    for mut command in [home.command(&["command", "run", "true"]), other.command(&["command", "run", "true"])]
    {
        assert!(command.output().expect("runs").status.success());
    }
    let console = Console::open(&home, &["fleet", "--accessible"], (200, 60));
    // It takes lines before it has reached all places.
    for place in ["web-fix", "workspace"] {
        console.asks_until(b"places\n", &format!("{place} live, 0 live, 0 waiting, this machine"));
    }
    for (line, answer) in [
        ("start pwd > where", "say where: start in PLACE COMMAND"),
        ("start in web-fix pwd > where", "started web-fix/t02: pwd > where"),
        ("receipts web-fix/1", "call web-fix/1, ExecCommand"),
        ("receipts web-fix/99", "not done: there is no call web-fix/99"),
    ] {
        // Asked again if it came so soon after the line before that it was taken for a paste.
        console.asks_until(format!("{line}\n").as_bytes(), answer);
    }
    wait_until("it ran there", || {
        let place = std::fs::read_to_string(other.folder().join("where")).unwrap_or_default();
        place.trim() == other.folder().canonicalize().expect("a path").to_string_lossy()
    });
    assert!(!home.workspace().join("where").exists());
}

/// Tells whether the record of a place says that its agents were paused.
fn is_paused(places: &Places) -> bool {
    let recordings = std::fs::read_dir(places.recordings()).into_iter().flatten().flatten();
    let rows = recordings.map(|recording| recording.path().join("journal-0001.jsonl"));
    let mut rows = rows.map(|rows| std::fs::read_to_string(rows).unwrap_or_default());
    rows.any(|rows| rows.contains("\"what\":\"paused\""))
}

#[test]
fn a_call_held_at_one_place_is_approved_there() {
    let home = Home::new();
    let other = home.another("web-fix");
    let (here, there) = (
        Agent::connect_first(&home, &["--label", "claude"]),
        Agent::connect_by(&home, other.command(&["mcp", "--label", "claude"])),
    );
    there.call("TaskList", &json!({}));
    let console = Console::open(&home, &["fleet"], SIZE);
    console.shows("2 places");
    console.keys(b"p");
    console.shows("PAUSED");
    // One place is paused after the other.
    wait_until("both are paused", || is_paused(&home.places()) && is_paused(&other.places()));
    let ask = |agent: &Agent| {
        agent.call("ExecCommand", &json!({"cmd": "touch ran; printf done", "yield_time_ms": 250}))
    };
    let held = [ask(&there), ask(&here)];
    assert!(held.iter().all(|answer| answer.result("/disposition") == "awaiting_operator"));
    console.shows("2 held");
    console.keys(b"A");
    console.shows("wants to run a command");
    console.shows("web-fix/claude");
    // Not faster than that: after the first call comes the card of the second.
    console.asks_until(b"y", "1 held");
    wait_until("it ran there", || other.folder().join("ran").exists());
    assert!(!home.workspace().join("ran").exists(), "the same call of the other place is still held");
}

#[test]
fn a_runtime_that_is_killed_is_said_to_be_gone_and_a_new_one_appears() {
    let home = Home::new();
    let other = home.another("web-fix");
    let agent = Agent::connect_first(&home, &[]);
    agent.task("echo it-stays; exec sleep 100");
    let there = Agent::connect_by(&home, other.command(&["mcp"]));
    there.task("echo it-goes; exec sleep 100");
    let console = Console::open(&home, &["fleet"], SIZE);
    console.shows("2 places");
    // Both have been reached.
    console.shows(" web-fix  1 task");
    console.shows(" workspace  1 task");
    let pid = other.runtime_pid().expect("a runtime");
    kill_process(Pid::from_raw(pid).expect("a pid"), Signal::KILL).expect("killed");
    console.shows("web-fix: its runtime has ended");
    console.shows("its runtime ended");
    console.shows_one(&["it-stays", " workspace  1 task"]);

    let third = home.another("docs");
    let started = third.run(&["command", "run", "echo new-here; exec sleep 100", "--yield-time-ms", "0"]);
    assert!(started.status.success());
    console.shows(" docs  1 task");
    let again = other.run(&["command", "run", "exec sleep 100", "--yield-time-ms", "0"]);
    assert!(again.status.success());
    console.shows(" web-fix  1 task ●1");
}

#[test]
fn the_console_of_a_workspace_opens_another_place() {
    let home = Home::new();
    let other = home.another("web-fix");
    let started =
        other.run(&["command", "run", "echo it-runs-there; exec sleep 100", "--yield-time-ms", "0"]);
    assert!(started.status.success());
    let mut console = Console::open(&home, &[], SIZE);
    console.shows("no agent yet");
    console.keys(b"o");
    console.shows("run here");
    console.keys(b"echo it-runs-here; exec sleep 100\r");
    console.shows("it-runs-here");
    console.shows(" INPUT t01");
    console.keys(b"\x1d");
    console.shows(" OBSERVE ");
    console.keys(b"@");
    console.shows("open it here");
    console.keys(b"web\r");
    console.shows("2 places");
    console.keys(b"1");
    console.shows(" web-fix  1 task");
    console.shows(" workspace  1 task");
    go_to(&console, "web-fix/t01");
    console.shows("it-runs-there");
    console.keys(b"o");
    console.shows("run in web-fix");
    console.keys(b"pwd; exec sleep 100\r");
    console.shows(&format!("{}\n", other.folder().display()));
    console.shows(" INPUT web-fix/t02");
    console.keys(b"\x1d");
    console.shows(" OBSERVE ");
    console.stop_all_and_quit();
    let listed = other.run(&["task", "list"]);
    let answer: serde_json::Value = serde_json::from_slice(&listed.stdout).expect("JSON");
    assert!(
        answer["data"]["tasks"].to_string().contains("\"running\""),
        "what runs elsewhere goes on: {answer}"
    );
}

#[test]
fn a_port_holder_in_another_workspace_is_named_in_the_console_and_to_no_agent() {
    if !has_python() {
        return skip("there is no python3");
    }
    let home = Home::new();
    let other = home.another("web-fix");
    let there = Agent::connect_by(&home, other.command(&["mcp"]));
    let server = "s = serve(); print('it serves'); time.sleep(1000)";
    let id = there
        .call("ExecCommand", &json!({"cmd": crate::listening::server(server), "yield_time_ms": 0}))
        .task();
    let answer = there.call("TaskOutput", &json!({"task_id": id, "until": "listening"}));
    let port = answer.result("/task/listening/0/port").clone();
    let agent = Agent::connect_first(&home, &[]);
    let console = Console::open(&home, &[], SIZE);
    console.shows("No tasks yet");
    let failing = format!("echo 'listen EADDRINUSE: address already in use :::{port}'; exit 1");
    let failed = agent.call("ExecCommand", &json!({"cmd": failing}));
    let words = failed.result("/taken_port").as_str().unwrap_or_default().to_owned();
    assert_eq!(words, format!("Port {port} is held, by no task of this workspace; use another port"));
    console.shows("t01");
    console.keys(b"w");
    console.shows(&format!("Port {port} is held by t01 "));
    console.shows("/web-fix");
}

#[test]
fn the_runtimes_of_another_machine_stand_beside_those_of_this_one_and_their_logs_are_read_here() {
    let (here, there) = (Home::new(), Home::new());
    configured(&here, &there);
    let agent = Agent::connect_first(&here, &[]);
    agent.task("while read -r line; do echo \"here <$line>\"; done");
    let far = Agent::connect_first(&there, &[]);
    far.task("while read -r line; do echo \"there <$line>\"; done");
    far.task("seq 1 5000 | sed 's/^/row /'; cat");
    let mut console = Console::open(&here, &["fleet", "box"], SIZE);
    console.shows(" workspace  1 task");
    console.shows(" box:workspace  2 tasks");
    for (name, says) in [("box:workspace/t01", "there"), ("workspace/t01", "here")] {
        type_into(&console, name, says);
    }
    go_to(&console, "box:workspace/t02");
    console.shows("row 5000");
    console.keys(b"\x1b[5~");
    console.shows("scrolled back");
    // These keys go to the pane, not to the list.
    console.keys(b"2/4711\r");
    console.shows("row 4711");
    console.keys(b"\x1b");
    // Keys that arrive together with the Esc would be taken as one key with Alt.
    console.shows(" OBSERVE ");
    console.keys(b"g");
    console.shows("line 1 of 5,000");
    let copies = here.places().state_dir.join("far");
    let count = || std::fs::read_dir(&copies).expect("copies").count();
    assert_eq!(count(), 1, "the log is read from a copy");
    console.keys(b"\x1b");
    console.shown_until("the end of the log", |text| (!text.contains("scrolled back")).then_some(()));
    console.keys(b"1");
    assert!(there.run(&["serve", "--stop"]).status.success());
    console.shows("box:workspace: its runtime has ended");
    console.shows(" workspace  1 task");
    console.keys(b"q");
    console.shows("QUIT?");
    console.keys(b"d");
    console.exit();
    assert_eq!(count(), 0, "copies go with the console");
}

/// Each attempt to reach it takes a second: it must report the failure before twenty attempts are over.
#[test]
fn remote_places_that_refuse_slowly_or_cannot_be_reached_are_told_beside_the_local_workspace() {
    let home = Home::new();
    let listed = json!({"data": {"machine": "m", "version": "9", "link": 7, "load": null, "runtimes": [
        {"id": "0123456789ab", "workspace": "/srv", "pid": 7, "version": "9", "link": 7, "tasks": 0, "needs": 0}
    ]}});
    let script =
        format!("case \"$*\" in *list*) echo '{listed}';; *) sleep 1; echo 'not today' >&2; exit 1;; esac");
    let hosts = format!(
        "[hosts.box]\nvia = {}\n[hosts.nowhere]\nvia = [\"false\"]\n",
        json!(["sh", "-c", script, "slow"])
    );
    home.configure("config.toml", &hosts);
    let agent = Agent::connect_first(&home, &[]);
    agent.task("exec sleep 100");
    let console = Console::open(&home, &["fleet", "box", "nowhere"], SIZE);
    console.shows(" workspace  1 task");
    console.shows(" nowhere  lost");
    console.shows(" box:srv  lost");
    console.shows("not today (exit 1)");
}
