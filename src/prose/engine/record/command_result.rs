//! How a command ended, as it is recorded.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// How many lines of stderr, and characters of these, an error quotes.
const ERROR_LINES: usize = 5;
const ERROR_CHARS: usize = 600;

/// How a command ended.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct CommandResult {
    /// Its exit code; 124 after a timeout, 128 and the number after a signal, 126 or 127 when it could not start, 75 when
    /// nobody can know whether it had begun.
    pub exit_code: i32,
    /// What it wrote, at most [`CAPTURED_CHARS`].
    pub stdout: String,
    /// What it wrote as errors, at most as much.
    pub stderr: String,
    /// There was more output.
    #[serde(default)]
    pub stdout_truncated: bool,
    /// There were more errors.
    #[serde(default)]
    pub stderr_truncated: bool,
    /// Its time ran out.
    #[serde(default)]
    pub timed_out: bool,
    /// Somebody stopped it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub stopped: bool,
    /// What is known of it, if nobody can know whether it had begun.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unknown: Option<String>,
    /// What it was as the command of a session; `stdout` is then its answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<Box<SessionEnd>>,
    /// Nobody knows how it ended; a person chose to skip it.
    #[serde(default)]
    pub skipped: bool,
    /// The directory it ended in, if it was reported.
    pub ended_in: Option<PathBuf>,
    /// Milliseconds it took.
    pub duration_ms: u64,
}

impl CommandResult {
    /// Describes how it failed.
    pub fn failure(&self) -> String {
        let (ended, said) = match self {
            Self { unknown: Some(why), .. } => (why.clone(), [&*self.stdout, &self.stderr].join("\n")),
            Self { timed_out: true, exit_code, stderr, .. } => {
                (format!("the command took longer than allowed (exit code {exit_code})"), stderr.clone())
            }
            Self { exit_code, stderr, .. } => {
                (format!("the command ended with exit code {exit_code}"), stderr.clone())
            }
        };
        match last_lines(&said).as_str() {
            "" => ended,
            lines => format!("{ended}: {lines}"),
        }
    }
}

/// How the command of a session ended.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct SessionEnd {
    /// The program.
    pub by: String,
    /// Why it is no answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failed: Option<String>,
    /// The program's own session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub own: Option<String>,
    /// What it cost, in millionths of a dollar.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<u64>,
}

/// The number of characters kept of each stream.
pub const CAPTURED_CHARS: usize = 30_000;

/// Returns the last few lines that are not blank.
pub fn last_lines(text: &str) -> String {
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    let end = lines[lines.len().saturating_sub(ERROR_LINES)..].join("\n");
    let skip = end.chars().count().saturating_sub(ERROR_CHARS);
    end.chars().skip(skip).collect()
}
