//! Data as text for people: key-value pairs, and columns for lists.

use serde_json::{Map, Value};

use crate::envelope::{SafeText, one_line};

/// The maximum length of a cell, in characters.
const CELL_CHARS: usize = 60;

/// Formats data as a table: the first list of objects in it, or else one row per key.
#[must_use]
pub fn table(data: &Value) -> String {
    match rows(data) {
        Some(rows) => columns(rows),
        None => pairs(data),
    }
}

/// Formats one row for each key.
#[must_use]
pub(super) fn pairs(data: &Value) -> String {
    let Some(object) = data.as_object() else { return cell(data) };
    let width = object.keys().map(|key| key.chars().count()).max().unwrap_or(0);
    let lines =
        object.iter().map(|(key, value)| format!("{key:<width$}  {}", cell(value)).trim_end().to_owned());
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
    let head: Vec<String> = names.iter().map(|name| name.to_uppercase()).collect();
    let mut lines = vec![head];
    lines.extend(rows.iter().map(|row| {
        let value = |name: &&str| row.get(*name).map(cell).unwrap_or_default();
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

fn cell(value: &Value) -> String {
    let text = match value {
        Value::Null => "-".to_owned(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    one_line(&SafeText::lines(&text), CELL_CHARS)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_list_becomes_columns_and_anything_else_pairs() {
        let data =
            json!({"total": 2, "tasks": [{"id": "a", "quiet_ms": null}, {"id": "long", "cmd": "x\ny"}]});
        assert_eq!(table(&data), "ID    QUIET_MS  CMD\na     -\nlong            x y");
        assert_eq!(table(&json!({"name": "p", "version": "1"})), "name     p\nversion  1");
        assert_eq!(table(&json!({"tasks": []})), "");
    }
}
