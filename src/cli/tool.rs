//! One command per tool: run in the workspace's runtime, else in one that lives as long as the call.

use std::io::{Read, Write};
use std::process::ExitCode;

use clap::ArgMatches;
use color_eyre::eyre::{Result, eyre};
use serde_json::Value;

use super::house::House;
use super::signals::Ending;
use super::tools::cli_args::{self, Source};
use super::tools::{self, Answer, Caller, Tool};
use super::{Start, args, say};
use crate::envelope::{Actor, Envelope, Outcome};
use crate::link::{Error, Scripts};

/// The exit code of a tool that worked while its command failed.
const CHILD_EXIT_NONZERO: u8 = 79;
/// The largest input taken from standard input or a file.
const MAX_INPUT: u64 = 1 << 20;

/// Calls a tool and prints its receipt, or the canonical envelope.
pub(super) async fn run(start: &Start, tool: &'static Tool, args: &ArgMatches) -> Result<ExitCode> {
    let input = cli_args::input(tool, args, read)?;
    let mut ending = Ending::listen()?;
    let answer = tokio::select! {
        answer = call(start, tool, input) => answer?,
        code = ending.wait() => return Ok(code),
    };
    let text =
        if args.get_flag(args::JSON) { answer.envelope.to_value().to_string() } else { answer.receipt };
    let printed = say(&text)?;
    Ok(if printed == ExitCode::SUCCESS { ExitCode::from(exit_code(&answer.envelope)) } else { printed })
}

async fn call(start: &Start, tool: &'static Tool, input: Value) -> Result<Answer> {
    match Scripts::dial(&start.places.agent_socket(), start.cwd.clone()).await {
        Ok(mut scripts) => Ok(scripts.call(tool.name, input).await?),
        Err(Error::NoRuntime { .. }) => embedded(start, tool, input).await,
        Err(error) => Err(error.into()),
    }
}

/// Calls a tool in a runtime of its own, whose tasks end with it.
async fn embedded(start: &Start, tool: &'static Tool, input: Value) -> Result<Answer> {
    let house = House::open(&start.places, true)?;
    let house = house
        .ok_or_else(|| eyre!("another runtime of this workspace is just starting or ending; try again"))?;
    let caller = Caller { actor: Actor::Cli, cwd: start.cwd.clone() };
    let answer = tools::call(&house.runtime, &caller, tool.name, input).await;
    let snapshot = house.runtime.snapshot().borrow().clone();
    for task in snapshot.tasks.iter().filter(|task| !task.status.is_terminal()) {
        writeln!(
            std::io::stderr(),
            "pilothouse: no runtime serves this workspace, so {} ends with this command; \
             start `pilothouse` or `pilothouse serve` first to keep it",
            task.id
        )?;
    }
    house.close().await?;
    Ok(answer)
}

/// Returns the exit code for an answer.
fn exit_code(envelope: &Envelope) -> u8 {
    match envelope.outcome() {
        Outcome::Error(error) => error.kind.exit_code(),
        Outcome::Success(result) => {
            let failed = result.get("disposition").is_some_and(|disposition| disposition == "completed")
                && result.get("exit_status").is_some_and(|status| status != 0);
            if failed { CHILD_EXIT_NONZERO } else { 0 }
        }
    }
}

fn read(source: &Source) -> std::io::Result<String> {
    let mut text = String::new();
    match source {
        Source::Stdin => std::io::stdin().lock().take(MAX_INPUT).read_to_string(&mut text)?,
        Source::File(path) => std::fs::File::open(path)?.take(MAX_INPUT).read_to_string(&mut text)?,
    };
    Ok(text)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::envelope::{ErrorKind, ToolError};

    #[test]
    fn the_exit_code_tells_a_failed_tool_from_a_failed_command() {
        let success = |result: Value| Envelope::success("ExecCommand", "done", &result);
        for (envelope, code) in [
            (success(json!({"disposition": "completed", "exit_status": 0})), 0),
            (success(json!({"disposition": "completed", "exit_status": 3})), 79),
            (success(json!({"disposition": "completed", "exit_status": null, "signal": "SIGKILL"})), 79),
            (success(json!({"disposition": "promoted_to_task"})), 0),
            (success(json!({"task": {"exit_status": 1}})), 0),
            (Envelope::error("TaskStop", ToolError::new(ErrorKind::TaskNotFound, "No such task.")), 5),
        ] {
            assert_eq!(exit_code(&envelope), code, "{:?}", envelope.result());
        }
    }
}
