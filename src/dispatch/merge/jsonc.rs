//! JSON with comments and trailing commas. The text is modified only where a key or an item is added or removed.

use jsonc_parser::ast::{Object, ObjectProp, ObjectPropName, Value as Node};
use jsonc_parser::common::Ranged as _;
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};
use serde_json::Value;

use super::source::{self, Additions, CommaList, Edit};
use super::{ConfigDocument, MergeError};

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

/// A JSON document with comments. A file that has only comments has no root.
pub(super) struct Jsonc<'a> {
    text: &'a str,
    root: Option<Node<'a>>,
}

impl<'a> Jsonc<'a> {
    pub(super) fn parse(text: &'a str) -> Result<Self, MergeError> {
        let parsed = parse_to_ast(text, &CollectOptions::default(), &OPTIONS).map_err(MergeError::new)?;
        match parsed.value {
            root @ (None | Some(Node::Object(_))) => Ok(Self { text, root }),
            Some(_) => Err(MergeError::new("it does not contain a JSON object")),
        }
    }

    fn at(&self, path: &[String]) -> Result<Option<&Node<'a>>, MergeError> {
        let mut node = self.root.as_ref();
        for key in path {
            node = match node {
                Some(Node::Object(object)) => property(object, key)?.map(|property| &property.value),
                Some(Node::Array(list)) => key.parse().ok().and_then(|at: usize| list.elements.get(at)),
                _ => None,
            };
        }
        Ok(node)
    }

    /// Returns the object or list at a path.
    fn list(&self, path: &[String]) -> Result<CommaList<'a>, MergeError> {
        match self.at(path)? {
            None => Err(MergeError::new(format!("`{}` is missing", path.join(".")))),
            Some(whole @ (Node::Object(_) | Node::Array(_))) => {
                Ok(CommaList::of(self.text, whole.start()..whole.end()))
            }
            Some(_) => Err(MergeError::new(format!("`{}` holds a single value", path.join(".")))),
        }
    }

    fn append(&self, path: &[String], key: &str, value: &Value) -> Result<Additions, MergeError> {
        let unit = self.list(&[])?.indent().unwrap_or(INDENT);
        Ok(self.list(path)?.append(unit, None, |indent, newline| {
            format!("{key}{}", layout(value, indent, unit)).replace('\n', newline)
        }))
    }
}

impl ConfigDocument for Jsonc<'_> {
    fn get(&self, path: &[String]) -> Result<Option<Value>, MergeError> {
        Ok(self.at(path)?.cloned().map(Value::from))
    }

    fn insert(&self, path: &[String], key: &str, value: &Value) -> Result<Additions, MergeError> {
        self.append(path, &format!("{}: ", Value::from(key)), value)
    }

    fn push(&self, path: &[String], item: &Value) -> Result<Additions, MergeError> {
        self.append(path, "", item)
    }

    fn remove(&self, path: &[String], has_frame: bool) -> Result<Vec<Edit>, MergeError> {
        let Some(node) = self.at(path)? else { return Ok(Vec::new()) };
        match path.split_last() {
            Some((_, parent)) => Ok(self.list(parent)?.cut(node.start(), has_frame)),
            None => Ok(vec![source::erase(self.text, node.start()..node.end())]),
        }
    }
}

/// Finds a key; a duplicate key is an error, because either could be meant.
fn property<'b, 'a>(object: &'b Object<'a>, key: &str) -> Result<Option<&'b ObjectProp<'a>>, MergeError> {
    let mut named = object
        .properties
        .iter()
        .filter(|property| matches!(&property.name, ObjectPropName::String(name) if name.value == key));
    match (named.next(), named.next()) {
        (_, Some(_)) => Err(MergeError::new(format!("the key `{key}` appears twice in one object"))),
        (found, None) => Ok(found),
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
