//! One console over eight runtimes on this machine with four hundred tasks: its memory, and its cost while nothing
//! happens.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use super::house::{CONSOLE, IDLE};
use super::places::{Place, console};
use super::proc;
use super::report::{self, Target};
use super::tty::Tty;
use crate::folder::Folder;

const PLACES: usize = 8;
const TASKS: usize = 50;
const WINDOW: Duration = Duration::from_secs(10);

pub(crate) fn run() {
    report::head("one console over 8 runtimes with 400 tasks");
    let dir = Folder::make();
    let places: Vec<Place> = (0..PLACES).map(|number| Place::begin(dir.path(), number)).collect();
    for place in &places {
        (0..TASKS).for_each(|_| place.start(IDLE));
    }
    let began = Instant::now();
    let tty = Tty::start(console(dir.path(), &[]), CONSOLE);
    let all = format!("{PLACES} places");
    tty.wait("all places", |seen| seen.shows(&all));
    report::line("to a frame with all of them", report::ms(began.elapsed()), "ms", Target::None);
    let mut program = vec![tty.pid()];
    program.extend(proc::children(tty.pid()));
    // Ages below a minute are shown in seconds.
    tty.rest(Duration::from_secs(61));
    report::line("memory of the console", proc::resident_all(&program), "MiB", Target::AtMost(200.0));
    // The clock on the screen shows minutes: a frame for it would not be an idle one.
    let second = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |now| now.as_secs() % 60);
    if !(5..45).contains(&second) {
        tty.rest(Duration::from_secs((65 - second) % 60));
    }
    let (started, frames, before) = (Instant::now(), tty.seen(|seen| seen.frames), proc::cpu_all(&program));
    tty.rest(WINDOW);
    let spent = proc::cpu_all(&program).saturating_sub(before).as_secs_f64();
    let share = spent / started.elapsed().as_secs_f64() * 100.0;
    report::line("processor, idle, 10 s", share, "%", Target::AtMost(0.5));
    let frames = tty.seen(|seen| seen.frames) - frames;
    report::line("frames in them", frames as f64, "", Target::AtMost(0.0));
}
