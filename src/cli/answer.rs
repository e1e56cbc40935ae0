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
pub enum Form {
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
    /// Returns the requested format, or the default: plain on a terminal, else JSON.
    /// `is_terminal`: a person reads standard output.
    pub fn of(typed: TypedCommand<'_>, is_terminal: bool) -> Self {
        let usual = if is_terminal { Self::Plain } else { Self::Json };
        match typed.args.get_one::<String>(args::OUTPUT).map(String::as_str) {
            Some("json") => Self::Json,
            Some("jsonl") => Self::Jsonl,
            Some("table") => Self::Table,
            Some("plain") => Self::Plain,
            // What a person reads, under the name that linters use for it.
            Some("human") => Self::Plain,
            Some(own) => {
                let forms = COMMANDS.iter().flat_map(|command| command.forms);
                forms.copied().find(|form| *form == own).map_or(usual, Self::Own)
            }
            None if typed.is_pasted() => Self::Plain,
            None => usual,
        }
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

/// What an answer prints.
#[derive(Debug)]
pub struct PrintedAnswer<'a> {
    /// Data for standard output, as it is.
    pub data: &'a str,
    /// Text for standard output.
    pub out: SafeText,
    /// Messages for standard error.
    pub err: Vec<SafeText>,
}

impl<'a> PrintedAnswer<'a> {
    /// Returns what `response` prints. `is_terminal`: a person reads standard output.
    ///
    /// # Errors
    /// When it cannot be serialised.
    pub fn of(response: &'a Response, form: Form, is_terminal: bool) -> io::Result<Self> {
        let cmd = response.meta.cmd.as_deref().unwrap_or_default();
        let own = |name| own_form(cmd, name, response.data());
        let has_data = !response.data().is_null();
        let is_data = form == Form::Plain && has_data && is_data(cmd);
        let out = match form {
            Form::Json if is_terminal => SafeText::json_lines(&response.to_value())?,
            Form::Json | Form::Jsonl => SafeText::json(&response.to_value())?,
            Form::Own(name) => SafeText::lines(&own(name).unwrap_or_default()),
            Form::Table if has_data => {
                SafeText::lines(&own("table").unwrap_or_else(|| table(response.data())))
            }
            Form::Plain if has_data && !is_data => SafeText::lines(&response.text),
            Form::Table | Form::Plain => SafeText::default(),
        };
        let is_json = matches!(form, Form::Json | Form::Jsonl);
        let warnings = response.warnings.iter().filter(|_| !is_json).cloned();
        let reason = response.outcome.as_ref().err().and_then(|failure| match is_json {
            // Anyone who sees this exit code reads the reason there: one plain line.
            true => (failure.exit_code() == 2).then(|| failure.line()),
            false => (!has_data).then(|| failure.text()),
        });
        let err = warnings.chain(reason).map(print::message).collect();
        Ok(Self { data: if is_data { &response.text } else { "" }, out, err })
    }
}

fn write(response: &Response, form: Form) -> io::Result<()> {
    let PrintedAnswer { data, out, err } = PrintedAnswer::of(response, form, print::is_terminal())?;
    print::data(data)?;
    print::out(&out)?;
    err.iter().try_for_each(print::err)
}
