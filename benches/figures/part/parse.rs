//! How fast programs are parsed. Twice the text must take twice the time.

use std::hint::black_box;
use std::time::Instant;

use pilothouse::prose::{Profile, SourceText, check, format, parse};

use crate::report::{self, Target, median};

/// Writes the numbered piece of a program.
type Piece = fn(usize) -> String;

const RUNS: usize = 9;
const SIZES: [usize; 3] = [64 << 10, 1 << 20, 4 << 20];

pub(crate) fn run() {
    for (name, piece, target) in kinds() {
        report::head(&format!("an OpenProse program of {name}"));
        let rates = SIZES.map(|size| sized(piece, size, target));
        let [_, middle, large] = rates;
        report::line("4 MiB beside 1 MiB, a byte", middle / large, "x", Target::AtMost(1.5));
    }
}

/// Kinds of programs that differ in what the time is spent on.
fn kinds() -> [(&'static str, Piece, Target); 4] {
    let fast = Target::AtLeast(60.0);
    [
        (
            "commands",
            |n| format!("let v{n} = exec \"make part-{n} && echo done\"\n  timeout: \"5m\"\n"),
            fast,
        ),
        ("branches in loops", nested, fast),
        ("prompts", prompt, fast),
        // An even number of quotes each: otherwise the size would decide what is text and what is code.
        ("mistakes", |n| format!("exec v{n}\nlet = \"{n}\nsesion x\"\n  on-fail: 3\n"), Target::None),
    ]
}

fn nested(n: usize) -> String {
    format!(
        "if **the part {n} is still missing**:\n  for x in [\"a\", \"b\"]:\n    exec \"touch {{x}}-{n}\"\n"
    )
}

fn prompt(n: usize) -> String {
    let words = "look at what was built and say what is still missing ".repeat(20);
    format!("session \"\"\"\nPart {n}: {words}\n\"\"\"\n")
}

/// Prints the figures for one size; returns the megabytes parsed per second.
fn sized(piece: Piece, size: usize, target: Target) -> f64 {
    let text = text(piece, size);
    let source = SourceText::new("bench.prose", &text).expect("within the limit");
    let rate = |run: &mut dyn FnMut() -> bool| text.len() as f64 / seconds(run) / 1e6;
    let parsed = rate(&mut || black_box(parse(&source, Profile::Compat)).unlisted > 0);
    let checked = rate(&mut || black_box(check(&source, Profile::Compat)).unlisted > 0);
    let formatted = rate(&mut || black_box(format(&source)).is_ok());
    let kib = size >> 10;
    report::line(&format!("{kib} KiB parsed"), parsed, "MB/s", target);
    report::line(&format!("{kib} KiB checked"), checked, "MB/s", Target::None);
    report::line(&format!("{kib} KiB formatted"), formatted, "MB/s", Target::None);
    parsed
}

fn text(piece: Piece, size: usize) -> String {
    let mut text = String::with_capacity(size + 2_000);
    for n in 0.. {
        if text.len() >= size {
            break;
        }
        text.push_str(&piece(n));
    }
    text
}

fn seconds(run: &mut dyn FnMut() -> bool) -> f64 {
    let once = |_| {
        let started = Instant::now();
        black_box(run());
        started.elapsed().as_secs_f64()
    };
    median(&(0..RUNS).map(once).collect::<Vec<_>>())
}
