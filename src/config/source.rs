//! The text of a TOML file: the line of each key, and its faults. Reads no files.

use std::fmt;
use std::ops::Range;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use toml::de::{DeTable, DeValue};

use super::nearest;

/// A file's name and text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    /// Its path, for messages.
    pub name: String,
    /// Its contents.
    pub text: String,
}

/// One thing that is wrong with a file, and where.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Fault {
    pub file: String,
    /// The line, from 1; none when it is about the file as a whole.
    pub line: Option<usize>,
    /// The dotted key; empty when the fault is not about one.
    pub key: String,
    /// What is wrong.
    pub what: String,
    /// A suggestion.
    pub near: Option<String>,
}

/// All faults of the files read, in order.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))]
pub struct Faults(pub Vec<Fault>);

/// A key and its value.
#[derive(Debug, Clone, PartialEq)]
pub struct SourceEntry {
    pub key: String,
    /// The line of the key, from 1.
    pub line: usize,
    /// Its value.
    pub node: Node,
    at: Range<usize>,
}

/// A value.
#[derive(Debug, Clone, PartialEq)]
pub enum Node {
    Table(Vec<SourceEntry>),
    /// A list, each item with its line.
    List(Vec<(usize, Node)>),
    Text(String),
    /// A boolean.
    Flag(bool),
    /// An integer; `None` if it is too large.
    Number(Option<i64>),
    /// A date or a floating-point number.
    Other,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:", self.file)?;
        if let Some(line) = self.line {
            write!(f, "{line}:")?;
        }
        if !self.key.is_empty() {
            write!(f, " {}:", self.key)?;
        }
        write!(f, " {}", self.what)?;
        match &self.near {
            Some(near) => write!(f, "; did you mean `{near}`?"),
            None => Ok(()),
        }
    }
}

impl Source {
    /// Creates a fault in this file.
    pub fn fault(&self, line: impl Into<Option<usize>>, key: &str, what: impl Into<String>) -> Fault {
        Fault { file: self.name.clone(), line: line.into(), key: key.into(), what: what.into(), near: None }
    }

    /// Parses it, with the line of each key.
    ///
    /// # Errors
    /// When it is not TOML.
    pub fn entries(&self) -> Result<Vec<SourceEntry>, Fault> {
        let table = DeTable::parse(&self.text).map_err(|error| self.parse_fault(&error, &[]))?;
        Ok(of_table(table.get_ref(), &LineStarts::of(&self.text)))
    }

    /// Deserialises it as `T`, whose `schema` defines the allowed keys.
    ///
    /// # Errors
    /// When it is not TOML, has an unknown key, a value of the wrong type, or a number out of range.
    pub fn read<T: DeserializeOwned>(&self, schema: &Value) -> Result<T, Faults> {
        let entries = self.entries().map_err(|fault| Faults(vec![fault]))?;
        let mut faults = Vec::new();
        self.check(&entries, schema, "", &mut faults);
        if !faults.is_empty() {
            return Err(Faults(faults));
        }
        toml::from_str(&self.text).map_err(|error| Faults(vec![self.parse_fault(&error, &entries)]))
    }

    fn check(&self, entries: &[SourceEntry], schema: &Value, path: &str, faults: &mut Vec<Fault>) {
        let known = schema["properties"].as_object();
        for entry in entries {
            let path = key_path(path, &entry.key);
            let found = known.and_then(|known| known.get(&entry.key));
            let inner = found.unwrap_or(&schema["additionalProperties"]);
            if found.is_none() && (known.is_some() && !inner.is_object()) {
                let names = known.into_iter().flat_map(|known| known.keys().map(String::as_str));
                let near = nearest(&entry.key, names).map(str::to_owned);
                faults.push(Fault { near, ..self.fault(entry.line, &path, "there is no such key") });
            }
            match &entry.node {
                Node::Table(entries) => self.check(entries, inner, &path, faults),
                Node::Number(number) => {
                    let fault = out_of_bounds(*number, inner);
                    faults.extend(fault.map(|what| self.fault(entry.line, &path, what)));
                }
                Node::List(items) => {
                    for (_, item) in items {
                        if let Node::Table(entries) = item {
                            self.check(entries, &inner["items"], &path, faults);
                        }
                    }
                }
                _ => {}
            }
        }
    }

    fn parse_fault(&self, error: &toml::de::Error, entries: &[SourceEntry]) -> Fault {
        let lines = LineStarts::of(&self.text);
        let at = error.span().map(|span| span.start);
        let key = at.map(|at| key_at(entries, at)).filter(|key| !key.is_empty());
        // The bracket before a table's name is not part of it.
        let of_line =
            |at| entries.iter().find(|entry| entry.line == lines.at(at)).map(|entry| entry.key.clone());
        let key = key.or_else(|| at.and_then(of_line)).unwrap_or_default();
        // The names of Rust's types are no help.
        let words =
            [("expected usize", "expected a number"), ("expected u64", "expected a number"), ("\n", ", ")];
        let message = error.message().trim().to_owned();
        let what = words.iter().fold(message, |what, (name, word)| what.replace(name, word));
        self.fault(at.map(|at| lines.at(at)), &key, what)
    }
}

/// Where the lines of a text end, in bytes.
struct LineStarts(Vec<usize>);

impl LineStarts {
    fn of(text: &str) -> Self {
        Self(memchr::memchr_iter(b'\n', text.as_bytes()).collect())
    }

    /// The line of a position, from 1.
    fn at(&self, at: usize) -> usize {
        1 + self.0.partition_point(|end| *end < at)
    }
}

fn of_table(table: &DeTable<'_>, lines: &LineStarts) -> Vec<SourceEntry> {
    let mut entries: Vec<SourceEntry> = table
        .iter()
        .map(|(key, value)| SourceEntry {
            key: key.get_ref().to_string(),
            line: lines.at(key.span().start),
            node: node(value.get_ref(), lines),
            at: key.span().start..value.span().end.max(key.span().end),
        })
        .collect();
    entries.sort_by_key(|entry| entry.at.start);
    entries
}

fn node(value: &DeValue<'_>, lines: &LineStarts) -> Node {
    match value {
        DeValue::Table(table) => Node::Table(of_table(table, lines)),
        DeValue::Array(items) => {
            let item = |item: &toml::Spanned<DeValue<'_>>| {
                (lines.at(item.span().start), node(item.get_ref(), lines))
            };
            Node::List(items.iter().map(item).collect())
        }
        DeValue::String(text) => Node::Text(text.to_string()),
        DeValue::Boolean(flag) => Node::Flag(*flag),
        DeValue::Integer(number) => Node::Number(i64::from_str_radix(number.as_str(), number.radix()).ok()),
        _ => Node::Other,
    }
}

/// Describes the numbers that a schema allows, if this one is not allowed.
fn out_of_bounds(number: Option<i64>, schema: &Value) -> Option<String> {
    let (least, most) = (schema["minimum"].as_i64()?, schema["maximum"].as_i64());
    let fits = |number| least <= number && most.is_none_or(|most| number <= most);
    match (number.is_some_and(fits), most) {
        (true, _) => None,
        (false, Some(most)) => Some(format!("it must be from {least} to {most}")),
        (false, None) => Some(format!("it must be {least} or more")),
    }
}

/// Returns the key of the innermost entry whose value contains a position.
fn key_at(entries: &[SourceEntry], at: usize) -> String {
    let inner = entries.iter().find_map(|entry| match &entry.node {
        Node::Table(inner) => {
            let key = key_at(inner, at);
            (!key.is_empty()).then(|| key_path(&entry.key, &key))
        }
        _ => None,
    });
    let own = || entries.iter().find(|entry| entry.at.contains(&at)).map(|entry| entry.key.clone());
    inner.or_else(own).unwrap_or_default()
}

fn key_path(path: &str, key: &str) -> String {
    if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") }
}
