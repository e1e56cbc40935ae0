//! The published schemas: every envelope that a test encounters is validated against them.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::LazyLock;

use jsonschema::Validator;
use serde_json::Value;

static SCHEMAS: LazyLock<BTreeMap<String, Validator>> = LazyLock::new(|| {
    let compile = |(name, schema): (String, Value)| {
        let judge = jsonschema::validator_for(&schema).unwrap_or_else(|error| panic!("{name}: {error}"));
        (name, judge)
    };
    pilothouse::tools::schemas().into_iter().map(compile).collect()
});

/// Asserts that an envelope matches the published schemas.
#[track_caller]
pub(crate) fn must_be_an_envelope(envelope: &Value) {
    if let Err(reason) = judged(envelope) {
        panic!("{reason}");
    }
}

/// Validates an envelope against the schema of envelopes and, if it is a success, its result against the schema of
/// its tool.
pub(crate) fn judged(envelope: &Value) -> Result<(), String> {
    hold("envelope.json", envelope)?;
    let name = format!("{}.result.json", envelope["tool_name"].as_str().unwrap_or_default());
    // Tools that exist only in a test have no schema.
    if envelope["status"] == "success" && SCHEMAS.contains_key(&name) {
        hold(&name, &envelope["result"])?;
    }
    Ok(())
}

fn hold(name: &str, value: &Value) -> Result<(), String> {
    let judge = SCHEMAS.get(name).unwrap_or_else(|| panic!("no schema {name}"));
    let wrong: Vec<String> =
        judge.iter_errors(value).map(|error| format!("{error} at {}", error.instance_path())).collect();
    if wrong.is_empty() { Ok(()) } else { Err(format!("{name} refuses\n{value:#}\n{}", wrong.join("\n"))) }
}

/// Validates every recorded envelope below a folder; returns how many there were.
pub(crate) fn recorded_envelopes_are_valid(folder: &Path) -> usize {
    let mut seen = 0;
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            seen += recorded_envelopes_are_valid(&path);
        } else if path.extension().is_some_and(|end| end == "jsonl") {
            let text = String::from_utf8_lossy(&std::fs::read(&path).expect("readable")).into_owned();
            // The last line may be torn if a test has killed the runtime.
            for row in text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok()) {
                seen += envelopes_within(&row);
            }
        }
    }
    seen
}

fn envelopes_within(value: &Value) -> usize {
    match value {
        Value::Object(fields) => fields
            .iter()
            .map(|(name, field)| {
                if name == "envelope" && field.get("tool_name").is_some() {
                    must_be_an_envelope(field);
                    1
                } else {
                    envelopes_within(field)
                }
            })
            .sum(),
        Value::Array(items) => items.iter().map(envelopes_within).sum(),
        _ => 0,
    }
}
