//! A paste that arrives in pieces with a pause between them, and pastes of megabytes: in a real terminal. What the
//! console decides about them is in `console_paste`.

use crate::support::{Agent, Console, Home};

const BEGIN: &str = "\x1b[200~";
const END: &str = "\x1b[201~";

/// Pastes a whole text; the terminal takes it as fast as the console reads.
fn paste_of(console: &Console, text: &str) {
    console.keys(format!("{BEGIN}{text}{END}").as_bytes());
}

#[test]
fn f50_a_torn_paste_does_not_drive_the_console() {
    let home = Home::new();
    let agent = Agent::connect(&home, &[]);
    agent.task("echo it-runs; exec sleep 1000");
    let mut console = Console::open(&home, &[], (100, 30));
    console.shows("it-runs");
    // Between the two pieces is a pause much longer than any key has.
    console.keys(format!("{BEGIN}a q").as_bytes());
    console.shows("a paste has not ended");
    console.keys(format!("d\rqs\rq1 s s y{END}").as_bytes());
    console.shows("Enter to type into the task, then paste");
    console.keys(b"q");
    console.shows("d detach");
    console.keys(b"\x1b");
    console.wait_for("the question is gone", |screen| !screen.contents().contains("d detach"));
    console.shows("it-runs");
    console.keys(b"q");
    console.shows("d detach");
    console.keys(b"d");
    assert_eq!(console.exit(), 0);
}

#[test]
fn f51_pastes_of_megabytes_leave_every_key_its_effect() {
    let home = Home::new();
    let agent = Agent::connect(&home, &["--label", "claude"]);
    // Two floods on their terminals beside what the person does.
    for _ in 0..2 {
        agent.task("while :; do echo the flood goes on and on; done");
    }
    let console = Console::open(&home, &[], (120, 40));
    console.shows("the flood goes on");
    for line in ["o", "/", "\\", ":", "f", ",", "i", "!", "@"] {
        console.keys(line.as_bytes());
        paste_of(&console, &"lines of text\r".repeat(350_000));
        console.wait_for("the paste is refused", |screen| screen.contents().contains("was not taken"));
        console.keys(b"\x1b\x1b");
        console.wait_for("the notice is gone", |screen| !screen.contents().contains("was not taken"));
    }
    // A stop takes effect right behind a paste.
    paste_of(&console, &"y".repeat(5 << 20));
    console.keys(b"s");
    console.shows("TERM");
    console.keys(b"s");
    console.wait_for("a task was stopped", |screen| screen.contents().contains("cancelled"));
}
