//! Data as text for people: key-value pairs, and columns for lists. Times, durations and objects are in words.

use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde_json::{Map, Value};

use crate::envelope::units::millis;
use crate::envelope::{SafeText, one_line};

/// The maximum length of a cell, in characters.
const CELL_CHARS: usize = 60;

/// Formats data as a table: the first list of objects in it, or else one row per key.
pub fn table(data: &Value) -> String {
    match rows(data) {
        Some(rows) => columns(rows),
        None => pairs(data),
    }
}

/// Formats one row for each key.
pub(super) fn pairs(data: &Value) -> String {
    let Some(object) = data.as_object() else { return cell("", data) };
    let width = object.keys().map(|key| bare(key).chars().count()).max().unwrap_or(0);
    let lines = object
        .iter()
        .map(|(key, value)| format!("{:<width$}  {}", bare(key), cell(key, value)).trim_end().to_owned());
    lines.collect::<Vec<_>>().join("\n")
}

fn rows(data: &Value) -> Option<Vec<&Map<String, Value>>> {
    let lists = match data {
        Value::Array(_) => vec![data],
        Value::Object(object) => object.values().collect(),
        _ => Vec::new(),
    };
    lists.into_iter().find_map(|list| {
        let rows: Option<Vec<_>> = list.as_array()?.iter().map(Value::as_object).collect();
        rows
    })
}

fn columns(rows: Vec<&Map<String, Value>>) -> String {
    let mut names: Vec<&str> = Vec::new();
    for key in rows.iter().flat_map(|row| row.keys()) {
        if !names.contains(&key.as_str()) {
            names.push(key);
        }
    }
    let head: Vec<String> = names.iter().map(|name| bare(name).to_uppercase()).collect();
    let mut lines = vec![head];
    lines.extend(rows.iter().map(|row| {
        let value = |name: &&str| row.get(*name).map(|value| cell(name, value)).unwrap_or_default();
        names.iter().map(value).collect()
    }));
    let width = |at: usize| lines.iter().map(|line| line[at].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..names.len()).map(width).collect();
    let written = lines.iter().map(|line| {
        let cells = line.iter().zip(&widths).map(|(text, width)| format!("{text:<width$}"));
        cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
    });
    written.collect::<Vec<_>>().join("\n")
}

/// Returns a name without its unit, which its values have.
fn bare(name: &str) -> &str {
    name.strip_suffix("_ms").unwrap_or(name)
}

fn cell(name: &str, value: &Value) -> String {
    one_line(&SafeText::lines(&words(name, value)), CELL_CHARS)
}

/// Returns a value as a person reads it; its name tells what it is.
fn words(name: &str, value: &Value) -> String {
    match value {
        Value::Null => "-".to_owned(),
        Value::String(text) if name.ends_with("_at") => {
            text.parse::<Timestamp>().map_or_else(|_| text.clone(), |at| local(at, &TimeZone::system()))
        }
        Value::String(text) => text.clone(),
        Value::Number(number) if name.ends_with("_ms") => {
            number.as_u64().map_or_else(|| number.to_string(), millis)
        }
        Value::Object(fields) => {
            // What sort of thing it is comes first in every object, and needs no name.
            let field = |(name, value): (&String, &Value)| match name.as_str() {
                "kind" => words(name, value),
                _ => format!("{} {}", bare(name), words(name, value)),
            };
            fields.iter().map(field).collect::<Vec<_>>().join(", ")
        }
        Value::Array(items) => items.iter().map(|item| words("", item)).collect::<Vec<_>>().join(", "),
        other => other.to_string(),
    }
}

fn local(at: Timestamp, zone: &TimeZone) -> String {
    at.to_zoned_datetime(zone.clone()).strftime("%Y-%m-%d %H:%M:%S").to_string()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_list_becomes_columns_and_anything_else_pairs() {
        let data =
            json!({"total": 2, "tasks": [{"id": "a", "quiet_ms": null}, {"id": "long", "cmd": "x\ny"}]});
        assert_eq!(table(&data), "ID    QUIET  CMD\na     -\nlong         x y");
        assert_eq!(table(&json!({"name": "p", "version": "1"})), "name     p\nversion  1");
        assert_eq!(table(&json!({"tasks": []})), "");
    }

    #[test]
    fn times_and_objects_are_words() {
        let waiting = json!({"kind": "line", "evidence": "tty_read", "for_ms": 3_250});
        assert_eq!(words("waiting", &waiting), "line, evidence tty_read, for 3.2 s");
        assert_eq!(words("quiet_ms", &json!(850)), "850 ms");
        assert_eq!(words("items", &json!(["a", 2, null])), "a, 2, -");
        let at = "2026-01-15T14:30:52.123456789Z".parse().expect("a time");
        assert_eq!(local(at, &TimeZone::UTC), "2026-01-15 14:30:52");
        assert_eq!(words("at_at", &json!("soon")), "soon");
    }
}
