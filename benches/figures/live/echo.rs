//! From a key to the frame that shows its echo, in a focused task while others are silent or flood.

use std::time::Duration;

use super::house::{House, IDLE};
use super::peers::{Peer, tmux_windows};
use super::report::{self, Target, ms, percentile};
use super::tty::Tty;
use crate::folder::Folder;

const KEYS: usize = 300;
const PANES: usize = 50;
/// Reads each key and writes it back: the measured path includes a program, not only its terminal.
pub(crate) const ECHO: &str = "stty raw -echo; printf echoing; exec cat";
const FLOOD: &str = "while :; do seq 1000000 1100000; done";
/// Letters that the console itself never shows.
pub(crate) const LETTERS: &str = "абвгдежзиклмнопрстуфхцчшщэюя";

pub(crate) fn run() {
    let has_tmux = Peer::installed().contains(&Peer::Tmux);
    for (name, floods, targets) in [
        ("no flood", 0, [f64::NAN, 3.5]),
        ("one flood", 1, [3.0, 8.0]),
        ("49 floods", PANES - 1, [f64::NAN, 30.0]),
    ] {
        report::head(&format!("key to frame, 50 panes, {name}, focused task typed into"));
        told("the console", &in_console(floods), targets);
        if has_tmux {
            told("tmux, attached", &in_tmux(floods), [f64::NAN; 2]);
        }
    }
}

fn told(name: &str, times: &[f64], limits: [f64; 2]) {
    let target = |limit: f64| if limit.is_nan() { Target::None } else { Target::AtMost(limit) };
    report::spread(name, times, "ms", (99, limits.map(target)));
    report::line(&format!("{name}, longest"), percentile(times, 100), "ms", Target::None);
}

fn in_console(floods: usize) -> Vec<f64> {
    let mut house = House::open();
    house.start_idle(PANES - 1 - floods);
    for _ in 0..floods {
        house.start(FLOOD);
    }
    type_into_echo(&mut house);
    typed(&mut house.tty, Tty::time_to)
}

/// Starts the task that echoes, in a pane as wide as the terminal, and gives it the keys.
pub(crate) fn type_into_echo(house: &mut House) {
    house.start(ECHO);
    // The newest task is selected automatically.
    house.tty.wait("the echo task", |seen| seen.shows("echoing"));
    house.tty.type_in("2z");
    // A task that came to hand by itself takes no key in its first second.
    house.tty.rest(Duration::from_millis(1_500));
    house.tty.type_in("\r");
    house.tty.wait("the input mode", |seen| seen.shows("INPUT"));
}

/// The same tasks as windows of tmux, with the one that gets the keys in front.
fn in_tmux(floods: usize) -> Vec<f64> {
    let folder = Folder::make();
    let mut commands = vec![IDLE.to_owned(); PANES - 1 - floods];
    commands.resize(PANES - 1, FLOOD.to_owned());
    commands.push(ECHO.to_owned());
    let mut tty = tmux_windows(folder.path(), &commands);
    tty.wait("the echo task", |seen| seen.shows("echoing"));
    let times = typed(&mut tty, Tty::time_to_text);
    Peer::Tmux.close(folder.path());
    times
}

fn typed(tty: &mut Tty, time: fn(&mut Tty, &str, &str) -> Duration) -> Vec<f64> {
    tty.rest(Duration::from_secs(1));
    let mut times = Vec::with_capacity(KEYS);
    for (at, letter) in LETTERS.chars().cycle().take(KEYS).enumerate() {
        let key = letter.to_string();
        times.push(ms(time(tty, &key, &key)));
        // At varying distances from the last frame.
        tty.rest(Duration::from_millis(20 + (at as u64 * 7919) % 41));
    }
    times
}
