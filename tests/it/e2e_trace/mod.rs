//! The work of two agents, and a person at the console who answers prompts, approves, denies and finds what failed,
//! using only what the screen shows.

#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a trace is played in real time; its figures are printed"
)]

mod frames;
mod person;
mod work;

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use frames::WaitingFrames;
use person::Person;
use work::{Row, Work, until};

use crate::support::{Console, skip};

/// What the agents run, and when: ten minutes with prompts and held commands.
const TWO_AGENTS: &str = include_str!("../../corpus/traces/two_agents.jsonl");
/// Five minutes with passphrases, floods, batches, commands that print nothing, and shells that ask nothing.
const RELEASE_DAY: &str = include_str!("../../corpus/traces/release_day.jsonl");

/// How often the person looks up: what has just appeared stays for a while before anybody does anything about it.
const LOOKS: Duration = Duration::from_millis(250);

/// Plays some rows to their end, so many times faster, at a console of this size. Checks that every answer reached its
/// prompt, and that what the console said was waiting had a pane on every frame that said so.
fn supervise(mut rows: Vec<Row>, faster: f64, pause: f64, size: (u16, u16)) {
    if std::process::Command::new("git").arg("--version").output().is_err() {
        return skip("there is no git");
    }
    rows.iter_mut().for_each(|row| row.at /= faster);
    let work = Work::of(rows);
    let home = work.home(pause);
    let mut console = Console::open(&home, &[], size);
    console.shows("no agent yet");
    let (ended, playing) = work.begin(&home);
    let mut person = Person::new(&console);
    while !ended.load(Ordering::Relaxed) {
        person.attend();
        until(Instant::now() + LOOKS);
    }
    playing.join().expect("all of it has ended");
    let served = person.served;
    let found = person.finds_failed(&work.failing);
    let (finding, written) = (person.served - served, person.written);
    let waiting = WaitingFrames::of(&console);
    println!(
        "{size:?}, {} calls: {} prompts answered and {} calls decided with {served} keys, {} failures found with {finding}; \
         {written} keys of the answers and notes themselves; {} frames named what waits, {} of them without its pane",
        work.rows.len(),
        work.prompts(),
        work.held.len(),
        found.len(),
        waiting.named,
        waiting.late.len(),
    );

    assert_eq!(found, work.failing);
    work.is_done_in(&home.workspace());
    for secret in work.passphrases() {
        assert!(!String::from_utf8_lossy(&console.bytes()).contains(&secret), "a passphrase was shown");
    }
    // A few may be answered before a frame names them.
    assert!(waiting.named > 0 || work.prompts() < 3, "no frame named what waits");
    assert!(waiting.late.is_empty(), "what waits has no pane:\n{}", waiting.late[0]);
    for left in ["○ claude", "○ codex"] {
        console.shows_one(&[left, "○ 0 of 2 agents"]);
    }
    console.keys(b"q");
    assert_eq!(console.exit(), 0);
}

#[test]
fn a_person_serves_two_agents_without_one_wrong_target() {
    let mut rows = Row::all(TWO_AGENTS);
    rows.truncate(24);
    supervise(rows, 10.0, 0.01, (120, 40));
}

#[test]
fn passphrases_reach_their_prompts_and_what_waits_is_on_stage_on_every_frame() {
    let mut rows = Row::all(RELEASE_DAY);
    rows.truncate(33);
    supervise(rows, 15.0, 0.01, (120, 40));
}

#[test]
#[ignore = "minutes; .ci/long runs it"]
fn long_a_person_supervises_three_hundred_commands_of_two_agents() {
    supervise(Row::all(TWO_AGENTS), 1.0, 0.2, (120, 40));
}

#[test]
#[ignore = "minutes; .ci/long runs it"]
fn long_a_person_supervises_a_release_day_of_floods_and_passphrases() {
    for size in [(80, 24), (120, 40), (200, 60)] {
        supervise(Row::all(RELEASE_DAY), 5.0, 0.04, size);
    }
}
