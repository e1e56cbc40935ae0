//! `prose gates`: the gates at which running programs of the workspace wait.

use std::sync::Arc;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;

use crate::dispatch::code::Code;
use crate::dispatch::command::{Example, LocalCommand, NoInput};
use crate::dispatch::context::CommandContext;
use crate::dispatch::response::Failure;
use crate::envelope::one_line;
use crate::link::{Error, Operator};
use crate::model::{Question, QuestionKind};
use crate::paths::Places;

/// The maximum length of a prompt in a list, in characters.
const PROMPT_CHARS: usize = 200;

/// Lists the waiting gates.
pub(in crate::dispatch) struct ProseGates;

#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::dispatch) struct GatesOutput {
    /// The waiting gates, oldest first.
    gates: Vec<GateRow>,
}

/// A gate that waits.
#[derive(Debug, Serialize, JsonSchema)]
struct GateRow {
    /// The run of the program.
    run: String,
    /// The gate's id in that run: its name, with a number from the second time on.
    gate: String,
    /// The program.
    program: Option<String>,
    /// Its line in the program.
    line: Option<u32>,
    /// The question that it asks.
    prompt: String,
    /// Start of the wait.
    #[schemars(with = "String")]
    since: Timestamp,
    /// Time of its timeout, which counts as a rejection.
    #[schemars(with = "Option<String>")]
    deadline: Option<Timestamp>,
}

/// Attaches to the workspace's runtime as its operator; `None` if there is none.
///
/// # Errors
/// When the runtime refuses, as it does to anything started by a managed task.
pub async fn attach(places: &Places, cwd: std::path::PathBuf) -> Result<Option<Operator>, Failure> {
    match Operator::attach(&places.operator_socket(), cwd).await {
        Ok(operator) => Ok(Some(operator)),
        Err(Error::NoRuntime { .. }) => Ok(None),
        Err(Error::Refused { reason }) => Err(Failure::new(Code::Precondition, format!("{reason}."))
            .fix("a gate is the operator's: use a console, or your own terminal")),
        Err(error) => Err(Failure::internal(&error)),
    }
}

/// Returns the waiting gates of a runtime, oldest first.
pub fn waiting(operator: &Operator) -> Vec<Arc<Question>> {
    let snapshot = operator.snapshot();
    let questions = snapshot.borrow().questions.clone();
    let is_gate = |question: &Arc<Question>| {
        matches!(question.kind, QuestionKind::Gate { .. }) && question.origin.run.is_some()
    };
    questions.into_iter().filter(is_gate).collect()
}

impl GateRow {
    fn of(question: &Question) -> Self {
        let origin = &question.origin;
        Self {
            run: origin.run.clone().unwrap_or_default(),
            gate: origin.gate.clone().or_else(|| origin.name.clone()).unwrap_or_default(),
            program: origin.program.as_ref().map(|path| path.display().to_string()),
            line: origin.lines.map(|lines| lines.first),
            prompt: question.text.clone(),
            since: question.asked_at,
            deadline: question.deadline,
        }
    }
}

impl LocalCommand for ProseGates {
    const PATH: &'static str = "prose.gates";
    const ABOUT: &'static str = "List the gates that running programs are waiting at";
    const EXITS: &'static [u8] = &[4];
    const EXAMPLES: &'static [Example] = &[Example { about: "See the waiting gates", input: "{}" }];

    type Input = NoInput;
    type Output = GatesOutput;

    async fn run(cx: &mut CommandContext, _input: NoInput) -> Result<GatesOutput, Failure> {
        let operator = attach(&cx.host.places()?, cx.host.cwd()?).await?;
        let gates = operator.iter().flat_map(waiting);
        Ok(GatesOutput { gates: gates.map(|question| GateRow::of(&question)).collect() })
    }

    fn text(output: &GatesOutput) -> String {
        if output.gates.is_empty() {
            return "No program is waiting at a gate.".to_owned();
        }
        let rows = output.gates.iter().map(|row| {
            let file = row.program.as_deref().and_then(|path| path.rsplit('/').next()).unwrap_or_default();
            let line = row.line.map(|line| format!(" line {line}")).unwrap_or_default();
            let until = row.deadline.map(|at| format!("  until {at:.0}")).unwrap_or_default();
            format!(
                "{} {}  {file}{line}{until}\n  {}",
                row.run,
                row.gate,
                one_line(&row.prompt, PROMPT_CHARS)
            )
        });
        rows.collect::<Vec<_>>().join("\n")
    }
}
