//! How fast programs are read: megabytes a second and, since that says more about the machine than about the
//! code, the ratio to checking the same bytes for UTF-8. Twice the text must take twice the time.
#![expect(clippy::print_stdout, reason = "the report is the purpose")]
#![expect(clippy::disallowed_methods, reason = "a benchmark measures time")]

use std::hint::black_box;
use std::time::Instant;

use pilothouse::prose::{Profile, Source, check, format, parse};

/// Writes the piece of a program that has a number.
type Piece = fn(usize) -> String;

const RUNS: usize = 9;
const SIZES: [usize; 3] = [64 << 10, 1 << 20, 4 << 20];

fn main() {
    println!("median of {RUNS} runs; ratios to the UTF-8 check of the same bytes");
    println!(
        "{:<12} {:>8} {:>12} {:>12} {:>12} {:>14}",
        "text", "KiB", "parse MB/s", "check MB/s", "format MB/s", "parse ratio"
    );
    for (name, line) in kinds() {
        for size in SIZES {
            row(name, &text(line, size));
        }
    }
}

/// Programs of one kind each: what varies is what the time goes into.
fn kinds() -> [(&'static str, Piece); 4] {
    [
        ("commands", |n| format!("let v{n} = exec \"make part-{n} && echo done\"\n  timeout: \"5m\"\n")),
        ("nested", |n| {
            format!(
                "if **the part {n} is still missing**:\n  for x in [\"a\", \"b\"]:\n    exec \"touch {{x}}-{n}\"\n"
            )
        }),
        ("prompts", |n| {
            let words = "look at what was built and say what is still missing ".repeat(20);
            format!("session \"\"\"\nPart {n}: {words}\n\"\"\"\n")
        }),
        ("errors", |n| format!("exec v{n}\nlet = \"{n}\nsesion \"x\"\n  on-fail: 3\n")),
    ]
}

fn text(line: Piece, size: usize) -> String {
    let mut text = String::with_capacity(size + 2_000);
    for n in 0.. {
        if text.len() >= size {
            break;
        }
        text.push_str(&line(n));
    }
    text
}

fn row(name: &str, text: &str) {
    let source = Source::new("bench.prose", text).expect("within the limit");
    let utf8 = median(|| black_box(std::str::from_utf8(black_box(text.as_bytes()))).is_ok());
    let parsed = median(|| black_box(parse(&source, Profile::Compat)).unlisted > 0);
    let checked = median(|| black_box(check(&source, Profile::Compat)).unlisted > 0);
    let formatted = median(|| black_box(format(&source)).is_ok());
    let rate = |seconds: f64| text.len() as f64 / seconds / 1e6;
    println!(
        "{name:<12} {:>8} {:>12.0} {:>12.0} {:>12.0} {:>14.0}",
        text.len() >> 10,
        rate(parsed),
        rate(checked),
        rate(formatted),
        parsed / utf8,
    );
}

fn median(mut run: impl FnMut() -> bool) -> f64 {
    let mut times: Vec<f64> = (0..RUNS)
        .map(|_| {
            let start = Instant::now();
            black_box(run());
            start.elapsed().as_secs_f64()
        })
        .collect();
    times.sort_by(f64::total_cmp);
    times[RUNS / 2]
}
