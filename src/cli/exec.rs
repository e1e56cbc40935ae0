//! `pilothouse exec`: the stream of commands, from standard input or a file to standard output.

use std::io::{self, IsTerminal};
use std::process::ExitCode;
use std::sync::Arc;

use color_eyre::eyre::{Result, WrapErr};

use super::answer::{self, Form};
use super::args::{OUTPUT, Typed};
use super::outside::Outside;
use super::signals::Ending;
use super::stdout::Lines;
use super::{one, print};
use crate::dispatch::exec::{Feed, Options, run as run_stream, stdin_limit};
use crate::dispatch::owned::ExecInput;
use crate::dispatch::{Code, Context, Failure, Host, Response, STDIN_BYTES_VARIABLE};

/// Runs the stream.
pub(super) async fn run(outside: Arc<Outside>, typed: Typed<'_>) -> Result<ExitCode> {
    let mut ending = Ending::listen()?;
    let prepared = tokio::select! {
        prepared = prepare(&outside, typed) => prepared,
        signal = ending.wait() => Err(one::cancelled(signal)),
    };
    let (options, mut feed) = match prepared {
        Ok(prepared) => prepared,
        Err(failure) => return Ok(unusable(failure)),
    };
    let mut cx = Context::new(outside.clone());
    let cancelled = async { one::cancelled(ending.wait().await) };
    let mut out = Lines::new();
    let ended = run_stream(&mut cx, &options, &mut feed, &mut out, cancelled).await;
    drop(cx);
    outside.close().await;
    ended.map(ExitCode::from).wrap_err("write to standard output")
}

async fn prepare(outside: &Outside, typed: Typed<'_>) -> Result<(Options, Feed), Failure> {
    let form = typed.args.get_one::<String>(OUTPUT).map(String::as_str);
    if let Some(other @ ("table" | "plain")) = form {
        let message = format!("exec answers line by line: --output {other} has no such form.");
        return Err(Failure::new(Code::ArgError, message).with("opt", OUTPUT).fix("leave --output out"));
    }
    let given = one::input(typed)?;
    typed.command.check(given.clone())?;
    let input: ExecInput = serde_json::from_value(given).map_err(|error| Failure::internal(&error))?;
    let feed = match input.input_file.as_deref() {
        None | Some("-") => drained(outside).await?,
        Some(path) => Feed::open(path).await?,
    };
    Ok((Options { input, flags: typed.flags()? }, feed))
}

async fn drained(outside: &Outside) -> Result<Feed, Failure> {
    let limit = outside.variable(STDIN_BYTES_VARIABLE);
    let limit = stdin_limit(limit.map(|given| given.to_string_lossy().into_owned()).as_deref())?;
    if io::stdin().is_terminal() {
        return Err(Failure::new(
            Code::StdinIsTty,
            "Standard input is a terminal, and no stream is piped into it.",
        )
        .fix("pipe the lines in, or pass --input-file"));
    }
    Feed::drain(tokio::io::stdin(), limit).await
}

/// Answers a stream that cannot be run at all: one envelope, and one line for a person.
fn unusable(failure: Failure) -> ExitCode {
    let line = failure.text().lines().next().unwrap_or_default().to_owned();
    let code = answer::print(&Response::failure(failure), Form::Jsonl);
    let _ = print::say(line);
    code
}
