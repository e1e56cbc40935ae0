//! Handling of commands that were ended before they had an answer of their own, by a timeout or a signal.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::{sleep, timeout};

use super::code::Code;
use super::command::{Command, CommandKind, Danger};
use super::flags::RunFlags;
use super::response::{Failure, Response};
use crate::clock::millis;
use crate::envelope::CallOutcome;
use crate::envelope::units::exact;
use crate::model::UnendedProcesses;
use crate::tools::{CallAnswer, CutHandle, CutReason};

/// How long a command that was asked to end may take: TERM, the grace period, KILL, and the rest of its output.
const ENDING: Duration = Duration::from_secs(10);
/// The field of data that is incomplete.
const PARTIAL: &str = "partial";

/// Runs a command to its answer, or until its timeout or a signal ends it.
pub(super) async fn run_until(
    running: impl Future<Output = Response>,
    command: &Command,
    flags: &RunFlags,
    cut: &CutHandle,
    signal: impl Future<Output = u8>,
) -> Response {
    let over = async {
        match flags.timeout {
            Some(limit) => sleep(limit).await,
            None => std::future::pending().await,
        }
    };
    tokio::pin!(running);
    let reason = tokio::select! {
        biased;
        response = &mut running => return response,
        () = over => CutReason::Timeout(millis(flags.timeout.unwrap_or_default())),
        signal = signal => CutReason::Signal(signal),
    };
    // A read-only command has nothing to bring to an end, and a request that was not sent has not begun.
    let is_under_way =
        matches!(command.kind, CommandKind::Tool(tool) if !tool.hints.read_only) && cut.is_sent();
    if is_under_way {
        cut.ask(reason);
        if let Ok(response) = timeout(ENDING, &mut running).await {
            return response;
        }
    }
    let is_harmless = command.danger == Danger::Safe || flags.dry_run;
    let may_have_begun = match command.kind {
        CommandKind::Tool(_) => cut.is_sent(),
        CommandKind::Local { .. } => true,
    };
    let failure = cut_short(reason);
    let failure = if may_have_begun && !is_harmless {
        failure.partial().with_data(json!({ PARTIAL: true }))
    } else {
        failure.retryable(true)
    };
    let mut response = Response::failure(failure);
    response.meta.call = cut.call_number().get().copied();
    response
}

/// Returns the failure to report, with its data, if a tool's answer is incomplete: if the call was ended early, or its
/// command exceeded the time limit in its input.
pub(super) fn failure_of(answer: &CallAnswer) -> Option<Failure> {
    let data = match (answer.envelope.outcome(), answer.cut) {
        (CallOutcome::Success(data), _) => data,
        // The error says what it waited for in vain.
        (CallOutcome::Error(_), None | Some(CutReason::Timeout(_))) => return None,
        (CallOutcome::Error(_), Some(_)) => &Value::Null,
    };
    let own_limit = data["disposition"] == "completed" && data["timed_out"] == true;
    let failure = match answer.cut {
        Some(reason) if answer.is_unbegun => return Some(cut_short(reason).retryable(true)),
        Some(reason) => cut_short(reason),
        None if own_limit => {
            let end = if unended_phrase(data).is_some() { "" } else { " and was ended" };
            Failure::running(Code::Timeout, format!("The command took longer than its timeout_ms{end}."))
                .fix("give it a longer timeout_ms, or start it as a task with yield_time_ms 0")
        }
        None => return None,
    };
    let failure = match unended_phrase(data) {
        Some(phrase) => failure.detail(phrase),
        None => failure,
    };
    Some(failure.partial().with_data(partial(data.clone())))
}

/// Says which processes of a command could not be ended, of a tool's data about it.
pub fn unended_phrase(data: &Value) -> Option<String> {
    let of = if data["task"].is_object() { &data["task"] } else { data };
    let all: Vec<UnendedProcesses> = serde_json::from_value(of["unended_processes"].clone()).ok()?;
    UnendedProcesses::phrase(&all)
}

/// Marks the data of a command that was ended early: it is incomplete, and does not say that the command completed.
fn partial(mut data: Value) -> Value {
    if data["disposition"] == "completed"
        && let Some(fields) = data.as_object_mut()
    {
        fields.shift_remove("disposition");
    }
    data[PARTIAL] = json!(true);
    data
}

/// Returns the failure that says why something was ended.
pub fn cut_short(reason: CutReason) -> Failure {
    match reason {
        CutReason::Timeout(ms) => {
            Failure::running(Code::Timeout, format!("There was no answer within {}.", exact(ms)))
                .with("timeout_ms", ms)
                .fix("give it a longer --timeout, or start it as a task with yield_time_ms 0")
        }
        CutReason::Signal(signal) => {
            let code = if signal == 2 { Code::Interrupted } else { Code::Terminated };
            Failure::running(code, format!("Signal {signal} ended it before it had an answer."))
                .with("signal", signal)
        }
        CutReason::HungUp => Failure::running(
            Code::Terminated,
            "Its caller went away before it had an answer, and it was ended.",
        ),
    }
}
