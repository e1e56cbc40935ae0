//! A JSON value as lines of pieces: indented as by serde, with keys highlighted and groups recorded.

use std::ops::RangeInclusive;

use serde_json::Value;

use super::count;
use super::document::{StyledPiece, piece};
use super::visible;
use crate::console::theme::Role;

/// The lines of a value, and its groups.
#[derive(Debug, Default)]
pub(super) struct JsonLayout {
    pub(super) lines: Vec<Vec<StyledPiece>>,
    pub(super) groups: Vec<Group>,
}

/// A non-empty object or array, from the line where it opens to the line where it closes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Group {
    pub(super) lines: RangeInclusive<usize>,
    /// A description of its contents: `5 keys`.
    pub(super) holds: String,
}

impl JsonLayout {
    pub(super) fn of(value: &Value) -> Self {
        let mut layout = Self { lines: vec![Vec::new()], groups: Vec::new() };
        layout.write(value, 0);
        layout
    }

    fn write(&mut self, value: &Value, depth: usize) {
        match value {
            Value::Object(fields) if !fields.is_empty() => {
                let fields: Vec<_> = fields.iter().map(|(key, value)| (Some(key.as_str()), value)).collect();
                self.write_group(&fields, depth, ["{", "}"]);
            }
            Value::Array(items) if !items.is_empty() => {
                let items: Vec<_> = items.iter().map(|value| (None, value)).collect();
                self.write_group(&items, depth, ["[", "]"]);
            }
            Value::String(text) => match text_lines(text) {
                Some(lines) => {
                    let mark = if text.ends_with('\n') { "|" } else { "|-" };
                    self.push(mark.to_owned(), Role::Faint);
                    self.lines.extend(lines.map(|line| {
                        let line = visible::in_text(line).into_owned();
                        vec![piece(" ".repeat((depth + 1) * 2), Role::Text), piece(line, Role::Text)]
                    }));
                }
                None => self.push(quote(text), Role::Text),
            },
            Value::Null => self.push("null".to_owned(), Role::Faint),
            Value::Object(_) => self.push("{}".to_owned(), Role::Faint),
            Value::Array(_) => self.push("[]".to_owned(), Role::Faint),
            Value::Bool(_) | Value::Number(_) => self.push(value.to_string(), Role::Literal),
        }
    }

    fn write_group(&mut self, items: &[(Option<&str>, &Value)], depth: usize, ends: [&str; 2]) {
        let first = self.lines.len().saturating_sub(1);
        self.push(ends[0].to_owned(), Role::Faint);
        for (at, (key, value)) in items.iter().enumerate() {
            self.lines.push(vec![piece(" ".repeat((depth + 1) * 2), Role::Text)]);
            if let Some(key) = key {
                self.push(quote(key), Role::Name);
                self.push(": ".to_owned(), Role::Faint);
            }
            self.write(value, depth + 1);
            if at + 1 < items.len() && !matches!(value, Value::String(text) if text_lines(text).is_some()) {
                self.push(",".to_owned(), Role::Faint);
            }
        }
        self.lines.push(vec![piece(" ".repeat(depth * 2), Role::Text)]);
        self.push(ends[1].to_owned(), Role::Faint);
        let word = match (ends[0], items.len()) {
            ("{", 1) => "key",
            ("{", _) => "keys",
            (_, 1) => "item",
            _ => "items",
        };
        let holds = format!("{} {word}", count(items.len() as u64));
        self.groups.push(Group { lines: first..=self.lines.len() - 1, holds });
    }

    fn push(&mut self, text: String, role: Role) {
        if let Some(line) = self.lines.last_mut() {
            line.push(piece(text, role));
        }
    }
}

impl Group {
    /// Returns the folded group as a single line, from its opening to its closing bracket.
    pub(super) fn folded_line(&self, open: &[StyledPiece], close: &[StyledPiece]) -> Vec<StyledPiece> {
        let close = close.iter().skip_while(|part| part.text.trim().is_empty()).cloned();
        let mut line = open.to_vec();
        line.push(piece("...", Role::Faint));
        line.extend(close);
        line.push(piece(format!("  {}", self.holds), Role::Faint));
        line
    }
}

/// Returns the lines of a multi-line text, which is shown as printed rather than as a wall of `\n`.
fn text_lines(text: &str) -> Option<impl Iterator<Item = &str>> {
    let text = text.strip_suffix('\n').unwrap_or(text);
    text.contains('\n').then(|| text.split('\n'))
}

/// Returns how many lines a text takes up below the line of its key.
pub(in crate::console) fn lines_below(text: &str) -> usize {
    text_lines(text).map_or(0, Iterator::count)
}

/// Returns a value as displayed, line by line.
pub(in crate::console) fn text(value: &Value) -> String {
    let line = |line: Vec<StyledPiece>| line.into_iter().map(|part| part.text).collect::<String>();
    JsonLayout::of(value).lines.into_iter().map(line).collect::<Vec<_>>().join("\n")
}

fn quote(text: &str) -> String {
    let json = Value::from(text).to_string();
    visible::in_text(&json).into_owned()
}
