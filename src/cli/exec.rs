//! `pilothouse exec`: runs a stream of commands, from standard input or a file to standard output.

use std::io::{self, IsTerminal};
use std::process::ExitCode;
use std::sync::Arc;

use color_eyre::eyre::{Result, WrapErr};

use super::answer::{self, Form};
use super::args::TypedCommand;
use super::env::ProcessHost;
use super::print;
use super::run::input;
use super::signals::EndSignals;
use super::stdout::StdoutLines;
use crate::dispatch::exec::{
    ExecInput, Feed, STDIN_BYTES_VARIABLE, StreamEnd, StreamOptions, run as run_stream, stdin_limit,
};
use crate::dispatch::{Code, CommandContext, Failure, Host, Response, cut_short};
use crate::tools::CutReason;

/// Runs the stream.
pub(super) async fn run(env: Arc<ProcessHost>, typed: TypedCommand<'_>) -> Result<ExitCode> {
    let mut ending = EndSignals::listen()?;
    let prepared = tokio::select! {
        prepared = prepare(&env, typed) => prepared,
        signal = ending.wait() => Err(cut_short(CutReason::Signal(signal))),
    };
    let (options, mut feed) = match prepared {
        Ok(prepared) => prepared,
        Err(failure) => return Ok(unusable(failure)),
    };
    let mut cx = CommandContext::new(env.clone());
    let mut out = StdoutLines::new();
    let ended = run_stream(&mut cx, &options, &mut feed, &mut out, ending.wait()).await;
    drop(cx);
    env.close().await;
    let StreamEnd { code, why } = ended.wrap_err("write to standard output")?;
    if let Some(why) = why {
        // Anyone who sees this exit code reads the reason there.
        let _ = print::say(why);
    }
    Ok(ExitCode::from(code))
}

async fn prepare(env: &ProcessHost, typed: TypedCommand<'_>) -> Result<(StreamOptions, Feed), Failure> {
    let given = input(typed)?;
    typed.command.check(given.clone())?;
    let input: ExecInput = serde_json::from_value(given).map_err(|error| Failure::internal(&error))?;
    let feed = match input.input_file.as_deref() {
        None | Some("-") => drained(env).await?,
        Some(path) => Feed::open(path).await?,
    };
    Ok((StreamOptions { input, flags: typed.flags()? }, feed))
}

async fn drained(env: &ProcessHost) -> Result<Feed, Failure> {
    let limit = env.variable(STDIN_BYTES_VARIABLE);
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
    let line = failure.line();
    let is_said = failure.exit_code() == 2;
    let code = answer::print(&Response::failure(failure), Form::Jsonl);
    if !is_said {
        let _ = print::say(line);
    }
    code
}
