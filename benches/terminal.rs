//! How fast output gets onto a screen, as ratios to bare vt100 in the same run: numbers in MB/s say more about the
//! machine than about the code.
#![expect(clippy::print_stdout, reason = "the report is the purpose")]
#![expect(clippy::disallowed_methods, reason = "a benchmark measures time")]

use std::hint::black_box;
use std::time::Instant;

use pilothouse::terminal::{Contents, History, Mark, MarkKind, Origin, Size, Stream, Terminal, Vt100, clean};

const PAYLOAD: usize = 4 * 1024 * 1024;
const RUNS: usize = 7;

fn main() {
    let size = Size::clamped(200, 50);
    let only = std::env::args().skip(1).find(|argument| !argument.starts_with('-'));
    println!(
        "200x50, {} MiB a payload, median of {RUNS} runs, ratios to vt100 behind the same interface",
        PAYLOAD >> 20
    );
    println!(
        "{:<16} {:>12} {:>22} {:>24}",
        "payload", "vt100 MB/s", "terminal, 256 KiB fed", "normaliser, small pieces"
    );
    let wanted = |name: &str| only.as_deref().is_none_or(|only| name.starts_with(only));
    for (name, bytes, piece) in payloads().into_iter().filter(|(name, ..)| wanted(name)) {
        let mut times = [const { Vec::new() }; 4];
        for _ in 0..RUNS {
            times[0].push(vt100(size, &bytes, 256 * 1024));
            times[1].push(terminal(size, &bytes, 256 * 1024));
            times[2].push(vt100(size, &bytes, piece));
            times[3].push(terminal(size, &bytes, piece));
        }
        let [bare, whole, bare_pieces, pieces] = times.map(median);
        let rate = bytes.len() as f64 / bare / 1e6;
        println!("{name:<16} {rate:>12.0} {:>22.2} {:>24.2}", bare / whole, bare_pieces / pieces);
    }
    if only.is_none() {
        texts(size);
        history(size);
        reflow(size);
        memory(size);
    }
}

/// The payloads of the design, with the largest piece in which no line is left out.
fn payloads() -> Vec<(&'static str, Vec<u8>, usize)> {
    let fill = |line: &dyn Fn(usize) -> String| {
        let mut bytes = Vec::with_capacity(PAYLOAD + 1024);
        for n in 0.. {
            bytes.extend_from_slice(line(n).as_bytes());
            if bytes.len() >= PAYLOAD {
                break;
            }
        }
        bytes
    };
    vec![
        (
            "a log",
            fill(&|n| {
                format!(
                    "2026-11-21T12:00:{:02}.{n:06}Z INFO worker-{}: handled request {n} in {} ms, all went well\r\n",
                    n % 60,
                    n % 8,
                    n % 97
                )
            }),
            4096,
        ),
        (
            "b build",
            fill(&|n| {
                format!(
                    "\x1b[1m\x1b[32m   Compiling\x1b[0m crate-{n} v0.{}.{} (\x1b[34m/home/user/src/crate-{n}\x1b[0m)\r\n",
                    n % 9,
                    n % 7
                )
            }),
            4096,
        ),
        (
            "c dense cells",
            fill(&|n| format!("\x1b[{};{}H\x1b[38;5;{}m#", n * 7 % 50 + 1, n * 13 % 200 + 1, n % 256)),
            4096,
        ),
        ("c2 lines of y", fill(&|_| "y\r\n".to_owned()), 512),
        ("d unicode", fill(&|n| format!("zeile {n}: größe 大きさ 변경 ✓ naïve → ok {}\r\n", n * 31)), 4096),
        (
            "e screen motion",
            fill(&|n| {
                format!(
                    "\x1b[{};1H\x1b[K\x1b[7m{n:>5}\x1b[27m \x1b[1mname\x1b[22m \x1b[3{}mstate {}\x1b[39m",
                    n % 50 + 1,
                    n % 8,
                    n * 17
                )
            }),
            4096,
        ),
    ]
}

fn vt100(size: Size, bytes: &[u8], piece: usize) -> f64 {
    let mut screen = Vt100::new(size);
    time(bytes, piece, |piece| screen.feed(piece))
}

fn terminal(size: Size, bytes: &[u8], piece: usize) -> f64 {
    let mut terminal = Terminal::new(size, Origin::Tty);
    time(bytes, piece, |piece| drop(black_box(terminal.feed(piece))))
}

fn time(bytes: &[u8], piece: usize, feed: impl FnMut(&[u8])) -> f64 {
    let started = cpu_time();
    bytes.chunks(piece).for_each(feed);
    cpu_time() - started
}

/// Seconds this thread has run: on a busy machine the clock on the wall counts the others as well.
fn cpu_time() -> f64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

/// Transcripts, against bare vt100 on the same bytes.
fn texts(size: Size) {
    println!("\ntranscripts, ratio to vt100");
    for (name, bytes, _) in payloads() {
        let mut times = [const { Vec::new() }; 2];
        for _ in 0..RUNS {
            times[0].push(vt100(size, &bytes, 256 * 1024));
            let started = cpu_time();
            black_box(clean(&bytes, Origin::Tty, size));
            times[1].push(cpu_time() - started);
        }
        let [bare, text] = times.map(median);
        println!("{name:<16} {:>12.2}", bare / text);
    }
}

fn history(size: Size) {
    let line =
        |n: usize| format!("line {n} of a log that is long enough to be looked back in, some words more\r\n");
    let log: Vec<u8> = (0..1_300_000).flat_map(|n| line(n).into_bytes()).collect();
    let mut marks = Vec::new();
    let (mut lines, step) = (0, 64 * 1024);
    for (at, block) in log.chunks(step).enumerate() {
        let kind = MarkKind::Chunk(Stream::Tty);
        marks.push(Mark { offset: (at * step) as u64, line: lines, at_ms: 0, kind });
        lines += block.iter().filter(|byte| **byte == b'\n').count() as u64;
    }
    let history = History::new(&log[..], &marks, Origin::Tty, size);
    let started = Instant::now();
    for page in 0..20 {
        black_box(history.page(page * 60_000, size)).expect("memory can be read");
    }
    println!("\nhistory of {} MiB: a page {:.2} ms", log.len() >> 20, started.elapsed().as_secs_f64() * 50.0);
    let started = Instant::now();
    assert!(history.search("not in there", 0, true).expect("memory can be read").is_none());
    println!("search through all of it {:.0} ms", started.elapsed().as_secs_f64() * 1e3);
}

/// What a pane of another width costs a frame, against what its own screen costs, and against the 16 ms of a frame.
fn reflow(size: Size) {
    println!("\na screen for a frame: its own, and at 97 columns");
    for (name, bytes, _) in payloads().into_iter().take(2) {
        let long: Vec<u8> = bytes.iter().copied().filter(|byte| !matches!(byte, b'\r' | b'\n')).collect();
        let long: Vec<u8> = long.chunks(1500).flat_map(|line| [line, b"\r\n"].concat()).collect();
        for (name, bytes) in [(name.to_owned(), bytes), (format!("{name}, long lines"), long)] {
            let mut terminal = Terminal::kept(size, Origin::Tty);
            bytes.chunks(4096).for_each(|piece| drop(terminal.feed(piece)));
            let (mut own, mut other) = (Vec::new(), Vec::new());
            for _ in 0..101 {
                let started = cpu_time();
                black_box(Contents::of(&terminal));
                own.push(cpu_time() - started);
                let started = cpu_time();
                black_box(terminal.excerpt(97).expect("it can be").draw());
                other.push(cpu_time() - started);
            }
            let longest = other.iter().copied().fold(0.0, f64::max) * 1e3;
            let [own, other] = [own, other].map(|times| median(times) * 1e3);
            let verdict = if longest <= 16.0 { "met" } else { "MISSED" };
            println!("{name:<24} {own:>8.3} {other:>8.3} ms, longest {longest:.3} (limit 16) {verdict}");
        }
    }
}

/// Resident memory of a terminal full of output, from what fifty of them add.
fn memory(size: Size) {
    let resident = || -> Option<f64> {
        let statm = std::fs::read_to_string("/proc/self/statm").ok()?;
        let pages: f64 = statm.split(' ').nth(1)?.parse().ok()?;
        Some(pages * 4.0 / 1024.0)
    };
    let output: Vec<u8> = payloads().swap_remove(0).1;
    let before = resident();
    let terminals: Vec<_> = (0..50)
        .map(|_| {
            let mut terminal = Terminal::new(size, Origin::Tty);
            terminal.feed(&output[..200_000]);
            terminal.feed(b"\x1b[?1049hfull screen");
            terminal
        })
        .collect();
    if let (Some(before), Some(after)) = (before, resident()) {
        println!(
            "\nmemory of a terminal with scrollback and alternate screen {:.2} MiB",
            (after - before) / 50.0
        );
    }
    black_box(terminals);
}
