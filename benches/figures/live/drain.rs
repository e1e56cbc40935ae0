//! A long log through a pane, compared with a bare terminal that is only read, and with other multiplexers.

use std::io::Write;
use std::path::Path;

use portable_pty::CommandBuilder;

use super::house::{self, House, PANE};
use super::peers::Peer;
use super::report::{self, Target, median};
use super::tty::Tty;

const ROUNDS: usize = 5;
const LOG_BYTES: usize = 100 << 20;
const IDLE_PANES: usize = 49;

pub(crate) fn run() {
    report::head("100 MiB log through a 200x50 pane, 49 idle panes beside it");
    let house = House::open();
    let log = house.path("log");
    write_log(&log);
    house.start_idle(IDLE_PANES);
    let peers = Peer::installed();
    let (mut bare, mut pane) = (Vec::new(), Vec::new());
    let mut others = vec![Vec::new(); peers.len()];
    for _ in 0..ROUNDS {
        bare.push(timed(&house, &log, in_bare_terminal));
        pane.push(timed(&house, &log, |cmd| drop(house.start(cmd))));
        for (peer, times) in peers.iter().zip(&mut others) {
            times.push(timed(&house, &log, |cmd| peer.open(&house.folder(), cmd)));
        }
    }
    let [bare, pane] = [bare, pane].map(|times| median(&times));
    report::line("bare terminal, read only", bare, "s", Target::None);
    report::line("pane", pane, "s", Target::None);
    report::line("bare / pane", bare / pane, "x", Target::AtLeast(0.9));
    for (peer, times) in peers.iter().zip(&others) {
        let name = peer.name();
        report::line(&format!("{name}, attached"), median(times), "s", Target::None);
        let target = if *peer == Peer::Tmux { Target::AtLeast(3.0) } else { Target::None };
        report::line(&format!("{name} / pane"), median(times) / pane, "x", target);
    }
}

fn write_log(path: &Path) {
    let mut file = std::io::BufWriter::new(std::fs::File::create(path).expect("create the log"));
    let mut written = 0;
    for n in 0.. {
        let line = format!(
            "2026-11-21T12:00:{:02}.{n:07}Z INFO worker-{}: handled request {n} in {} ms, and all of it went well\n",
            n % 60,
            n % 8,
            n % 97
        );
        file.write_all(line.as_bytes()).expect("write the log");
        written += line.len();
        if written >= LOG_BYTES {
            return;
        }
    }
}

/// Runs `cat` of the log, timed by the shell that runs it: the same in every terminal. Returns seconds.
fn timed<T>(house: &House, log: &Path, run: impl FnOnce(&str) -> T) -> f64 {
    let result = house.path("result");
    let cmd = format!(
        "s=$(date +%s%N); cat {}; e=$(date +%s%N); echo $((e-s)) >{result}.new; mv {result}.new {result}",
        log.display(),
        result = result.display()
    );
    // The returned value keeps the terminal open until the log is through.
    let _open = run(&cmd);
    house::until("the log to be through", || result.exists());
    let nanoseconds = std::fs::read_to_string(&result).expect("read the result");
    std::fs::remove_file(&result).expect("remove the result");
    nanoseconds.trim().parse::<f64>().expect("a number") / 1e9
}

fn in_bare_terminal(cmd: &str) -> Tty {
    let mut command = CommandBuilder::new("/bin/sh");
    command.args(["-c", cmd]);
    Tty::start(command, PANE)
}
