//! Two hundred tasks that print endlessly: memory, keys, and answers to scripts.

use std::time::{Duration, Instant};

use super::echo::{LETTERS, type_into_echo};
use super::house::House;
use super::proc;
use super::report::{self, Target, ms, percentile};

const TASKS: usize = 200;
const KEYS: usize = 150;
const LISTS: usize = 40;
/// How long it runs; `PILOTHOUSE_LONG` makes it a minute.
const SHORT: Duration = Duration::from_secs(15);
const LONG: Duration = Duration::from_secs(60);

pub(crate) fn run() {
    let lasts = if std::env::var_os("PILOTHOUSE_LONG").is_some() { LONG } else { SHORT };
    for (output, start) in
        [("a terminal", House::start as fn(&House, &str) -> String), ("a pipe", House::start_piped)]
    {
        let lasts_s = lasts.as_secs();
        report::head(&format!(
            "{TASKS} tasks run `yes` on {output} each for {lasts_s} s, one more is typed into"
        ));
        let house = House::open();
        for _ in 0..TASKS {
            start(&house, "exec yes");
        }
        measure(house, lasts);
    }
}

fn measure(mut house: House, lasts: Duration) {
    let program = house.processes().program;
    type_into_echo(&mut house);
    let started = Instant::now();
    let (mut keys, mut lists, mut memory) = (Vec::new(), Vec::new(), 0_f64);
    let mut at = 0;
    while started.elapsed() < lasts || keys.len() < KEYS {
        let letter = LETTERS.chars().cycle().nth(at % 28).unwrap_or('a').to_string();
        keys.push(ms(house.tty.time_to(&letter, &letter)));
        if at % 4 == 0 && lists.len() < LISTS {
            lists.push(listed(&house));
        }
        memory = memory.max(proc::resident_all(&program));
        house.tty.rest(Duration::from_millis(20 + (at as u64 * 7919) % 41));
        at += 1;
    }
    report::line("memory, at most", memory, "MiB", Target::AtMost(200.0));
    report::line("key to frame, p50", percentile(&keys, 50), "ms", Target::None);
    report::line("key to frame, p99", percentile(&keys, 99), "ms", Target::AtMost(40.0));
    report::line("TaskList, as the record has it, p50", percentile(&lists, 50), "ms", Target::AtMost(5.0));
}

/// Asks for the list as a script does; returns the time that the runtime took, in ms.
fn listed(house: &House) -> f64 {
    let output =
        house.command().args(["task", "list", "--output", "json"]).output().expect("ask for the list");
    let answer: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
    let took = ["/meta/duration_ms", "/duration_ms"].iter().find_map(|at| answer.pointer(at)?.as_f64());
    took.unwrap_or(f64::NAN)
}
