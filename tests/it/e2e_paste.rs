//! Pastes and reports that arrive in pieces with pauses between them, and pastes of megabytes: in a real terminal.

use serde_json::json;

use crate::support::{Agent, Console, Home, read_it, wait_until};

const BEGIN: &str = "\x1b[200~";
const END: &str = "\x1b[201~";
/// What is said two seconds after the last byte of an unfinished paste.
const STALLED: &str = "a paste has not ended";

/// Pastes two pieces; between them is a pause much longer than any key has.
fn paste_torn(console: &Console, first: &str, second: &str) {
    console.keys(format!("{BEGIN}{first}").as_bytes());
    console.shows(STALLED);
    console.keys(format!("{second}{END}").as_bytes());
}

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
    paste_torn(&console, "a q", "d\rqs\rq1 s s y");
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
fn f50_a_torn_paste_approves_nothing() {
    let home = Home::new();
    let console = Console::open(&home, &[], (100, 30));
    console.shows("no agent yet");
    let agent = Agent::connect(&home, &["--label", "claude"]);
    console.keys(b"p");
    console.shows("PAUSED");
    let ran = home.workspace().join("ran");
    let asked = agent.ask("ExecCommand", &json!({"cmd": "touch ran", "yield_time_ms": 30_000}));
    console.shows("needs approval");
    console.keys(b"A");
    console.shows("touch ran");
    read_it();
    paste_torn(&console, "", "yes\r");
    console.shows("a paste is no answer here");
    // Answered by a key, after all that was pasted.
    console.keys(b"n");
    console.shows("why not?");
    console.keys(b"no\r");
    assert_eq!(agent.answer(asked).envelope["error"]["kind"], "operator_denied");
    assert!(!ran.exists());
}

#[test]
fn f50_a_torn_paste_into_a_task_is_asked_about() {
    let home = Home::new();
    let agent = Agent::connect(&home, &[]);
    agent.task("PS1='now> ' exec bash --norc --noprofile -i");
    let console = Console::open(&home, &[], (100, 30));
    console.shows("now>");
    console.keys(b"\r");
    console.shows(" INPUT t01");
    paste_torn(&console, "touch one\r", "touch two\r");
    console.shows("paste 2 lines");
    console.keys(b"\x1b");
    console.shows(" INPUT t01");
    console.keys(b"touch last\r");
    wait_until("the last command ran", || home.workspace().join("last").exists());
    assert!(["one", "two"].iter().all(|file| !home.workspace().join(file).exists()));
}

#[test]
fn f50_torn_reports_and_answers_are_no_keys() {
    let home = Home::new();
    let agent = Agent::connect(&home, &[]);
    agent.task("echo it-runs; exec sleep 1000");
    let console = Console::open(&home, &[], (100, 30));
    console.shows("it-runs");
    for (head, tail) in [
        ("\x1b[<0;10", ";12M"),
        ("\x1b[<0;10;1", "2m"),
        ("\x1b]11;rgb:00", "00/0000/0000q\x07"),
        ("\x1b[", "<35;10;12M"),
        ("\x1b", "[<35;10;12M"),
    ] {
        console.keys(head.as_bytes());
        read_it();
        console.keys(tail.as_bytes());
        console.keys(b"?");
        console.shows("─ help: ");
        console.keys(b"\x1b");
        console.wait_for("help is gone", |screen| !screen.contents().contains("─ help: "));
    }
}

#[test]
fn f50_escape_leaves_a_paste_that_never_ends() {
    let home = Home::new();
    let console = Console::open(&home, &[], (100, 30));
    console.shows("no agent yet");
    console.keys(format!("{BEGIN}quit q").as_bytes());
    console.shows(STALLED);
    console.keys(b"\x1b");
    console.shows("a paste without an end was dropped, 6 B");
    console.keys(b"?");
    console.shows("─ help: ");
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

#[test]
fn f51_a_paste_of_megabytes_into_plain_lines_is_refused_as_one() {
    let home = Home::new();
    let mut console = Console::open(&home, &["--accessible"], (100, 30));
    console.shows("0 quit: quit the console");
    console.keys("pasted words, and no command\n".repeat(100_000).as_bytes());
    console.shows("lines at once were not taken");
    // It is a line of its own once all before it has been read.
    console.asks_until(b"start echo alive\n", "operator: started t01: echo alive");
    console.wait_for("it has ended", |screen| screen.contents().contains("t01 ended: exit 0"));
    console.keys(b"0\n");
    assert_eq!(console.exit(), 0);
}

#[test]
fn f51_a_long_paste_reaches_a_program_that_reads_it() {
    let home = Home::new();
    let agent = Agent::connect(&home, &[]);
    agent.task(
        "stty raw -echo; echo ready; head -c 900000 | wc -c > size; stty sane; echo done; exec sleep 1000",
    );
    // Attached over a socket.
    let console = Console::open(&home, &[], (100, 30));
    console.shows("ready");
    console.keys(b"\r");
    console.shows(" INPUT t01");
    paste_of(&console, &"\x01\"x".repeat(300_000));
    console.shows("done");
    assert_eq!(std::fs::read_to_string(home.workspace().join("size")).expect("a size").trim(), "900000");
    // More than a task takes is refused, and the console is still attached.
    paste_of(&console, &"x".repeat(5 << 20));
    console.shows("was not taken: a task takes 1.0 MiB at most");
}
