//! Errors of a run itself. A failure inside a program is a value in its execution.

use std::path::PathBuf;

/// Why a run could not start or continue.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// A file of the run could not be used.
    #[error("{what} {path}: {source}")]
    Io {
        /// What was tried.
        what: &'static str,
        /// The path.
        path: PathBuf,
        /// The cause.
        source: std::io::Error,
    },
    /// The program cannot be read.
    #[error("read {path}: {reason}")]
    Unreadable {
        /// The program.
        path: PathBuf,
        /// The reason.
        reason: String,
    },
    /// The program, or one that it uses, has errors.
    #[error("{path} has errors:\n{report}")]
    Unsound {
        /// The program.
        path: PathBuf,
        /// Its diagnostics.
        report: String,
    },
    /// A used program is not on this machine.
    #[error(
        "line {line}: use \"{path}\": only programs on this machine can be used; name their folder in programs.path, or fetch it over https with --allow-fetch"
    )]
    NotLocal {
        /// The line.
        line: usize,
        /// The path as written.
        path: String,
        /// The address to fetch it from, if known.
        url: Option<String>,
    },
    /// A used program cannot be fetched.
    #[error("fetch {url}: {reason}")]
    NotFetched {
        /// Its address.
        url: String,
        /// The reason.
        reason: String,
    },
    /// A used program does not match its lock entry.
    #[error("{url} is not the program that {path} has locked; remove its entry there to accept another one")]
    Digest {
        /// Its address.
        url: String,
        /// The lock file.
        path: PathBuf,
    },
    /// The lock file is not valid.
    #[error("{path}: {reason}")]
    Lock {
        /// The lock file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// A program uses itself, directly or indirectly.
    #[error("{path} uses itself")]
    UsesItself {
        /// The program.
        path: PathBuf,
    },
    /// The answers file is not valid.
    #[error("the answers in {path}: {reason}")]
    Answers {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// An input was given that the program does not have.
    #[error("the program has no input {name}; it has {known}")]
    UnknownInput {
        /// As given.
        name: String,
        /// The known inputs.
        known: String,
    },
    /// Questions that nobody can answer.
    #[error("nobody can answer what this program asks:\n{report}")]
    NobodyAnswers {
        /// The questions, one per line.
        report: String,
    },
    /// A specified answerer of sessions is not valid.
    #[error("--session {typed}: {reason}")]
    Answerer {
        /// As typed.
        typed: String,
        /// What is wrong with it.
        reason: String,
    },
    /// A program that is to answer sessions does not exist.
    #[error(
        "{program}, which answers sessions, is not found; name another with --session, or --session ask for a person"
    )]
    NoAnswerer {
        /// The program.
        program: String,
    },
    /// Permissions of agents that nothing enforces.
    #[error(
        "some permissions cannot be enforced by whoever answers:\n{report}\nrun it anyway with --allow-unenforced"
    )]
    Unenforced {
        /// The permissions, one per line.
        report: String,
    },
    /// There is no such run.
    #[error("there is no run {run} in {folder}")]
    NoRun {
        /// The id as given.
        run: String,
        /// The folder that was searched.
        folder: PathBuf,
    },
    /// Another process is executing it.
    #[error("{run} is already running")]
    Busy {
        /// The run.
        run: String,
    },
    /// The run has ended.
    #[error("{run} is over: it {how}")]
    Over {
        /// The run.
        run: String,
        /// How it ended.
        how: String,
    },
    /// The run is resumed, and what ended it would only be met again.
    #[error("line {line} ended {run}: {what}\nto run that again, add --rerun")]
    KnownFailure {
        /// The run.
        run: String,
        /// The line of what ended it.
        line: u32,
        /// How that ended.
        what: String,
    },
    /// The program was changed since the run began.
    #[error(
        "{path} has changed since {run} began; run it again from the start, or resume without a file to \
         continue the program as it was"
    )]
    Changed {
        /// The program.
        path: PathBuf,
        /// The run.
        run: String,
    },
    /// The journal of the run is not valid.
    #[error("the journal {path}, line {line}: {reason}")]
    Journal {
        /// The journal.
        path: PathBuf,
        /// The line.
        line: usize,
        /// What is wrong with it.
        reason: String,
    },
}

impl RunError {
    /// Returns a closure that wraps an I/O error with the operation and the path.
    pub(in crate::prose::engine) fn io(
        what: &'static str,
        path: impl Into<PathBuf>,
    ) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.into();
        move |source| Self::Io { what, path, source }
    }
}
