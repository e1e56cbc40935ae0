//! `_opts`: the flags of one line, interpreted as on the command line: true is the bare flag, false omits it, a
//! string or number is its value.

use serde_json::{Map, Value, json};

use crate::config::nearest;
use crate::dispatch::code::Code;
use crate::dispatch::command::Command;
use crate::dispatch::flags::{RunFlags, parse_timeout};
use crate::dispatch::response::Failure;

/// A flag that every command has.
#[derive(Debug, Clone, Copy)]
pub struct LineFlag {
    pub name: &'static str,
    /// The type of its value; `boolean` is a bare flag.
    pub kind: &'static str,
    /// What it does.
    pub about: &'static str,
}

/// The flags that every command and every line accept. To add one: add a row here, its arm in `apply`, and the field
/// of [`RunFlags`] that it sets.
pub const LINE_FLAGS: [LineFlag; 4] = [
    LineFlag {
        name: "dry-run",
        kind: "boolean",
        about: "Report the planned effect without acting; safe commands run as usual",
    },
    LineFlag {
        name: "timeout",
        kind: "string",
        about: "Give up after this long: 500ms, 30s, 2m, or seconds as a number",
    },
    LineFlag {
        name: "idempotency-key",
        kind: "string",
        about: "Run this request only once: a repeat within the same recording gets the first answer",
    },
    LineFlag {
        name: "schema",
        kind: "boolean",
        about: "Print the JSON Schemas of the command's input and data, and do nothing else",
    },
];

/// Applies the flags of a line: to its input if they are fields of the command, otherwise to `flags`.
pub(super) fn apply(
    command: &Command,
    opts: Map<String, Value>,
    payload: &mut Map<String, Value>,
    flags: &mut RunFlags,
) -> Result<Vec<String>, Failure> {
    let mut seen: Vec<String> = Vec::new();
    let mut warnings = Vec::new();
    for (given, value) in opts {
        let name = given.replace('_', "-");
        if seen.contains(&name) {
            return Err(conflict(&given, format!("The option `{name}` is given twice.")));
        }
        match name.as_str() {
            "dry-run" => {
                let on = value.as_bool().ok_or_else(|| takes(&given, "no value: true or false"))?;
                if flags.dry_run && !on {
                    warnings.push(
                        "the dry run applies to the whole stream; a single line cannot turn it off"
                            .to_owned(),
                    );
                }
                flags.dry_run |= on;
            }
            "schema" => {
                flags.schema = value.as_bool().ok_or_else(|| takes(&given, "no value: true or false"))?;
            }
            "timeout" => flags.timeout = timeout(&given, &value)?.or(flags.timeout),
            "idempotency-key" => flags.once = key(&given, &value)?,
            "output" | "format" if value == "json" || value == "jsonl" => {}
            "output" | "format" => {
                return Err(takes(&given, "`json`: every line of a stream is answered so"));
            }
            _ => field(command, &given, &name.replace('-', "_"), value, payload)?,
        }
        seen.push(name);
    }
    Ok(warnings)
}

fn timeout(given: &str, value: &Value) -> Result<Option<std::time::Duration>, Failure> {
    let text = match value {
        Value::Bool(false) => return Ok(None),
        Value::String(text) => text.clone(),
        Value::Number(number) => number.to_string(),
        _ => return Err(takes(given, "a time such as 500ms, 30s or 2m")),
    };
    parse_timeout(&text).map(Some).ok_or_else(|| takes(given, "a time such as 500ms, 30s or 2m"))
}

fn key(given: &str, value: &Value) -> Result<Option<String>, Failure> {
    match value {
        Value::Bool(false) => Ok(None),
        Value::String(key) if !key.is_empty() => Ok(Some(key.clone())),
        Value::Number(key) => Ok(Some(key.to_string())),
        _ => Err(takes(given, "a key of your choice")),
    }
}

/// Stores a flag in the field of the command's input.
fn field(
    command: &Command,
    given: &str,
    name: &str,
    value: Value,
    payload: &mut Map<String, Value>,
) -> Result<(), Failure> {
    let properties = &command.input_schema()["properties"];
    let Some(schema) = properties.get(name) else {
        let known = properties.as_object().into_iter().flatten().map(|(name, _)| name.as_str());
        let near = nearest(name, known.chain(LINE_FLAGS.iter().map(|flag| flag.name)));
        let message = format!("{} has no option `{given}`.", command.path);
        return Err(Failure::new(Code::ArgError, message)
            .with("opt", given)
            .suggest(near)
            .fix("leave it out; `pilothouse manifest` lists the options of each command"));
    };
    let Some(value) = convert(schema["type"].as_str(), given, value)? else { return Ok(()) };
    if payload.contains_key(name) {
        return Err(conflict(given, format!("`{name}` is given both in `_opts` and in the line itself.")));
    }
    payload.insert(name.to_owned(), value);
    Ok(())
}

/// Converts a flag's value to its field's type; `None` for a flag that is off.
fn convert(kind: Option<&str>, given: &str, value: Value) -> Result<Option<Value>, Failure> {
    Ok(match (kind, value) {
        (Some("boolean"), Value::Bool(on)) => Some(json!(on)),
        (Some("boolean"), _) => return Err(takes(given, "no value: true or false")),
        (_, Value::Bool(false)) => None,
        (_, Value::Bool(true)) => return Err(takes(given, "a value")),
        (Some("integer"), value) => Some(value),
        (Some("array"), value) => Some(json!([parse_json(value)])),
        (Some("object"), value) => Some(parse_json(value)),
        (_, Value::Number(number)) => Some(json!(number.to_string())),
        (_, value) => Some(value),
    })
}

/// Parses a value that may be written as JSON in a string.
fn parse_json(value: Value) -> Value {
    let json = value.as_str().filter(|text| text.starts_with(['{', '[']));
    json.and_then(|text| serde_json::from_str(text).ok()).unwrap_or(value)
}

fn takes(given: &str, what: &str) -> Failure {
    Failure::new(Code::ArgError, format!("The option `{given}` takes {what}.")).with("opt", given)
}

fn conflict(given: &str, message: String) -> Failure {
    Failure::new(Code::ArgConflict, message).with("opt", given).fix("give it once")
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::dispatch::find;

    fn applied(path: &str, opts: Value, payload: Value) -> Result<(Value, RunFlags), (String, Value)> {
        let (Value::Object(opts), Value::Object(mut payload)) = (opts, payload) else { panic!("objects") };
        let mut flags = RunFlags::default();
        match apply(find(path).expect(path), opts, &mut payload, &mut flags) {
            Ok(_) => Ok((Value::Object(payload), flags)),
            Err(failure) => {
                let code = failure.code().to_owned();
                Err((
                    code,
                    crate::dispatch::Response::failure(failure).to_value()["error"]["context"]["opt"].clone(),
                ))
            }
        }
    }

    #[test]
    fn options_become_fields_and_flags() {
        let opts =
            json!({"tty": true, "login": false, "workdir": "src", "yield-time-ms": 500, "timeout": "2s"});
        let (payload, flags) = applied("command.run", opts, json!({"cmd": "x"})).unwrap();
        let fields = json!({"cmd": "x", "tty": true, "login": false, "workdir": "src", "yield_time_ms": 500});
        assert_eq!(payload, fields);
        assert_eq!(flags.timeout, Some(Duration::from_secs(2)));
        let opts = json!({"dry_run": true, "idempotency_key": 7, "description": false});
        let (payload, flags) = applied("command.run", opts, json!({})).unwrap();
        assert_eq!(payload, json!({}));
        assert_eq!((flags.dry_run, flags.once.as_deref()), (true, Some("7")));
        let (payload, _) = applied("task.input", json!({"keys": "C-c"}), json!({})).unwrap();
        assert_eq!(payload, json!({"keys": ["C-c"]}));
    }

    #[test]
    fn an_option_that_cannot_be_is_named() {
        for (opts, payload, code, opt) in [
            (json!({"dry-run": "true"}), json!({}), "ARG_ERROR", "dry-run"),
            (json!({"tty": "true"}), json!({}), "ARG_ERROR", "tty"),
            (json!({"workdir": true}), json!({}), "ARG_ERROR", "workdir"),
            (json!({"bogus": 1}), json!({}), "ARG_ERROR", "bogus"),
            (json!({"ignore-errors": true}), json!({}), "ARG_ERROR", "ignore-errors"),
            (json!({"timeout": "soon"}), json!({}), "ARG_ERROR", "timeout"),
            (json!({"output": "plain"}), json!({}), "ARG_ERROR", "output"),
            (json!({"workdir": "a"}), json!({"workdir": "b"}), "ARG_CONFLICT", "workdir"),
            (json!({"dry-run": true, "dry_run": true}), json!({}), "ARG_CONFLICT", "dry_run"),
        ] {
            assert_eq!(applied("command.run", opts, payload), Err((code.to_owned(), json!(opt))));
        }
    }
}
