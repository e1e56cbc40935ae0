//! Parsing of a tool's input. Rejects anything the published schema does not allow and names the field, so that a
//! caller can correct itself in one step.

use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use super::budget::Room;
use super::schema;
use super::verb::Verb;
use crate::clock::millis;
use crate::config::nearest;
use crate::envelope::preview::TOKENS;
use crate::envelope::units::duration;
use crate::envelope::{ErrorKind, ToolError};

pub(super) fn parse<V: Verb>(given: Value) -> Result<V::Input, ToolError> {
    read(V::NAME, schema::known_input::<V::Input>(), V::ALIASES, given)
}

/// Parses the input of `subject` according to its published `schema`. `aliases` are pairs of an alias and the real
/// name of a field.
///
/// # Errors
/// When the schema does not allow it; names every invalid field.
pub fn read<T: DeserializeOwned>(
    subject: &str,
    schema: &Value,
    aliases: &[(&str, &str)],
    given: Value,
) -> Result<T, ToolError> {
    read_beside(subject, schema, aliases, None, given)
}

/// Another tool, and whether it takes a field: what somebody meant who used the wrong one.
pub(super) type OtherTool = (&'static str, fn(&str) -> bool);

/// Like [`read`]; a refusal names the fields that `other` would take.
///
/// # Errors
/// As [`read`].
pub(super) fn read_beside<T: DeserializeOwned>(
    subject: &str,
    schema: &Value,
    aliases: &[(&str, &str)],
    other: Option<OtherTool>,
    given: Value,
) -> Result<T, ToolError> {
    let mut given = if given.is_null() { json!({}) } else { given };
    if let Some(object) = given.as_object_mut() {
        rename(object, aliases);
    }
    normalise(schema, &mut given);
    let mut problems = Vec::new();
    check(schema, &given, "", &mut problems);
    for problem in problems.iter_mut().filter(|problem| problem.is_unknown) {
        if let Some(place) = place(schema, other, &problem.field) {
            problem.hint = Some(place);
        }
    }
    if let Some(first) = problems.first() {
        return Err(refuse(subject, &first.field, &problems));
    }
    serde_json::from_value(given).map_err(|error| {
        let problem =
            FieldProblem { field: String::new(), text: error.to_string(), hint: None, is_unknown: false };
        refuse(subject, "", &[problem])
    })
}

/// A violation of the schema.
struct FieldProblem {
    /// The path of the field; empty for the input as a whole.
    field: String,
    text: String,
    hint: Option<String>,
    /// Whether it is a field that is not taken there.
    is_unknown: bool,
}

/// Says where an unknown field belongs: beside the one that it is in, in one beside it, or to another tool.
fn place(schema: &Value, other: Option<OtherTool>, field: &str) -> Option<String> {
    let takes = |schema: &Value, name: &str| schema["properties"].get(name).is_some();
    let Some((outer, name)) = field.rsplit_once('.') else {
        let mut fields = schema["properties"].as_object()?.iter();
        let inner = fields.find(|(_, inner)| takes(inner, field) || takes(&inner["items"], field));
        let inner = inner.map(|(inner, _)| format!("`{field}` belongs in `{inner}`"));
        return inner.or_else(|| other_takes(other, field));
    };
    let inner = schema["properties"].get(outer).map(|inner| &inner["items"]);
    if name.starts_with("timeout") && inner.is_some_and(|inner| takes(inner, "yield_time_ms")) {
        return Some(format!("`yield_time_ms` is the time limit of one of `{outer}`"));
    }
    let beside = takes(schema, name).then(|| format!("`{name}` belongs beside `{outer}`, not in it"));
    beside.or_else(|| other_takes(other, name))
}

fn other_takes(other: Option<OtherTool>, name: &str) -> Option<String> {
    other.filter(|(_, takes)| takes(name)).map(|(tool, _)| format!("`{name}` is a field of {tool}"))
}

fn refuse(tool: &str, field: &str, problems: &[FieldProblem]) -> ToolError {
    let all = each_once(problems.iter().map(|problem| problem.text.as_str())).join("; ");
    let hints = each_once(problems.iter().filter_map(|problem| problem.hint.as_deref()));
    let unknown = problems.iter().filter(|problem| problem.is_unknown && problem.hint.is_none());
    let unknown = unknown.map(|problem| problem.field.as_str());
    let unknown: Vec<String> = each_once(unknown).into_iter().map(|field| format!("`{field}`")).collect();
    let schema = match unknown.is_empty() {
        true => format!("provide input for {tool} that matches its published schema"),
        false => format!("leave {} out", unknown.join(", ")),
    };
    let hint = if hints.is_empty() { schema } else { format!("{}; {schema}", hints.join("; ")) };
    let mut details = json!({ "tool_name": tool, "field": field, "parse_error": all });
    if let Some(details) = details.as_object_mut().filter(|_| field.is_empty()) {
        details.shift_remove("field");
    }
    let message = format!("The input of {tool} cannot be used: {all}.");
    ToolError::new(ErrorKind::InvalidToolInput, message).with_details(details).with_hint(hint)
}

/// Removes duplicates: several items of an array may have the same problem.
fn each_once<'a>(texts: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut distinct = Vec::new();
    texts.for_each(|text| {
        if !distinct.contains(&text) {
            distinct.push(text);
        }
    });
    distinct
}

/// Renames fields from the names that other agents' tools use: (alias, real). An alias that contradicts the real name
/// next to it is left in place, and is later rejected.
pub(super) fn rename(object: &mut Map<String, Value>, aliases: &[(&str, &str)]) {
    for (alias, name) in aliases {
        if object.get(*name).is_none_or(|value| Some(value) == object.get(*alias))
            && let Some(value) = object.remove(*alias)
        {
            object.insert((*name).to_owned(), value);
        }
    }
}

/// The field that limits output, clamped to what a receipt for the caller holds too.
pub(super) const TOKENS_FIELD: (&str, u64, u64) = ("max_output_tokens", *TOKENS.start(), *TOKENS.end());

/// Returns a sentence for each alias that was accepted and each number that was clamped, in the items of a batch too.
/// Zero means not to wait, or the default, and is accepted as it is.
pub(super) fn taken_otherwise(
    given: &Value,
    aliases: &[(&str, &str)],
    clamped: &[(&str, u64, u64)],
    room: Room,
) -> Vec<String> {
    let objects = given.as_object().into_iter();
    let items =
        given.get("items").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_object);
    let mut told = Vec::new();
    for object in objects.chain(items) {
        let names = aliases.iter().filter(|(alias, _)| object.contains_key(*alias));
        told.extend(names.map(|(alias, name)| format!("`{alias}` was taken as `{name}`")));
        let numbers = clamped.iter().filter_map(|(name, least, most)| {
            let asked = object.get(*name)?;
            let asked = asked.as_u64().or_else(|| asked.as_str().and_then(|text| quantity(name, text)))?;
            let most = if *name == TOKENS_FIELD.0 { room.tokens() } else { *most };
            let taken = asked.clamp(*least, most);
            let bound = if taken == most { "the most" } else { "the least" };
            (asked != 0 && taken != asked).then(|| format!("`{name}` {asked} counts as {taken}, {bound}"))
        });
        told.extend(numbers);
    }
    each_once(told.iter().map(String::as_str)).into_iter().map(str::to_owned).collect()
}

/// Accepts deviations from the schema (docs/contract.md#what-is-read-besides): null for an absent field, and a string of
/// digits for a number (of milliseconds, a duration such as `2m`); `2.0` is an integer to JSON Schema, and none to what
/// reads it; and what [`convert`] takes.
pub(super) fn normalise(schema: &Value, given: &mut Value) {
    for item in given.as_array_mut().into_iter().flatten() {
        convert(&schema["items"], item);
        normalise(&schema["items"], item);
    }
    let (Some(known), Some(object)) = (schema["properties"].as_object(), given.as_object_mut()) else {
        return;
    };
    object.retain(|name, value| !(value.is_null() && known.contains_key(name)));
    for (name, value) in object {
        let Some(schema) = known.get(name) else { continue };
        convert(schema, value);
        if schema["type"] == "integer"
            && let Some(number) =
                value.as_str().and_then(|text| quantity(name, text)).or_else(|| whole(value))
        {
            *value = json!(number);
        }
        normalise(schema, value);
    }
}

/// Converts what models write in place of a list, an object or a boolean: JSON as text, one value or words for a list, a
/// text for an object with one required field, `"true"`.
fn convert(schema: &Value, given: &mut Value) {
    let kind = schema["type"].as_str().unwrap_or_default();
    let takes = |document: &Value| is_a(kind, document) || (kind == "array" && document.is_object());
    let document = given.as_str().filter(|_| matches!(kind, "array" | "object"));
    if let Some(document) = document.and_then(|text| serde_json::from_str(text).ok()).filter(takes) {
        *given = document;
    }
    let required = |schema: &Value| match schema["required"].as_array().map(Vec::as_slice) {
        Some([name]) => name.as_str().map(str::to_owned),
        _ => None,
    };
    *given = match (kind, given.take()) {
        ("boolean", Value::String(word)) => word.parse::<bool>().map_or(Value::String(word), Value::Bool),
        ("array", Value::String(text)) if schema["items"]["type"] == "string" => {
            text.split_whitespace().map(Value::from).collect()
        }
        ("array", one @ (Value::String(_) | Value::Object(_))) => Value::Array(vec![one]),
        ("object", Value::String(text)) => match required(schema) {
            Some(name) => json!({ name: text }),
            None => Value::String(text),
        },
        (_, other) => other,
    };
}

/// Returns the integer that a number with a fraction of zero is, as far as such a number is exact.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the range is checked")]
fn whole(value: &Value) -> Option<u64> {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    let number = value.as_f64().filter(|_| value.is_f64())?;
    (number.fract() == 0.0 && (0.0..=EXACT).contains(&number)).then_some(number as u64)
}

/// Returns the number that a text stands for in a field of this name: digits, or a duration where it is in milliseconds.
pub fn quantity(name: &str, text: &str) -> Option<u64> {
    if text.bytes().all(|byte| byte.is_ascii_digit()) {
        return text.parse().ok();
    }
    duration(text).filter(|_| name.ends_with("_ms")).map(millis)
}

fn check(schema: &Value, given: &Value, path: &str, problems: &mut Vec<FieldProblem>) {
    let mut add = |text: String| {
        problems.push(FieldProblem { field: path.to_owned(), text, hint: None, is_unknown: false });
    };
    let Some(kind) = schema["type"].as_str() else { return };
    if !is_a(kind, given) {
        let given = describe(given, kind);
        return add(format!("{} must be {}, not {given}", subject(path), article(kind)));
    }
    if let Some(words) = schema["enum"].as_array()
        && !words.contains(given)
    {
        let words: Vec<&str> = words.iter().filter_map(Value::as_str).collect();
        return add(format!("{} must be one of {}", subject(path), words.join(", ")));
    }
    if let Some(number) = given.as_f64() {
        let limit = |key: &str| schema[key].as_f64();
        if limit("minimum").is_some_and(|least| number < least)
            || limit("maximum").is_some_and(|most| number > most)
        {
            return add(format!("{} must be {}", subject(path), range(schema)));
        }
    }
    for item in given.as_array().into_iter().flatten() {
        let inner = &schema["items"];
        match inner["type"].as_str().filter(|kind| !is_a(kind, item)) {
            None => check(inner, item, path, problems),
            Some(kind) => problems.push(FieldProblem {
                field: path.to_owned(),
                text: format!("each of `{path}` must be {}, not {}", article(kind), describe(item, kind)),
                hint: shape(inner).map(|shape| format!("each of `{path}` is {}: {shape}", article(kind))),
                is_unknown: false,
            }),
        }
    }
    if let (Some(known), Some(object)) = (schema["properties"].as_object(), given.as_object()) {
        check_fields(schema, known, object, path, problems);
    }
}

fn check_fields(
    schema: &Value,
    known: &Map<String, Value>,
    object: &Map<String, Value>,
    path: &str,
    problems: &mut Vec<FieldProblem>,
) {
    for (name, value) in object {
        let inner = join(path, name);
        match known.get(name) {
            Some(schema) => check(schema, value, &inner, problems),
            None => {
                let free = known.keys().map(String::as_str).filter(|field| !object.contains_key(*field));
                let near = nearest(name, free);
                problems.push(FieldProblem {
                    text: format!("unknown field `{inner}`"),
                    hint: near.map(|near| format!("use `{near}` instead of `{name}`")),
                    field: inner,
                    is_unknown: true,
                });
            }
        }
    }
    let required = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
    for name in required.filter(|name| !object.contains_key(*name)) {
        let inner = join(path, name);
        let text = format!("missing field `{inner}`");
        problems.push(FieldProblem { text, hint: None, field: inner, is_unknown: false });
    }
}

fn is_a(kind: &str, value: &Value) -> bool {
    match kind {
        "integer" => value.is_u64() || value.is_i64(),
        "string" | "boolean" | "array" | "object" => describe(value, kind) == article(kind),
        _ => true,
    }
}

/// Returns the shortest object of a schema: `{"cmd":"…"}`.
fn shape(schema: &Value) -> Option<String> {
    let required = schema["required"].as_array()?.iter().filter_map(Value::as_str);
    let fields: Map<String, Value> = required.map(|name| (name.to_owned(), json!("…"))).collect();
    Some(Value::Object(fields).to_string())
}

fn article(kind: &str) -> String {
    match kind {
        "integer" | "array" | "object" => format!("an {kind}"),
        _ => format!("a {kind}"),
    }
}

/// Describes a value that should be of a kind.
fn describe(value: &Value, kind: &str) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) if ["integer", "number"].contains(&kind) => "another number",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

fn range(schema: &Value) -> String {
    match (&schema["minimum"], &schema["maximum"]) {
        (least, Value::Null) => format!("at least {least}"),
        (Value::Null, most) => format!("at most {most}"),
        (least, most) => format!("from {least} to {most}"),
    }
}

fn subject(path: &str) -> String {
    if path.is_empty() { "the input".to_owned() } else { format!("`{path}`") }
}

fn join(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tools::exec_command::ExecCommandTool;
    use crate::tools::task_input::TaskInputTool;
    use crate::tools::task_output::TaskOutputTool;

    fn refusal<V: Verb>(given: Value) -> (Value, String) {
        let Err(error) = V::parse(given.clone()) else { panic!("accepted {given}") };
        assert_eq!(error.kind, ErrorKind::InvalidToolInput);
        (*error.details.unwrap(), error.recovery_hint.unwrap())
    }

    #[test]
    fn a_refusal_names_the_field_and_the_problem() {
        let cases = [
            (json!({"comand": "git status"}), "comand", "unknown field `comand`; missing field `cmd`"),
            (json!({"command": "git status", "cmd": "ls"}), "command", "unknown field `command`"),
            (
                json!({"cmd": "ls", "run_in_background": true, "yield_time_ms": 500}),
                "run_in_background",
                "unknown field `run_in_background`",
            ),
            (json!({"cmd": "ls", "status": "running"}), "status", "unknown field `status`"),
            (
                json!({"cmd": "ls", "continue_on_result": true}),
                "continue_on_result",
                "unknown field `continue_on_result`",
            ),
            (json!({}), "cmd", "missing field `cmd`"),
            (Value::Null, "cmd", "missing field `cmd`"),
            (json!({"cmd": null}), "cmd", "missing field `cmd`"),
            (json!({"cmd": 5}), "cmd", "`cmd` must be a string, not a number"),
            (
                json!({"cmd": "ls", "yield_time_ms": "two"}),
                "yield_time_ms",
                "`yield_time_ms` must be an integer, not a string",
            ),
            (
                json!({"cmd": "ls", "yield_time_ms": -1}),
                "yield_time_ms",
                "`yield_time_ms` must be at least 0",
            ),
            (json!({"cmd": "ls", "tty": "yes"}), "tty", "`tty` must be a boolean, not a string"),
            (json!({"cmd": "ls", "leftovers": "kill"}), "leftovers", "`leftovers` must be one of end, keep"),
            (json!({"cmd": "ls", "tty": true, "cols": 1}), "cols", "`cols` must be from 2 to 1000"),
        ];
        for (given, field, problem) in cases {
            let (details, hint) = refusal::<ExecCommandTool>(given.clone());
            assert_eq!(
                details,
                json!({"tool_name": "ExecCommand", "field": field, "parse_error": problem}),
                "{given}"
            );
            // For a field that is unknown, and nothing else, the schema is no help.
            let end = match problem == format!("unknown field `{field}`") {
                true => format!("leave `{field}` out"),
                false => "provide input for ExecCommand that matches its published schema".to_owned(),
            };
            assert!(hint.ends_with(&end), "{hint}");
        }
    }

    #[test]
    fn the_nearest_known_name_is_suggested() {
        for (given, near) in [("cmdd", "cmd"), ("work_dir", "workdir"), ("yield_ms", "yield_time_ms")] {
            let (_, hint) = refusal::<ExecCommandTool>(json!({given: "x"}));
            assert!(hint.starts_with(&format!("use `{near}` instead of `{given}`")), "{given}: {hint}");
        }
        let (_, hint) = refusal::<TaskInputTool>(json!({"task_id": "t", "cols": 80}));
        assert!(hint.starts_with("`cols` belongs in `resize`;"), "{hint}");
        let (_, hint) = refusal::<TaskInputTool>(json!({"task_id": "t", "resize": {"eof": true}}));
        assert!(hint.starts_with("`eof` belongs beside `resize`, not in it;"), "{hint}");
        let (_, hint) = refusal::<ExecCommandTool>(json!({"cmd": "ls", "zone": "/"}));
        assert!(hint.starts_with("leave `zone` out"), "{hint}");
    }

    #[test]
    fn fields_inside_fields_are_named_by_their_path() {
        let (details, _) =
            refusal::<TaskInputTool>(json!({"task_id": "t", "resize": {"cols": 80, "row": 24}}));
        assert_eq!(details["field"], "resize.row");
        let (details, _) = refusal::<TaskInputTool>(json!({"task_id": "t", "keys": ["Enter", 5]}));
        assert_eq!(details["field"], "keys");
    }

    #[test]
    fn a_string_of_digits_is_accepted_as_a_number_and_a_number_is_no_string() {
        assert!(parse::<ExecCommandTool>(json!({"cmd": "ls", "yield_time_ms": "500", "cols": null})).is_ok());
        assert!(parse::<ExecCommandTool>(json!({"cmd": 500})).is_err());
        assert!(parse::<ExecCommandTool>(json!({"cmd": "ls", "yield_time_ms": "+5"})).is_err());
        assert!(parse::<ExecCommandTool>(json!({"cmd": "ls", "yield_time_ms": 500.0})).is_ok());
        assert!(parse::<ExecCommandTool>(json!({"cmd": "ls", "yield_time_ms": 500.5})).is_err());
        assert!(parse::<ExecCommandTool>(json!({"cmd": "ls", "yield_time_ms": 1e300})).is_err());
    }

    #[test]
    fn field_names_of_other_agents_tools_are_accepted_as_ours() {
        for given in [
            json!({"command": "ls", "timeout": 5, "cwd": "src"}),
            json!({"cmd": "ls", "command": "ls", "timeout_ms": 5, "dir_path": "src"}),
            json!({"cmd": "ls", "timeout_ms": 5, "workdir": "src", "is_background": false}),
        ] {
            let input =
                ExecCommandTool::parse(given.clone()).unwrap_or_else(|error| panic!("{given}: {error:?}"));
            let plain =
                ExecCommandTool::parse(json!({"cmd": "ls", "timeout_ms": 5, "workdir": "src"})).unwrap();
            assert_eq!(format!("{input:?}"), format!("{plain:?}"), "{given}");
        }
        for name in ["run_in_background", "is_background"] {
            let input = ExecCommandTool::parse(json!({"cmd": "ls", name: true})).unwrap();
            let plain = ExecCommandTool::parse(json!({"cmd": "ls", "yield_time_ms": 0})).unwrap();
            assert_eq!(format!("{input:?}"), format!("{plain:?}"), "{name}");
        }
        assert!(parse::<ExecCommandTool>(json!({"cmd": "ls", "background": true})).is_err());
        let published = serde_json::to_string(&schema::input::<crate::tools::exec_command::CommandInput>())
            .expect("JSON");
        assert!(!published.contains("background"), "{published}");
        assert!(parse::<TaskOutputTool>(json!({"task_id": "t", "timeout": 5})).is_ok());
        assert!(parse::<TaskOutputTool>(json!({"task_id": "t", "timeout": 5, "timeout_ms": 6})).is_err());
    }

    #[test]
    fn an_input_that_is_no_object_is_refused() {
        for given in [json!([]), json!("ls"), json!(5)] {
            let (details, _) = refusal::<ExecCommandTool>(given);
            assert!(details.get("field").is_none());
        }
    }
}
