//! Memory of panes full of output, and after much output through one.

use super::house::{self, House};
use super::proc;
use super::report::{self, Target};

const PANES: usize = 50;
/// Full-width rows on the screen and above it, then the alternate screen: all that a pane can hold.
const FULL: &str =
    "yes \"$(printf '%0199d' 7)\" | head -n 600; printf '\\033[?1049hfull'; : >\"$DONE\"; exec sleep 100000";
const GIGABYTE: &str = "yes 'a line of output as long as most lines are in the logs of most programs' | head -c 1000000000; \
                        : >\"$DONE\"; exec sleep 100000";

pub(crate) fn run() {
    report::head("memory of 200x50 panes, scrollback and both screens full");
    let house = House::open();
    let pid = house.tty.pid();
    filled(&house, FULL);
    let one = proc::resident(pid);
    for _ in 1..PANES {
        filled(&house, FULL);
    }
    let all = proc::resident(pid);
    report::line("each further pane", (all - one) / (PANES - 1) as f64, "MiB", Target::AtMost(2.5));
    report::line("the program with 50 panes", all, "MiB", Target::AtMost(128.0));
    let hosts: f64 = proc::hosts(pid).into_iter().map(proc::share).sum();
    report::line("task hosts and the tasks' shells, each", hosts / PANES as f64, "MiB", Target::None);
    let house = House::open();
    let pid = house.tty.pid();
    filled(&house, FULL);
    let before = proc::resident(pid);
    filled(&house, GIGABYTE);
    report::line("more after 1 GB through a new pane", proc::resident(pid) - before, "MiB", Target::None);
}

/// Starts a task and waits until all it prints has been taken in.
fn filled(house: &House, script: &str) {
    let done = house.path("done");
    house.start(&format!("DONE='{}'; {script}", done.display()));
    house::until("the task's output", || done.exists());
    std::fs::remove_file(done).expect("remove the mark");
    // Printed is not yet parsed; the ages on screen change all the time, so the screen is no sign.
    house.tty.rest(std::time::Duration::from_millis(300));
}
