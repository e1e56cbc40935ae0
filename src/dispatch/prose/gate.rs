//! `prose gate approve|reject|log`: the first two are declared here and run by `cli`, which has the terminal; the log
//! is read from the run's folder.

use std::path::Path;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::dispatch::code::Code;
use crate::dispatch::command::{CommandReach, Danger, Example, LocalCommand};
use crate::dispatch::context::CommandContext;
use crate::dispatch::response::Failure;
use crate::files::{self, OWN};
use crate::prose::engine::record::folder;

/// `prose gate approve` and `reject`: opens a gate, or keeps it closed.
pub(in crate::dispatch) struct ProseGateDecide<const OPENS: bool>;

/// `prose gate log`: the history of a run's gates.
pub(in crate::dispatch) struct ProseGateLog;

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GateInput {
    /// The run of the program, as `prose gates` lists it.
    pub run: String,
    /// The gate's id in that run.
    pub gate: String,
    /// The reason, for the record.
    pub note: Option<String>,
}

/// The decision.
#[derive(Debug, Serialize, JsonSchema)]
pub struct GateDecision {
    /// The run of the program.
    pub run: String,
    /// The gate.
    pub gate: String,
    /// `approved` or `rejected`.
    pub decision: &'static str,
}

impl<const OPENS: bool> LocalCommand for ProseGateDecide<OPENS> {
    const PATH: &'static str = if OPENS { "prose.gate.approve" } else { "prose.gate.reject" };
    const ABOUT: &'static str = match OPENS {
        true => "Open a gate of a running program, at a terminal",
        false => "Keep a gate of a running program shut, at a terminal",
    };
    const DANGER: Danger = Danger::Mutating;
    const EXITS: &'static [u8] = &[4, 5];
    const EXAMPLES: &'static [Example] = match OPENS {
        true => &[Example {
            about: "Read what a gate asks, and open it by typing the word that is shown",
            input: r#"{"run":"20261122-043511-k3f9x2","gate":"deploy"}"#,
        }],
        false => &[Example {
            about: "Reject, and say why",
            input: r#"{"run":"20261122-043511-k3f9x2","gate":"deploy","note":"not on a Friday"}"#,
        }],
    };
    const REACH: CommandReach = CommandReach::Alone("the terminal");

    type Input = GateInput;
    type Output = GateDecision;

    async fn dry_run(_cx: &mut CommandContext, input: GateInput) -> Result<Value, Failure> {
        let effect = if OPENS { "would_ask_to_approve" } else { "would_ask_to_reject" };
        Ok(json!({ "effect": effect, "run": input.run, "gate": input.gate }))
    }
}

impl GateInput {
    /// Returns whether a question is about this gate.
    pub fn means(&self, origin: &crate::model::QuestionOrigin) -> bool {
        origin.run.as_deref() == Some(&self.run) && origin.gate.as_deref() == Some(&self.gate)
    }

    /// Returns the failure for a gate that is not waiting.
    pub fn absent(&self) -> Failure {
        let message = format!("No program is waiting at gate {} in run {}.", self.gate, self.run);
        Failure::new(Code::NotFound, message).fix("see `pilothouse prose gates`")
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::dispatch) struct GateLogInput {
    /// The run of the program.
    run: String,
    /// Show only this gate.
    gate: Option<String>,
}

/// The history of the gates.
#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::dispatch) struct GateLog {
    /// The run of the program.
    run: String,
    /// The events, in order.
    events: Vec<GateLogRow>,
}

/// One event at a gate.
#[derive(Debug, PartialEq, Eq, Serialize, JsonSchema)]
struct GateLogRow {
    /// Time of the event.
    #[schemars(with = "String")]
    at: Timestamp,
    /// The gate.
    gate: String,
    /// `created`, `approved`, `rejected` or `timeout`.
    event: String,
    /// The principal: `operator`, `file`, `system`.
    principal: String,
    /// The reason, in the principal's words.
    comment: Option<String>,
}

/// A file of a gate, as far as the log needs it.
#[derive(Debug, Deserialize)]
struct GateFile {
    gate_id: String,
    created_at: Option<Timestamp>,
    decision: Option<String>,
    principal: Option<String>,
    timestamp: Option<Timestamp>,
    comment: Option<String>,
}

impl LocalCommand for ProseGateLog {
    const PATH: &'static str = "prose.gate.log";
    const ABOUT: &'static str = "Print the history of the gates of a run";
    const EXITS: &'static [u8] = &[5];
    const EXAMPLES: &'static [Example] = &[Example {
        about: "See who opened which gate, and when",
        input: r#"{"run":"20261122-043511-k3f9x2"}"#,
    }];

    type Input = GateLogInput;
    type Output = GateLog;

    async fn run(cx: &mut CommandContext, input: GateLogInput) -> Result<GateLog, Failure> {
        let GateLogInput { run, gate } = input;
        let runs = folder::runs(&cx.host.places()?.workspace);
        let path = runs.join(&run);
        let is_name = !run.is_empty() && !run.contains('/') && !run.starts_with('.');
        if !is_name || !path.is_dir() {
            let message = format!("There is no run {run} in {}.", runs.display());
            return Err(Failure::new(Code::NotFound, message));
        }
        let mut events = Vec::new();
        gather(&path, &mut events);
        events.retain(|event| gate.as_deref().is_none_or(|gate| event.gate == gate));
        events.sort_by_key(|event| event.at);
        Ok(GateLog { run, events })
    }

    fn text(output: &GateLog) -> String {
        if output.events.is_empty() {
            return format!("{} reached no gate.", output.run);
        }
        let rows = output.events.iter().map(|GateLogRow { at, gate, event, principal, comment }| {
            let comment = comment.as_deref().map(|text| format!("  {text}")).unwrap_or_default();
            format!("{at:.0}  {gate}  {event}  {principal}{comment}")
        });
        rows.collect::<Vec<_>>().join("\n")
    }
}

/// The longest file of a gate that is read.
const GATE_BYTES: u64 = 1 << 20;

/// Reads the gates of a program's folder, and of the programs it has used. Anything unreadable is skipped: the log of
/// a run in progress is read while it is being written.
fn gather(path: &Path, events: &mut Vec<GateLogRow>) {
    let entries = |name: &str| {
        let folder = path.join(name);
        let is_real = folder.symlink_metadata().is_ok_and(|facts| facts.is_dir());
        is_real.then(|| std::fs::read_dir(folder)).into_iter().flatten().flatten().flatten()
    };
    let is_whole = |file: &std::fs::DirEntry| !file.file_name().as_encoded_bytes().starts_with(b".");
    for file in entries("gates").filter(is_whole) {
        let text = files::read_text(&file.path(), OWN, GATE_BYTES).unwrap_or_default();
        if let Ok(facts) = serde_json::from_str::<GateFile>(&text) {
            events.extend(facts.events());
        }
    }
    for used in entries("imports").filter(|used| used.file_type().is_ok_and(|kind| kind.is_dir())) {
        gather(&used.path(), events);
    }
}

impl GateFile {
    fn events(self) -> impl Iterator<Item = GateLogRow> {
        let Self { gate_id, created_at, decision, principal, timestamp, comment } = self;
        let created = created_at.map(|at| GateLogRow {
            at,
            gate: gate_id.clone(),
            event: "created".to_owned(),
            principal: "system".to_owned(),
            comment: None,
        });
        let decided = timestamp.zip(decision).map(|(at, event)| GateLogRow {
            at,
            gate: gate_id,
            event,
            principal: principal.unwrap_or_default(),
            comment,
        });
        created.into_iter().chain(decided)
    }
}
