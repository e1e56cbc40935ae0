//! The rows of the record (contracts 7): one for each call, answer and task event.

use std::path::Path;

use jiff::Timestamp;
use serde::Serialize;
use serde_json::Value;

use super::calls::CallRecord;
use super::view::TaskEvent;
use crate::envelope::TaskId;

/// One row of the journal.
#[derive(Debug, Serialize)]
#[serde(tag = "row", rename_all = "snake_case")]
pub(super) enum Row<'a> {
    /// The first row of a recording.
    Recording { at: Timestamp, workspace: &'a Path, pid: u32, version: &'static str },
    /// A call came in; stands before its effect.
    Call(&'a CallRecord),
    /// A call was answered.
    Answer(&'a CallRecord),
    /// A command is about to be started; stands before its effect. Its secrets are masked; names of
    /// variables, not values.
    Start {
        at: Timestamp,
        task: &'a TaskId,
        call: u64,
        cmd: &'a str,
        workdir: &'a Path,
        shell: &'a str,
        env: Vec<&'a str>,
    },
    /// The client of a call stopped waiting; it was not answered. What it had come to, where that is known.
    Abandoned {
        at: Timestamp,
        seq: u64,
        #[serde(skip_serializing_if = "Option::is_none")]
        envelope: Option<&'a Value>,
        #[serde(skip_serializing_if = "Option::is_none")]
        receipt: Option<&'a str>,
    },
    /// Something happened to a task.
    Task {
        task: &'a TaskId,
        #[serde(flatten)]
        event: &'a TaskEvent,
    },
    /// An agent came or went.
    Agent { at: Timestamp, label: &'a str, client: &'a str, pid: u32, connected: bool },
    /// The last row of a recording that was closed in order.
    Closed { at: Timestamp },
}
