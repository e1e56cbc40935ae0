//! Four busy tasks side by side at 200x60: what a frame costs the console, and how quickly a key is echoed.

use std::time::Duration;

use super::house::House;
use super::report::{self, Target, ms, percentile};

/// Dense coloured rows at a steady rate, endlessly: each row in colours other than the previous one's.
const BUSY: &str = "n=0; while :; do i=0; while [ $i -lt 60 ]; do \
    printf '\\033[38;5;%dm%s\\033[48;5;%dm%s\\033[0;1;3%dm %06d |%s\\033[0m\\r\\n' \
    $((n % 256)) 'the quick brown fox jumps over the lazy dog' $((n % 240 + 16)) ' 0123456789abcdef ' $((n % 8)) $n \
    'pack my box with five dozen liquor jugs'; n=$((n + 1)); i=$((i + 1)); done; sleep 0.02; done";
/// Reads each key and writes it back: the measured path includes a program, not only its terminal.
const ECHO: &str = "stty raw -echo; printf ready; exec cat";
const KEYS: usize = 300;
/// Keys in a row.
const ROW: usize = 28;
/// How long the frames are counted.
const WATCHED: Duration = Duration::from_secs(10);
/// Letters that the console itself never shows.
const LETTERS: &str = "абвгдежзиклмнопрстуфхцчшщэюя";

pub(crate) fn run() {
    report::head("200x60, four busy coloured tasks in a square");
    frames();
    keys();
}

/// All four panes busy: how many frames are drawn, and what each costs, from the state to the terminal.
fn frames() {
    let mut house = House::open();
    for _ in 0..4 {
        house.start(BUSY);
    }
    house.tty.wait("busy panes", |seen| seen.shows("lazy dog"));
    house.tty.rest(Duration::from_secs(1));
    let count = |house: &House| house.tty.seen(|seen| (seen.frames, seen.bytes));
    let before = count(&house);
    house.tty.rest(WATCHED);
    let after = count(&house);
    let (frames, bytes) = ((after.0 - before.0) as f64, (after.1 - before.1) as f64);
    report::line("frames a second", frames / WATCHED.as_secs_f64(), "", Target::AtMost(62.5));
    report::line("KiB a frame", bytes / 1024.0 / frames.max(1.0), "", Target::None);
    house.tty.type_in("q");
    // One word: over an empty cell, the space between two is not written again.
    house.tty.wait("the question", |seen| seen.shows("cancel"));
    house.tty.type_in("s");
    house.tty.end();
    let told = house.log("frames drawn");
    let figure = |name: &str| {
        let rest = told.split_once(&format!("{name}=")).map_or("", |(_, rest)| rest);
        let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
        digits.parse::<f64>().unwrap_or(f64::NAN) / 1e3
    };
    report::line("frame, drawn and written, p50", figure("p50_us"), "ms", Target::None);
    report::line("frame, drawn and written, p99", figure("p99_us"), "ms", Target::AtMost(16.0));
}

/// Keys typed into one pane while the other three are busy.
fn keys() {
    let mut house = House::open();
    for _ in 0..3 {
        house.start(BUSY);
    }
    house.start(ECHO);
    // The newest task is selected automatically, and takes keys once it could be seen for a second.
    house.tty.wait("the echo task", |seen| seen.shows("ready"));
    house.tty.rest(Duration::from_millis(1500));
    // First written as a line, then key by key: that way the square stays on screen.
    house.tty.type_in("i\t");
    house.tty.wait("the input mode", |seen| seen.shows("INPUT"));
    house.tty.rest(Duration::from_secs(1));
    let mut times = Vec::with_capacity(KEYS);
    for (at, letter) in LETTERS.chars().cycle().take(KEYS).enumerate() {
        let key = letter.to_string();
        if at % ROW == 0 {
            // A pane in a square shows only the left part of a row.
            house.tty.type_in("\r\n");
            house.tty.rest(Duration::from_millis(100));
        }
        times.push(ms(house.tty.time_to(&key, &key)));
        // At varying distances from the last frame.
        house.tty.rest(Duration::from_millis(20 + (at as u64 * 7919) % 41));
    }
    report::line("key to frame, p50", percentile(&times, 50), "ms", Target::None);
    report::line("key to frame, p99", percentile(&times, 99), "ms", Target::AtMost(30.0));
    report::line("key to frame, longest", percentile(&times, 100), "ms", Target::None);
}
