//! Memory of panes full of output, and after a lot of output through one.

use super::house::{self, House};
use super::proc;
use super::report::{self, Target};

const PANES: usize = 50;
/// Full-width rows on the screen and in the scrollback, then the alternate screen: the most that a pane can hold.
const FULL: &str =
    "yes \"$(printf '%0199d' 7)\" | head -n 600; printf '\\033[?1049hfull'; : >\"$DONE\"; exec sleep 100000";
/// The same rows, and, once told to continue, the rest of a gigabyte.
const GIGABYTE: &str = "yes \"$(printf '%0199d' 7)\" | head -n 600; : >\"$DONE\"; read on <'$GO'; \
    yes 'a line of output as long as most lines are in the logs of most programs' | head -c 1000000000; \
    : >\"$DONE\"; exec sleep 100000";

pub(crate) fn run() {
    report::head("memory of 200x50 panes, scrollback and both screens full");
    let house = House::open();
    filled(&house, FULL);
    let program = house.processes().program;
    let one = proc::resident_all(&program);
    for _ in 1..PANES {
        filled(&house, FULL);
    }
    let all = proc::resident_all(&program);
    report::line("each further pane", (all - one) / (PANES - 1) as f64, "MiB", Target::AtMost(1.5));
    report::line("the program with 50 panes", all, "MiB", Target::AtMost(80.0));
    let hosts: f64 = house.processes().hosts.into_iter().map(proc::share).sum();
    report::line("task hosts and the tasks' shells, each", hosts / PANES as f64, "MiB", Target::None);
    let house = House::open();
    let go = house.path("go");
    rustix::fs::mkfifoat(rustix::fs::CWD, &go, 0o600.into()).expect("make a named pipe");
    filled(&house, &GIGABYTE.replace("$GO", &go.display().to_string()));
    let program = house.processes().program;
    let before = proc::resident_all(&program);
    std::fs::write(&go, "on\n").expect("let the task go on");
    taken_in(&house);
    report::line(
        "more after 1 GB through that pane",
        proc::resident_all(&program) - before,
        "MiB",
        Target::AtMost(1.0),
    );
}

/// Starts a task and waits until all its output has been parsed.
fn filled(house: &House, script: &str) {
    house.start(&format!("DONE='{}'; {script}", house.path("done").display()));
    taken_in(house);
}

/// Waits until a task reports that it has printed everything, and that has been parsed.
fn taken_in(house: &House) {
    let done = house.path("done");
    house::until("the task's output", || done.exists());
    std::fs::remove_file(done).expect("remove the mark");
    // Printed does not mean parsed; and the screen cannot tell, because the ages on it change all the time.
    house.tty.rest(std::time::Duration::from_millis(300));
}
