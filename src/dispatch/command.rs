//! The declaration and execution of a command. A tool becomes a command by its row in the table of tools; every other
//! command implements [`LocalCommand`].

use std::pin::Pin;
use std::sync::OnceLock;

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::code::{self, Code};
use super::context::CommandContext;
use super::forms::{FORMS, PlainDefault};
use super::response::Failure;
use super::table::table;
use crate::envelope::ToolError;
use crate::tools::{self, Tool};

/// The side effects of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Danger {
    /// It only reads.
    Safe,
    /// It changes things.
    Mutating,
    /// It may change or end things that cannot be restored.
    Destructive,
}

/// An example input.
#[derive(Debug, Clone, Copy)]
pub struct Example {
    /// What it does.
    pub about: &'static str,
    /// The input as JSON.
    pub input: &'static str,
}

/// Nothing.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NoInput {}

/// The answer of a command that has its own output.
#[derive(Debug, Serialize, JsonSchema)]
pub struct EffectOutput {
    /// The action taken, e.g. `stopped`.
    effect: &'static str,
}

/// Where a command can run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CommandReach {
    /// Anywhere: alone or as a line of `exec`.
    Anywhere,
    /// By itself only, because it needs exclusive use of something, such as `the terminal`.
    Alone(&'static str),
    /// As `exec`, which cannot be a line of itself.
    Exec,
}

/// A command that is not a tool. To add one, implement this and add a row to [`super::COMMANDS`].
pub trait LocalCommand: 'static {
    /// Its path: the words of its command line, joined by dots.
    const PATH: &'static str;
    /// What it does, in one line without a full stop.
    const ABOUT: &'static str;
    /// The effects it may have.
    const DANGER: Danger = Danger::Safe;
    /// Additional exit codes.
    const EXITS: &'static [u8] = &[];
    /// Example inputs.
    const EXAMPLES: &'static [Example];
    const ALIASES: &'static [&'static str] = &[];
    /// Where it can run. A command that cannot run everywhere is run by `cli` and has no [`LocalCommand::run`].
    const REACH: CommandReach = CommandReach::Anywhere;

    /// Additional output formats.
    const FORMS: &'static [&'static str] = &[];

    /// Whether its text output is data for a file or another program: it is then printed unchanged, except on a
    /// terminal.
    const IS_DATA: bool = false;

    /// When its answer is a file or text to be pasted.
    const PASTED: PlainDefault = PlainDefault::Never;

    /// Its input, with one field for each argument.
    type Input: DeserializeOwned + JsonSchema + Send;
    /// Its answer: the `data` of the response.
    type Output: Serialize + JsonSchema + Send;

    /// Runs the command.
    fn run(
        _cx: &mut CommandContext,
        _input: Self::Input,
    ) -> impl Future<Output = Result<Self::Output, Failure>> + Send {
        let message = format!("{} does not run inside another command.", Self::PATH);
        std::future::ready(Err(Failure::new(Code::NotDispatchable, message)))
    }

    /// Describes what it would do, without doing it; the effect is named `would_…`. Required for commands that are
    /// not safe.
    fn dry_run(
        _cx: &mut CommandContext,
        _input: Self::Input,
    ) -> impl Future<Output = Result<Value, Failure>> + Send {
        let message = format!("{} cannot tell what it would do.", Self::PATH);
        std::future::ready(Err(Failure::new(Code::InternalError, message)))
    }

    /// Formats the answer for a person.
    fn text(output: &Self::Output) -> String {
        serde_json::to_value(output).map(|data| table(&data)).unwrap_or_default()
    }

    /// Returns whether the answer only says that the caller already has the data.
    fn is_unmodified(_output: &Self::Output) -> bool {
        false
    }

    /// Returns what else is known, for the program's own key in `meta`.
    fn own_facts(_output: &Self::Output) -> Option<Value> {
        None
    }

    /// Returns notes that accompany the answer, one line each, for standard error.
    fn notes(_output: &Self::Output) -> Vec<String> {
        Vec::new()
    }

    /// Formats the data in one of `FORMS`, or in a common format that it overrides; `None` for all others.
    fn form(_name: &str, _data: &Value) -> Option<String> {
        None
    }
}

/// The future of an answer.
type Pending<'a, T> = Pin<Box<dyn Future<Output = Result<T, Failure>> + Send + 'a>>;

/// The answer of a command that runs in this process.
#[derive(Debug)]
pub(super) struct LocalAnswer {
    pub(super) data: Value,
    /// The data formatted as text.
    pub(super) text: String,
    /// Notes that accompany it.
    pub(super) notes: Vec<String>,
    /// Whether the caller already has the data.
    pub(super) is_unmodified: bool,
    /// What else is known.
    pub(super) own_facts: Option<Value>,
}

/// How a command runs.
#[derive(Debug, Clone, Copy)]
pub(super) enum CommandKind {
    /// As a tool call, in the runtime of the workspace.
    Tool(&'static Tool),
    /// In this process.
    Local {
        run: for<'a> fn(&'a mut CommandContext, &'a Value, Value) -> Pending<'a, LocalAnswer>,
        dry_run: for<'a> fn(&'a mut CommandContext, &'a Value, Value) -> Pending<'a, Value>,
        check: fn(&Value, Value) -> Result<(), ToolError>,
    },
}

/// One row of the registry.
#[derive(Debug)]
pub struct Command {
    /// Its path, such as `task.list`.
    pub path: String,
    /// What it does.
    pub about: &'static str,
    /// The effects it may have.
    pub danger: Danger,
    /// Example inputs.
    pub examples: Vec<Example>,
    pub aliases: &'static [&'static str],
    /// Where it can run.
    pub reach: CommandReach,
    /// Additional output formats.
    pub forms: &'static [&'static str],
    /// Whether its text output is data for a file or another program.
    pub(super) is_data: bool,
    /// When plain is its default format even in a pipe.
    pub pasted: PlainDefault,
    pub(super) form: fn(&str, &Value) -> Option<String>,
    pub(super) kind: CommandKind,
    exits: Vec<u8>,
    make_input: fn() -> Value,
    make_output: fn() -> Value,
    input: OnceLock<Value>,
    output: OnceLock<Value>,
}

impl Command {
    /// Returns whether it runs commands, or reads the state of running ones.
    pub fn runs_commands(&self) -> bool {
        matches!(self.kind, CommandKind::Tool(_)) || self.reach == CommandReach::Exec || self.path == "run"
    }

    /// Returns the name of the tool, if it is one.
    pub(super) fn tool(&self) -> Option<&'static str> {
        match self.kind {
            CommandKind::Tool(tool) => Some(tool.name),
            CommandKind::Local { .. } => None,
        }
    }

    /// Creates the row of a tool.
    pub(super) fn of_tool(tool: &'static Tool) -> Self {
        let danger = match (tool.hints.read_only, tool.hints.destructive) {
            (true, _) => Danger::Safe,
            (false, false) => Danger::Mutating,
            (false, true) => Danger::Destructive,
        };
        let examples = tool.examples.iter().map(|&(about, input)| Example { about, input });
        let mut exits = vec![4, 5, 6, 7, 11, 12];
        if runs_children(tool) {
            exits.extend([3, 75, 79]);
        }
        Self {
            path: tool.cli.join("."),
            about: tool.title,
            danger,
            examples: examples.collect(),
            aliases: &[],
            reach: CommandReach::Anywhere,
            forms: &[],
            is_data: false,
            pasted: PlainDefault::Never,
            form: |_, _| None,
            kind: CommandKind::Tool(tool),
            exits: with_common(exits),
            make_input: tool.input_schema,
            make_output: tool.result_schema,
            input: OnceLock::new(),
            output: OnceLock::new(),
        }
    }

    /// Creates the row of any other command.
    pub(super) fn of<L: LocalCommand>() -> Self {
        Self {
            path: L::PATH.to_owned(),
            about: L::ABOUT,
            danger: L::DANGER,
            examples: L::EXAMPLES.to_vec(),
            aliases: L::ALIASES,
            reach: L::REACH,
            forms: L::FORMS,
            is_data: L::IS_DATA,
            pasted: L::PASTED,
            form: L::form,
            kind: CommandKind::Local {
                run: run::<L>,
                dry_run: dry_run::<L>,
                check: |schema, given| read::<L>(schema, given).map(drop),
            },
            exits: with_common(L::EXITS.to_vec()),
            make_input: tools::input_schema::<L::Input>,
            make_output: tools::output_schema::<L::Output>,
            input: OnceLock::new(),
            output: OnceLock::new(),
        }
    }

    /// Returns the words of its command line.
    pub fn words(&self) -> impl Iterator<Item = &str> {
        self.path.split('.')
    }

    /// Returns the output formats that it accepts.
    pub fn output_forms(&self) -> impl Iterator<Item = &'static str> {
        // A stream is answered line by line.
        let common = if self.reach == CommandReach::Exec { &FORMS[..2] } else { &FORMS[..] };
        common.iter().chain(self.forms).copied()
    }

    /// Returns the fields that a command line may have without their names, in order.
    pub fn positional(&self) -> impl Iterator<Item = &str> {
        positional(self.input_schema())
    }

    /// Returns the exit codes it may return, in ascending order.
    pub fn exits(&self) -> &[u8] {
        &self.exits
    }

    /// Returns the JSON Schema of its input.
    pub fn input_schema(&self) -> &Value {
        self.input.get_or_init(|| {
            let mut schema = (self.make_input)();
            if self.runs_children() {
                schema["properties"]["ok_exit_codes"] = json!({
                    "type": "array",
                    "items": { "type": "integer", "minimum": 0, "maximum": 255 },
                    "description": "Exit codes of the command that count as success. Default: only 0.",
                });
            }
            schema
        })
    }

    /// Returns the JSON Schema of its `data`, which includes that of a dry run.
    pub fn output_schema(&self) -> &Value {
        self.output.get_or_init(|| {
            let schema = (self.make_output)();
            if self.danger == Danger::Safe {
                return schema;
            }
            let effect = json!({ "type": "string", "pattern": "^would_" });
            let would = json!({
                "type": "object",
                "description": "The answer to a dry run.",
                "properties": { "effect": effect },
                "required": ["effect"],
            });
            json!({ "anyOf": [schema, would] })
        })
    }

    /// Returns whether its failure may be that of a command it ran.
    pub fn runs_children(&self) -> bool {
        matches!(self.kind, CommandKind::Tool(tool) if runs_children(tool))
    }

    /// Validates an input without running the command.
    ///
    /// # Errors
    /// When it does not match the schema, or its values are inconsistent.
    pub fn check(&self, input: Value) -> Result<(), ToolError> {
        match self.kind {
            CommandKind::Tool(tool) => (tool.check)(input),
            CommandKind::Local { check, .. } => check(self.input_schema(), input),
        }
    }
}

/// Returns the fields of an input that a command line may have without their names: those that are required, a file,
/// hosts, and one whose flag would be the one for the whole input.
pub fn positional(schema: &Value) -> impl Iterator<Item = &str> {
    let required =
        |name: &str| schema["required"].as_array().is_some_and(|all| all.iter().any(|one| one == name));
    let names = schema["properties"].as_object().into_iter().flatten().map(|(name, _)| name.as_str());
    names.filter(move |name| required(name) || ["input", "file", "hosts"].contains(name))
}

fn with_common(mut exits: Vec<u8>) -> Vec<u8> {
    exits.extend(code::COMMON);
    exits.sort_unstable();
    exits.dedup();
    exits
}

fn runs_children(tool: &Tool) -> bool {
    tool.cli.first() == Some(&"command")
}

fn read<L: LocalCommand>(schema: &Value, given: Value) -> Result<L::Input, ToolError> {
    tools::read_input(L::PATH, schema, &[], given)
}

fn run<'a, L: LocalCommand>(
    cx: &'a mut CommandContext,
    schema: &'a Value,
    given: Value,
) -> Pending<'a, LocalAnswer> {
    Box::pin(async move {
        let output = L::run(cx, read::<L>(schema, given)?).await?;
        let is_unmodified = L::is_unmodified(&output);
        let data = if is_unmodified { Ok(Value::Null) } else { serde_json::to_value(&output) };
        let data = data.map_err(|error| Failure::internal(&error))?;
        let (text, notes, own_facts) = (L::text(&output), L::notes(&output), L::own_facts(&output));
        Ok(LocalAnswer { data, text, notes, is_unmodified, own_facts })
    })
}

fn dry_run<'a, L: LocalCommand>(
    cx: &'a mut CommandContext,
    schema: &'a Value,
    given: Value,
) -> Pending<'a, Value> {
    Box::pin(async move { L::dry_run(cx, read::<L>(schema, given)?).await })
}
