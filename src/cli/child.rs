//! `command run` for wrappers and hooks: prints the command's raw output instead of an answer (`--raw`), and exits
//! with its exit code (`--exit-code=child`). It waits for the command to end, however long that takes.

use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use color_eyre::eyre::Result;
use serde_json::{Value, json};

use super::answer::{self, Form};
use super::args::TypedCommand;
use super::child_flags::{EXIT_CODE, RAW};
use super::env::ProcessHost;
use super::signals::EndSignals;
use super::{print, run};
use crate::dispatch::exec::OUTPUT_CLOSED;
use crate::dispatch::{self, Code, CommandContext, Failure, Response, RunFlags, find};
use crate::envelope::TaskId;
use crate::model::Signal;
use crate::process::is_gone;

/// The exit code if the command was not run, following `timeout` and `env`.
const NOT_RUN: u8 = 125;
/// The exit code if the command timed out, following `timeout`.
const OUT_OF_TIME: u8 = 124;
/// How long one call waits for a task, in milliseconds.
const WAIT_MS: u64 = 45_000;
/// How long a task that was asked to end may take, in milliseconds: TERM, the grace period, KILL, and the rest of its
/// output.
const ENDING_MS: u64 = 10_000;

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

/// Runs a command and waits for its end, even if it has become a task.
async fn to_the_end(
    cx: &mut CommandContext,
    typed: TypedCommand<'_>,
    input: Value,
    flags: &RunFlags,
    ending: &mut EndSignals,
) -> ChildEnd {
    let started = tokio::time::Instant::now();
    let mut signal = None;
    let running = async { *signal.insert(ending.wait().await) };
    let mut response = dispatch::run(cx, typed.command, input, flags, running).await;
    let task = response.task.clone();
    let (Some(id), Some(wait), Some(status), Some(stop)) =
        (&task, find("task.output"), find("task.status"), find("task.stop"))
    else {
        return ChildEnd { response, task, signal };
    };
    let is_over =
        |data: &Value| !["promoted_to_task", "awaiting_operator"].iter().any(|on| data["disposition"] == *on);
    if is_over(response.data()) || signal.is_some() {
        return ChildEnd { response, task, signal };
    }
    let asked = |ms: u64| json!({ "task_id": id, "block": true, "timeout_ms": ms, "max_output_tokens": 1 });
    loop {
        let left = flags.timeout.map(|limit| limit.saturating_sub(started.elapsed()));
        let limit =
            RunFlags { timeout: left.map(|left| left.max(Duration::from_millis(1))), ..RunFlags::default() };
        let waiting = async { *signal.insert(ending.wait().await) };
        let waited = dispatch::run(cx, wait, asked(WAIT_MS), &limit, waiting).await;
        match &waited.outcome {
            Ok(data) if data["retrieval_status"] == "success" => break,
            Ok(_) => {}
            Err(_) => {
                // It timed out, this process is ending, or the runtime is gone.
                let by = json!({ "task_id": id });
                dispatch::run(cx, stop, by, &RunFlags::default(), std::future::pending()).await;
                // Everything it wrote is stored once it has ended.
                let rest = asked(ENDING_MS);
                let ended = dispatch::run(cx, wait, rest, &RunFlags::default(), std::future::pending()).await;
                let _ = dispatch::unended_phrase(ended.data()).map(print::say);
                return ChildEnd { response: waited, task, signal };
            }
        }
    }
    let ended =
        dispatch::run(cx, status, json!({ "task_id": id }), &RunFlags::default(), std::future::pending())
            .await;
    let has_failed = own_status(ended.data()) != Some(0);
    response.outcome = match ended.outcome {
        Ok(data) if has_failed => {
            Err(Failure::running(Code::ChildExitNonzero, "The command ran and failed.").with_data(data))
        }
        outcome => outcome,
    };
    response.text = ended.text;
    ChildEnd { response, task, signal }
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
    if let (Err(failure), true) = (&end.response.outcome, own_status(end.response.data()).is_none()) {
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
    let is_out_of_time = response.outcome.as_ref().is_err_and(|failure| failure.code() == "TIMEOUT");
    if is_out_of_time { OUT_OF_TIME } else { own_status(response.data()).unwrap_or(NOT_RUN) }
}
