//! The cost while nothing happens, and while little does.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use super::house::House;
use super::proc;
use super::report::{self, Target};

const PANES: usize = 64;
const WINDOW: Duration = Duration::from_secs(10);
/// Tasks that print as much as they can, and for how long.
const LOAD: (usize, Duration) = (20, Duration::from_secs(30));
/// How many wake-ups more or less there are by chance: the clock on the screen, ages that change every ten seconds.
const WAKEUPS_SCATTER: f64 = 15.0;
const TICKING: &str = "while :; do echo one more line; sleep 1; done";

pub(crate) fn run() {
    report::head("64 idle panes, 10 s");
    let house = House::open();
    house.start_idle(PANES);
    // Ages below a minute are shown in seconds.
    house.tty.rest(Duration::from_secs(61));
    let (frames, share, hosts) = watch(&house);
    report::line("frames", frames, "", Target::AtMost(0.0));
    report::line("processor, the program", share, "%", Target::AtMost(0.1));
    report::line("processor, the task hosts together", hosts, "%", Target::None);
    drop(house);

    report::head("64 panes with a line a second each, 10 s");
    let house = House::open();
    for _ in 0..PANES {
        house.start(TICKING);
    }
    house.tty.rest(Duration::from_secs(61));
    let (frames, share, _) = watch(&house);
    report::line("frames a second", frames / WINDOW.as_secs_f64(), "", Target::AtMost(60.0));
    report::line("processor, the program", share, "%", Target::AtMost(2.0));
    drop(house);

    report::head("wake-ups of a console without live tasks, 10 s");
    let house = House::open();
    house.tty.rest(WINDOW);
    let fresh = wakeups(&house);
    let (tasks, time) = LOAD;
    (0..tasks).for_each(|_| drop(house.start(&format!("timeout {} yes; true", time.as_secs()))));
    house.tty.rest(time + WINDOW * 2);
    report::line("fresh", fresh, "", Target::None);
    report::line("after load", wakeups(&house), "", Target::AtMost(fresh + WAKEUPS_SCATTER));
}

/// Returns how often the program's threads wake up.
fn wakeups(house: &House) -> f64 {
    let program = house.processes().program;
    let before = proc::wakeups_all(&program);
    house.tty.rest(WINDOW);
    proc::wakeups_all(&program) - before
}

/// Returns the number of frames, and the percentage of a processor used by the program and by its hosts.
fn watch(house: &House) -> (f64, f64, f64) {
    // The clock on the screen shows minutes: a frame for it would not be an idle one.
    let second = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |now| now.as_secs() % 60);
    if !(5..45).contains(&second) {
        house.tty.rest(Duration::from_secs((65 - second) % 60));
    }
    let all = house.processes();
    let cpu = || (proc::cpu_all(&all.program), proc::cpu_all(&all.hosts));
    let (started, frames, before) = (Instant::now(), house.tty.seen(|seen| seen.frames), cpu());
    house.tty.rest(WINDOW);
    let (after, elapsed) = (cpu(), started.elapsed().as_secs_f64());
    let percent =
        |after: Duration, before: Duration| after.saturating_sub(before).as_secs_f64() / elapsed * 100.0;
    let frames = house.tty.seen(|seen| seen.frames) - frames;
    (frames as f64, percent(after.0, before.0), percent(after.1, before.1))
}
