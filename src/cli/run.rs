//! A single command, from its arguments to its answer.

use std::io::Read;
use std::process::ExitCode;
use std::sync::Arc;

use color_eyre::eyre::Result;
use serde_json::Value;

use super::answer::{self, Form};
use super::args::TypedCommand;
use super::child::Child;
use super::env::ProcessHost;
use super::fields::{self, InputSource};
use super::print;
use super::signals::EndSignals;
use crate::dispatch::{self, Code, CommandContext, Failure, Host, Response};
use crate::files::{self, Links};

/// The maximum size of input read from standard input or a file, in bytes.
const MAX_INPUT: u64 = 1 << 20;

/// Runs a command and prints its answer.
pub(super) async fn run(env: Arc<ProcessHost>, typed: TypedCommand<'_>) -> Result<ExitCode> {
    let mut ending = EndSignals::listen()?;
    if let Some(child) = Child::of(typed) {
        return child.run(env, typed, &mut ending).await;
    }
    let response = answer(env.clone(), typed, ending.wait()).await;
    let code = answer::print(&response, Form::of(typed, print::is_terminal()));
    env.close().await;
    Ok(code)
}

/// Runs a command where `host` is; `signal` ends it.
pub async fn answer(
    host: Arc<dyn Host>,
    typed: TypedCommand<'_>,
    signal: impl Future<Output = u8>,
) -> Response {
    let asked = input(typed).and_then(|input| Ok((input, typed.flags()?)));
    match asked {
        Ok((input, flags)) => {
            dispatch::run(&mut CommandContext::new(host), typed.command, input, &flags, signal).await
        }
        Err(failure) => {
            let mut response = Response::failure(failure);
            response.meta.cmd = Some(typed.command.path.clone());
            response
        }
    }
}

/// Returns the input that was typed.
///
/// # Errors
/// When it cannot be read.
pub fn input(typed: TypedCommand<'_>) -> Result<Value, Failure> {
    fields::input(typed.command.input_schema(), typed.args, read).map_err(|error| {
        let source = std::error::Error::source(&error).map(ToString::to_string).unwrap_or_default();
        let code = match error {
            fields::FieldsError::Twice { .. } => Code::ArgConflict,
            fields::FieldsError::Read { .. }
            | fields::FieldsError::Json { .. }
            | fields::FieldsError::NoObject => Code::ArgError,
        };
        Failure::new(code, error.to_string()).detail(source).with("opt", "input")
    })
}

fn read(source: &InputSource) -> std::io::Result<String> {
    match source {
        InputSource::Stdin => {
            let mut text = String::new();
            std::io::stdin().lock().take(MAX_INPUT).read_to_string(&mut text)?;
            Ok(text)
        }
        InputSource::File(path) => files::read_text(path.as_ref(), Links::Within, MAX_INPUT),
    }
}
