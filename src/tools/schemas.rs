//! The published JSON Schemas: the canonical envelope, errors, and each tool's input and result. They are checked in
//! under docs/reference/schemas, and a test compares them.

use serde_json::{Value, json};

use super::schema;
use super::table::TOOLS;
use crate::envelope::{SUMMARY_CHARS, ToolError};

/// Returns every schema with its file name.
pub fn schemas() -> Vec<(String, Value)> {
    let error = schema::result::<ToolError>();
    let mut all = vec![
        named_schema("envelope", "The canonical envelope of a tool's answer.", envelope(&error)),
        named_schema("error", "The `error` of an envelope.", error),
    ];
    for tool in &TOOLS {
        all.push(named_schema(&format!("{}.input", tool.name), tool.title, (tool.input_schema)()));
        let about = format!("The `result` of {}.", tool.name);
        all.push(named_schema(&format!("{}.result", tool.name), &about, (tool.result_schema)()));
    }
    all
}

fn named_schema(name: &str, about: &str, schema: Value) -> (String, Value) {
    let mut whole = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": name,
        "description": about,
    });
    if let (Some(whole), Value::Object(schema)) = (whole.as_object_mut(), schema) {
        whole.extend(schema);
    }
    (format!("{name}.json"), whole)
}

/// Builds the envelope schema: five keys, where the status determines which of `result` and `error` is null.
fn envelope(error: &Value) -> Value {
    let form = |status: &str, result: Value, error: &Value| {
        json!({
            "properties": { "status": { "const": status }, "result": result, "error": error },
        })
    };
    json!({
        "type": "object",
        "properties": {
            "tool_name": { "type": "string", "description": "Public name of the tool." },
            "status": { "type": "string", "enum": ["success", "error"] },
            "summary_text": {
                "type": "string",
                "description": "The outcome in one line, without output.",
                "maxLength": SUMMARY_CHARS,
                "pattern": "^[^\\n\\r]*$",
            },
            "result": { "description": "The result of the tool; see its schema." },
            "error": { "description": "The reason why the call failed." },
        },
        "required": ["tool_name", "status", "summary_text", "result", "error"],
        "additionalProperties": false,
        "oneOf": [
            form("success", json!({ "type": "object" }), &json!({ "type": "null" })),
            form("error", json!({ "type": "null" }), error),
        ],
    })
}
