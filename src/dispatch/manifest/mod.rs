//! `manifest`: every command with its flags and output, for programs that write `_cmd`. `data` has the shape of the
//! public schema `manifest-response`, which is closed; what that has no place for is in `meta` under one key.

mod reference;

use std::sync::LazyLock;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::code::{EXITS, exit_of};
use super::command::{Command, CommandReach, Example, LocalCommand};
use super::context::CommandContext;
use super::exec::STDIN_BYTES;
use super::registry::COMMANDS;
use super::response::{Failure, SCHEMA_VERSION};

pub use reference::reference;

pub(super) struct Manifest;

/// The commands.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(super) struct ManifestOutput {
    /// Version of the formats that scripts rely on.
    schema_version: &'static str,
    /// Version of the program.
    framework_version: &'static str,
    /// A tag that changes whenever the manifest changes.
    etag: String,
    /// Every command by its path, the value of `_cmd` in a line.
    commands: Map<String, Value>,
    #[serde(skip)]
    own_facts: Value,
    #[serde(skip)]
    is_known: bool,
}

/// The manifest that the caller already has.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ManifestInput {
    /// The etag of the manifest you have. If nothing has changed, `data` is null and `meta.not_modified` is true.
    etag: Option<String>,
}

static MANIFEST: LazyLock<ManifestOutput> = LazyLock::new(|| {
    let commands: Map<String, Value> =
        COMMANDS.iter().map(|command| (command.path.clone(), entry(command))).collect();
    let own_facts = own_facts();
    let all = json!([SCHEMA_VERSION, env!("CARGO_PKG_VERSION"), own_facts, commands]);
    let mut etag = crate::files::digest(all.to_string());
    etag.truncate(16);
    ManifestOutput {
        schema_version: SCHEMA_VERSION,
        framework_version: env!("CARGO_PKG_VERSION"),
        etag,
        commands,
        own_facts,
        is_known: false,
    }
});

impl LocalCommand for Manifest {
    const PATH: &'static str = "manifest";
    const ABOUT: &'static str = "Print every command with its flags and output";
    const EXAMPLES: &'static [Example] = &[
        Example { about: "All commands", input: "{}" },
        Example { about: "Only if it has changed", input: r#"{"etag":"0123456789abcdef"}"# },
    ];

    type Input = ManifestInput;
    type Output = ManifestOutput;

    async fn run(_cx: &mut CommandContext, input: ManifestInput) -> Result<ManifestOutput, Failure> {
        let whole = MANIFEST.clone();
        // HTTP puts it in quotes.
        let is_known = input.etag.is_some_and(|etag| etag.trim_matches('"') == whole.etag);
        Ok(ManifestOutput { is_known, ..whole })
    }

    fn is_unmodified(output: &ManifestOutput) -> bool {
        output.is_known
    }

    fn own_facts(output: &ManifestOutput) -> Option<Value> {
        (!output.is_known).then(|| output.own_facts.clone())
    }

    fn text(output: &ManifestOutput) -> String {
        if output.is_known { String::new() } else { reference::reference() }
    }
}

/// Returns what the public schema has no place for: the name of the program, the flags of every command, every exit
/// code, and of each command where it can run and how it is typed.
fn own_facts() -> Value {
    let exit_codes: Map<String, Value> =
        EXITS.iter().map(|exit| (exit.code.to_string(), json!(exit))).collect();
    let commands: Map<String, Value> =
        COMMANDS.iter().map(|command| (command.path.clone(), own_facts_of(command))).collect();
    json!({
        "name": env!("CARGO_PKG_NAME"),
        "flags": common_flags().collect::<Map<_, _>>(),
        "exit_codes": exit_codes,
        "commands": commands,
    })
}

fn own_facts_of(command: &Command) -> Value {
    let mut facts = json!({
        "dispatchable": command.reach == CommandReach::Anywhere,
        "positional": command.positional().collect::<Vec<_>>(),
    });
    if let CommandReach::Alone(owns) = command.reach {
        facts["owns"] = json!(owns);
    }
    if command.reach == CommandReach::Exec {
        facts["stdin_input"] = json!(STDIN_BYTES);
    }
    if let Some(when) = command.pasted.manifest_value() {
        facts["plain_by_default"] = when;
    }
    facts
}

fn entry(command: &Command) -> Value {
    let exits: Map<String, Value> =
        command.exits().iter().filter_map(|code| Some((code.to_string(), json!(exit_of(*code)?)))).collect();
    let mut entry = json!({
        "description": command.about,
        "aliases": command.aliases,
        "danger_level": command.danger,
        "flags": flags(command),
        "exit_codes": exits,
        "output_schema": command.output_schema(),
        "output_formats": command.output_forms().collect::<Vec<_>>(),
        "examples": command.examples.iter().map(|example| example_entry(command, example)).collect::<Vec<_>>(),
    });
    let below = format!("{}.", command.path);
    let is_child = |path: &&str| path.strip_prefix(&*below).is_some_and(|rest| !rest.contains('.'));
    let children: Vec<&str> = COMMANDS.iter().map(|other| other.path.as_str()).filter(is_child).collect();
    if !children.is_empty() {
        entry["subcommands"] = json!(children);
    }
    entry
}

/// Returns the flags of a command line, which a line may set with `_opts`, by name.
fn flags(command: &Command) -> Map<String, Value> {
    let schema = command.input_schema();
    let required =
        |name: &String| schema["required"].as_array().is_some_and(|all| all.iter().any(|one| one == name));
    let fields = schema["properties"].as_object().into_iter().flatten();
    let own = fields.map(|(name, schema)| (name.replace('_', "-"), flag(schema, required(name))));
    let forms: Vec<&str> = command.output_forms().collect();
    let output = json!({
        "type": "enum", "required": false, "enum_values": forms,
        "description": "Output format; on a command line the default depends on whether it is a terminal",
    });
    own.chain(common_flags()).chain([("output".to_owned(), output)]).collect()
}

/// Returns the flag for a field with this schema. One that takes an object takes it as JSON.
fn flag(schema: &Value, is_required: bool) -> Value {
    let about = schema["description"].as_str().unwrap_or_default();
    let (kind, about) = match (schema["enum"].is_array(), schema["type"].as_str()) {
        (true, _) => ("enum", about.to_owned()),
        (_, Some("object")) => ("string", format!("{about} As JSON.")),
        (_, kind) => (kind.unwrap_or("string"), about.to_owned()),
    };
    let mut flag = json!({ "type": kind, "required": is_required, "description": about });
    if kind == "enum" {
        flag["enum_values"] = schema["enum"].clone();
    }
    if !schema["default"].is_null() {
        flag["default"] = schema["default"].clone();
    }
    flag
}

/// Returns the flags of every command and every line.
fn common_flags() -> impl Iterator<Item = (String, Value)> {
    super::exec::LINE_FLAGS.into_iter().map(|flag| {
        let mut entry = json!({ "type": flag.kind, "required": false, "description": flag.about });
        if flag.kind == "boolean" {
            entry["default"] = json!(false);
        }
        (flag.name.to_owned(), entry)
    })
}

fn example_entry(command: &Command, example: &Example) -> Value {
    json!({ "description": example.about, "command": reference::command_line(command, example) })
}
