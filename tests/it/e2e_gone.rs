//! Consoles that go, with the runtime that others use, and consoles that come: nobody's work ends unasked, and everybody
//! sees who is there.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, Stdio};

use pilothouse::link::VERSION;
use rustix::process::Signal;
use serde_json::json;

use crate::support::{Agent, Console, Home, Tag, wait_until};

const SIZE: (u16, u16) = (120, 30);

/// An agent's task that carries a tag and prints that it runs.
fn tagged_task(agent: &Agent, tag: &Tag) -> String {
    agent.task(&format!("echo it-runs; exec sleep {}", tag.0))
}

#[test]
fn f53_a_console_that_is_closed_while_others_work_takes_nothing_with_it() {
    let (home, tag) = (Home::new(), Tag::new());
    let mut first = Console::open(&home, &[], SIZE);
    first.shows("no agent yet");
    let agent = Agent::connect(&home, &["--label", "claude"]);
    let task = tagged_task(&agent, &tag);
    first.shows("it-runs");
    let typed = agent.task("while read -r line; do echo \"<$line>\"; done");
    first.shows("waiting for input");
    // A person's lease, a pause, and a held call.
    first.asks_until(b"\r", " INPUT t02");
    first.keys(b"mine\r");
    first.shows("<mine>");
    first.keys(b"\x1dp");
    first.shows("PAUSED");
    let held = agent.call("ExecCommand", &json!({"cmd": "touch ran", "yield_time_ms": 250}));
    assert_eq!(held.result("/disposition"), "awaiting_operator");
    first.hang_up();
    assert_eq!(first.exit(), 0);

    let status = |task: &str| agent.call("TaskStatus", &json!({"task_id": task}));
    assert_eq!(status(&task).result("/task/status"), "running");
    assert_eq!(tag.holders().len(), 1);
    assert_eq!(status(&held.task()).result("/task/status"), "queued");
    // The answers say that nobody is there, and the pause holds new calls as well.
    let later = agent.call("ExecCommand", &json!({"cmd": "touch later", "yield_time_ms": 250}));
    assert_eq!(later.result("/disposition"), "awaiting_operator");
    assert!(later.receipt.contains("no console is open"), "{}", later.receipt);
    wait_until("the lease lapses", || {
        let input = json!({"task_id": typed, "input": "yours\n"});
        agent.call("TaskInput", &input).result("/accepted_input") == true
    });
    assert!(!home.workspace().join("ran").exists() && !home.workspace().join("later").exists());

    // Whoever comes next decides.
    let mut second = Console::open(&home, &[], SIZE);
    second.shows("PAUSED");
    second.keys(b"A");
    second.shows("touch ran");
    wait_until("it runs", || {
        second.keys(b"y");
        home.workspace().join("ran").exists()
    });
    wait_until("the cards are closed", || {
        second.keys(b"\x1b");
        !second.text().contains("wants to run")
    });
    // Right behind an Escape, a key is another key.
    second.asks_until(b"q", "stop all and quit");
    second.keys(b"s");
    assert_eq!(second.exit(), 0);
    assert_eq!(tag.holders(), Vec::<u32>::new());
    agent.leave();
}

#[test]
fn f53_a_console_that_is_closed_detaches_for_whoever_is_connected_and_ends_for_nobody() {
    // Another console is there, and nothing runs.
    let home = Home::new();
    let mut first = Console::open(&home, &[], SIZE);
    first.shows("no agent yet");
    let second = Console::open(&home, &[], SIZE);
    second.shows("no agent yet");
    first.kill(Signal::HUP);
    assert_eq!(first.exit(), 0);
    second.keys(b"oecho still-$((6*7))\r");
    second.shows("still-42");
    assert!(home.run(&["serve", "--stop"]).status.success());

    // Nobody is there: it ends with its console.
    let home = Home::new();
    let mut alone = Console::open(&home, &[], SIZE);
    alone.shows("no agent yet");
    alone.hang_up();
    assert_eq!(alone.exit(), 129);
    assert!(home.run(&["status", "--short"]).status.code() == Some(4), "no runtime is left");
}

#[test]
fn f53_a_console_whose_runtime_is_gone_attaches_to_the_next_one_and_says_so() {
    let (home, tag) = (Home::new(), Tag::new());
    let other = home.another("other");
    let agent = Agent::connect_first(&home, &[]);
    let there = Agent::connect_by(&home, other.command(&["mcp"]));
    there.task("echo it-is-elsewhere; exec sleep 1000");
    let drawn = Console::open(&home, &[], SIZE);
    drawn.shows("rmcp");
    let mut lines = home.command(&["--accessible"]);
    lines.env("TERM", "xterm-256color").env("LANG", "C.UTF-8").env_remove("LC_ALL");
    let plain = Console::of(&lines, SIZE);
    plain.shows("0 quit: quit the console");
    let several = Console::open(&home, &[], SIZE);
    several.shows("rmcp");
    several.keys(b"@");
    several.shows("other");
    several.shows("open it here");
    several.keys(b"other\r");
    several.shows("it-is-elsewhere");

    drawn.keys(b"owhile read -r line; do echo \"<$line>\"; done\r");
    drawn.shows(" INPUT t01");
    let before = home.runtime_pid();
    assert!(home.run(&["serve", "--stop"]).status.success());
    drawn.shows("RUNTIME GONE");
    plain.shows("this console waits for the next one");
    several.shows("its runtime has ended");
    // The agent's next call starts the next runtime.
    tagged_task(&agent, &tag);
    assert_ne!(home.runtime_pid(), before);
    drawn.shows("attached to the next runtime");
    drawn.shows("it-runs");
    plain.shows("attached to the next runtime");
    // It started before this console attached, or after.
    plain.shows("echo it-runs");
    // What it says may be overtaken at once by what the other consoles do.
    several.shows("workspace/t01");
    several.shows("it-runs");
    // It is driven as the last one was.
    drawn.wait_for("it can be used", |screen| !screen.contents().contains("RUNTIME GONE"));
    plain.keys(b"stop t01\n");
    plain.shows("stop t01?");
    plain.keys(b"s\n");
    wait_until("it is stopped", || tag.holders().is_empty());
    drawn.shows("cancelled");
    drawn.keys(b"oecho again-$((6*7))\r");
    drawn.shows("again-42");
    assert!(home.run(&["serve", "--stop"]).status.success());
    drawn.shows("RUNTIME GONE");
    agent.leave();
    there.leave();
}

/// A console on another machine: it comes through `relay operator`, as over `ssh`.
fn relayed(home: &Home) -> (Child, u32) {
    let mut relay = home.command(&["relay", "operator"]);
    relay.arg(home.workspace());
    relay.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut relay = relay.spawn().expect("starts");
    let hello = json!({"v": VERSION, "role": "operator", "pid": 1, "ppid": 1, "cwd": "/"});
    writeln!(relay.stdin.as_mut().expect("an input"), "{hello}").expect("said");
    let mut answer = String::new();
    let output = BufReader::new(relay.stdout.as_mut().expect("an output")).read_line(&mut answer);
    output.expect("an answer");
    assert!(answer.contains("\"ok\":true"), "{answer}");
    let pid = relay.id();
    (relay, pid)
}

#[test]
fn a_console_that_comes_is_shown_at_once_in_all_that_are_there() {
    for is_embedded in [true, false] {
        let home = Home::new();
        let served = (!is_embedded).then(|| home.serve());
        let held = Console::open(&home, &[], SIZE);
        held.shows("no agent yet");
        let agent = Agent::connect(&home, &["--label", "claude"]);
        held.keys(b"p");
        held.shows("PAUSED");
        let asked = agent.ask("ExecCommand", &json!({"cmd": "touch ran", "yield_time_ms": 60000}));
        held.shows("needs approval");
        // In the middle of something that takes the row of the news: a card, a line that is written.
        held.keys(b"A");
        held.shows("touch ran");
        let writing = Console::open(&home, &[], SIZE);
        writing.shows("PAUSED");
        writing.keys(b"oecho");
        let fleet = Console::open(&home, &["fleet"], SIZE);
        fleet.shows("PAUSED");
        let mut lines = home.command(&["--accessible"]);
        lines.env("TERM", "xterm-256color").env("LANG", "C.UTF-8").env_remove("LC_ALL");
        let plain = Console::of(&lines, SIZE);
        plain.shows("0 quit: quit the console");
        let all = [&held, &writing, &fleet, &plain];
        for args in [&[][..], &["fleet"], &["--accessible"], &["relay"]] {
            let (pid, _comes, mut relay) = match args {
                ["relay"] => {
                    let (relay, pid) = relayed(&home);
                    (pid, None, Some(relay))
                }
                args => {
                    let comes = Console::open(&home, args, SIZE);
                    comes.shows("touch ran");
                    (comes.program(), Some(comes), None)
                }
            };
            for console in all {
                console.shows(&format!("another console has connected: pid {pid}"));
            }
            if let Some(relay) = &mut relay {
                drop(relay.stdin.take());
                relay.wait().expect("ends");
            }
        }
        drop((held, writing, fleet, plain));
        drop(agent);
        drop(asked);
        if let Some(mut served) = served {
            home.stop(&mut served);
        }
    }
}
