//! `manifest`: every command with its input and output, for programs that write `_cmd`.

mod reference;

use std::sync::LazyLock;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

use super::code::{EXITS, exit_of};
use super::command::{Command, Example, Local, Reach};
use super::context::Context;
use super::registry::COMMANDS;
use super::response::Failure;
use super::{SCHEMA_VERSION, STDIN_BYTES};

pub use reference::reference;

pub(super) struct Manifest;

/// The commands.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(super) struct Output {
    /// Version of the formats scripts rely on.
    schema_version: &'static str,
    /// Changes when anything in the manifest does.
    etag: String,
    /// Name of the program.
    name: &'static str,
    /// Version of the program.
    version: &'static str,
    /// Every exit code: name, description, whether all errors with it may be tried again, and what may have been done:
    /// `none`, `partial` or `complete`. Absent when nothing has changed since the given etag, as is what follows.
    #[serde(skip_serializing_if = "Option::is_none")]
    exit_codes: Option<Map<String, Value>>,
    /// The flags that every command and every line has.
    #[serde(skip_serializing_if = "Option::is_none")]
    flags: Option<Map<String, Value>>,
    /// Every command by its path: what `_cmd` of a line may be.
    #[serde(skip_serializing_if = "Option::is_none")]
    commands: Option<Map<String, Value>>,
}

/// What the caller already has.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ManifestInput {
    /// The etag of the manifest you have. If nothing has changed, the commands are left out and `meta.not_modified`
    /// is true.
    etag: Option<String>,
}

static MANIFEST: LazyLock<Output> = LazyLock::new(|| {
    let commands: Map<String, Value> =
        COMMANDS.iter().map(|command| (command.path.clone(), entry(command))).collect();
    let exit_codes: Map<String, Value> =
        EXITS.iter().map(|exit| (exit.code.to_string(), json!(exit))).collect();
    let flags: Map<String, Value> = common_flags().collect();
    let all = json!([SCHEMA_VERSION, env!("CARGO_PKG_VERSION"), exit_codes, flags, commands]);
    let digest = Sha256::digest(all.to_string());
    let etag = digest.iter().take(8).map(|byte| format!("{byte:02x}")).collect();
    Output {
        schema_version: SCHEMA_VERSION,
        etag,
        name: env!("CARGO_PKG_NAME"),
        version: env!("CARGO_PKG_VERSION"),
        exit_codes: Some(exit_codes),
        flags: Some(flags),
        commands: Some(commands),
    }
});

impl Local for Manifest {
    const PATH: &'static str = "manifest";
    const ABOUT: &'static str = "Print every command with its input and output";
    const EXAMPLES: &'static [Example] = &[
        Example { about: "All commands", input: "{}" },
        Example { about: "Only if it has changed", input: r#"{"etag":"0123456789abcdef"}"# },
    ];

    type Input = ManifestInput;
    type Output = Output;

    async fn run(_cx: &mut Context, input: ManifestInput) -> Result<Output, Failure> {
        let whole = MANIFEST.clone();
        // HTTP puts it in quotes.
        let has = input.etag.is_some_and(|etag| etag.trim_matches('"') == whole.etag);
        Ok(if has { Output { exit_codes: None, flags: None, commands: None, ..whole } } else { whole })
    }

    fn is_unmodified(output: &Output) -> bool {
        output.commands.is_none()
    }

    fn text(output: &Output) -> String {
        if output.commands.is_some() {
            reference::reference()
        } else {
            format!("not modified: {}", output.etag)
        }
    }
}

fn entry(command: &Command) -> Value {
    let exits: Map<String, Value> =
        command.exits().iter().filter_map(|code| Some((code.to_string(), json!(exit_of(*code)?)))).collect();
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

/// Returns the flags that a line may set with `_opts`, by name. On a command line, a `positional` one is given
/// without its name.
fn flags(command: &Command) -> Map<String, Value> {
    let schema = command.input_schema();
    let required =
        |name: &String| schema["required"].as_array().is_some_and(|all| all.iter().any(|one| one == name));
    let fields = schema["properties"].as_object().into_iter().flatten();
    let own = fields.map(|(name, schema)| {
        let is_required = required(name);
        let entry = json!({
            "type": schema["type"].as_str().unwrap_or("string"),
            "required": is_required,
            "default": schema["default"],
            "positional": is_required || name == "input" || name == "file",
            "description": schema["description"],
        });
        (name.replace('_', "-"), entry)
    });
    own.chain(common_flags()).collect()
}

/// Returns the flags of every command.
fn common_flags() -> impl Iterator<Item = (String, Value)> {
    super::exec::LINE_FLAGS.into_iter().map(|flag| {
        let default = if flag.kind == "boolean" { json!(false) } else { Value::Null };
        let entry = json!({
            "type": flag.kind, "required": false, "default": default, "positional": false,
            "description": flag.about,
        });
        (flag.name.to_owned(), entry)
    })
}

fn shown(command: &Command, example: &Example) -> Value {
    let input: Value = serde_json::from_str(example.input).unwrap_or_default();
    json!({
        "about": example.about,
        "input": input,
        "cli": reference::command_line(command, example),
    })
}
