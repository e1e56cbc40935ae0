//! The rows of a journal, including the first one.

use std::path::PathBuf;
use std::sync::Arc;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::config::ExecPolicy;
use crate::prose::engine::record::command_result::CommandResult;
use crate::prose::engine::record::decision::RecordedDecision;

/// A place in the execution: the path that leads to it, the same in each execution of the same program.
pub type ProgramKey = Arc<str>;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "row", rename_all = "snake_case")]
pub enum RunRow {
    /// The first row.
    Run(RunHeader),
    /// A command is about to start.
    Begun {
        /// Where.
        key: ProgramKey,
        line: u32,
        /// The command.
        cmd: String,
        /// When.
        at: Timestamp,
    },
    /// A command has ended.
    Ran {
        /// Where.
        key: ProgramKey,
        /// How.
        ran: Box<CommandResult>,
    },
    /// A question is settled.
    Decided {
        /// Where.
        key: ProgramKey,
        /// How.
        decided: RecordedDecision,
    },
    /// A number was given.
    Number {
        /// Where.
        key: ProgramKey,
        /// Of what.
        of: String,
        number: u32,
    },
    /// A line was written to `state.md`.
    Mark {
        /// Where.
        key: ProgramKey,
        /// The line.
        text: String,
        /// The folder of the used program that it is about.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        of: Option<PathBuf>,
    },
    /// A binding is about to be written.
    Bound {
        /// Where.
        key: ProgramKey,
        file: PathBuf,
        /// What will be in it.
        #[serde(default)]
        digest: String,
    },
    /// A parallel block is over: its branches in the order of their ends, and whether they succeeded.
    Joined {
        /// Where.
        key: ProgramKey,
        /// Branch, success.
        ends: Vec<(usize, bool)>,
    },
    /// Another process.
    Resumed {
        /// When.
        at: Timestamp,
    },
    /// It is over, or was cut off in order.
    End {
        /// When.
        at: Timestamp,
        /// How: `completed`, `failed`, `interrupted`.
        how: String,
        /// What ended it, where doing that again may end differently.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        place: Option<ProgramKey>,
    },
}

/// What a run was begun with.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunHeader {
    /// The version of the rows.
    pub version: u32,
    /// The run's id.
    pub run: String,
    /// The program's file.
    pub program: PathBuf,
    /// Where its commands start.
    pub cwd: PathBuf,
    /// The shell that runs them.
    pub shell: String,
    /// Inputs that were given; of those with the name of a secret, [`MASKED`](crate::envelope::MASKED) instead of the
    /// value.
    pub inputs: Vec<(String, String)>,
    /// Which commands a person is asked about.
    #[serde(default)]
    pub exec: ExecPolicy,
    /// Who answers sessions, as it was typed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sessions: Vec<String>,
    /// Permissions that nothing enforces do not keep it from running.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub allow_unenforced: bool,
    /// When.
    pub at: Timestamp,
}

impl RunHeader {
    /// The version of the row format.
    pub const VERSION: u32 = 1;
}
