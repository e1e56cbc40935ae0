//! `receipt list` and `receipt show`: the receipts in any recording, including those of crashed runtimes.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::code::Code;
use super::command::{Example, LocalCommand};
use super::context::CommandContext;
use super::recording;
use super::response::Failure;
use super::table::table;
use crate::envelope::{Actor, TaskId};
use crate::model::CallRecord;
use crate::runtime::past::PastCall;

/// The default number of receipts.
const LISTED: usize = 20;

pub(super) struct ReceiptList;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ReceiptListInput {
    /// The recording: `latest`, a name, or the beginning of a name. Default: the newest of the workspace.
    #[serde(default)]
    recording: Option<String>,
    /// List only calls about this task.
    #[serde(default)]
    task_id: Option<String>,
    /// Number of newest receipts to list.
    #[serde(default = "default_limit")]
    limit: usize,
}

fn default_limit() -> usize {
    LISTED
}

/// Receipts of one recording.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct ReceiptListOutput {
    /// The recording.
    recording: String,
    /// Number of receipts.
    total: usize,
    /// The newest receipts, newest first.
    receipts: Vec<ReceiptRow>,
}

/// A summary of one receipt.
#[derive(Debug, Serialize, JsonSchema)]
struct ReceiptRow {
    /// The id for `receipt show`.
    id: String,
    /// Arrival time of the call.
    #[schemars(with = "String")]
    at: Timestamp,
    /// The caller.
    #[schemars(with = "String")]
    actor: Actor,
    /// The tool.
    tool: String,
    /// `success`, `error`, `abandoned` or `unanswered`.
    status: String,
    /// Summary of the envelope.
    summary: String,
    /// The task it was about.
    #[schemars(with = "Option<String>")]
    task_id: Option<TaskId>,
    /// Milliseconds from call to answer.
    duration_ms: Option<u64>,
}

impl ReceiptRow {
    fn of(recording: &str, call: &PastCall) -> Self {
        let record = &call.record;
        let said = |key: &str| record.envelope.as_ref().and_then(|envelope| envelope[key].as_str());
        let open = if call.abandoned { "abandoned" } else { "unanswered" };
        Self {
            id: format!("{recording}/{}", record.seq),
            at: record.at,
            actor: record.actor.clone(),
            tool: record.tool.clone(),
            status: said("status").unwrap_or(open).to_owned(),
            summary: said("summary_text").unwrap_or_default().to_owned(),
            task_id: call.task.clone(),
            duration_ms: record.duration_ms,
        }
    }
}

impl LocalCommand for ReceiptList {
    const PATH: &'static str = "receipt.list";
    const ABOUT: &'static str = "List the receipts of a recording";
    const EXITS: &'static [u8] = &[4, 5];
    const EXAMPLES: &'static [Example] = &[
        Example { about: "The newest receipts", input: "{}" },
        Example { about: "The last finished recording", input: r#"{"recording":"latest","limit":100}"# },
    ];

    type Input = ReceiptListInput;
    type Output = ReceiptListOutput;

    async fn run(cx: &mut CommandContext, input: ReceiptListInput) -> Result<ReceiptListOutput, Failure> {
        let listed = recording::find_or_newest(cx, input.recording.as_deref())?;
        let recording = recording::read(&listed).await?;
        let task = input.task_id.as_deref();
        let is_meant = |call: &&PastCall| {
            task.is_none()
                || call.task.as_ref().map(TaskId::as_str) == task
                || call.record.input["task_id"].as_str() == task
        };
        let meant: Vec<&PastCall> = recording.calls.values().filter(is_meant).collect();
        let receipts =
            meant.iter().rev().take(input.limit).map(|call| ReceiptRow::of(&listed.name, call)).collect();
        Ok(ReceiptListOutput { recording: listed.name, total: meant.len(), receipts })
    }

    fn text(output: &ReceiptListOutput) -> String {
        if output.receipts.is_empty() {
            return format!("no receipts in {}", output.recording);
        }
        table(&json!(output.receipts))
    }
}

pub(super) struct ReceiptShow;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ReceiptShowInput {
    /// The number of the call in the newest recording, `RECORDING/NUMBER`, or `latest`.
    id: String,
}

/// One whole call.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct ReceiptShowOutput {
    /// The id for `receipt show`.
    id: String,
    /// The recording.
    recording: String,
    #[serde(flatten)]
    call: CallRecord,
    /// Milliseconds until the call was on record and could take effect.
    latency_ms: Option<u64>,
    /// The task it was about.
    #[schemars(with = "Option<String>")]
    task_id: Option<TaskId>,
}

impl LocalCommand for ReceiptShow {
    const PATH: &'static str = "receipt.show";
    const ABOUT: &'static str = "Show a receipt as it was sent, with its envelope";
    const EXITS: &'static [u8] = &[4, 5];
    const EXAMPLES: &'static [Example] =
        &[Example { about: "The newest receipt", input: r#"{"id":"latest"}"# }];

    type Input = ReceiptShowInput;
    type Output = ReceiptShowOutput;

    async fn run(cx: &mut CommandContext, input: ReceiptShowInput) -> Result<ReceiptShowOutput, Failure> {
        let (named, number) = match input.id.rsplit_once('/') {
            Some((recording, number)) => (Some(recording), number),
            None => (None, input.id.as_str()),
        };
        let listed = recording::find_or_newest(cx, named)?;
        let recording = recording::read(&listed).await?;
        let call = match number {
            "latest" => recording.calls.values().rfind(|call| call.record.receipt.is_some()),
            number => number.parse().ok().and_then(|seq: u64| recording.calls.get(&seq)),
        };
        let Some(PastCall { record, latency_ms, task, .. }) = call.cloned() else {
            return Err(Failure::new(Code::NotFound, "No call of that recording has that number.")
                .with("recording", listed.name)
                .with("id", input.id)
                .fix("`pilothouse receipt list` lists the calls"));
        };
        Ok(ReceiptShowOutput {
            id: format!("{}/{}", listed.name, record.seq),
            recording: listed.name,
            call: record,
            latency_ms,
            task_id: task,
        })
    }

    fn text(output: &ReceiptShowOutput) -> String {
        output.call.receipt.clone().unwrap_or_else(|| format!("call {} was never answered", output.id))
    }
}
