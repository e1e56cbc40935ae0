//! What a run of a program could not do itself. What goes wrong inside a program is a value of the walker.

use std::path::PathBuf;

/// Why a run could not begin or go on.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file of the run could not be used.
    #[error("{what} {path}: {source}")]
    Io {
        /// What was tried.
        what: &'static str,
        /// On what.
        path: PathBuf,
        /// Why it failed.
        source: std::io::Error,
    },
    /// The program cannot be read.
    #[error("read {path}: {reason}")]
    Unreadable {
        /// The program.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// The program has errors, or one it uses has.
    #[error("{path} has errors:\n{report}")]
    Unsound {
        /// The program.
        path: PathBuf,
        /// What is wrong with it.
        report: String,
    },
    /// A used program is not on this machine.
    #[error(
        "line {line}: use \"{path}\": only programs on this machine can be used; name their folder in programs.path, or fetch it over https with --allow-fetch"
    )]
    NotLocal {
        /// The line.
        line: usize,
        /// What was named.
        path: String,
        /// Where it could be fetched.
        url: Option<String>,
    },
    /// A used program cannot be fetched.
    #[error("fetch {url}: {reason}")]
    NotFetched {
        /// Its address.
        url: String,
        /// Why.
        reason: String,
    },
    /// A used program is not the one that is locked.
    #[error(
        "{url} is not the program that {path} has locked; take its entry out of there to accept another one"
    )]
    Digest {
        /// Its address.
        url: String,
        /// The lock.
        path: PathBuf,
    },
    /// The lock makes no sense.
    #[error("{path}: {reason}")]
    Lock {
        /// The lock.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// A program uses itself, directly or by others.
    #[error("{path} uses itself")]
    UsesItself {
        /// The program.
        path: PathBuf,
    },
    /// The answers file makes no sense.
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
        /// What there is.
        known: String,
    },
    /// Questions that nobody can answer.
    #[error("nobody can answer what this program asks:\n{report}")]
    NobodyAnswers {
        /// The questions, a line each.
        report: String,
    },
    /// Who is to answer sessions makes no sense.
    #[error("--session {typed}: {reason}")]
    Answerer {
        /// As typed.
        typed: String,
        /// What is wrong with it.
        reason: String,
    },
    /// A program that is to answer sessions is not there.
    #[error(
        "{program}, which answers sessions, is not found; name another with --session, or --session ask for a person"
    )]
    NoAnswerer {
        /// The program.
        program: String,
    },
    /// Permissions of agents that nothing enforces.
    #[error(
        "some permissions cannot be enforced by who answers:\n{report}\nrun it all the same with --allow-unenforced"
    )]
    Unenforced {
        /// Them, a line each.
        report: String,
    },
    /// There is no such run.
    #[error("there is no run {run} in {folder}")]
    NoRun {
        /// As asked.
        run: String,
        /// Where was looked.
        folder: PathBuf,
    },
    /// Another process runs it.
    #[error("{run} is running already")]
    Busy {
        /// The run.
        run: String,
    },
    /// The run is over.
    #[error("{run} is over: it {how}")]
    Over {
        /// The run.
        run: String,
        /// How it ended.
        how: String,
    },
    /// The program was changed since the run began.
    #[error(
        "{path} has changed since {run} began; run it anew, or resume without a file to go on with what it was"
    )]
    Changed {
        /// The program.
        path: PathBuf,
        /// The run.
        run: String,
    },
    /// The journal of the run makes no sense.
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

/// A refusal as it is sent and shown.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Refusal {
    /// Why.
    pub message: String,
    /// The exit code that `run` ends with.
    pub exit_code: u8,
}

impl From<Error> for Refusal {
    fn from(error: Error) -> Self {
        let exit_code = match error {
            Error::Io { .. } | Error::Journal { .. } => 1,
            Error::NobodyAnswers { .. } => 3,
            _ => 2,
        };
        Self { message: error.to_string(), exit_code }
    }
}

impl Error {
    /// Returns a closure that wraps an I/O error with what was tried on which path.
    pub(crate) fn io(what: &'static str, path: impl Into<PathBuf>) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.into();
        move |source| Self::Io { what, path, source }
    }
}
