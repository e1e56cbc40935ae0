//! From the start of the program to its first whole frame.

use std::time::Instant;

use super::house::{CONSOLE, console};
use super::report::{self, Target, median, ms, percentile};
use super::tty::Tty;

const RUNS: usize = 20;

pub(crate) fn run() {
    report::head("start-up, warm");
    let (mut bytes, mut frames) = (Vec::new(), Vec::new());
    for _ in 0..RUNS {
        let dir = tempfile::tempdir().expect("make a folder");
        let started = Instant::now();
        let tty = Tty::start(console(dir.path()), CONSOLE);
        tty.wait("the first frame", |seen| seen.frames > 0);
        let (first, frame) = tty.seen(|seen| seen.first);
        bytes.extend(first.map(|at| ms(at - started)));
        frames.extend(frame.map(|at| ms(at - started)));
    }
    report::line("start to first byte, median", median(&bytes), "ms", Target::None);
    report::line("start to first frame, median", median(&frames), "ms", Target::AtMost(100.0));
    report::line("start to first frame, p95", percentile(&frames, 95), "ms", Target::AtMost(100.0));
}
