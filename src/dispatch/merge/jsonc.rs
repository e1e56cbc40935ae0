//! JSON with comments and trailing commas. The text is modified only where a key or an item is added or removed.

use std::ops::Range;

use jsonc_parser::ast::{Object, Value as Node};
use jsonc_parser::common::Ranged as _;
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};
use serde_json::{Map, Number, Value};

use super::{Document, MergeError};

/// The allowed extensions of plain JSON: comments and trailing commas.
const OPTIONS: ParseOptions = ParseOptions {
    allow_comments: true,
    allow_trailing_commas: true,
    allow_loose_object_property_names: false,
    allow_missing_commas: false,
    allow_single_quoted_strings: false,
    allow_hexadecimal_numbers: false,
    allow_unary_plus_numbers: false,
    allow_bare_decimal_point_numbers: false,
    allow_non_finite_numbers: false,
    allow_extended_string_escapes: false,
};
/// The indentation for a file that has none.
const INDENT: &str = "  ";

/// A JSON document with comments.
pub(super) struct Jsonc {
    text: String,
}

/// The position of an object or a list, and of each of its parts.
struct Container {
    whole: Range<usize>,
    parts: Vec<Range<usize>>,
}

impl Jsonc {
    pub(super) fn parse(text: &str) -> Result<Self, MergeError> {
        let text = if text.trim().is_empty() { "{}\n" } else { text };
        let own = Self { text: text.to_owned() };
        match own.at(&[], |node| Ok(matches!(node, Node::Object(_))))? {
            Some(true) => Ok(own),
            _ => Err(MergeError::new("it does not contain a JSON object")),
        }
    }

    /// Applies a function to the node at a path; `None` if there is no such key.
    fn at<T>(
        &self,
        path: &[String],
        look: impl FnOnce(&Node<'_>) -> Result<T, MergeError>,
    ) -> Result<Option<T>, MergeError> {
        let parsed =
            parse_to_ast(&self.text, &CollectOptions::default(), &OPTIONS).map_err(MergeError::new)?;
        let Some(root) = &parsed.value else { return Ok(None) };
        let mut node = root;
        for key in path {
            let Node::Object(object) = node else { return Ok(None) };
            match property(object, key)? {
                Some(value) => node = value,
                None => return Ok(None),
            }
        }
        look(node).map(Some)
    }

    fn container(&self, path: &[String]) -> Result<Container, MergeError> {
        let found = self.at(path, |node| {
            let span = |node: &dyn Fn() -> jsonc_parser::common::Range| node().start..node().end;
            let parts = match node {
                Node::Object(object) => object.properties.iter().map(|one| span(&|| one.range())).collect(),
                Node::Array(list) => list.elements.iter().map(|one| span(&|| one.range())).collect(),
                _ => return Err(MergeError::new(format!("`{}` holds a single value", path.join(".")))),
            };
            Ok(Container { whole: span(&|| node.range()), parts })
        });
        found?.ok_or_else(|| MergeError::new(format!("`{}` is missing", path.join("."))))
    }

    /// Appends a part to a container; `write` formats it, given the indentation if it gets a line of its own.
    fn append(&mut self, container: &Container, write: impl Fn(Option<&str>) -> String) {
        let newline = if self.text.contains("\r\n") { "\r\n" } else { "\n" };
        let write = |indent: Option<&str>| write(indent).replace('\n', newline);
        let Some(last) = container.parts.last() else {
            let outer = self.indentation(container.whole.start);
            let indent = format!("{outer}{}", self.unit());
            let inner = &self.text[container.whole.start + 1..container.whole.end - 1];
            let kept = container.whole.start + 1 + inner.trim_end().len();
            let part = write(Some(&indent));
            let text = format!("{newline}{indent}{part}{newline}{outer}");
            self.text.replace_range(kept..container.whole.end - 1, &text);
            return;
        };
        let comma = self.comma_after(last.end);
        let close = if comma.is_some() { "," } else { "" };
        let end = comma.map_or(last.end, |comma| comma + 1);
        match self.own_line(last.start) {
            Some(indent) => {
                let indent = indent.to_owned();
                let place = self.line_rest(end);
                let part = write(Some(&indent));
                self.text.insert_str(place, &format!("{newline}{indent}{part}{close}"));
                if comma.is_none() {
                    self.text.insert(last.end, ',');
                }
            }
            None => {
                let open = if comma.is_some() { "" } else { "," };
                self.text.insert_str(end, &format!("{open} {}{close}", write(None)));
            }
        }
    }

    fn cut(&mut self, container: &Container, index: usize) {
        let part = container.parts[index].clone();
        let before = self.text[..part.start].trim_end_matches([' ', '\t']);
        // If the part begins a line, that line's break is removed too.
        let start = match before.strip_suffix('\n') {
            Some(line) => line.strip_suffix('\r').unwrap_or(line).len(),
            None => before.len(),
        };
        match self.comma_after(part.end) {
            Some(comma) => self.text.replace_range(start..=comma, ""),
            None => {
                self.text.replace_range(start..part.end, "");
                let previous = index.checked_sub(1).and_then(|at| container.parts.get(at));
                if let Some(comma) = previous.and_then(|previous| self.comma_after(previous.end)) {
                    self.text.remove(comma);
                }
            }
        }
        if container.parts.len() == 1 {
            let inside = container.whole.start + 1;
            let blank = self.text[inside..].len() - self.text[inside..].trim_start().len();
            if self.text[inside + blank..].starts_with(['}', ']']) {
                self.text.replace_range(inside..inside + blank, "");
            }
        }
    }

    /// Returns the position of the comma that follows a position, ignoring comments.
    fn comma_after(&self, from: usize) -> Option<usize> {
        let mut at = from;
        loop {
            let rest = self.text.get(at..)?;
            at += rest.len() - rest.trim_start().len();
            match comment(self.text.get(at..)?) {
                Some(length) => at += length,
                None => return self.text[at..].starts_with(',').then_some(at),
            }
        }
    }

    /// Returns the position after the comments that follow on the same line.
    fn line_rest(&self, from: usize) -> usize {
        let mut at = from;
        loop {
            let rest = &self.text[at..];
            let next = at + rest.len() - rest.trim_start_matches([' ', '\t']).len();
            match comment(&self.text[next..]) {
                Some(length) if !self.text[next..next + length].contains('\n') => at = next + length,
                _ => return at,
            }
        }
    }

    /// Returns the indentation of an element that begins its line.
    fn own_line(&self, at: usize) -> Option<&str> {
        let line = &self.text[..at];
        let indent = &line[line.rfind('\n')? + 1..];
        indent.trim_matches([' ', '\t']).is_empty().then_some(indent)
    }

    /// Returns the indentation of the line that contains a position.
    fn indentation(&self, at: usize) -> String {
        let start = self.text[..at].rfind('\n').map_or(0, |newline| newline + 1);
        self.text[start..at].chars().take_while(|c| [' ', '\t'].contains(c)).collect()
    }

    /// Returns one level of indentation.
    fn unit(&self) -> String {
        let keys = self.text.lines().filter(|line| line.trim_start().starts_with('"'));
        let indents = keys.map(|line| &line[..line.len() - line.trim_start().len()]);
        indents
            .filter(|indent| !indent.is_empty())
            .min_by_key(|indent| indent.len())
            .unwrap_or(INDENT)
            .to_owned()
    }
}

impl Document for Jsonc {
    fn get(&self, path: &[String]) -> Result<Option<Value>, MergeError> {
        self.at(path, |node| Ok(plain(node)))
    }

    fn insert(&mut self, path: &[String], key: &str, value: &Value) -> Result<(), MergeError> {
        let container = self.container(path)?;
        let unit = self.unit();
        let key = Value::from(key);
        self.append(&container, |indent| format!("{key}: {}", layout(value, indent, &unit)));
        Ok(())
    }

    fn push(&mut self, path: &[String], item: &Value) -> Result<(), MergeError> {
        let container = self.container(path)?;
        let unit = self.unit();
        self.append(&container, |indent| layout(item, indent, &unit));
        Ok(())
    }

    fn remove(&mut self, path: &[String]) -> Result<(), MergeError> {
        let Some((key, parent)) = path.split_last() else { return Ok(()) };
        let named = self.at(parent, |node| match node {
            Node::Object(object) => Ok(object.properties.iter().position(|one| one.name.as_str() == key)),
            _ => Ok(None),
        })?;
        let container = self.container(parent)?;
        if let Some(index) = named.flatten() {
            self.cut(&container, index);
        }
        Ok(())
    }

    fn remove_item(&mut self, path: &[String], index: usize) -> Result<(), MergeError> {
        let container = self.container(path)?;
        self.cut(&container, index);
        Ok(())
    }

    fn text(&self) -> String {
        self.text.clone()
    }
}

/// Finds the value of a key; a duplicate key is an error, because either could be meant.
fn property<'a, 'b>(object: &'b Object<'a>, key: &str) -> Result<Option<&'b Node<'a>>, MergeError> {
    let mut named = object.properties.iter().filter(|one| one.name.as_str() == key);
    match (named.next(), named.next()) {
        (_, Some(_)) => Err(MergeError::new(format!("the key `{key}` appears twice in one object"))),
        (found, None) => Ok(found.map(|one| &one.value)),
    }
}

/// Returns the length of the comment at the start of a text.
fn comment(text: &str) -> Option<usize> {
    if text.starts_with("//") {
        // The line break is not part of it.
        let line = text.split('\n').next().unwrap_or(text);
        return Some(line.strip_suffix('\r').unwrap_or(line).len());
    }
    text.strip_prefix("/*")?.find("*/").map(|at| at + 4)
}

fn plain(node: &Node<'_>) -> Value {
    match node {
        Node::Object(object) => {
            let entries =
                object.properties.iter().map(|one| (one.name.as_str().to_owned(), plain(&one.value)));
            Value::Object(entries.collect::<Map<_, _>>())
        }
        Node::Array(list) => list.elements.iter().map(plain).collect(),
        Node::StringLit(text) => Value::from(text.value.as_ref()),
        Node::NumberLit(number) => number.value.parse::<Number>().map_or(Value::Null, Value::Number),
        Node::BooleanLit(flag) => Value::from(flag.value),
        Node::NullKeyword(_) => Value::Null,
    }
}

/// Formats a value; an object that has a line of its own is spread over several lines.
fn layout(value: &Value, indent: Option<&str>, unit: &str) -> String {
    match (value, indent) {
        (Value::Object(entries), Some(indent)) if !entries.is_empty() => {
            let inner = format!("{indent}{unit}");
            let lines = entries.iter().map(|(key, value)| {
                format!("{inner}{}: {}", Value::from(key.as_str()), layout(value, Some(&inner), unit))
            });
            format!("{{\n{}\n{indent}}}", lines.collect::<Vec<_>>().join(",\n"))
        }
        (Value::Object(entries), _) if !entries.is_empty() => {
            let all = entries
                .iter()
                .map(|(key, value)| format!("{}: {}", Value::from(key.as_str()), layout(value, None, unit)));
            format!("{{ {} }}", all.collect::<Vec<_>>().join(", "))
        }
        (Value::Array(items), _) => {
            let items: Vec<String> = items.iter().map(|item| layout(item, None, unit)).collect();
            format!("[{}]", items.join(", "))
        }
        _ => value.to_string(),
    }
}
