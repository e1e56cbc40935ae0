//! A JSON value as lines of pieces: indented as serde indents it, its keys set off, its groups noted.

use std::ops::RangeInclusive;

use serde_json::Value;

use super::count;
use super::document::{Piece, piece};
use super::visible;
use crate::console::theme::Role;

/// The lines of a value, and the groups in them.
#[derive(Debug, Default)]
pub(super) struct Layout {
    pub(super) lines: Vec<Vec<Piece>>,
    pub(super) groups: Vec<Group>,
}

/// An object or array that is not empty: from the line it opens in to the line it closes in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Group {
    pub(super) lines: RangeInclusive<usize>,
    /// What is in it, in words: `5 keys`.
    pub(super) holds: String,
}

impl Layout {
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
            Value::String(text) => match unfolded(text) {
                Some(lines) => {
                    let mark = if text.ends_with('\n') { "|" } else { "|-" };
                    self.push(mark.to_owned(), Role::Faint);
                    self.lines.extend(lines.map(|line| {
                        let line = visible::in_text(line).into_owned();
                        vec![piece(" ".repeat((depth + 1) * 2), Role::Text), piece(line, Role::Text)]
                    }));
                }
                None => self.push(quoted(text), Role::Text),
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
                self.push(quoted(key), Role::Name);
                self.push(": ".to_owned(), Role::Faint);
            }
            self.write(value, depth + 1);
            if at + 1 < items.len() && !matches!(value, Value::String(text) if unfolded(text).is_some()) {
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
    /// Writes the group on one line: what it opens with, and what it closes with.
    pub(super) fn folded(&self, open: &[Piece], close: &[Piece]) -> Vec<Piece> {
        let close = close.iter().skip_while(|part| part.text.trim().is_empty()).cloned();
        let mut line = open.to_vec();
        line.push(piece("...", Role::Faint));
        line.extend(close);
        line.push(piece(format!("  {}", self.holds), Role::Faint));
        line
    }
}

/// Returns the lines of a text that has several: it is read as it was printed, not as a wall of `\n`.
fn unfolded(text: &str) -> Option<impl Iterator<Item = &str>> {
    let text = text.strip_suffix('\n').unwrap_or(text);
    text.contains('\n').then(|| text.split('\n'))
}

/// Returns how many lines a text takes below the one of its key.
pub(in crate::console) fn lines_below(text: &str) -> usize {
    unfolded(text).map_or(0, Iterator::count)
}

/// Returns a value as it is shown, a line a line.
#[must_use]
pub(in crate::console) fn text(value: &Value) -> String {
    let line = |line: Vec<Piece>| line.into_iter().map(|part| part.text).collect::<String>();
    Layout::of(value).lines.into_iter().map(line).collect::<Vec<_>>().join("\n")
}

fn quoted(text: &str) -> String {
    let json = Value::from(text).to_string();
    visible::in_text(&json).into_owned()
}
