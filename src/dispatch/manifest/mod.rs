//! `manifest`: every command with what it takes and answers, for programs that write `_cmd`.

mod reference;

use std::sync::LazyLock;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

use super::code::exit_name;
use super::command::{Command, Example, Local, Nothing, Reach};
use super::context::Context;
use super::registry::COMMANDS;
use super::response::Failure;
use super::{SCHEMA_VERSION, STDIN_BYTES};

pub use reference::reference;

pub(super) struct Manifest;

/// The commands.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(super) struct Output {
    /// Version of the shapes scripts rely on.
    schema_version: &'static str,
    /// Changes when any command does.
    etag: String,
    /// Name of the program.
    name: &'static str,
    /// Version of the program.
    version: &'static str,
    /// Every command by its path: what `_cmd` of a line may be.
    commands: Map<String, Value>,
}

static MANIFEST: LazyLock<Output> = LazyLock::new(|| {
    let commands: Map<String, Value> =
        COMMANDS.iter().map(|command| (command.path.clone(), entry(command))).collect();
    let digest = Sha256::digest(Value::Object(commands.clone()).to_string());
    let etag = digest.iter().take(8).map(|byte| format!("{byte:02x}")).collect();
    Output {
        schema_version: SCHEMA_VERSION,
        etag,
        name: env!("CARGO_PKG_NAME"),
        version: env!("CARGO_PKG_VERSION"),
        commands,
    }
});

impl Local for Manifest {
    const PATH: &'static str = "manifest";
    const ABOUT: &'static str = "Print every command with what it takes and answers";
    const EXAMPLES: &'static [Example] = &[Example { about: "All commands", input: "{}" }];

    type Input = Nothing;
    type Output = Output;

    async fn run(_cx: &mut Context, _input: Nothing) -> Result<Output, Failure> {
        Ok(MANIFEST.clone())
    }

    fn text(_output: &Output) -> String {
        reference::reference()
    }
}

fn entry(command: &Command) -> Value {
    let exits: Map<String, Value> = command
        .exits()
        .iter()
        .map(|code| (code.to_string(), json!(exit_name(*code).unwrap_or_default())))
        .collect();
    let mut entry = json!({
        "description": command.about,
        "danger_level": command.danger,
        "aliases": command.aliases,
        "dispatchable": command.reach == Reach::Anywhere,
        "flags": flags(command),
        "exit_codes": exits,
        "input_schema": command.input_schema(),
        "output_schema": command.output_schema(),
        "examples": command.examples.iter().map(|example| shown(command, example)).collect::<Vec<_>>(),
    });
    if let Reach::Alone(owns) = command.reach {
        entry["owns"] = json!(owns);
    }
    if command.reach == Reach::Exec {
        entry["stdin_input"] = json!(STDIN_BYTES);
    }
    entry
}

/// The flags a line may set with `_opts`, by name.
fn flags(command: &Command) -> Map<String, Value> {
    let fields = command.input_schema()["properties"].as_object().into_iter().flatten();
    let own = fields.map(|(name, schema)| {
        let kind = schema["type"].as_str().unwrap_or("string");
        (name.replace('_', "-"), json!({ "type": kind, "description": schema["description"] }))
    });
    let common = super::exec::LINE_FLAGS
        .map(|flag| (flag.name.to_owned(), json!({ "type": flag.kind, "description": flag.about })));
    own.chain(common).collect()
}

fn shown(command: &Command, example: &Example) -> Value {
    let input: Value = serde_json::from_str(example.input).unwrap_or_default();
    json!({
        "about": example.about,
        "input": input,
        "cli": reference::command_line(command, example),
    })
}
