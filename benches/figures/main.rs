//! Every figure of the program, beside its limit or a comparison, measured in one run.
//!
//! `cargo bench` runs all parts; `cargo bench -- drain echo` only these two; `--list` names them. `--runs 3`
//! repeats everything and shows all values, `--json FILE` saves the raw numbers with a description of the machine,
//! `--markdown FILE` writes the tables into a document, each part into its own place. Figures in seconds say more about
//! the machine than about the program: what matters are ratios and limits, measured within one run.
#![expect(clippy::print_stdout, reason = "the report is the purpose")]
#![expect(
    clippy::disallowed_methods,
    reason = "a benchmark measures time, and waits for programs it does not own"
)]

mod arguments;
mod folder;
mod live;
mod machine;
mod part;
mod report;
mod tables;

use std::process::ExitCode;

use arguments::Arguments;
use machine::Machine;
use tables::Tables;

/// A part: its name on the command line, and the function that it runs.
type Part = (&'static str, fn());

const PARTS: [Part; 23] = [
    ("start", live::start::run),
    ("many", live::many::run),
    ("attach", live::attach::run),
    ("process", live::process::run),
    ("list", live::list::run),
    ("spawn", live::spawn::run),
    ("batch", live::batch::run),
    ("drain", live::drain::run),
    ("exec", live::exec::run),
    ("shell", live::shell::run),
    ("prose", live::prose::run),
    ("echo", live::echo::run),
    ("frame", live::frame::run),
    ("memory", live::memory::run),
    ("idle", live::idle::run),
    ("fleet", live::fleet::run),
    ("far", live::far::run),
    ("terminal", part::terminal::run),
    ("history", part::history::run),
    ("parse", part::parse::run),
    ("paste", part::paste::run),
    ("envelope", part::envelope::run),
    ("journal", part::journal::run),
];

fn main() -> ExitCode {
    let arguments = match Arguments::parse(std::env::args().skip(1), PARTS.map(|(name, _)| name).as_slice()) {
        Ok(arguments) => arguments,
        Err(message) => {
            println!("{message}");
            return ExitCode::FAILURE;
        }
    };
    if arguments.list {
        PARTS.iter().for_each(|(name, _)| println!("{name}"));
        return ExitCode::SUCCESS;
    }
    let machine = Machine::look();
    println!("{}", machine.in_words());
    for run in 1..=arguments.runs {
        if arguments.runs > 1 {
            println!("\n== run {run} of {}", arguments.runs);
        }
        for (name, run_part) in PARTS.iter().filter(|(name, _)| arguments.wants(name)) {
            report::part(name);
            run_part();
        }
    }
    folder::remove_all();
    match write(&arguments, &machine) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            println!("the report could not be written: {error}");
            ExitCode::FAILURE
        }
    }
}

fn write(arguments: &Arguments, machine: &Machine) -> std::io::Result<()> {
    let tables = Tables { machine, runs: arguments.runs, figures: &report::figures() };
    if arguments.runs > 1 {
        println!("\n{}", tables.markdown());
    }
    if let Some(file) = &arguments.json {
        std::fs::write(file, tables.json())?;
    }
    if let Some(file) = &arguments.markdown {
        let document = std::fs::read_to_string(file)?;
        std::fs::write(file, tables.placed(&document).map_err(std::io::Error::other)?)?;
    }
    Ok(())
}
