//! Runs one command, from its input to its response: the same for a command line and a line of `exec`.

use std::borrow::Cow;

use serde_json::{Value, json};

use super::code::Code;
use super::command::{Command, CommandKind, Danger, LocalAnswer};
use super::context::CommandContext;
use super::dry_run;
use super::early_end;
use super::flags::RunFlags;
use super::response::{Failure, Meta, Response};
use super::table;
use crate::clock::{Clock, millis};
use crate::envelope::{CallOutcome, Envelope, compact};
use crate::model::phrases::{AWAITS_OPERATOR, AWAITS_TURN, GOES_ON, exit_clause};
use crate::tools::{self, CallAnswer, CutHandle, Tool};

/// The maximum size of an answer's data, in bytes: with everything else, the line stays below 1 MiB.
const LINE_BYTES: usize = (1 << 20) - (64 << 10);

/// Runs a command. The timeout in `flags`, or a `signal`, ends what it runs in the foreground; the response then
/// contains what there is by then.
pub async fn run(
    cx: &mut CommandContext,
    command: &Command,
    input: Value,
    flags: &RunFlags,
    signal: impl Future<Output = u8>,
) -> Response {
    let clock = Clock::start();
    let cut = CutHandle::default();
    let running = perform(cx, command, input, flags, &cut);
    let mut response = early_end::run_until(running, command, flags, &cut, signal).await;
    response.meta.duration_ms = millis(clock.now().mono);
    response.meta.cmd = Some(command.path.clone());
    response
}

async fn perform(
    cx: &mut CommandContext,
    command: &Command,
    mut input: Value,
    flags: &RunFlags,
    cut: &CutHandle,
) -> Response {
    if flags.schema {
        let schemas =
            json!({ "input_schema": command.input_schema(), "output_schema": command.output_schema() });
        let text = serde_json::to_string_pretty(&schemas).unwrap_or_default();
        return Response::success(schemas, text);
    }
    let accepted = match accepted_exits(command, &mut input) {
        Ok(accepted) => accepted,
        Err(failure) => return Response::failure(failure),
    };
    if flags.dry_run && command.danger != Danger::Safe {
        return match dry_run::tell(cx, command, input).await {
            Ok(data) => {
                let text = (command.form)("plain", &data).unwrap_or_else(|| table::pairs(&data));
                Response::success(data, text)
            }
            Err(failure) => Response::failure(failure),
        };
    }
    match command.kind {
        CommandKind::Local { run, .. } => match run(cx, command.input_schema(), input).await {
            Ok(LocalAnswer { data, text, notes, is_unmodified, own_facts }) => {
                let meta = Meta { not_modified: is_unmodified, own_facts, ..Meta::default() };
                Response { warnings: notes, meta, ..Response::success(data, text) }
            }
            Err(failure) => Response::failure(failure),
        },
        CommandKind::Tool(tool) => call(cx, tool, input, flags, &accepted, cut).await,
    }
}

async fn call(
    cx: &mut CommandContext,
    tool: &Tool,
    input: Value,
    flags: &RunFlags,
    accepted: &[i64],
    cut: &CutHandle,
) -> Response {
    // Input that is rejected as it stands needs no runtime.
    if let Err(error) = (tool.check)(input.clone()) {
        return Response::failure(error.into());
    }
    // A read is always executed again: its answer is about the present.
    let once = flags.once.as_deref().filter(|_| !tool.hints.read_only);
    match cx.call(tool.name, input, once, cut).await {
        Ok(answer) => of_answer(answer, accepted),
        Err(failure) => {
            let mut response = Response::failure(failure);
            response.meta.call = cut.call_number().get().copied();
            response
        }
    }
}

/// Converts a tool's answer to a response.
fn of_answer(answer: CallAnswer, accepted: &[i64]) -> Response {
    let call = (answer.seq > 0).then_some(answer.seq);
    let effect = answer.repeated.then_some("noop");
    let envelope = within(&answer.envelope, LINE_BYTES);
    let mut response = match (early_end::failure_of(&answer), envelope.outcome()) {
        (Some(failure), _) => Response::failure(failure),
        (None, CallOutcome::Error(error)) => Response::failure(error.clone().into()),
        (None, CallOutcome::Success(data)) => match child_failure(data, accepted) {
            Some(failure) => Response::failure(failure.with_data(data.clone())),
            None => Response::success(data.clone(), String::new()),
        },
    };
    response.text = tools::for_a_shell(&answer.envelope, &answer.receipt);
    response.meta = Meta { call, effect, ..Meta::default() };
    response.task = answer.task;
    response.warnings = cut_streams(response.data());
    response.warnings.extend(standing_phrase(response.data()).map(str::to_owned));
    response
}

/// Says of a command that has not ended whether anything has been run.
fn standing_phrase(data: &Value) -> Option<&'static str> {
    match data["disposition"].as_str()? {
        "promoted_to_task" => Some(GOES_ON),
        "queued" => Some(AWAITS_TURN),
        "awaiting_operator" => Some(AWAITS_OPERATOR),
        _ => None,
    }
}

/// Compacts an envelope until its JSON has at most `bytes` bytes. Output with many multi-byte characters may be
/// larger than its number of characters suggests.
fn within(envelope: &Envelope, bytes: usize) -> Cow<'_, Envelope> {
    let size = |envelope: &Envelope| envelope.to_value().to_string().len();
    let mut shown = Cow::Borrowed(envelope);
    let mut budget = bytes;
    while budget > 0 && size(&shown) > bytes {
        shown = Cow::Owned(compact(envelope, budget));
        budget /= 2;
    }
    shown
}

/// Removes the exit codes that count as success from the input, and returns them.
pub(super) fn accepted_exits(command: &Command, input: &mut Value) -> Result<Vec<i64>, Failure> {
    let given = match input.as_object_mut() {
        Some(fields) if command.runs_children() => fields.remove("ok_exit_codes"),
        _ => None,
    };
    let Some(given) = given else { return Ok(vec![0]) };
    let codes = given.as_array().map(|all| all.iter().map(Value::as_i64).collect::<Option<Vec<_>>>());
    match codes.flatten() {
        Some(codes) if codes.iter().all(|code| (0..=255).contains(code)) => Ok(codes),
        _ => Err(Failure::new(Code::ArgError, "`ok_exit_codes` must be a list of numbers from 0 to 255.")
            .with("field", "ok_exit_codes")
            .fix("give for instance [0,1]")),
    }
}

/// Returns how the command that a tool ran has failed, if it has.
fn child_failure(data: &Value, accepted: &[i64]) -> Option<Failure> {
    if let Some(items) = data["items"].as_array() {
        return item_failure(items, accepted);
    }
    if data["disposition"] != "completed" {
        return None;
    }
    let status = data["exit_status"].as_i64();
    if status.is_some_and(|status| accepted.contains(&status)) {
        return None;
    }
    let message = format!("The command {}.", exit_clause(status, data["signal"].as_str()));
    let failure = Failure::running(Code::ChildExitNonzero, message);
    Some(failure.with("exit_status", data["exit_status"].clone()).with("signal", data["signal"].clone()))
}

fn item_failure(items: &[Value], accepted: &[i64]) -> Option<Failure> {
    let is_good = |item: &Value| {
        item["status"] == "completed"
            || item["exit_status"].as_i64().is_some_and(|code| accepted.contains(&code))
    };
    let of = |status: &str| {
        let bad = items.iter().filter(|item| item["status"] == status && !is_good(item));
        bad.filter_map(|item| item["index"].as_u64()).collect::<Vec<_>>()
    };
    let (failed, rejected) = (of("failed"), of("rejected"));
    let code = match (failed.is_empty(), rejected.is_empty()) {
        (true, true) => return None,
        (false, _) => Code::ChildExitNonzero,
        (true, false) => Code::PartialFailure,
    };
    let message = format!("{} of {} items failed.", failed.len() + rejected.len(), items.len());
    Some(Failure::running(code, message).with("failed", failed).with("rejected", rejected))
}

/// Returns warnings that say what the data leaves out, and where all of it is.
fn cut_streams(data: &Value) -> Vec<String> {
    let holders = [data, &data["task"]];
    let mut warnings = Vec::new();
    for holder in holders.into_iter().chain(data["items"].as_array().into_iter().flatten()) {
        for (stream, index) in
            [("stdout", "stdout_artifact"), ("stderr", "stderr_artifact"), ("output", "output_artifact")]
        {
            let place = holder[index].as_u64().and_then(|at| usize::try_from(at).ok());
            let path = place.and_then(|at| holder["artifacts"][at]["path"].as_str());
            if let Some(path) = path {
                warnings.push(format!("{stream} is cut here; all of it is in {path}"));
            }
        }
    }
    warnings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_the_command_decides_and_a_list_of_codes_widens_success() {
        for (data, accepted, code) in [
            (json!({"disposition": "completed", "exit_status": 0}), vec![0], None),
            (json!({"disposition": "completed", "exit_status": 3}), vec![0], Some(79)),
            (json!({"disposition": "completed", "exit_status": 3}), vec![0, 3], None),
            (json!({"disposition": "completed", "exit_status": 0}), vec![1], Some(79)),
            (
                json!({"disposition": "completed", "exit_status": null, "signal": "SIGKILL"}),
                vec![0],
                Some(79),
            ),
            (json!({"disposition": "promoted_to_task"}), vec![0], None),
            (json!({"task": {"exit_status": 1}}), vec![0], None),
            (json!({"items": [{"status": "completed"}, {"status": "skipped"}]}), vec![0], None),
            (json!({"items": [{"index": 1, "status": "failed", "exit_status": 7}]}), vec![0], Some(79)),
            (json!({"items": [{"index": 1, "status": "failed", "exit_status": 7}]}), vec![7], None),
            (json!({"items": [{"index": 1, "status": "rejected"}]}), vec![0], Some(3)),
        ] {
            let failed = child_failure(&data, &accepted).map(|failure| failure.exit_code());
            assert_eq!(failed, code, "{data}");
        }
    }

    #[test]
    fn an_answer_of_many_bytes_is_compacted_and_a_short_one_left_alone() {
        let ships = "🚢".repeat(300_000);
        let data = json!({
            "disposition": "completed", "exit_status": 0, "signal": null, "stdout_preview": ships,
            "stderr_preview": null, "truncated": false, "duration_ms": 1,
        });
        let envelope = Envelope::success("ExecCommand", "command exited with status 0", &data);
        let shown = within(&envelope, LINE_BYTES);
        assert!(shown.to_value().to_string().len() <= LINE_BYTES);
        assert_eq!(shown.result().expect("a result")["truncated"], true);
        assert!(matches!(within(&envelope, 2 << 20), Cow::Borrowed(_)));
    }

    #[test]
    fn a_cut_stream_is_named_with_its_file() {
        let data = json!({"truncated": true, "artifacts": [{"path": "/r/stdout.log"}], "stdout_artifact": 0});
        assert_eq!(cut_streams(&data), ["stdout is cut here; all of it is in /r/stdout.log"]);
    }
}
