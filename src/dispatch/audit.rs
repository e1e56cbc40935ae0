//! `audit list|show|verify|export`: the raw recording of any of this user's runtimes.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::code::Code;
use super::command::{Example, LocalCommand};
use super::context::CommandContext;
use super::forms::PlainDefault;
use super::recording::{self, off_loop};
use super::response::Failure;
use super::table::table;
use crate::envelope::SafeText;
use crate::journal::{JournalItem, JournalReader, JournalRecord, VerifyReport};
use crate::runtime::past::{self, RecordingState};

/// The default number of rows.
const SHOWN: usize = 100;
/// The maximum length of a row's summary, in characters.
const WORDS: usize = 120;

pub(super) struct AuditList;

/// The scope of the list.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct AuditListInput {
    /// List the recordings of all workspaces, not only of this one.
    #[serde(default)]
    all: bool,
}

/// Recordings, oldest first.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct AuditListOutput {
    /// The recordings.
    recordings: Vec<RecordingRow>,
}

/// One recording.
#[derive(Debug, Serialize, JsonSchema)]
struct RecordingRow {
    /// Its name.
    recording: String,
    /// `live`, `closed`, `recovered` or `unfinished`.
    #[schemars(with = "String")]
    state: RecordingState,
    /// Start time of its runtime.
    #[schemars(with = "Option<String>")]
    started_at: Option<Timestamp>,
    /// Its workspace.
    workspace: Option<String>,
    /// Its folder.
    folder: String,
}

impl LocalCommand for AuditList {
    const PATH: &'static str = "audit.list";
    const ABOUT: &'static str = "List recordings";
    const EXITS: &'static [u8] = &[4];
    const EXAMPLES: &'static [Example] = &[
        Example { about: "Those of this workspace", input: "{}" },
        Example { about: "Those of all workspaces", input: r#"{"all":true}"# },
    ];

    type Input = AuditListInput;
    type Output = AuditListOutput;

    async fn run(cx: &mut CommandContext, input: AuditListInput) -> Result<AuditListOutput, Failure> {
        let places = cx.host.places()?;
        let workspace = (!input.all).then_some(places.workspace.clone());
        let recordings = off_loop(move || {
            let listed = past::list(&places.recordings(), workspace.as_deref()).into_iter();
            Ok(listed
                .map(|listed| RecordingRow {
                    state: listed.state(),
                    started_at: listed.meta.as_ref().map(|meta| meta.started_at),
                    workspace: listed.meta.as_ref().map(|meta| meta.workspace.display().to_string()),
                    folder: listed.folder.display().to_string(),
                    recording: listed.name,
                })
                .collect())
        });
        Ok(AuditListOutput { recordings: recordings.await? })
    }

    fn text(output: &AuditListOutput) -> String {
        let row = |listed: &RecordingRow| json!({ "recording": listed.recording, "state": listed.state, "workspace": listed.workspace });
        match output.recordings.as_slice() {
            [] => "no recordings".to_owned(),
            recordings => table(&recordings.iter().map(row).collect()),
        }
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct RecordingInput {
    /// The recording: `latest`, a name, or the beginning of a name.
    recording: String,
}

pub(super) struct AuditShow;

/// The rows to show.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct AuditShowInput {
    /// The recording: `latest`, a name, or the beginning of a name.
    recording: String,
    /// Show only rows of this kind, e.g. `call`, `answer`, `start`, `task`, `ended`.
    #[serde(default)]
    kind: Option<String>,
    /// Number of newest rows to show.
    #[serde(default = "default_limit")]
    limit: usize,
}

fn default_limit() -> usize {
    SHOWN
}

/// A summary of a recording's rows.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct AuditShowOutput {
    /// The recording.
    recording: String,
    /// Number of matching rows.
    total: usize,
    /// The newest matching rows, oldest first.
    rows: Vec<AuditRow>,
}

/// A summary of one row.
#[derive(Debug, Serialize, JsonSchema)]
struct AuditRow {
    /// Its number.
    seq: u64,
    /// Time of the row.
    #[schemars(with = "String")]
    ts: Timestamp,
    /// Its kind.
    kind: String,
    /// Its content, in a few words.
    says: String,
}

impl LocalCommand for AuditShow {
    const PATH: &'static str = "audit.show";
    const ABOUT: &'static str = "Show the events of a recording, row by row";
    const EXITS: &'static [u8] = &[4, 5];
    const EXAMPLES: &'static [Example] = &[
        Example { about: "The end of the last recording", input: r#"{"recording":"latest"}"# },
        Example { about: "Its calls", input: r#"{"recording":"latest","kind":"call","limit":1000}"# },
    ];

    type Input = AuditShowInput;
    type Output = AuditShowOutput;

    async fn run(cx: &mut CommandContext, input: AuditShowInput) -> Result<AuditShowOutput, Failure> {
        let listed = recording::find(cx, &input.recording)?;
        let folder = listed.folder.clone();
        let (total, rows) = off_loop(move || {
            let wanted = records(&folder)?.into_iter();
            let wanted: Vec<JournalRecord> = wanted
                .filter(|row| input.kind.as_ref().is_none_or(|kind| row.header.kind == *kind))
                .collect();
            let skipped = wanted.len().saturating_sub(input.limit);
            let row = |record: &JournalRecord| AuditRow {
                seq: record.header.seq,
                ts: record.header.ts,
                kind: record.header.kind.clone(),
                says: words(&record.data::<Value>(&folder).unwrap_or_default()),
            };
            Ok((wanted.len(), wanted.iter().skip(skipped).map(row).collect()))
        })
        .await?;
        Ok(AuditShowOutput { recording: listed.name, total, rows })
    }

    fn text(output: &AuditShowOutput) -> String {
        let line = |row: &AuditRow| format!("{:>6}  {}  {:<9}  {}", row.seq, row.ts, row.kind, row.says);
        output.rows.iter().map(line).collect::<Vec<_>>().join("\n")
    }
}

/// Summarises a row: who, what, and the outcome.
fn words(data: &Value) -> String {
    let pointers = [
        "/task/id",
        "/task",
        "/seq",
        "/actor",
        "/tool",
        "/what",
        "/note",
        "/label",
        "/to",
        "/text",
        "/agent",
        "/cmd",
        "/why",
        "/input/cmd",
        "/task/cmd",
        "/input/task_id",
        "/task/status",
        "/envelope/summary_text",
        "/workspace",
        "/recording",
        "/segment",
        "/last",
    ];
    let word = |pointer: &&str| match data.pointer(pointer)? {
        Value::String(text) => {
            Some(text.lines().next().unwrap_or_default().to_owned()).filter(|text| !text.is_empty())
        }
        Value::Number(number) if *pointer == "/seq" => Some(format!("#{number}")),
        _ => None,
    };
    let text = pointers.iter().filter_map(word).collect::<Vec<_>>().join(" ");
    text.chars().filter(|char| !char.is_control()).take(WORDS).collect()
}

pub(super) struct AuditVerify;

/// The result of a check.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct VerifyOutput {
    /// The recording.
    recording: String,
    /// Whether the recording is unaltered.
    whole: bool,
    /// Number of unaltered rows.
    rows: u64,
    /// Number of the last unaltered row.
    seq: u64,
    /// Hash of that row; a copy kept elsewhere can later prove that this end is still there.
    head: String,
    /// Whether a runtime is writing it now.
    live: bool,
    /// Whether its last row records that it was closed.
    closed: bool,
    /// The alterations, in order.
    problems: Vec<Alteration>,
}

/// One alteration.
#[derive(Debug, Serialize, JsonSchema)]
struct Alteration {
    /// The kind of change.
    kind: Value,
    /// The first row concerned.
    first: u64,
    /// The last row concerned.
    last: u64,
    /// The alteration in one sentence.
    says: String,
}

impl VerifyOutput {
    fn of(recording: String, report: &VerifyReport) -> Self {
        let found = report.problems.iter().map(|problem| Alteration {
            kind: json!(problem.kind),
            first: problem.first,
            last: problem.last,
            says: problem.to_string(),
        });
        Self {
            recording,
            whole: report.is_whole(),
            rows: report.records,
            seq: report.seq,
            head: report.hash.to_string(),
            live: report.live,
            closed: report.closed,
            problems: found.collect(),
        }
    }
}

impl LocalCommand for AuditVerify {
    const PATH: &'static str = "audit.verify";
    const ABOUT: &'static str = "Check that a recording has not been altered";
    const EXITS: &'static [u8] = &[4, 5];
    const EXAMPLES: &'static [Example] =
        &[Example { about: "The last finished recording", input: r#"{"recording":"latest"}"# }];

    type Input = RecordingInput;
    type Output = VerifyOutput;

    async fn run(cx: &mut CommandContext, input: RecordingInput) -> Result<VerifyOutput, Failure> {
        let listed = recording::find(cx, &input.recording)?;
        let report = recording::verify(listed.folder).await?;
        let output = VerifyOutput::of(listed.name, &report);
        if output.whole {
            return Ok(output);
        }
        let said: Vec<&str> = output.problems.iter().map(|found| found.says.as_str()).collect();
        let message = "The recording has been altered.";
        Err(Failure::running(Code::RecordDamaged, message)
            .with_text(format!("{message}\n{}", said.join("\n")))
            .detail(said.join("\n"))
            .with("recording", output.recording.clone())
            .with_data(json!(output)))
    }

    fn text(output: &VerifyOutput) -> String {
        let head = output.head.get(..8).unwrap_or_default();
        let end = match (output.live, output.closed) {
            (true, _) => "being written",
            (false, true) => "closed",
            (false, false) => "not closed: its runtime died",
        };
        format!(
            "{}: all {} rows are unaltered; head {} at row {}; {end}\n\
             This reveals changes but does not prevent them: anyone with your rights can write a whole new \
             record.",
            output.recording, output.rows, head, output.seq
        )
    }
}

pub(super) struct AuditExport;

/// A recording, row by row.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct AuditExportOutput {
    /// The recording.
    recording: String,
    /// Its rows as in the journal; parts kept in files are named, not included.
    rows: Vec<Value>,
    #[serde(skip)]
    #[schemars(skip)]
    lines: String,
}

impl LocalCommand for AuditExport {
    const PATH: &'static str = "audit.export";
    const IS_DATA: bool = true;
    const PASTED: PlainDefault = PlainDefault::Always;
    const ABOUT: &'static str = "Print the rows of a recording exactly as they were written";
    const EXITS: &'static [u8] = &[4, 5];
    const EXAMPLES: &'static [Example] =
        &[Example { about: "The last finished recording", input: r#"{"recording":"latest"}"# }];

    type Input = RecordingInput;
    type Output = AuditExportOutput;

    async fn run(cx: &mut CommandContext, input: RecordingInput) -> Result<AuditExportOutput, Failure> {
        let listed = recording::find(cx, &input.recording)?;
        let folder = listed.folder.clone();
        let (rows, lines) = off_loop(move || {
            let rows = records(&folder)?.into_iter();
            let rows: Vec<Value> =
                rows.filter_map(|record| serde_json::from_slice(record.line()).ok()).collect();
            // Characters that move text in a terminal are written as escapes.
            let lines = rows.iter().filter_map(|row| SafeText::json(row).ok());
            let lines = lines.map(|line| line.to_string()).collect::<Vec<_>>().join("\n");
            Ok((rows, lines))
        })
        .await?;
        Ok(AuditExportOutput { recording: listed.name, rows, lines })
    }

    fn text(output: &AuditExportOutput) -> String {
        output.lines.clone()
    }
}

fn records(folder: &std::path::Path) -> Result<Vec<JournalRecord>, crate::journal::JournalError> {
    let items = JournalReader::open(folder)?;
    Ok(items
        .filter_map(|item| if let JournalItem::Record(record) = item { Some(record) } else { None })
        .collect())
}
