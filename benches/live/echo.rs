//! From a key to the frame that shows its echo, typed into a focused task while others are silent or flood.

use std::time::Duration;

use super::house::House;
use super::report::{self, Target, ms, percentile};

const KEYS: usize = 300;
const PANES: usize = 50;
/// Reads each key and writes it back: what is measured goes through a program, not only its terminal.
const ECHO: &str = "stty raw -echo; printf ready; exec cat";
const FLOOD: &str = "while :; do seq 1000000 1100000; done";
/// Letters that the console itself never shows.
const LETTERS: &str = "абвгдежзиклмнопрстуфхцчшщэюя";

pub(crate) fn run() {
    report::head("key to frame, 50 panes, focused task typed into");
    measure("no flood", 0, (f64::NAN, 4.0));
    measure("one flood", 1, (3.0, 12.0));
    measure("49 floods", PANES - 1, (f64::NAN, 60.0));
}

fn measure(name: &str, floods: usize, (p50, p99): (f64, f64)) {
    let mut house = House::open();
    house.start_idle(PANES - 1 - floods);
    for _ in 0..floods {
        house.start(FLOOD);
    }
    house.start(ECHO);
    // The newest task is selected by itself.
    house.tty.wait("the echo task", |seen| seen.shows("ready"));
    // Its pane alone, as wide as the terminal.
    house.tty.type_in("2z");
    house.tty.rest(Duration::from_millis(500));
    house.tty.type_in("\r");
    house.tty.wait("the input mode", |seen| seen.shows("INPUT"));
    house.tty.rest(Duration::from_secs(1));
    let mut times = Vec::with_capacity(KEYS);
    for (at, letter) in LETTERS.chars().cycle().take(KEYS).enumerate() {
        let key = letter.to_string();
        times.push(ms(house.tty.time_to(&key, &key)));
        // At no fixed distance from the last frame.
        house.tty.rest(Duration::from_millis(20 + (at as u64 * 7919) % 41));
    }
    let target = |limit: f64| if limit.is_nan() { Target::None } else { Target::AtMost(limit) };
    report::line(&format!("{name}, p50"), percentile(&times, 50), "ms", target(p50));
    report::line(&format!("{name}, p99"), percentile(&times, 99), "ms", target(p99));
    report::line(&format!("{name}, longest"), percentile(&times, 100), "ms", Target::None);
}
