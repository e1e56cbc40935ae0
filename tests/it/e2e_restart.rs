//! A task started in the console is restarted, and its command recalled the next time; and watch rules ring.

use crate::support::{Agent, Console, Home, Tag, wait_until};

#[test]
fn a_restart_ends_the_old_processes_and_the_next_console_knows_the_command() {
    let (home, tag) = (Home::new(), Tag::new());
    let mut console = Console::open(&home, &[], (100, 30));
    console.shows("no agent yet");
    console.keys(b"o");
    console.shows("START");
    console.keys(format!("cd / && exec sleep {}\r", tag.0).as_bytes());
    wait_until("it runs", || tag.holders().len() == 1);
    tag.asleep();
    let first = tag.holders();
    // A task started here gets the keys.
    console.shows(" INPUT t01");
    console.keys(b"\x1d");
    console.shows("OBSERVE");
    // Once: a second `r` would already be the answer to the dialog.
    console.keys(b"r");
    console.shows("restart t01?");
    console.keys(b"r");
    wait_until("another one runs", || {
        let now = tag.holders();
        now.len() == 1 && now != first
    });
    console.shows("t02");
    console.stop_all_and_quit();
    assert_eq!(tag.holders(), Vec::<u32>::new());

    let mut again = Console::open(&home, &[], (100, 30));
    again.shows("no agent yet");
    again.keys(b"o");
    again.shows("START");
    again.keys(b"\x1b[A");
    again.shows(&format!("exec sleep {}", tag.0));
    again.keys(b"\x1b");
    again.shows("OBSERVE");
    again.keys(b"q");
    assert_eq!(again.exit(), 0);
}

#[test]
fn a_failed_build_and_a_line_that_is_watched_for_ring_while_nobody_looks() {
    let home = Home::new();
    let rules = "[[console.watch]]\nfailed = true\n[[console.watch]]\nmatch = \"warning: .*unused\"\n";
    home.configure("config.toml", rules);
    let mut console = Console::open(&home, &[], (100, 30));
    console.shows("no agent yet");
    // The terminal loses the focus.
    console.keys(b"\x1b[O");
    let agent = Agent::connect(&home, &[]);
    let go = home.workspace().join("go");
    agent.task("until [ -e go ]; do sleep .05; done; printf '\\033[33mwarning\\033[0m: unused'; sleep .1; echo; exit 3");
    std::fs::write(&go, "").expect("written");
    let has = |text: &str| String::from_utf8_lossy(&console.bytes()).contains(text);
    wait_until("the line rings", || has("\x07\x1b]9;t01 printed: warning: unused\x07"));
    wait_until("so does the end", || has("t01 failed: exit 3"));
    console.keys(b"q");
    console.shows("end it and quit");
    console.keys(b"s");
    assert_eq!(console.exit(), 0);
    agent.leave();
}
