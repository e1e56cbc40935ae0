//! The tool table as MCP tools: stable order, accurate hints, schemas that every client can read.

use std::sync::Arc;

use rmcp::model::{JsonObject, MetaObject, Tool as McpTool, ToolAnnotations};
use serde_json::{Value, json};

use crate::agents::AgentProgram;
use crate::config::Limits;
use crate::link::ResultProfile;
use crate::tools::{Hints, TOOLS, Tool};

/// Returns the tools as a client lists them, with the limits of the runtime if they are known.
pub(super) fn list(profile: ResultProfile, limits: Option<&Limits>) -> Vec<McpTool> {
    TOOLS.iter().filter(|tool| tool.is_listed).map(|tool| describe(tool, profile, limits)).collect()
}

fn describe(tool: &Tool, profile: ResultProfile, limits: Option<&Limits>) -> McpTool {
    // The protocol's defaults are left out: not read-only, destructive, not idempotent, open world. The two in the middle
    // mean nothing of a tool that only reads.
    let Hints { read_only, destructive, idempotent, open_world } = tool.hints;
    let hints = ToolAnnotations::from_raw(
        None,
        read_only.then_some(true),
        (!read_only && !destructive).then_some(false),
        (!read_only && idempotent).then_some(true),
        (!open_world).then_some(false),
    );
    let mut meta = MetaObject::default();
    for (key, value) in AgentProgram::ALL.iter().flat_map(|agent| (agent.profile().tool_meta)()) {
        meta.insert(key.to_owned(), value);
    }
    let described = McpTool::new(tool.name, tool.description(limits), object(open((tool.input_schema)())))
        .with_title(tool.title)
        .with_annotations(hints)
        .with_meta(meta);
    match profile {
        ResultProfile::Receipt => described,
        ResultProfile::Structured => described.with_raw_output_schema(object(envelope_schema(tool))),
    }
}

/// Makes a schema allow unknown fields. The runtime still rejects them, suggesting the field that was meant; a client
/// that validates schemas itself would hide that message from its model. Only the root says so explicitly: in nested
/// schemas, as for values that default to false or 0, omission means the same, and every model pays for the extra
/// tokens.
fn open(mut schema: Value) -> Value {
    say_less(&mut schema);
    if let Value::Object(object) = &mut schema {
        object.insert("additionalProperties".to_owned(), json!(true));
    }
    schema
}

fn say_less(schema: &mut Value) {
    match schema {
        Value::Object(object) => {
            let usual = [("default", json!(false)), ("default", json!(0)), ("minimum", json!(0))];
            object.retain(|key, value| {
                key != "additionalProperties"
                    && usual.iter().all(|(known, usual)| key != known || value != usual)
            });
            // What an item is follows from what the array is for.
            if object.get("type").is_some_and(|kind| kind == "array")
                && let Some(Value::Object(item)) = object.get_mut("items")
            {
                item.shift_remove("description");
            }
            object.values_mut().for_each(say_less);
        }
        Value::Array(items) => items.iter_mut().for_each(say_less),
        _ => {}
    }
}

/// Returns the schema of a tool's canonical envelope.
fn envelope_schema(tool: &Tool) -> Value {
    let mut result = (tool.result_schema)();
    // References inside the result's schema are relative to the root of the document.
    let definitions = result.as_object_mut().and_then(|schema| {
        schema.remove("$schema");
        schema.remove("$defs")
    });
    let mut schema = json!({
        "type": "object",
        "properties": {
            "tool_name": { "const": tool.name },
            "status": { "enum": ["success", "error"] },
            "summary_text": { "type": "string" },
            "result": { "anyOf": [result, { "type": "null" }] },
            "error": { "anyOf": [{ "type": "object", "required": ["kind", "message", "retryable"] }, { "type": "null" }] },
        },
        "required": ["tool_name", "status", "summary_text", "result", "error"],
    });
    if let (Some(definitions), Some(schema)) = (definitions, schema.as_object_mut()) {
        schema.insert("$defs".to_owned(), definitions);
    }
    schema
}

fn object(schema: Value) -> Arc<JsonObject> {
    match schema {
        Value::Object(object) => Arc::new(object),
        _ => Arc::default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Visits every value of a document.
    fn walk(value: &Value, visit: &mut impl FnMut(&str, &Value)) {
        match value {
            Value::Object(object) => {
                for (key, value) in object {
                    visit(key, value);
                    walk(value, visit);
                }
            }
            Value::Array(items) => items.iter().for_each(|item| walk(item, visit)),
            _ => {}
        }
    }

    #[test]
    fn the_list_is_the_table_in_its_order() {
        let names: Vec<_> = list(ResultProfile::Receipt, Some(&Limits::default()))
            .into_iter()
            .map(|tool| tool.name)
            .collect();
        assert_eq!(
            names,
            TOOLS.iter().filter(|tool| tool.is_listed).map(|tool| tool.name).collect::<Vec<_>>()
        );
        assert!(names.len() <= 8, "a tool search of a client returns no more: {names:?}");
        assert!(
            list(ResultProfile::Receipt, Some(&Limits::default()))
                .iter()
                .all(|tool| tool.output_schema.is_none())
        );
        assert!(
            list(ResultProfile::Structured, Some(&Limits::default()))
                .iter()
                .all(|tool| tool.output_schema.is_some())
        );
    }

    #[test]
    fn the_tool_descriptions_and_input_schemas_take_at_most_nine_kibibytes() {
        let sizes = list(ResultProfile::Receipt, Some(&Limits::default())).into_iter().map(|tool| {
            let schema = serde_json::to_string(&tool.input_schema).expect("JSON");
            (tool.description.as_deref().map_or(0, str::len) + schema.len(), tool.name)
        });
        let sizes: Vec<_> = sizes.collect();
        assert!(sizes.iter().map(|(bytes, _)| bytes).sum::<usize>() <= 9 << 10, "{sizes:?}");
    }

    /// Words that a model may pass to a client's tool search.
    #[test]
    fn descriptions_have_the_words_that_are_searched_for() {
        let all: Vec<_> = list(ResultProfile::Receipt, Some(&Limits::default()));
        for word in ["shell", "bash", "terminal", "command", "run", "wait", "output", "input"] {
            let found = |tool: &&McpTool| tool.description.as_deref().is_some_and(|text| text.contains(word));
            assert!(all.iter().any(|tool| found(&tool)), "{word}");
        }
        for tool in all.iter().filter(|tool| tool.name.starts_with("Task")) {
            let text = tool.description.as_deref().unwrap_or_default();
            assert!(text.contains("command"), "{}: {text}", tool.name);
        }
    }

    #[test]
    fn input_schemas_have_no_number_formats_and_no_null_unions() {
        for tool in list(ResultProfile::Receipt, Some(&Limits::default())) {
            let schema = Value::Object(tool.input_schema.as_ref().clone());
            assert_eq!(schema["type"], "object", "{}", tool.name);
            walk(&schema, &mut |key, value| {
                assert!(key != "additionalProperties" || *value == json!(true), "{}: {value}", tool.name);
                assert!(key != "format", "{}: format {value}", tool.name);
                assert!(key != "type" || value.is_string(), "{}: type {value}", tool.name);
                assert!(key != "default" || !value.is_null(), "{}: default null", tool.name);
            });
        }
    }

    #[test]
    fn every_reference_of_an_output_schema_is_defined_at_its_root() {
        for tool in list(ResultProfile::Structured, Some(&Limits::default())) {
            let schema = Value::Object(tool.output_schema.expect("declared").as_ref().clone());
            walk(&schema, &mut |key, value| {
                if let ("$ref", Some(target)) = (key, value.as_str()) {
                    let found = schema.pointer(target.strip_prefix('#').unwrap_or(target));
                    assert!(found.is_some(), "{}: {target}", tool.name);
                }
            });
        }
    }

    #[test]
    fn hints_tell_tools_that_only_read_from_tools_that_change() {
        for tool in list(ResultProfile::Receipt, Some(&Limits::default())) {
            let hints = tool.annotations.expect("annotated");
            let readers = ["TaskList", "TaskStatus", "TaskOutput"];
            let reads = readers.contains(&tool.name.as_ref());
            assert_eq!(hints.read_only_hint, reads.then_some(true), "{}", tool.name);
            assert_eq!(hints.destructive_hint, None, "the default: {}", tool.name);
        }
    }
}
