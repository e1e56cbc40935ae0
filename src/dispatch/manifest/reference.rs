//! The command-line reference as Markdown, generated from the registry.

use std::fmt::Write as _;

use serde_json::Value;

use crate::dispatch::code::{EXITS, exit_of};
use crate::dispatch::command::{Command, CommandReach, Example};
use crate::dispatch::exec::{STDIN_BYTES, STDIN_BYTES_VARIABLE};
use crate::dispatch::registry::COMMANDS;

const HEAD: &str = "\
# The command line

<!-- Generated from the command registry. Regenerate it: pilothouse manifest --output plain > docs/reference/cli.md -->

Every command takes its input as flags, or all at once as JSON with `--input JSON|-|@file`. It answers with readable
text on a terminal and otherwise with one JSON object of five keys: `ok`, `data`, `error`, `warnings`, `meta`. Data go
to standard output, everything else to standard error.

";

/// Returns the whole reference.
pub fn reference() -> String {
    let mut text = HEAD.to_owned();
    text.push_str("Flags of every command, before its words or after them:\n\n| flag | |\n|---|---|\n");
    let own = [
        (
            "--input JSON|-|@FILE",
            "The whole input as JSON: inline, from standard input, or from a file; `--raw-payload` is the \
             same flag",
        ),
        ("--output json|jsonl|table|plain", "Output format; `--format` is the same flag"),
    ];
    for (flag, about) in own {
        let _ = writeln!(text, "| `{}` | {about} |", flag.replace('|', "\\|"));
    }
    for flag in crate::dispatch::exec::LINE_FLAGS {
        let _ = writeln!(text, "| `--{}` | {} |", flag.name, flag.about);
    }
    text.push_str("\nExit codes:\n\n| code | | possible effects | |\n|---|---|---|---|\n");
    for exit in &EXITS {
        let effects = serde_json::to_value(exit.side_effects).unwrap_or_default();
        let effects = effects.as_str().unwrap_or_default();
        let _ = writeln!(text, "| {} | {} | {effects} | {} |", exit.code, exit.name, exit.description);
    }
    for command in COMMANDS.iter() {
        section(&mut text, command);
    }
    text
}

fn section(text: &mut String, command: &Command) {
    let words = command.path.replace('.', " ");
    let danger = serde_json::to_value(command.danger).unwrap_or_default();
    let danger = danger.as_str().unwrap_or_default();
    let _ =
        write!(text, "\n## `pilothouse {words}`\n\n{}. `_cmd`: `{}`, {danger}", command.about, command.path);
    let _ = match command.reach {
        CommandReach::Anywhere => writeln!(text, "."),
        CommandReach::Alone(owns) => writeln!(text, "; no line of `exec`: it owns {owns}."),
        CommandReach::Exec => writeln!(
            text,
            "; no line of `exec` itself. Standard input is read to its end first, at most {STDIN_BYTES} bytes \
             (`{STDIN_BYTES_VARIABLE}` changes it); `--input-file` has no limit."
        ),
    };
    let fields: Vec<_> = command.input_schema()["properties"].as_object().into_iter().flatten().collect();
    if !fields.is_empty() {
        text.push_str("\n| field | type | |\n|---|---|---|\n");
    }
    let required = &command.input_schema()["required"];
    for (name, schema) in fields {
        let must = required.as_array().is_some_and(|all| all.iter().any(|one| one == name));
        let star = if must { ", required" } else { "" };
        let about = schema["description"].as_str().unwrap_or_default();
        let _ = writeln!(text, "| `{name}` | {}{star} | {} |", kind(schema), about.replace('|', "\\|"));
    }
    text.push_str("\n```console\n");
    for example in &command.examples {
        let _ = writeln!(text, "$ {}    # {}", command_line(command, example), example.about);
    }
    let name = |code: u8| exit_of(code).map_or("", |exit| exit.name);
    let exits = command.exits().iter().map(|code| format!("{code} {}", name(*code)));
    let _ = writeln!(text, "```\n\nExits with: {}.", exits.collect::<Vec<_>>().join(", "));
}

fn kind(schema: &Value) -> String {
    match schema["enum"].as_array() {
        Some(words) => words.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" \\| "),
        None => schema["type"].as_str().unwrap_or("string").to_owned(),
    }
}

/// Returns the command line of an example, ready to paste into a shell.
pub(super) fn command_line(command: &Command, example: &Example) -> String {
    let words = command.path.replace('.', " ");
    if example.input == "{}" {
        return format!("pilothouse {words}");
    }
    format!("pilothouse {words} --input '{}'", example.input.replace('\'', r"'\''"))
}
