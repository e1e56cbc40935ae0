//! The time from a program's write to the pane in front of a person.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::support::{Agent, Console, Home};

/// The number of lines to measure.
const LINES: usize = 200;
/// Prints the current time, twenty times a second.
const TICKING: &str = "bash -c 'while :; do echo tick-$(date +%s%N)-; sleep 0.05; done'";

/// Measures how long each line of a task takes to appear on the console's screen.
fn ages(console: &Console) -> Vec<Duration> {
    let mut last = 0;
    let mut ages = Vec::with_capacity(LINES);
    while ages.len() < LINES {
        let seen = std::cell::Cell::new(0);
        console.wait_for("a new line", |screen| {
            let text = screen.contents();
            let written = text.rsplit("tick-").find_map(|rest| rest.split_once('-')?.0.parse::<u64>().ok());
            seen.set(written.unwrap_or(0));
            seen.get() > last
        });
        let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("after 1970");
        last = seen.get();
        ages.push(now.saturating_sub(Duration::from_nanos(last)));
    }
    ages.sort();
    ages
}

#[test]
#[ignore = "a measurement; .ci/long runs it"]
fn long_a_line_is_on_the_pane_within_100_ms() {
    for (name, is_attached) in [("runtime inside", false), ("attached", true)] {
        let home = Home::new();
        let early = is_attached.then(|| Agent::connect_first(&home, &[]));
        let console = Console::open(&home, &[], (120, 40));
        console.shows("NO SANDBOX");
        let agent = early.unwrap_or_else(|| Agent::connect(&home, &[]));
        agent.task(TICKING);
        let ages = ages(&console);
        let at = |percent: usize| ages[(LINES - 1) * percent / 100];
        eprintln!(
            "write to pane, {name}, {LINES} lines: p50 {:?} p99 {:?} max {:?}",
            at(50),
            at(99),
            at(100)
        );
        assert!(at(50) < Duration::from_millis(100), "{ages:?}");
    }
}
