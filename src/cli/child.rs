//! `command run` for wrappers and hooks: prints the command's raw output instead of an answer (`--raw`), and exits
//! with its exit code (`--exit-code=child`). It waits for the command to end, however long that takes.

use std::process::ExitCode;
use std::sync::Arc;

use color_eyre::eyre::Result;
use serde_json::Value;

use super::answer::{self, Form};
use super::args::TypedCommand;
use super::child_flags::{EXIT_CODE, RAW};
use super::env::ProcessHost;
use super::signals::EndSignals;
use super::{print, run};
use crate::dispatch::exec::OUTPUT_CLOSED;
use crate::dispatch::{self, Code, CommandContext, Failure, Response, RunFlags};
use crate::envelope::TaskId;
use crate::model::Signal;
use crate::process::is_gone;

/// The exit code if the command was not run, following `timeout` and `env`.
const NOT_RUN: u8 = 125;
/// The exit code if the command timed out, following `timeout`.
const OUT_OF_TIME: u8 = 124;

/// How the command is reflected in this process's output and exit code.
#[derive(Debug, Clone, Copy)]
pub(super) struct Child {
    is_raw: bool,
    has_its_code: bool,
}

/// How a command ended.
struct ChildEnd {
    response: Response,
    task: Option<TaskId>,
    /// The signal that ended this process, if any.
    signal: Option<u8>,
}

impl Child {
    /// Returns the requested options, if any were given.
    pub(super) fn of(typed: TypedCommand<'_>) -> Option<Self> {
        let is_raw = matches!(typed.args.try_get_one::<bool>(RAW), Ok(Some(true)));
        let code = typed.args.try_get_one::<String>(EXIT_CODE).ok().flatten();
        let has_its_code = code.is_some_and(|whose| whose == "child");
        let is_told_only = ["dry-run", "schema"].iter().any(|flag| typed.args.get_flag(flag));
        ((is_raw || has_its_code) && !is_told_only).then_some(Self { is_raw, has_its_code })
    }

    /// Runs the command to its end.
    pub(super) async fn run(
        self,
        env: Arc<ProcessHost>,
        typed: TypedCommand<'_>,
        ending: &mut EndSignals,
    ) -> Result<ExitCode> {
        let mut cx = CommandContext::new(env.clone());
        let end = match run::input(typed).and_then(|input| Ok((input, typed.flags()?))) {
            Ok((input, flags)) => to_the_end(&mut cx, typed, input, &flags, ending).await,
            Err(failure) => ChildEnd { response: Response::failure(failure), task: None, signal: None },
        };
        let shown = if self.is_raw {
            print_raw(&mut cx, &end).await
        } else {
            answer::print(&end.response, Form::of(typed, print::is_terminal()))
        };
        drop(cx);
        env.close().await;
        Ok(match end.signal {
            Some(signal) => ExitCode::from(128_u8.saturating_add(signal)),
            None if shown == ExitCode::from(OUTPUT_CLOSED) => shown,
            None if self.has_its_code => ExitCode::from(child_code(&end.response)),
            None => ExitCode::from(end.response.exit_code()),
        })
    }
}

/// Runs a command and waits for its end.
async fn to_the_end(
    cx: &mut CommandContext,
    typed: TypedCommand<'_>,
    mut input: Value,
    flags: &RunFlags,
    ending: &mut EndSignals,
) -> ChildEnd {
    let mut signal = None;
    // It waits however long the command takes.
    input.as_object_mut().map(|fields| fields.shift_remove("yield_time_ms"));
    let running = async { *signal.insert(ending.wait().await) };
    let response = dispatch::run(cx, typed.command, input, flags, running).await;
    ChildEnd { task: response.task.clone(), response, signal }
}

/// Prints the command's raw output, and anything else that went wrong as a line on standard error.
async fn print_raw(cx: &mut CommandContext, end: &ChildEnd) -> ExitCode {
    let streams = match &end.task {
        Some(task) => cx.streams(task).await,
        None => Err(end.response.outcome.as_ref().err().cloned().unwrap_or_else(nothing_ran)),
    };
    let streams = match streams {
        Ok(streams) => streams,
        Err(failure) => {
            let _ = print::say(failure.text());
            return ExitCode::SUCCESS;
        }
    };
    let stderr = streams.stderr.iter().try_for_each(|file| print::copy(file, true));
    let printed = print::copy(&streams.stdout, false).and(stderr);
    if streams.dropped_bytes > 0 {
        let _ = print::say(format_args!("{} bytes in the middle were not kept", streams.dropped_bytes));
    }
    if let Err(failure) = &end.response.outcome
        && (is_out_of_time(failure) || own_status(end.response.data()).is_none())
    {
        let _ = print::say(failure.text());
    }
    let _ = dispatch::unended_phrase(end.response.data()).map(print::say);
    match printed {
        Err(error) if is_gone(&error) => ExitCode::from(OUTPUT_CLOSED),
        Err(error) => {
            let _ = print::say(format_args!("print what the command wrote: {error}"));
            ExitCode::SUCCESS
        }
        Ok(()) => ExitCode::SUCCESS,
    }
}

fn is_out_of_time(failure: &Failure) -> bool {
    failure.code() == Code::Timeout.as_str()
}

fn nothing_ran() -> Failure {
    Failure::new(Code::InternalError, "No command ran.")
}

/// Returns the command's exit code: its own, or 128 plus the number of the signal that ended it.
fn own_status(data: &Value) -> Option<u8> {
    let of = if data["task"].is_object() { &data["task"] } else { data };
    let status = of["exit_status"].as_u64().and_then(|status| u8::try_from(status & 0xff).ok());
    let signal = || of["signal"].as_str()?.parse::<Signal>().ok();
    status.or_else(|| u8::try_from(signal()?.number()).ok()?.checked_add(128))
}

fn child_code(response: &Response) -> u8 {
    if response.outcome.as_ref().is_err_and(is_out_of_time) {
        OUT_OF_TIME
    } else {
        own_status(response.data()).unwrap_or(NOT_RUN)
    }
}
