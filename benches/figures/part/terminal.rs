//! How fast output gets onto a screen, as ratios to bare vt100 with the same bytes: megabytes per second say more
//! about the machine than about the code.

use std::hint::black_box;

use pilothouse::terminal::{ByteOrigin, Contents, Size, Terminal, Vt100, clean};

use super::payloads::{Payload, payloads};
use super::thread_time;
use crate::report::{self, Target, median};

const RUNS: usize = 7;
/// The size of the chunks that a flood is fed in.
const WHOLE: usize = 256 * 1024;
/// The width of a pane beside another one, and how often it is drawn.
const NARROW: u16 = 40;
const DRAWN: usize = 101;
/// How many lines are joined into a long one: about 1,500 characters.
const JOINED: usize = 14;

pub(crate) fn run() {
    let (size, payloads) = (Size::nearest(200, 50), payloads());
    report::head("a 200x50 screen, 4 MiB a payload: times as fast as vt100");
    payloads.iter().for_each(|payload| screen(size, payload));
    report::head("a transcript of the same payloads: times as fast as vt100");
    payloads.iter().for_each(|payload| transcript(size, payload));
    report::head("what a pane of 40 columns costs a frame, its program at 200");
    payloads.iter().take(2).for_each(|payload| reflow(size, payload));
    memory(size, &payloads[0].bytes);
}

fn screen(size: Size, payload: &Payload) {
    let (bytes, piece) = (&payload.bytes, payload.piece);
    let mut times = [const { Vec::new() }; 4];
    for _ in 0..RUNS {
        times[0].push(vt100(size, bytes, WHOLE));
        times[1].push(terminal(size, bytes, WHOLE));
        times[2].push(vt100(size, bytes, piece));
        times[3].push(terminal(size, bytes, piece));
    }
    let [bare, whole, bare_pieces, pieces] = times.map(|times| median(&times));
    let name = payload.name;
    report::line(&format!("{name}: vt100"), bytes.len() as f64 / bare / 1e6, "MB/s", Target::None);
    report::line(&format!("{name}: in 256 KiB, lines may be skipped"), bare / whole, "x", Target::None);
    let small = format!("{name}: in small pieces, nothing is skipped");
    report::line(&small, bare_pieces / pieces, "x", Target::AtLeast(1.0));
}

fn vt100(size: Size, bytes: &[u8], piece: usize) -> f64 {
    let mut screen = Vt100::new(size);
    thread_time(|| bytes.chunks(piece).for_each(|piece| screen.feed(piece)))
}

fn terminal(size: Size, bytes: &[u8], piece: usize) -> f64 {
    let mut terminal = Terminal::new(size, ByteOrigin::Tty);
    thread_time(|| bytes.chunks(piece).for_each(|piece| drop(black_box(terminal.feed(piece)))))
}

fn transcript(size: Size, payload: &Payload) {
    let mut times = [const { Vec::new() }; 2];
    for _ in 0..RUNS {
        times[0].push(vt100(size, &payload.bytes, WHOLE));
        times[1].push(thread_time(|| drop(black_box(clean(&payload.bytes, ByteOrigin::Tty, size)))));
    }
    let [bare, text] = times.map(|times| median(&times));
    report::line(payload.name, bare / text, "x", Target::None);
}

/// What a pane of another width costs per frame, compared with a pane of the screen's own width.
fn reflow(size: Size, payload: &Payload) {
    // Only whole lines are joined: a sequence cut in two would be another payload.
    let long: Vec<u8> = payload
        .bytes
        .split(|byte| *byte == b'\n')
        .enumerate()
        .flat_map(|(at, line)| {
            let end: &[u8] = if at % JOINED == JOINED - 1 { b"\r\n" } else { b"" };
            [line.strip_suffix(b"\r").unwrap_or(line), end].concat()
        })
        .collect();
    for (lines, bytes) in [("its lines", &payload.bytes), ("14 lines as one", &long)] {
        let mut terminal = Terminal::with_recent(size, ByteOrigin::Tty);
        bytes.chunks(4096).for_each(|piece| drop(terminal.feed(piece)));
        let (mut own, mut other) = (Vec::new(), Vec::new());
        for _ in 0..DRAWN {
            own.push(1e3 * thread_time(|| drop(black_box(Contents::of(&terminal)))));
            let narrow = || drop(black_box(terminal.excerpt(NARROW).expect("lines longer than that").draw()));
            other.push(1e3 * thread_time(narrow));
        }
        let name = payload.name;
        report::line(&format!("{name}, {lines}: its own screen, p50"), median(&own), "ms", Target::None);
        report::line(&format!("{name}, {lines}: at 40 columns, p50"), median(&other), "ms", Target::None);
        let longest = other.iter().copied().fold(0.0, f64::max);
        report::line(&format!("{name}, {lines}: longest"), longest, "ms", Target::AtMost(16.0));
    }
}

/// Resident memory of a terminal full of output, measured by adding fifty of them.
fn memory(size: Size, output: &[u8]) {
    const TERMINALS: usize = 50;
    report::head("memory of a terminal, its scrollback and both screens full");
    let own = || crate::live::proc::resident(std::process::id());
    let before = own();
    let terminals: Vec<_> = (0..TERMINALS)
        .map(|_| {
            let mut terminal = Terminal::new(size, ByteOrigin::Tty);
            terminal.feed(&output[..200_000]);
            terminal.feed(b"\x1b[?1049hfull screen");
            terminal
        })
        .collect();
    report::line("each", (own() - before) / TERMINALS as f64, "MiB", Target::AtMost(2.5));
    black_box(terminals);
}
