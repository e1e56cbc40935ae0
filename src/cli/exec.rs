//! `pilothouse exec`: runs a stream of commands, from standard input or a file to standard output.

use std::io::{self, IsTerminal};
use std::process::ExitCode;
use std::sync::Arc;

use color_eyre::eyre::{Result, WrapErr};
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt as _};

use super::args::TypedCommand;
use super::env::ProcessHost;
use super::print;
use super::run::input;
use super::signals::EndSignals;
use super::stdout::StdoutLines;
use crate::dispatch::exec::{
    ExecInput, Feed, OUTPUT_CLOSED, STDIN_BYTES_VARIABLE, StreamEnd, StreamOptions, run as run_stream,
    stdin_limit,
};
use crate::dispatch::{Code, CommandContext, Failure, Host, Response, cut_short};
use crate::envelope::SafeText;
use crate::process::is_gone;
use crate::tools::CutReason;

/// Runs the stream.
pub(super) async fn run(env: Arc<ProcessHost>, typed: TypedCommand<'_>) -> Result<ExitCode> {
    let mut ending = EndSignals::listen()?;
    let lines = (!io::stdin().is_terminal()).then(tokio::io::stdin);
    let ended = stream(env.clone(), typed, lines, &mut StdoutLines::new(), ending.wait()).await;
    env.close().await;
    let StreamEnd { code, why } = ended.wrap_err("write to standard output")?;
    if let Some(why) = why {
        // Anyone who sees this exit code reads the reason there.
        let _ = print::say(why);
    }
    Ok(ExitCode::from(code))
}

/// Runs the stream where `host` is, from standard input (`None` if that is a terminal) to `out`; `signal` ends it.
///
/// # Errors
/// When an answer cannot be written, except because the reader is gone.
pub async fn stream(
    host: Arc<dyn Host>,
    typed: TypedCommand<'_>,
    lines: Option<impl AsyncRead + Unpin>,
    out: &mut (impl AsyncWrite + Unpin),
    signal: impl Future<Output = u8>,
) -> io::Result<StreamEnd> {
    tokio::pin!(signal);
    let prepared = tokio::select! {
        prepared = prepare(&*host, typed, lines) => prepared,
        signal = &mut signal => Err(cut_short(CutReason::Signal(signal))),
    };
    match prepared {
        Ok((options, mut feed)) => {
            run_stream(&mut CommandContext::new(host), &options, &mut feed, out, signal).await
        }
        Err(failure) => refuse(failure, out).await,
    }
}

async fn prepare(
    host: &dyn Host,
    typed: TypedCommand<'_>,
    lines: Option<impl AsyncRead + Unpin>,
) -> Result<(StreamOptions, Feed), Failure> {
    let given = input(typed)?;
    typed.command.check(given.clone())?;
    let input: ExecInput = serde_json::from_value(given).map_err(|error| Failure::internal(&error))?;
    let feed = match input.input_file.as_deref() {
        None | Some("-") => drain(host, lines).await?,
        Some(path) => Feed::open(path).await?,
    };
    Ok((StreamOptions { input, flags: typed.flags()? }, feed))
}

async fn drain(host: &dyn Host, lines: Option<impl AsyncRead + Unpin>) -> Result<Feed, Failure> {
    let limit = host.variable(STDIN_BYTES_VARIABLE);
    let limit = stdin_limit(limit.map(|given| given.to_string_lossy().into_owned()).as_deref())?;
    let lines = lines.ok_or_else(|| {
        Failure::new(Code::StdinIsTty, "Standard input is a terminal, and no stream is piped into it.")
            .fix("pipe the lines in, or pass --input-file")
    })?;
    Feed::drain(lines, limit).await
}

/// Answers a stream that cannot be run at all: one envelope, and one line for a person.
async fn refuse(failure: Failure, out: &mut (impl AsyncWrite + Unpin)) -> io::Result<StreamEnd> {
    let (code, why) = (failure.exit_code(), Some(failure.line()));
    let line = format!("{}\n", SafeText::json(&Response::failure(failure).to_value())?);
    let written = match out.write_all(line.as_bytes()).await {
        Ok(()) => out.flush().await,
        failed => failed,
    };
    match written {
        Err(error) if is_gone(&error) => Ok(StreamEnd { code: OUTPUT_CLOSED, why: None }),
        written => written.map(|()| StreamEnd { code, why }),
    }
}
