//! Every way of leaving a busy console: the terminal is restored, and nothing keeps running.

use rustix::process::Signal;

use crate::support::{Agent, Console, HOLDERS, Home, Tag, wait_until};

/// A console in INPUT on a full-screen task, with a second task in the background.
fn busy(home: &Home, tag: &Tag) -> Console {
    let console = Console::open(home, &[], (80, 24));
    console.shows("no agent yet");
    let agent = Agent::connect(home, &[]);
    agent.task(&format!("sleep {}", tag.0));
    agent.task(&format!("printf '\\033[?1049h\\033[?1000h\\033[?2004hfull screen'; sleep {}", tag.0));
    console.shows("full screen");
    console.asks_until(b"\r", " INPUT t02");
    agent.leave();
    console
}

#[test]
fn a_signal_ends_a_busy_console_and_its_tasks_and_restores_the_terminal() {
    for (signal, code) in [(Signal::TERM, 143), (Signal::INT, 130), (Signal::HUP, 129)] {
        let home = Home::new();
        home.configure("config.toml", "[console]\non_hangup = \"end\"\n");
        let tag = Tag::new();
        let mut console = busy(&home, &tag);
        wait_until("both run", || tag.holders().len() >= 2);
        console.kill(signal);
        assert_eq!(console.exit(), code, "{signal:?}");
        assert_eq!(tag.holders(), Vec::<u32>::new(), "{signal:?}");
        console.is_as_it_was();
    }
}

/// The processor time of a process so far, in clock ticks (hundredths of a second).
fn ticks(pid: u32) -> Option<u64> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let fields: Vec<&str> = stat.rsplit(')').next()?.split_whitespace().collect();
    Some(fields.get(11)?.parse::<u64>().ok()? + fields.get(12)?.parse::<u64>().ok()?)
}

#[test]
fn f26_a_window_that_is_closed_ends_the_console_and_its_tasks_without_spinning() {
    let home = Home::new();
    home.configure("config.toml", "[console]\non_hangup = \"end\"\n");
    let tag = Tag::new();
    let mut console = Console::open(&home, &[], (80, 24));
    console.shows("no agent yet");
    let agent = Agent::connect(&home, &[]);
    // Tasks that have to be killed keep the console waiting after its terminal is gone.
    agent.task(&tag.hostile_tree());
    wait_until("the tree is there", || tag.holders().len() >= HOLDERS);
    let pid = console.family().program;
    let before = ticks(pid).expect("alive");
    console.hang_up();
    let mut last = before;
    wait_until("nothing is left of the tasks", || {
        last = ticks(pid).unwrap_or(last);
        tag.holders().is_empty()
    });
    assert_eq!(console.exit(), 129);
    assert!(last - before < 100, "{} ticks of processor time with the terminal gone", last - before);
}

/// The last position of a sequence in what reached a terminal.
fn last(bytes: &[u8], sequence: &[u8]) -> Option<usize> {
    bytes.windows(sequence.len()).rposition(|window| window == sequence)
}

#[test]
fn the_window_has_a_title_of_what_waits_and_its_own_again_at_the_end() {
    let home = Home::new();
    let mut console = Console::open(&home, &[], (80, 24));
    console.shows("no agent yet");
    let agent = Agent::connect(&home, &["--label", "claude"]);
    agent.task("read name");
    console.shows("waiting for input");
    let says = |title: &str| last(&console.bytes(), format!("\x1b]2;{title}\x1b\\").as_bytes());
    wait_until("the title says so", || {
        says("◐1 claude needs you, pilothouse workspace") > says("pilothouse workspace")
    });
    console.stop_all_and_quit();
    // Printed once all tasks have ended, not while they are still ending.
    console.shows("Tasks: 1 interrupted.");
    console.is_as_it_was();
    let bytes = console.bytes();
    let (kept, back) = (last(&bytes, b"\x1b[22;2t"), last(&bytes, b"\x1b[23;2t"));
    assert!(kept.is_some() && back > last(&bytes, b"\x1b]2;"), "{kept:?} {back:?}");
    agent.leave();

    home.configure("config.toml", "[console]\ntitle = false\n");
    let mut console = Console::open(&home, &[], (80, 24));
    console.shows("no agent");
    console.keys(b"q");
    assert_eq!(console.exit(), 0);
    assert_eq!(last(&console.bytes(), b"\x1b]2;"), None);
}
