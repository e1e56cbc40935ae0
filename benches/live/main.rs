//! The built program under load, in a terminal as a person has it: what it costs and how long it takes.
//!
//! `cargo bench --bench live -- drain echo` runs these two; without names all run. Numbers in seconds say more
//! about the machine than about the program: what counts are ratios and limits, measured inside one run.
#![expect(clippy::print_stdout, reason = "the report is the purpose")]
#![expect(
    clippy::disallowed_methods,
    reason = "a benchmark measures time, and waits for programs it does not own"
)]

mod batch;
mod drain;
mod echo;
mod exec;
mod frame;
mod house;
mod idle;
mod memory;
mod proc;
mod prose;
mod report;
mod spawn;
mod start;
mod tty;

use std::process::ExitCode;

const PARTS: [(&str, fn()); 10] = [
    ("start", start::run),
    ("spawn", spawn::run),
    ("batch", batch::run),
    ("drain", drain::run),
    ("exec", exec::run),
    ("prose", prose::run),
    ("echo", echo::run),
    ("frame", frame::run),
    ("memory", memory::run),
    ("idle", idle::run),
];

fn main() -> ExitCode {
    // cargo adds `--bench`.
    let asked: Vec<String> = std::env::args().skip(1).filter(|arg| arg != "--bench").collect();
    if let Some(unknown) = asked.iter().find(|name| PARTS.iter().all(|(known, _)| known != name)) {
        println!("no part is called {unknown}; there are {:?}", PARTS.map(|(name, _)| name));
        return ExitCode::FAILURE;
    }
    for (name, run) in PARTS {
        if asked.is_empty() || asked.iter().any(|other| other == name) {
            run();
        }
    }
    ExitCode::SUCCESS
}
