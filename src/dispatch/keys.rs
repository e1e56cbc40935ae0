//! `keys list|check|diff`: the console's key bindings, and how they differ from the preset.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::command::{Example, LocalCommand, NoInput};
use super::context::CommandContext;
use super::host::KeyRow;
use super::response::Failure;
use super::settings::invalid_settings;

impl KeyRow {
    fn is_changed(&self) -> bool {
        self.keys != self.default
    }
}

/// The rows to list.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct KeysListInput {
    /// List only the keys of this context.
    context: Option<String>,
}

/// Keys by context and action.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Keys {
    /// The rows.
    keys: Vec<KeyRow>,
}

/// Returns the effective key bindings.
fn rows(cx: &CommandContext) -> Result<Vec<KeyRow>, Failure> {
    cx.host.keys()?.map_err(|faults| invalid_settings(&faults.0))
}

pub(super) struct KeysList;

impl LocalCommand for KeysList {
    const PATH: &'static str = "keys.list";
    const ABOUT: &'static str = "List the keys of the console, by context and action";
    const EXITS: &'static [u8] = &[4];
    const EXAMPLES: &'static [Example] = &[
        Example { about: "See all keys", input: "{}" },
        Example { about: "See those of the task list", input: r#"{"context":"tasks"}"# },
    ];

    type Input = KeysListInput;
    type Output = Keys;

    async fn run(cx: &mut CommandContext, input: KeysListInput) -> Result<Keys, Failure> {
        let wanted = |row: &KeyRow| input.context.as_ref().is_none_or(|context| row.context == *context);
        Ok(Keys { keys: rows(cx)?.into_iter().filter(wanted).collect() })
    }

    fn text(output: &Keys) -> String {
        let mut lines = Vec::new();
        let mut context = "";
        for row in &output.keys {
            if row.context != context {
                lines.push(format!("{}[{}]", if lines.is_empty() { "" } else { "\n" }, row.context));
                context = &row.context;
            }
            let mark = if row.is_changed() { "  (changed)" } else { "" };
            lines.push(format!("  {:<18} {:<22} {}{mark}", row.action, row.keys.join(" "), row.about));
        }
        lines.join("\n")
    }
}

pub(super) struct KeysDiff;

impl LocalCommand for KeysDiff {
    const PATH: &'static str = "keys.diff";
    const ABOUT: &'static str = "List the keys that differ from the default keymap";
    const EXITS: &'static [u8] = &[4];
    const EXAMPLES: &'static [Example] = &[Example { about: "See the changed keys", input: "{}" }];

    type Input = NoInput;
    type Output = Keys;

    async fn run(cx: &mut CommandContext, _input: NoInput) -> Result<Keys, Failure> {
        Ok(Keys { keys: rows(cx)?.into_iter().filter(KeyRow::is_changed).collect() })
    }

    fn text(output: &Keys) -> String {
        let line = |row: &KeyRow| {
            let none = |keys: &[String]| if keys.is_empty() { "none".to_owned() } else { keys.join(" ") };
            let name = format!("{}.{}", row.context, row.action);
            format!("{name:<26} {:<22} was {}", none(&row.keys), none(&row.default))
        };
        match output.keys.as_slice() {
            [] => "Nothing differs.".to_owned(),
            rows => rows.iter().map(line).collect::<Vec<_>>().join("\n"),
        }
    }
}

pub(super) struct KeysCheck;

/// The result of a check.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct KeysCheckOutput {
    /// Number of actions with a key, over all contexts.
    bound: usize,
    /// Number of these whose keys differ from the default keymap.
    changed: usize,
}

impl LocalCommand for KeysCheck {
    const PATH: &'static str = "keys.check";
    const ABOUT: &'static str =
        "Check keys.toml; report unknown names and ambiguous keys with their file and line";
    const EXITS: &'static [u8] = &[4];
    const EXAMPLES: &'static [Example] = &[Example { about: "Check before starting", input: "{}" }];

    type Input = NoInput;
    type Output = KeysCheckOutput;

    async fn run(cx: &mut CommandContext, _input: NoInput) -> Result<KeysCheckOutput, Failure> {
        let rows = rows(cx)?;
        let changed = rows.iter().filter(|row| row.is_changed()).count();
        Ok(KeysCheckOutput { bound: rows.iter().filter(|row| !row.keys.is_empty()).count(), changed })
    }

    fn text(output: &KeysCheckOutput) -> String {
        format!("{} actions have a key, {} of them changed from the default.", output.bound, output.changed)
    }
}
