//! Mapping of runtime errors and invalid input to the errors reported to a caller: kind, details, and what to do
//! next.

use std::path::Path;

use serde_json::json;

use pilothouse_envelope::units::amount;
use pilothouse_envelope::{ErrorKind, ToolError, one_line, with_causes};

use super::{NOT_BEGUN, denial_sentence};
use crate::{AnswerRefusal, Error, Resource, TaskFact, TaskView};

/// The maximum length of a path inside a sentence, in characters.
const PATH_CHARS: usize = 200;

impl From<Error> for ToolError {
    fn from(error: Error) -> Self {
        use Error::*;
        match error {
            UnknownTask(id) => task_not_found(id.as_str()),
            NotOwner { id, owner } => {
                Self::new(ErrorKind::NotTaskOwner, format!("Task {id} was started by {owner}."))
                    .with_details(json!({ "task_id": id }))
                    .with_hint("you may read it with TaskOutput; only who started it, or the operator, may type into it or stop it")
            }
            TaskLimit { limit } => {
                let message = format!("The limit of {} running at a time is reached.", amount(limit as u64, "task"));
                Self::new(ErrorKind::TaskLimitReached, message)
                    .with_details(json!({ "limit": limit }))
                    .with_hint("end a task of yours with TaskStop, or call again when one has finished")
                    .retryable(true)
            }
            HeldLimit { bytes } => {
                let message = "The queue of calls that wait for the operator is full.";
                Self::new(ErrorKind::TaskLimitReached, message)
                    .with_details(json!({ "limit_bytes": bytes }))
                    .with_hint("wait until the operator has answered what is held, then call again")
                    .retryable(true)
            }
            OutsideRoot { workdir, root } => {
                Self::new(ErrorKind::ExecutionRootViolation, "The working directory lies outside the workspace.")
                    .with_details(json!({ "workdir": workdir, "execution_root": root }))
                    .with_hint("leave `workdir` out, or name a directory inside the workspace")
            }
            WorkdirNotFound { workdir, reason } => {
                let message = format!("The working directory {} cannot be entered.", short(&workdir));
                Self::new(ErrorKind::WorkdirNotFound, message)
                    .with_details(json!({ "workdir": workdir, "reason": reason }))
                    .with_hint("check the path: it is absolute, or relative to the workspace root")
            }
            NoLogin { shell, reason } => {
                let message = format!("{} cannot be a login shell: {reason}.", short(&shell));
                Self::new(ErrorKind::CommandSpawnFailed, message)
                    .with_details(json!({ "shell": shell, "reason": reason }))
                    .with_hint("leave `login` out, or name another shell")
            }
            NotHandedOver { reason } => {
                Self::new(ErrorKind::CommandSpawnFailed, "The command could not be handed over to the runtime.")
                    .with_details(json!({ "reason": reason }))
            }
            Spawn { shell, workdir, message } => {
                // A task host that was lost before it began is no fault of the shell.
                let (text, hint) = if message.contains("the task host") {
                    let why = one_line(&message, PATH_CHARS);
                    (format!("The command could not be started: {why}."), "nothing was run: send it again")
                } else {
                    let text = format!("The shell {} could not be started.", short(&shell));
                    (text, "omit `shell` to use the default one")
                };
                Self::new(ErrorKind::CommandSpawnFailed, text)
                    .with_details(json!({ "shell": shell, "workdir": workdir, "os_error": message }))
                    .with_hint(hint)
            }
            error @ StartUnknown(_) => start_unknown(&error),
            NoHardCeiling { reason } => {
                Self::new(ErrorKind::CeilingUnavailable, "The ceilings set for this command cannot be held by the kernel here.")
                    .with_details(json!({ "reason": reason }))
                    .with_hint(NO_GROUP)
            }
            Exhausted { resource, message } => exhaustion_error(resource, &message),
            InputLineTooLong { length, limit, is_begun } => {
                let (begun, hint) = match is_begun {
                    true => (", with what was sent of it before,", "end the line that has begun, break it up"),
                    false => ("", "break the line up"),
                };
                let message =
                    format!("A line of the input{begun} is longer than the {limit} bytes a terminal takes.");
                Self::new(ErrorKind::InputLineTooLong, message)
                    .with_details(json!({ "line_bytes": length, "limit_bytes": limit }))
                    .with_hint(format!("{hint}, or pass the data in a file"))
            }
            LowDisk { .. } => {
                Self::new(ErrorKind::LowDiskSpace, "There is too little free disk space to start a task.")
                    .with_hint("free some space; running tasks go on")
            }
            Unrecorded { reason, is_full } => record_error(&reason, is_full),
            Question(refusal) => not_accepted(&refusal),
            error @ QuestionTooLong { .. } => {
                Self::new(ErrorKind::InvalidToolInput, format!("This is {error}."))
            }
            Denied { note } => {
                let error = Self::new(ErrorKind::OperatorDenied, denial_sentence(&note));
                let has_note = !note.trim().is_empty();
                let error = if has_note { error.with_details(json!({ "note": note })) } else { error };
                error.with_hint(DENIED)
            }
            Pending => not_yet(ErrorKind::OperatorPending, "The operator has not released this yet"),
            NotRun(task) => not_run(&task),
            error @ (NotHeld | CostChanged | NotSent { .. }) => Self::new(ErrorKind::InternalError, format!("Pilothouse: {error}.")),
            ShuttingDown => {
                Self::new(ErrorKind::RuntimeShuttingDown, "The runtime is shutting down.")
                    .with_hint("call again: a new runtime starts with the next call")
                    .retryable(true)
            }
            Io { source, what, path } if is_full(&source) => disk_full(what, &path, &source),
            Io { source, what, path } if Resource::used_up(&source) == Some(Resource::Descriptors) => {
                exhaustion_error(Resource::Descriptors, &format!("{what} {}: {source}", path.display()))
            }
            error @ Io { .. } => Self::new(ErrorKind::InternalError, "Pilothouse could not do this.")
                .with_details(json!({ "reason": with_causes(&error) }))
                .with_hint("this is a fault of Pilothouse or of the machine, not of your input"),
        }
    }
}

/// What to do about a denial.
const DENIED: &str =
    "nothing was run; go another way, or ask the operator, but do not send it again as it is";

/// Reports that a command was stopped before it began.
fn not_run(task: &TaskView) -> ToolError {
    let message = format!("Nothing was run: {}.", task.end_in_words());
    if task.is_stopped_by_operator() {
        ToolError::new(ErrorKind::OperatorDenied, message).with_hint(DENIED)
    } else {
        ToolError::new(ErrorKind::Withdrawn, message).with_hint("it may be sent again").retryable(true)
    }
}

/// Reports that a command did not begin in its caller's time, and was withdrawn.
pub fn withdrawal_error(task: &TaskView) -> ToolError {
    let is_held = task.events.iter().any(|event| matches!(event.fact, TaskFact::Held(_)));
    match task.first_wait() {
        Some(wait) => not_yet(ErrorKind::Queued, &format!("The command's turn has not come ({wait})")),
        None if is_held => Error::Pending.into(),
        None => not_run(task),
    }
}

/// Reports what a call waited for in vain.
fn not_yet(kind: ErrorKind, why: &str) -> ToolError {
    ToolError::new(kind, format!("{why}; nothing was run."))
        .with_hint("nothing of it waits any more: go on with something that does not need it, and call once more later")
        .retryable(true)
}

/// What to do about a ceiling that the kernel cannot hold.
const NO_GROUP: &str = "nothing was run; the operator can start the runtime in a group of its own \
     (`systemd-run --user --scope -p Delegate=yes pilothouse`), or set `limits.require = false`";

/// Reports that nobody can know whether a command had begun.
fn start_unknown(error: &Error) -> ToolError {
    ToolError::new(ErrorKind::StartUnknown, make_sentence(error.to_string()))
        .with_hint("it may have run: look at what it has done before you run it again")
}

/// Reports that a login profile ended the shell.
pub fn not_begun() -> ToolError {
    ToolError::new(ErrorKind::ExecutionFailed, NOT_BEGUN)
        .with_hint("leave `login` out, or have the profile mended")
}

/// Makes a sentence of a message.
fn make_sentence(message: String) -> String {
    let mut letters = message.chars();
    let first = letters.next().map(|first| first.to_ascii_uppercase());
    format!("{}{}.", first.map(String::from).unwrap_or_default(), letters.as_str())
}

/// Reports which system resource is exhausted, and how to free some.
fn exhaustion_error(resource: Resource, message: &str) -> ToolError {
    let (text, hint) = match resource {
        Resource::Descriptors => (
            "No file descriptors are left to start the command with.",
            "end a task with TaskStop, or wait for one to finish, then call again",
        ),
        Resource::Terminal => ("No terminal can be made here.", "leave `tty` out"),
        Resource::Ptys => (
            "No pseudo-terminals are left to start the command with.",
            "start it without `tty`, or end a task that has a terminal with TaskStop and call again",
        ),
        Resource::Processes => (
            "The system allows no further process, or has no memory for one.",
            "end a task with TaskStop, or wait for one to finish, then call again",
        ),
    };
    ToolError::new(ErrorKind::ResourceExhausted, text)
        .with_details(json!({ "resource": resource, "os_error": message }))
        .with_hint(hint)
        .retryable(resource != Resource::Terminal)
}

fn is_full(error: &std::io::Error) -> bool {
    use std::io::ErrorKind::{QuotaExceeded, StorageFull};
    matches!(error.kind(), StorageFull | QuotaExceeded)
}

/// Reports that the disk with the recordings is full.
fn disk_full(what: &str, path: &Path, error: &std::io::Error) -> ToolError {
    ToolError::new(
        ErrorKind::LowDiskSpace,
        "There is not enough space where Pilothouse keeps its recordings.",
    )
    .with_details(json!({ "reason": format!("{what} {}: {error}", path.display()) }))
    .with_hint("free some space; running tasks go on")
}

/// Reports that no question has this id, which may not even be a valid id.
pub fn question_not_found(id: &str) -> ToolError {
    ToolError::new(ErrorKind::QuestionNotFound, "No open pilothouse question has that id.")
        .with_details(json!({ "question_id": id }))
        .with_hint("call Question to see what is open")
}

/// Reports why an answer to a question was not accepted.
fn not_accepted(refusal: &AnswerRefusal) -> ToolError {
    let (kind, id, hint) = match refusal {
        AnswerRefusal::Unknown(id) => return question_not_found(id.as_str()),
        AnswerRefusal::Settled { id, .. } => {
            (ErrorKind::QuestionSettled, id, "nothing is left to do; Question shows what is open")
        }
        AnswerRefusal::OperatorOnly { id } => (
            ErrorKind::OperatorOnly,
            id,
            "you may say something beside it with `comment`; the operator decides at a console",
        ),
        AnswerRefusal::NotForAgents { id } => (
            ErrorKind::OperatorOnly,
            id,
            "the operator may open it to agents; you may say something beside it with `comment`",
        ),
        AnswerRefusal::Paused { id } => (ErrorKind::OperatorOnly, id, "the operator answers it at a console"),
        AnswerRefusal::DoesNotFit { id, .. } => {
            (ErrorKind::InvalidToolInput, id, "answer as the question says; it is still open")
        }
    };
    ToolError::new(kind, make_sentence(refusal.to_string()))
        .with_details(json!({ "question_id": id }))
        .with_hint(hint)
}

/// Reports that nothing can be started while the recording cannot be written.
fn record_error(reason: &str, is_full: bool) -> ToolError {
    let kind = if is_full { ErrorKind::LowDiskSpace } else { ErrorKind::InternalError };
    let hint = if is_full {
        "free some space where Pilothouse keeps its recordings; running tasks go on"
    } else {
        "put the folder of the recordings back, or end the runtime (`pilothouse serve --stop`), which ends its tasks: the \
         next call starts another; running tasks go on until then"
    };
    ToolError::new(kind, "The record cannot be written, so no new command is started.")
        .with_details(json!({ "reason": reason }))
        .with_hint(hint)
}

/// Reports that no task has this id, which may not even be a valid id.
pub fn task_not_found(id: &str) -> ToolError {
    ToolError::new(ErrorKind::TaskNotFound, "No pilothouse task has that id.")
        .with_details(json!({ "task_id": id }))
        .with_hint(
            "call TaskList to see your pilothouse tasks; ids of your client's own tasks do not work here",
        )
}

/// Reports a value that matches the schema but cannot be used.
pub fn unusable(tool: &str, field: &str, reason: impl Into<String>) -> ToolError {
    let reason = reason.into();
    ToolError::new(ErrorKind::InvalidToolInput, format!("The input of {tool} cannot be used: {reason}."))
        .with_details(json!({ "tool_name": tool, "field": field, "validation_error": reason }))
        .with_hint(format!("change `{field}`, or leave it out"))
}

/// Returns the name of a field that makes the command impossible to run, if any, and what is wrong with it.
pub fn unusable_field(
    cmd: &str,
    workdir: Option<&str>,
    shell: Option<&str>,
) -> Option<(&'static str, &'static str)> {
    if cmd.trim().is_empty() {
        return Some(("cmd", "is blank"));
    }
    let given = [("cmd", Some(cmd)), ("workdir", workdir), ("shell", shell)];
    let with_nul = given.into_iter().find(|(_, text)| text.is_some_and(|text| text.contains('\0')));
    with_nul.map(|(field, _)| (field, "contains a NUL character"))
}

/// Shortens a path for use inside a sentence; the details contain the full path.
fn short(path: impl AsRef<Path>) -> String {
    one_line(&path.as_ref().display().to_string(), PATH_CHARS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bad_shell_and_a_bad_workdir_are_told_apart() {
        let shell = ToolError::from(Error::Spawn {
            shell: "/no/shell".into(),
            workdir: "/w".into(),
            message: "No such file or directory".into(),
        });
        assert_eq!(shell.kind, ErrorKind::CommandSpawnFailed);
        assert_eq!(
            shell.details.as_deref(),
            Some(&json!({"shell": "/no/shell", "workdir": "/w", "os_error": "No such file or directory"}))
        );
        assert!(shell.recovery_hint.is_some_and(|hint| hint.contains("omit `shell`")));

        let host = ToolError::from(Error::Spawn {
            shell: "/bin/bash".into(),
            workdir: "/w".into(),
            message: "talk to the task host: Broken pipe (os error 32)".into(),
        });
        assert!(host.recovery_hint.is_some_and(|hint| !hint.contains("shell")), "it is not to blame");

        let workdir = ToolError::from(Error::WorkdirNotFound {
            workdir: "missing".into(),
            reason: "no such directory".into(),
        });
        assert_eq!(workdir.kind, ErrorKind::WorkdirNotFound);
        assert!(workdir.recovery_hint.is_some_and(|hint| !hint.contains("shell")));
    }

    #[test]
    fn leaving_the_workspace_names_the_path_and_the_way_back() {
        let error = ToolError::from(Error::OutsideRoot { workdir: "../outside".into(), root: "/w".into() });
        assert_eq!(error.details.as_deref(), Some(&json!({"workdir": "../outside", "execution_root": "/w"})));
        assert!(
            error
                .recovery_hint
                .is_some_and(|hint| hint.starts_with("leave `workdir` out") && !hint.contains("cd "))
        );
        assert!(!error.retryable);
    }

    #[test]
    fn a_refusal_for_the_task_limit_or_a_shutdown_is_retryable() {
        assert!(ToolError::from(Error::TaskLimit { limit: 64 }).retryable);
        assert!(ToolError::from(Error::ShuttingDown).retryable);
    }
}
