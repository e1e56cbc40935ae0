//! From the start of the program to its first complete frame.

use std::time::Instant;

use super::house::{CONSOLE, console};
use super::peers::Peer;
use super::report::{self, Target, median, ms, percentile};
use super::tty::Tty;
use crate::folder::Folder;

const RUNS: usize = 20;
/// What the other multiplexers show first.
const READY: &str = "printf ready; exec sleep 100";

pub(crate) fn run() {
    report::head("start-up, warm");
    let (mut bytes, mut frames) = (Vec::new(), Vec::new());
    let peers = Peer::installed();
    let mut others = vec![Vec::new(); peers.len()];
    for _ in 0..RUNS {
        let dir = Folder::make();
        let started = Instant::now();
        let tty = Tty::start(console(dir.path()), CONSOLE);
        tty.wait("the first frame", |seen| seen.frames > 0);
        let (first, frame) = tty.seen(|seen| seen.first);
        bytes.extend(first.map(|at| ms(at - started)));
        frames.extend(frame.map(|at| ms(at - started)));
        for (peer, times) in peers.iter().zip(&mut others) {
            let dir = Folder::make();
            let started = Instant::now();
            let tty = peer.open(dir.path(), READY);
            tty.wait(peer.name(), |seen| seen.shows("ready"));
            times.push(ms(started.elapsed()));
            drop(tty);
            peer.close(dir.path());
        }
    }
    report::line("start to first byte, median", median(&bytes), "ms", Target::None);
    report::line("start to first frame, median", median(&frames), "ms", Target::AtMost(100.0));
    report::line("start to first frame, p95", percentile(&frames, 95), "ms", Target::AtMost(100.0));
    for (peer, times) in peers.iter().zip(&others) {
        report::line(
            &format!("{}, to its command's output, median", peer.name()),
            median(times),
            "ms",
            Target::None,
        );
    }
}
