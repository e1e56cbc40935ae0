//! ExecCommand: runs one command. A short one is answered with its complete result; one that is still running when
//! the call stops waiting continues as a managed task. Nothing is ever started twice.

mod result;

use std::ops::RangeInclusive;
use std::sync::Arc;
use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::budget::{OutputBudget, Room};
use super::cancel_guard::CancelGuard;
use super::plan::{CallPlan, PlannedCommand};
use super::preview::StreamPreview;
use super::receipt::Receipt;
use super::verb::{Caller, Hints, ToolContext, ToolOutcome, Verb};
use super::{input, schema};
use crate::config::DEFAULT_YIELD_MS;
use crate::envelope::{Actor, ToolError};
use crate::model::phrases::{not_begun, unusable, unusable_field, withdrawal_error};
use crate::model::{self, ExecOutcome, ExecRequest, TaskStatus, TaskView};
use crate::runtime::{self, Handle, OutputStream};
use crate::terminal::Size;

use result::ExecResult;
pub use result::{CommandDetails, project};

/// The minimum and maximum wait, in milliseconds.
pub(super) const YIELD_MS: RangeInclusive<u64> = 250..=30_000;

/// How much output is shown of a command whose start is unknown, in characters: so much fits into the receipt of an
/// error.
const UNKNOWN_OUTPUT_CHARS: usize = 400;

pub(super) struct ExecCommandTool;

/// The command and its options.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct CommandInput {
    /// The complete shell command line; pipes, `&&` and quotes work.
    cmd: String,
    /// Working directory in the workspace, relative to its root. Default: your start directory. Use it instead of
    /// `cd … &&`.
    workdir: Option<String>,
    /// Shell. Default: the user's if bash, zsh or sh, else /bin/sh.
    shell: Option<String>,
    /// Use a login shell, which loads the user's profile; your PATH stays first.
    #[serde(default)]
    login: bool,
    /// Run in a terminal, which merges stdout and stderr.
    #[serde(default)]
    tty: bool,
    /// Columns with `tty`. Default: 120.
    #[schemars(range(min = 2, max = 1000))]
    cols: Option<u16>,
    /// Rows with `tty`. Default: 40.
    #[schemars(range(min = 2, max = 1000))]
    rows: Option<u16>,
    /// Keep stdin open for TaskInput; else it is empty. Default: as `tty`.
    accepts_input: Option<bool>,
    /// Wait this long, 250 to 30000 ms; a running command then becomes a task. 0: a task at once, for servers. Default:
    /// 10000; for scripts, until it ends.
    yield_time_ms: Option<u64>,
    /// End it after this many ms (exit code 124). Default: never.
    #[schemars(range(min = 1))]
    timeout_ms: Option<u64>,
    /// Action on processes that outlive the shell: `end` or `keep`.
    #[serde(default)]
    leftovers: runtime::Leftovers,
    /// Maximum output in tokens of 4 characters, up to 64000. Default: 8000, of longer output 2000. TaskOutput reads the rest.
    max_output_tokens: Option<u64>,
    /// Purpose in one line, for the operator.
    description: Option<String>,
}

impl Verb for ExecCommandTool {
    const NAME: &'static str = "ExecCommand";
    const TITLE: &'static str = "Run a command";
    const DESCRIPTION: &'static str = "\
Runs a shell command (bash, terminal) in the workspace, seen live by the operator. Use it for every command: short or long, \
interactive, servers.

One that ends within `yield_time_ms` comes back whole: exit code, stdout, stderr. One still running becomes a pilothouse task \
and goes on: wait and read output with TaskOutput, type with TaskInput, end it with TaskStop, by its `task_id` (for \
these tools only). Do not start it again; `&` and `nohup` are not needed.

`tty` is for programs that want a terminal: REPLs, password prompts, full-screen programs. Else leave it \
off: stdout and stderr stay apart, nothing waits for a key. `accepts_input` without `tty` feeds a program that reads plain \
stdin.

An exit code other than 0 is a result, not an error. Do not rerun what the operator stopped or denied: ask, or go \
another way. What is queued or awaits the operator has not run: wait with TaskOutput, never resend it.";
    const HINTS: Hints = Hints::ACTS;
    const CLI: &'static [&'static str] = &["command", "run"];
    const ALIASES: &'static [(&'static str, &'static str)] =
        &[("command", "cmd"), ("cwd", "workdir"), ("dir_path", "workdir"), ("timeout", "timeout_ms")];
    const CLAMPED: &'static [(&'static str, u64, u64)] =
        &[("yield_time_ms", *YIELD_MS.start(), *YIELD_MS.end()), input::TOKENS_FIELD];
    const EXAMPLES: &'static [(&'static str, &'static str)] = &[
        ("Run the tests and wait for them", r#"{"cmd":"cargo test","yield_time_ms":30000}"#),
        ("Start a server as a task", r#"{"cmd":"npm run dev","yield_time_ms":0}"#),
    ];

    type Input = CommandInput;
    type Result = ExecResult;

    fn parse(mut given: Value) -> Result<CommandInput, ToolError> {
        take_background(&mut given);
        input::parse::<Self>(given)
    }

    fn taken_otherwise(given: &Value, room: Room) -> Vec<String> {
        let is_set = |name: &&str| given[*name] == true;
        let background = BACKGROUND.into_iter().filter(is_set);
        let background = background.map(|name| format!("`{name}` was taken as `yield_time_ms: 0`"));
        background.chain(input::taken_otherwise(given, Self::ALIASES, Self::CLAMPED, room)).collect()
    }

    fn check(input: CommandInput) -> Result<(), ToolError> {
        validate(&input)
    }

    fn plan(input: CommandInput) -> Result<CallPlan, ToolError> {
        validate(&input)?;
        let CommandInput { cmd, workdir, shell, login, tty, .. } = input;
        let command = PlannedCommand { cmd, workdir, shell, login, tty, rejection: None };
        Ok(CallPlan { commands: vec![command], ..CallPlan::default() })
    }

    async fn run(cx: ToolContext<'_>, input: CommandInput) -> Result<ToolOutcome, ToolError> {
        let budget = cx.caller.room.budget(input.max_output_tokens);
        let request = request(cx.caller, cx.call, input)?;
        let outcome = match CancelGuard::new(&cx).ends(cx.cut, cx.runtime.exec(request)).await {
            Err(model::Error::StartUnknown(task)) => {
                let error = ToolError::from(model::Error::StartUnknown(task.clone()));
                return Err(with_output(error, cx.runtime, &task).await);
            }
            Ok(ExecOutcome::Completed(task)) if task.never_began() => {
                return Err(with_output(not_begun(), cx.runtime, &task).await);
            }
            Err(model::Error::NotRun(task)) if cx.cut.reason().is_some() => {
                cx.cut.took();
                return Err(withdrawal_error(&task));
            }
            outcome => outcome?,
        };
        if matches!(&outcome, ExecOutcome::Completed(task) if task.status == TaskStatus::Cancelled) {
            cx.cut.took();
        }
        let complete = match outcome {
            ExecOutcome::Completed(task) => end_details(cx.runtime, task, budget).await?,
            ExecOutcome::Promoted(task) => {
                let output =
                    StreamPreview::read_merged(&cx.runtime.output_of(&task)?, &task.id, 0, budget).await?;
                CommandDetails::Promoted { task, output, now: cx.now() }
            }
            ExecOutcome::Held(task) => CommandDetails::Held { task },
        };
        let (CommandDetails::Ended { task, .. }
        | CommandDetails::Promoted { task, .. }
        | CommandDetails::Held { task }) = &complete;
        Ok(ToolOutcome { envelope: project(&complete), task: Some(task.id.clone()) })
    }

    fn summary(result: &ExecResult) -> String {
        match result {
            ExecResult::PromotedToTask(_) => "command promoted to managed task".to_owned(),
            ExecResult::AwaitingOperator(_) => "command awaits the operator".to_owned(),
            ExecResult::Queued(_) => "command waits for its turn".to_owned(),
            ExecResult::Completed(completed) => format!("command {}", completed.end().0),
        }
    }

    fn receipt(result: &ExecResult) -> Receipt {
        match result {
            ExecResult::Completed(completed) => completed.receipt(),
            ExecResult::PromotedToTask(promoted) => promoted.receipt(),
            ExecResult::AwaitingOperator(awaiting) => awaiting.receipt(),
            ExecResult::Queued(queued) => queued.receipt(),
        }
    }
}

/// The fields by which other agents' tools request that a command continue as a task immediately.
const BACKGROUND: [&str; 2] = ["run_in_background", "is_background"];

/// Returns whether ExecCommand takes a field, under this name or as another agent's name for one of its own.
pub(super) fn takes(name: &str) -> bool {
    let own = &schema::known_input::<CommandInput>()["properties"];
    let is_alias = ExecCommandTool::ALIASES.iter().any(|(alias, _)| *alias == name);
    own.get(name).is_some() || is_alias || BACKGROUND.contains(&name)
}

/// Accepts other agents' fields for running a command as a task immediately.
fn take_background(given: &mut Value) {
    let Some(fields) = given.as_object_mut() else { return };
    for name in BACKGROUND {
        match fields.get(name) {
            Some(Value::Bool(false)) => {
                fields.shift_remove(name);
            }
            Some(Value::Bool(true)) if fields.get("yield_time_ms").is_none_or(|given| *given == 0) => {
                fields.shift_remove(name);
                fields.insert("yield_time_ms".to_owned(), 0.into());
            }
            _ => {}
        }
    }
}

fn request(caller: &Caller, call: u64, input: CommandInput) -> Result<ExecRequest, ToolError> {
    validate(&input)?;
    let usual = Size::default();
    // A model waits so long, a script until the command ends.
    let default = (caller.actor != Actor::Cli).then_some(DEFAULT_YIELD_MS);
    let yield_after = input.yield_time_ms.or(default).map(yield_after);
    let size = Size::nearest(input.cols.unwrap_or(usual.cols()), input.rows.unwrap_or(usual.rows()));
    Ok(ExecRequest {
        actor: caller.actor.clone(),
        call,
        cmd: input.cmd,
        shell: input.shell,
        login: input.login,
        workdir: input.workdir,
        base: caller.cwd.clone(),
        tty: input.tty,
        size: (input.cols.is_some() || input.rows.is_some()).then_some(size),
        accepts_input: input.accepts_input.unwrap_or(input.tty),
        yield_after,
        timeout: input.timeout_ms.map(Duration::from_millis),
        leftovers: input.leftovers,
        description: input.description,
        item: None,
        step: None,
        native: None,
    })
}

fn validate(input: &CommandInput) -> Result<(), ToolError> {
    let size = [("cols", input.cols), ("rows", input.rows)].into_iter().find(|(_, given)| given.is_some());
    let misplaced = size.filter(|_| !input.tty).map(|(field, _)| (field, "needs `tty` to be true"));
    match unusable_field(&input.cmd, input.workdir.as_deref(), input.shell.as_deref()).or(misplaced) {
        Some((field, why)) => Err(unusable(ExecCommandTool::NAME, field, format!("`{field}` {why}"))),
        None => Ok(()),
    }
}

fn yield_after(asked_ms: u64) -> Duration {
    Duration::from_millis(if asked_ms == 0 { 0 } else { asked_ms.clamp(*YIELD_MS.start(), *YIELD_MS.end()) })
}

async fn end_details(
    runtime: &Handle,
    task: Arc<TaskView>,
    budget: OutputBudget,
) -> Result<CommandDetails, ToolError> {
    let output = runtime.output_of(&task)?;
    if task.tty {
        let stdout = StreamPreview::read_merged(&output, &task.id, 0, budget).await?;
        return Ok(CommandDetails::Ended { task, stdout, stderr: StreamPreview::default() });
    }
    let (stdout, stderr) = StreamPreview::streams(&output, &task.id, budget).await?;
    let stdout = stdout.keep(&output, OutputStream::Stdout).await;
    let stderr = stderr.keep(&output, OutputStream::Stderr).await;
    Ok(CommandDetails::Ended { task, stdout, stderr })
}

/// Adds the output so far to what is reported of a command whose end says nothing.
async fn with_output(error: ToolError, runtime: &Handle, task: &TaskView) -> ToolError {
    let budget = OutputBudget { chars: UNKNOWN_OUTPUT_CHARS.into(), room: Room::chars(UNKNOWN_OUTPUT_CHARS) };
    let read = async { StreamPreview::read_merged(&runtime.output_of(task)?, &task.id, 0, budget).await };
    let output = match read.await {
        Ok(output) => output.text(),
        Err(error) => Some(format!("(cannot be read: {error})")),
    };
    error.with_details(json!({ "task_id": task.id, "output": output }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::envelope::ErrorKind;
    use crate::tools::input;

    fn asked(given: serde_json::Value) -> Result<ExecRequest, ToolError> {
        let caller = Caller::new(Actor::Agent("claude".into()), "/w/sub");
        request(&caller, 7, input::parse::<ExecCommandTool>(given)?)
    }

    #[test]
    fn a_bare_command_gets_the_documented_defaults() {
        let request = asked(json!({"cmd": "ls"})).unwrap();
        assert_eq!(request.base.to_str(), Some("/w/sub"));
        assert!(!request.login && !request.tty && !request.accepts_input);
        assert_eq!((request.size, request.timeout, request.workdir, request.shell), (None, None, None, None));
        assert_eq!(request.yield_after, Some(Duration::from_secs(10)));
        assert_eq!(request.leftovers, runtime::Leftovers::End);
    }

    #[test]
    fn a_script_waits_until_the_end_unless_it_says_how_long() {
        let asked = |given: Value| {
            request(&Caller::new(Actor::Cli, "/w"), 7, input::parse::<ExecCommandTool>(given)?)
        };
        assert_eq!(asked(json!({"cmd": "ls"})).unwrap().yield_after, None);
        let limited = asked(json!({"cmd": "ls", "yield_time_ms": 500})).unwrap();
        assert_eq!(limited.yield_after, Some(Duration::from_millis(500)));
    }

    #[test]
    fn yield_time_is_clamped_and_zero_promotes_at_once() {
        for (asked, given) in [(0, 0), (1, 250), (250, 250), (9_000, 9_000), (90_000, 30_000)] {
            assert_eq!(yield_after(asked), Duration::from_millis(given));
        }
    }

    #[test]
    fn a_terminal_accepts_input_unless_told_otherwise() {
        assert!(asked(json!({"cmd": "vi", "tty": true})).unwrap().accepts_input);
        assert!(!asked(json!({"cmd": "vi", "tty": true, "accepts_input": false})).unwrap().accepts_input);
        let sized = asked(json!({"cmd": "vi", "tty": true, "rows": 10})).unwrap();
        assert_eq!(sized.size, Some(Size::nearest(120, 10)));
    }

    #[test]
    fn an_unusable_input_is_refused_with_the_field_and_the_reason() {
        let cases = [
            (json!({"cmd": " \n"}), "cmd", "`cmd` is blank"),
            (json!({"cmd": "a\0b"}), "cmd", "`cmd` contains a NUL character"),
            (json!({"cmd": "ls", "workdir": "a\0b"}), "workdir", "`workdir` contains a NUL character"),
            (json!({"cmd": "ls", "shell": "a\0b"}), "shell", "`shell` contains a NUL character"),
            (json!({"cmd": "ls", "cols": 80}), "cols", "`cols` needs `tty` to be true"),
            (json!({"cmd": "ls", "rows": 80}), "rows", "`rows` needs `tty` to be true"),
        ];
        for (given, field, reason) in cases {
            let error = asked(given).unwrap_err();
            assert_eq!(error.kind, ErrorKind::InvalidToolInput);
            let details = json!({"tool_name": "ExecCommand", "field": field, "validation_error": reason});
            assert_eq!(error.details.as_deref(), Some(&details));
        }
    }
}
