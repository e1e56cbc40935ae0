//! Generation of the JSON Schemas of inputs and results, as plain as clients need them: no formats, no references,
//! and no null where omitting the field means the same.

use std::any::TypeId;
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use schemars::generate::{Contract, SchemaSettings};
use schemars::transform::transform_subschemas;
use schemars::{JsonSchema, Schema};
use serde_json::{Map, Value, json};

/// Generates the input schema of a tool or command.
pub fn input<T: JsonSchema>() -> Value {
    generate::<T>(Contract::Deserialize)
}

/// Returns the input schema of a tool. It is generated at the tool's first call and cached.
pub(super) fn known_input<T: JsonSchema + 'static>() -> &'static Value {
    static KNOWN: Mutex<BTreeMap<TypeId, &'static Value>> = Mutex::new(BTreeMap::new());
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    known.entry(TypeId::of::<T>()).or_insert_with(|| Box::leak(Box::new(input::<T>())))
}

/// Generates the schema of a result. Null stays allowed for keys that are always present but may have no value.
pub fn result<T: JsonSchema>() -> Value {
    generate::<T>(Contract::Serialize)
}

fn generate<T: JsonSchema>(contract: Contract) -> Value {
    let takes = contract == Contract::Deserialize;
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
        settings.contract = contract;
    });
    let mut schema = settings.into_generator().into_root_schema_for::<T>();
    clean(&mut schema, takes);
    schema.remove("title");
    schema.remove("description");
    schema.to_value()
}

fn clean(schema: &mut Schema, takes: bool) {
    let Some(object) = schema.as_object_mut() else { return };
    object.remove("format");
    if object.get("default").is_some_and(Value::is_null) {
        object.remove("default");
    }
    if let Some(Value::String(description)) = object.get_mut("description") {
        *description = description.split_whitespace().collect::<Vec<_>>().join(" ");
    }
    if takes {
        drop_null(object);
    }
    merge_words(object);
    transform_subschemas(&mut |schema: &mut Schema| clean(schema, takes), schema);
}

/// Removes null as a value: an optional field is omitted instead.
fn drop_null(object: &mut Map<String, Value>) {
    if let Some(types) = object.get_mut("type")
        && let Some(one) = types.as_array().and_then(|all| all.iter().find(|one| *one != "null").cloned())
    {
        *types = one;
    }
    if let Some(words) = object.get_mut("enum").and_then(Value::as_array_mut) {
        words.retain(|word| !word.is_null());
    }
    let other = object.get("anyOf").and_then(Value::as_array).and_then(|either| {
        let mut real = either.iter().filter(|schema| schema["type"] != "null");
        let one = real.next().and_then(Value::as_object).cloned();
        one.filter(|_| real.next().is_none())
    });
    if let Some(other) = other {
        object.remove("anyOf");
        for (key, value) in other {
            object.entry(key).or_insert(value);
        }
    }
}

/// Turns a choice between constant strings into an `enum`.
fn merge_words(object: &mut Map<String, Value>) {
    let words = object.get("oneOf").and_then(Value::as_array).and_then(|choices| {
        let word = |choice: &Value| choice.get("const").filter(|word| word.is_string()).cloned();
        choices.iter().map(word).collect::<Option<Vec<_>>>()
    });
    if let Some(words) = words {
        object.remove("oneOf");
        object.insert("type".into(), json!("string"));
        object.insert("enum".into(), Value::Array(words));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tools::table::TOOLS;

    fn walk(schema: &Value, visit: &mut impl FnMut(&Map<String, Value>)) {
        match schema {
            Value::Object(object) => {
                visit(object);
                object.values().for_each(|inner| walk(inner, visit));
            }
            Value::Array(items) => items.iter().for_each(|inner| walk(inner, visit)),
            _ => {}
        }
    }

    #[test]
    fn input_schemas_are_plain_closed_objects() {
        for tool in &TOOLS {
            let schema = (tool.input_schema)();
            assert_eq!(schema["type"], "object", "{}", tool.name);
            assert_eq!(schema["additionalProperties"], false, "{}", tool.name);
            walk(&schema, &mut |object| {
                for noise in ["format", "$schema", "$ref", "$defs", "anyOf", "oneOf"] {
                    assert!(!object.contains_key(noise), "{}: {noise} in {object:?}", tool.name);
                }
                assert!(object.get("type").is_none_or(|kind| !kind.is_array()), "{}: {object:?}", tool.name);
                assert!(
                    object.get("default").is_none_or(|value| !value.is_null()),
                    "{}: {object:?}",
                    tool.name
                );
            });
        }
    }

    #[test]
    fn every_input_field_teaches() {
        for tool in &TOOLS {
            for (field, schema) in (tool.input_schema)()["properties"].as_object().unwrap() {
                assert!(schema["description"].is_string(), "{}.{field}", tool.name);
            }
        }
    }

    #[test]
    fn result_schemas_carry_no_formats_and_no_references() {
        for tool in &TOOLS {
            walk(&(tool.result_schema)(), &mut |object| {
                for noise in ["format", "$schema", "$ref"] {
                    assert!(!object.contains_key(noise), "{}: {noise} in {object:?}", tool.name);
                }
            });
        }
    }
}
