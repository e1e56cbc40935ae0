//! Error codes of commands, in addition to those of tools, and the exit codes.

use serde::Serialize;

use crate::envelope::ErrorKind;

/// Declares the error codes and everything derived from them.
macro_rules! codes {
    ($($(#[$doc:meta])* $code:ident { name: $name:literal, exit: $exit:literal })+) => {
        /// Why a command line or a line of `exec` has no answer.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum Code {
            $($(#[$doc])* $code,)+
        }

        impl Code {
            /// Returns the value of `error.code`.
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$code => $name,)+ }
            }

            /// Returns the exit code.
            pub fn exit_code(self) -> u8 {
                match self { $(Self::$code => $exit,)+ }
            }
        }
    };
}

codes! {
    /// A line of the stream is not a request.
    DispatchParseError { name: "DISPATCH_PARSE_ERROR", exit: 2 }
    /// No command has that path.
    UnknownCommand { name: "UNKNOWN_COMMAND", exit: 2 }
    /// The command owns standard input or the terminal.
    NotDispatchable { name: "NOT_DISPATCHABLE", exit: 4 }
    /// An option or argument is wrong.
    ArgError { name: "ARG_ERROR", exit: 2 }
    /// One field is given twice.
    ArgConflict { name: "ARG_CONFLICT", exit: 2 }
    /// The stream contains no lines.
    EmptyStream { name: "EMPTY_STREAM", exit: 2 }
    /// Nobody pipes anything into standard input.
    StdinIsTty { name: "STDIN_IS_TTY", exit: 2 }
    /// Standard input is larger than the limit.
    StdinTooLarge { name: "STDIN_TOO_LARGE", exit: 2 }
    /// The input file cannot be read.
    InputFileUnreadable { name: "INPUT_FILE_UNREADABLE", exit: 2 }
    /// The command ran and failed; its result is in `data`.
    ChildExitNonzero { name: "CHILD_EXIT_NONZERO", exit: 79 }
    /// Some items were refused; the result is in `data`.
    PartialFailure { name: "PARTIAL_FAILURE", exit: 3 }
    /// It took longer than `--timeout`.
    Timeout { name: "TIMEOUT", exit: 10 }
    /// Ended by SIGINT.
    Interrupted { name: "CANCELLED", exit: 130 }
    /// Ended by SIGTERM or SIGHUP.
    Terminated { name: "CANCELLED", exit: 143 }
    /// The idempotency key was already used for another request.
    IdempotencyConflict { name: "IDEMPOTENCY_CONFLICT", exit: 6 }
    /// What was asked for does not exist.
    NotFound { name: "NOT_FOUND", exit: 5 }
    /// A settings file is invalid.
    ConfigInvalid { name: "CONFIG_INVALID", exit: 2 }
    /// A precondition is not met.
    Precondition { name: "PRECONDITION", exit: 4 }
    /// It cannot be done right now.
    Unavailable { name: "UNAVAILABLE", exit: 12 }
    /// The limit on connections is reached.
    TooManyConnections { name: "TOO_MANY_CONNECTIONS", exit: 12 }
    /// There is no room for the record of a runtime.
    LowDiskSpace { name: "LOW_DISK_SPACE", exit: 12 }
    /// A recording was changed or damaged; details are in `data`.
    RecordDamaged { name: "RECORD_DAMAGED", exit: 1 }
    /// A program has errors; they are in `data`.
    ProgramInvalid { name: "PROGRAM_INVALID", exit: 1 }
    /// A program is not in its canonical form.
    NotFormatted { name: "NOT_FORMATTED", exit: 1 }
    /// A program cannot be run: it is not there, or has errors.
    ProgramRefused { name: "PROGRAM_REFUSED", exit: 2 }
    /// A program ended with an error that nothing in it caught.
    ProgramFailed { name: "PROGRAM_FAILED", exit: 1 }
    /// A program asks a question that nobody can answer.
    NobodyAnswers { name: "NOBODY_ANSWERS", exit: 3 }
    /// The budget of a program is used up before a session.
    BudgetSpent { name: "BUDGET_SPENT", exit: 3 }
    /// The command line would cost something, of no class.
    Costs { name: "COSTS", exit: 20 }
    /// The command line would cost more than 1,000 files.
    CostsMany { name: "COSTS_MANY", exit: 21 }
    /// The command line would cost work of which git has no copy.
    CostsUncommitted { name: "COSTS_UNCOMMITTED", exit: 22 }
    /// The command line would cost something on another machine.
    CostsRemote { name: "COSTS_REMOTE", exit: 23 }
    /// The command line would cost something outside the workspace.
    CostsOutside { name: "COSTS_OUTSIDE", exit: 24 }
    /// A variable that is not set makes a deletion wider.
    CostsUnset { name: "COSTS_UNSET", exit: 25 }
    /// What the command line would cost is not known.
    CostNotKnown { name: "COST_NOT_KNOWN", exit: 26 }
    /// An error in Pilothouse or on the machine.
    InternalError { name: "INTERNAL_ERROR", exit: 1 }
}

/// What may have been done when a command line ends with a code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SideEffects {
    /// Nothing.
    None,
    /// Some of it, or it is not known.
    Partial,
    Complete,
}

/// An exit code.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct ExitMeaning {
    /// The number.
    #[serde(skip)]
    pub code: u8,
    pub name: &'static str,
    /// What it says, in one line.
    pub description: &'static str,
    /// Every error with this code may be tried again as it is.
    pub retryable: bool,
    /// What may have been done.
    pub side_effects: SideEffects,
}

const fn exit(
    code: u8,
    name: &'static str,
    side_effects: SideEffects,
    description: &'static str,
) -> ExitMeaning {
    // Only this code is never returned after something was done.
    ExitMeaning { code, name, description, retryable: code == 11, side_effects }
}

/// The exit codes, in ascending order.
pub const EXITS: [ExitMeaning; 23] = [
    exit(0, "SUCCESS", SideEffects::Complete, "The command succeeded"),
    exit(1, "GENERAL_ERROR", SideEffects::Partial, "The command failed; in a stream, at least one line did"),
    exit(2, "ARG_ERROR", SideEffects::None, "The request is invalid; nothing was done"),
    exit(3, "PARTIAL_FAILURE", SideEffects::Partial, "Part of the request was refused; `data` says which"),
    exit(4, "PRECONDITION", SideEffects::None, "A precondition is not met"),
    exit(5, "NOT_FOUND", SideEffects::None, "The target does not exist"),
    exit(6, "CONFLICT", SideEffects::None, "The request conflicts with an earlier action"),
    exit(7, "PERMISSION_DENIED", SideEffects::None, "The caller lacks permission, or the operator refused"),
    exit(10, "TIMEOUT", SideEffects::Partial, "The command exceeded its time limit and was ended"),
    exit(11, "RATE_LIMITED", SideEffects::None, "A limit on concurrent work is reached; try again later"),
    exit(
        12,
        "UNAVAILABLE",
        SideEffects::Partial,
        "The command cannot run now; `error.retryable` says whether to try again",
    ),
    exit(20, "COSTS", SideEffects::None, "`consequence`: the line would cause a loss; nothing was run"),
    exit(21, "COSTS_MANY", SideEffects::None, "`consequence`: the line would cost more than 1,000 files"),
    exit(
        22,
        "COSTS_UNCOMMITTED",
        SideEffects::None,
        "`consequence`: the line would cost work of which git has no copy",
    ),
    exit(23, "COSTS_REMOTE", SideEffects::None, "`consequence`: the line would cost a remote resource"),
    exit(
        24,
        "COSTS_OUTSIDE",
        SideEffects::None,
        "`consequence`: the line would cost files outside the workspace",
    ),
    exit(25, "COSTS_UNSET", SideEffects::None, "`consequence`: an unset variable widens a deletion"),
    exit(26, "COST_NOT_KNOWN", SideEffects::None, "`consequence`: the loss is not known"),
    exit(75, "UNKNOWN", SideEffects::Partial, "The start of the command cannot be confirmed"),
    exit(79, "CHILD_EXIT_NONZERO", SideEffects::Complete, "The command ran and failed; `data` is its result"),
    exit(130, "CANCELLED_SIGINT", SideEffects::Partial, "SIGINT ended the command"),
    exit(141, "OUTPUT_CLOSED", SideEffects::Partial, "The reader of the output closed it"),
    exit(143, "CANCELLED_SIGTERM", SideEffects::Partial, "SIGTERM or SIGHUP ended the command"),
];

/// Exit codes that every command can return.
pub(super) const COMMON: [u8; 7] = [0, 1, 2, 10, 130, 141, 143];

/// Returns an exit code of [`EXITS`].
pub fn exit_of(code: u8) -> Option<&'static ExitMeaning> {
    EXITS.iter().find(|known| known.code == code)
}

/// Returns the code of a tool's error on the command line.
pub(super) fn of_kind(kind: ErrorKind) -> String {
    kind.as_str().to_uppercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_error_ends_with_an_exit_code_that_has_a_name() {
        for kind in ErrorKind::ALL {
            assert!(exit_of(kind.exit_code()).is_some(), "{kind}");
        }
        for code in [Code::DispatchParseError, Code::Timeout, Code::IdempotencyConflict, Code::PartialFailure]
        {
            assert!(exit_of(code.exit_code()).is_some(), "{}", code.as_str());
        }
        assert!(COMMON.iter().all(|code| exit_of(*code).is_some()));
        assert!(EXITS.is_sorted_by_key(|exit| exit.code));
    }
}
