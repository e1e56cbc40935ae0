//! How an answer is printed: for a program or for a person. Standard output carries data, standard
//! error the rest.

use std::io::{self, IsTerminal, Write};
use std::process::ExitCode;

use clap::ArgMatches;

use super::args;
use crate::dispatch::exec::OUTPUT_CLOSED;
use crate::dispatch::{COMMANDS, Response, own_form, table};

/// A form of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// The five keys; over several lines on a terminal.
    Json,
    /// The five keys on one line.
    Jsonl,
    /// The data in columns.
    Table,
    /// The data as text.
    Plain,
    /// A form that only some commands have.
    Own(&'static str),
}

impl Form {
    /// Returns the form that was asked for, else the usual one.
    pub(super) fn of(args: &ArgMatches) -> Self {
        match args.get_one::<String>(args::OUTPUT).map(String::as_str) {
            Some("json") => Self::Json,
            Some("jsonl") => Self::Jsonl,
            Some("table") => Self::Table,
            Some("plain") => Self::Plain,
            // What a person reads, by the name that checkers of programs give it.
            Some("human") => Self::Plain,
            Some(own) => {
                let forms = COMMANDS.iter().flat_map(|command| command.forms);
                forms.copied().find(|form| *form == own).map_or_else(Self::usual, Self::Own)
            }
            None => Self::usual(),
        }
    }

    /// Returns the form for whoever reads standard output.
    pub(super) fn usual() -> Self {
        if io::stdout().is_terminal() { Self::Plain } else { Self::Json }
    }
}

/// Prints an answer and returns the exit code it ends the program with.
pub(super) fn print(response: &Response, form: Form) -> ExitCode {
    match write(response, form) {
        // Whoever read enough has closed the pipe: not another word, anywhere.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::from(OUTPUT_CLOSED),
        Err(error) => {
            let _ = writeln!(io::stderr(), "pilothouse: write to standard output: {error}");
            ExitCode::FAILURE
        }
        Ok(()) => ExitCode::from(response.exit_code()),
    }
}

fn write(response: &Response, form: Form) -> io::Result<()> {
    let value = response.to_value();
    let own = |name| own_form(response.meta.cmd.as_deref().unwrap_or_default(), name, response.data());
    let text = match form {
        Form::Json if io::stdout().is_terminal() => format!("{value:#}"),
        Form::Json | Form::Jsonl => value.to_string(),
        Form::Own(name) => own(name).unwrap_or_default(),
        Form::Table if !response.data().is_null() => own("table").unwrap_or_else(|| table(response.data())),
        Form::Plain if !response.data().is_null() => response.text.clone(),
        Form::Table | Form::Plain => String::new(),
    };
    let mut out = io::stdout().lock();
    if !text.is_empty() {
        writeln!(out, "{}", text.trim_end_matches('\n'))?;
    }
    out.flush()?;
    if matches!(form, Form::Table | Form::Plain | Form::Own(_)) {
        aside(response)?;
    }
    Ok(())
}

/// Tells a person what is no data: why there is none, and what to know all the same.
fn aside(response: &Response) -> io::Result<()> {
    let mut err = io::stderr().lock();
    for warning in &response.warnings {
        writeln!(err, "pilothouse: {warning}")?;
    }
    match &response.outcome {
        Err(failure) if response.data().is_null() => writeln!(err, "pilothouse: {}", failure.text()),
        _ => Ok(()),
    }
}
