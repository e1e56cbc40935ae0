//! Reading back: a page early in a long log, and a search through all of it.

use std::hint::black_box;
use std::time::Instant;

use pilothouse::terminal::{ByteOrigin, ByteSource, LogHistory, Mark, MarkKind, Size};

use crate::report::{self, Target, median, ms};

const LINES: usize = 1_300_000;
const PAGES: u64 = 20;
/// Bytes between two marks.
const STEP: usize = 64 * 1024;

pub(crate) fn run() {
    report::head("looking back into a log of 100 MiB");
    let size = Size::nearest(200, 50);
    let log: Vec<u8> = (0..LINES).flat_map(|n| line(n).into_bytes()).collect();
    let marks = marks(&log);
    let history = LogHistory::new(&log[..], &marks, ByteOrigin::Tty, size);
    let mut pages = Vec::new();
    for page in 0..PAGES {
        let started = Instant::now();
        drop(black_box(history.page(page * 60_000, size)));
        pages.push(ms(started.elapsed()));
    }
    report::line("a page, p50", median(&pages), "ms", Target::AtMost(16.0));
    let started = Instant::now();
    let found = history.search("not in there", 0, true).expect("memory can be read");
    assert!(found.is_none());
    let rate = log.len() as f64 / started.elapsed().as_secs_f64() / 1e6;
    report::line("searched through", rate, "MB/s", Target::None);
}

fn line(n: usize) -> String {
    format!("line {n} of a log that is long enough to be looked back in, some words more\r\n")
}

fn marks(log: &[u8]) -> Vec<Mark> {
    let mut lines = 0;
    let mark = |(at, block): (usize, &[u8])| {
        let kind = MarkKind::Chunk(ByteSource::Tty);
        let mark = Mark { offset: (at * STEP) as u64, line: lines, at_ms: 0, kind };
        lines += block.iter().filter(|byte| **byte == b'\n').count() as u64;
        mark
    };
    log.chunks(STEP).enumerate().map(mark).collect()
}
