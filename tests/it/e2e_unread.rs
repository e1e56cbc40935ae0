//! Terminals that nobody reads, or somebody slowly: signals, `serve --stop`, keys and lines take effect all the same.

use rustix::process::Signal;
use serde_json::json;

use crate::support::{Agent, Console, HOLDERS, Home, Tag, wait_until};

const SIZE: (u16, u16) = (100, 30);

/// A console whose terminal is full, with an agent's tagged tree and a task that floods its pane. Signals end it with
/// its tasks.
fn unread(home: &Home, tag: &Tag) -> Console {
    home.configure("config.toml", "[console]\non_hangup = \"end\"\n");
    let mut console = Console::open(home, &[], SIZE);
    console.shows("no agent yet");
    let agent = Agent::connect(home, &[]);
    agent.task(&tag.hostile_tree());
    agent.task("while :; do seq 100000; done");
    agent.leave();
    wait_until("the tree is there", || tag.holders().len() >= HOLDERS);
    console.takes_nothing();
    console
}

#[test]
fn f52_a_console_whose_terminal_takes_nothing_obeys_signals() {
    for (signal, code) in [(Signal::TERM, 143), (Signal::INT, 130), (Signal::HUP, 129)] {
        let (home, tag) = (Home::new(), Tag::new());
        let mut console = unread(&home, &tag);
        console.kill(signal);
        assert_eq!(console.exit(), code, "{signal:?}");
        assert_eq!(tag.holders(), Vec::<u32>::new(), "{signal:?}");
        console.is_as_it_was_in_lines();
    }
}

#[test]
#[ignore = "minutes; .ci/long runs it"]
fn long_f52_twenty_consoles_on_stopped_terminals_are_ended_by_term() {
    let clock = pilothouse::clock::Clock::start();
    let mut slowest = std::time::Duration::ZERO;
    for _ in 0..20 {
        let (home, tag) = (Home::new(), Tag::new());
        let mut console = unread(&home, &tag);
        let before = clock.now().mono;
        console.kill(Signal::TERM);
        assert_eq!(console.exit(), 143);
        slowest = slowest.max(clock.now().mono - before);
        assert_eq!(tag.holders(), Vec::<u32>::new());
    }
    eprintln!("20 of 20 ended, 0 survivors; the slowest took {slowest:?}");
    assert!(slowest.as_secs() < 8, "{slowest:?}");
}

#[test]
fn f52_serve_stop_ends_the_runtime_in_a_console_whose_terminal_takes_nothing() {
    let (home, tag) = (Home::new(), Tag::new());
    let mut console = unread(&home, &tag);
    let stopped = home.run(&["serve", "--stop", "--output", "plain"]);
    assert_eq!(String::from_utf8_lossy(&stopped.stdout), "stopped\n");
    assert_eq!(console.exit(), 0);
    assert_eq!(tag.holders(), Vec::<u32>::new());
}

#[test]
fn serve_stop_asks_in_the_console_that_holds_the_runtime_and_ends_it_when_nobody_answers() {
    let (home, tag) = (Home::new(), Tag::new());
    let mut console = Console::open(&home, &[], SIZE);
    console.shows("no agent yet");
    let agent = Agent::connect(&home, &[]);
    agent.task(&format!("echo it-runs; exec sleep {}", tag.0));
    console.shows("it-runs");
    // A command of the runtime's own is refused, as ever.
    let own = format!("'{}' serve --stop", crate::support::program().display());
    let refused = agent.call("ExecCommand", &json!({"cmd": own}));
    assert_ne!(refused.result("/exit_status"), 0);
    assert!(refused.receipt.contains("cannot act as the operator"), "{}", refused.receipt);

    let asking = || {
        let mut stop = home.command(&["serve", "--stop"]);
        stop.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
        let stop = stop.spawn().expect("starts");
        console.shows("asks to end this runtime");
        stop
    };
    let stop = asking();
    wait_until("it is kept", || {
        console.keys(b"\x1b");
        !console.text().contains("asks to end")
    });
    let kept = stop.wait_with_output().expect("ends");
    let said = [kept.stdout, kept.stderr].concat();
    let said = String::from_utf8_lossy(&said);
    assert!(!kept.status.success() && said.contains("keeps it running"), "{said}");
    assert_eq!(tag.holders().len(), 1);

    let stopped = asking().wait_with_output().expect("ends");
    assert!(stopped.status.success(), "{stopped:?}");
    assert_eq!(console.exit(), 0);
    console.is_as_it_was();
    assert_eq!(tag.holders(), Vec::<u32>::new());
    agent.leave();
}

#[test]
fn f52_keys_stops_and_denials_take_effect_on_a_terminal_that_is_read_slowly() {
    let home = Home::new();
    let mut console = Console::open(&home, &[], SIZE);
    console.shows("no agent yet");
    let agent = Agent::connect(&home, &["--label", "claude"]);
    let task = agent.task("cat > typed & while :; do seq 100000; done");
    console.asks_until(b"2", "call 1 ");
    console.takes_slowly();
    console.keys(b"p");
    console.shows("PAUSED");
    let asked = agent.ask("ExecCommand", &json!({"cmd": "touch never", "yield_time_ms": 30000}));
    console.shows("needs approval");
    console.keys(b"A");
    console.shows("touch never");
    console.asks_until(b"n", "why not?");
    console.keys(b"\r");
    assert_eq!(agent.answer(asked).envelope["error"]["kind"], "operator_denied");
    assert!(!home.workspace().join("never").exists());
    wait_until("the task ends", || {
        console.keys(b"s");
        agent.call("TaskStatus", &json!({"task_id": task})).result("/task/status") == "cancelled"
    });
    agent.leave();
    console.takes_all();
    // Nothing runs and nobody is connected: there is nothing to ask.
    console.shows("has disconnected");
    console.keys(b"q");
    assert_eq!(console.exit(), 0);
    console.is_as_it_was();
}

#[test]
fn f52_keys_reach_a_task_though_the_terminal_takes_nothing() {
    let home = Home::new();
    let mut console = Console::open(&home, &[], SIZE);
    console.shows("no agent yet");
    console.keys(b"o(while :; do seq 100000; done) & read line; echo \"$line\" > typed; wait\r");
    console.shows(" INPUT t01");
    console.takes_nothing();
    console.keys(b"some words\r");
    let typed = || std::fs::read_to_string(home.workspace().join("typed")).unwrap_or_default();
    wait_until("the task has read them", || typed() == "some words\n");
    // The task is stopped without a frame that says so.
    console.keys(b"\x1dss");
    console.takes_all();
    console.shows("cancelled");
    console.keys(b"q");
    assert_eq!(console.exit(), 0);
    console.is_as_it_was();
}
