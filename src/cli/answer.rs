//! Printing of answers, for a program or for a person. Data goes to standard output, everything else to standard
//! error.

use std::io;
use std::process::ExitCode;

use super::args::{self, TypedCommand};
use super::print;
use crate::dispatch::exec::OUTPUT_CLOSED;
use crate::dispatch::{COMMANDS, Response, is_data, own_form, table};
use crate::envelope::SafeText;
use crate::process::is_gone;

/// An output format of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// The five keys; pretty-printed on a terminal.
    Json,
    /// The five keys on one line.
    Jsonl,
    /// The data as a table.
    Table,
    /// The data as text.
    Plain,
    /// A format that only some commands have.
    Own(&'static str),
}

impl Form {
    /// Returns the requested format, or the default.
    pub(super) fn of(typed: TypedCommand<'_>) -> Self {
        match typed.args.get_one::<String>(args::OUTPUT).map(String::as_str) {
            Some("json") => Self::Json,
            Some("jsonl") => Self::Jsonl,
            Some("table") => Self::Table,
            Some("plain") => Self::Plain,
            // What a person reads, under the name that linters use for it.
            Some("human") => Self::Plain,
            Some(own) => {
                let forms = COMMANDS.iter().flat_map(|command| command.forms);
                forms.copied().find(|form| *form == own).map_or_else(Self::usual, Self::Own)
            }
            None if typed.is_pasted() => Self::Plain,
            None => Self::usual(),
        }
    }

    /// Returns the default format: plain on a terminal, else JSON.
    pub(super) fn usual() -> Self {
        if print::is_terminal() { Self::Plain } else { Self::Json }
    }
}

/// Prints an answer and returns the program's exit code.
pub(super) fn print(response: &Response, form: Form) -> ExitCode {
    match write(response, form) {
        // The reader has read enough and closed the pipe: print nothing more, anywhere.
        Err(error) if is_gone(&error) => ExitCode::from(OUTPUT_CLOSED),
        Err(error) => {
            let _ = print::say(format_args!("write to standard output: {error}"));
            ExitCode::FAILURE
        }
        Ok(()) => ExitCode::from(response.exit_code()),
    }
}

fn write(response: &Response, form: Form) -> io::Result<()> {
    let cmd = response.meta.cmd.as_deref().unwrap_or_default();
    let own = |name| own_form(cmd, name, response.data());
    let has_data = !response.data().is_null();
    let is_json = matches!(form, Form::Json | Form::Jsonl);
    let text = match form {
        Form::Json if print::is_terminal() => SafeText::json_lines(&response.to_value())?,
        Form::Json | Form::Jsonl => SafeText::json(&response.to_value())?,
        Form::Plain if has_data && is_data(cmd) => {
            print::data(&response.text)?;
            SafeText::default()
        }
        Form::Own(name) => SafeText::lines(&own(name).unwrap_or_default()),
        Form::Table if has_data => SafeText::lines(&own("table").unwrap_or_else(|| table(response.data()))),
        Form::Plain if has_data => SafeText::lines(&response.text),
        Form::Table | Form::Plain => SafeText::default(),
    };
    print::out(&text)?;
    match &response.outcome {
        // Anyone who sees this exit code reads the reason there: one plain line.
        Err(failure) if is_json && failure.exit_code() == 2 => print::say(failure.line()),
        _ if is_json => Ok(()),
        _ => aside(response),
    }
}

/// Prints everything that is not data to standard error: warnings, and the reason for a failure.
fn aside(response: &Response) -> io::Result<()> {
    response.warnings.iter().try_for_each(print::say)?;
    match &response.outcome {
        Err(failure) if response.data().is_null() => print::say(failure.text()),
        _ => Ok(()),
    }
}
