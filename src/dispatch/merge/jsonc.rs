//! JSON with comments and trailing commas. The text is modified only where a key or an item is added or removed.

use std::ops::Range;

use jsonc_parser::ParseOptions;
use jsonc_parser::cst::{CstNode, CstObject, CstObjectProp, CstRootNode};
use serde_json::Value;

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

/// A JSON document with comments.
pub(super) struct Jsonc {
    root: CstRootNode,
}

impl Jsonc {
    pub(super) fn parse(text: &str) -> Result<Self, MergeError> {
        let text = if text.trim().is_empty() { "{}\n" } else { text };
        let root = CstRootNode::parse(text, &OPTIONS).map_err(MergeError::new)?;
        match root.object_value() {
            Some(_) => Ok(Self { root }),
            None => Err(MergeError::new("it does not contain a JSON object")),
        }
    }

    /// Returns the value at a path.
    fn at(&self, path: &[String]) -> Result<Option<CstNode>, MergeError> {
        let mut node = self.root.value();
        for key in path {
            let Some(object) = node.and_then(|node| node.as_object()) else { return Ok(None) };
            node = property(&object, key)?.and_then(|property| property.value());
        }
        Ok(node)
    }

    /// Replaces parts of the text, the last part first.
    fn edit(&mut self, edits: impl IntoIterator<Item = (Range<usize>, String)>) -> Result<(), MergeError> {
        let mut text = self.text();
        for (range, new) in edits {
            text.replace_range(range, &new);
        }
        self.root = CstRootNode::parse(&text, &OPTIONS).map_err(MergeError::new)?;
        Ok(())
    }

    /// Appends a part to the object or list at a path; `write` formats it with one level of indentation and, if it gets
    /// a line of its own, the indentation of that line.
    ///
    /// The crate's own `append` spreads an object that is written in one line over several, and takes the trailing
    /// comma of another object for a rule.
    fn append(
        &mut self,
        path: &[String],
        write: impl Fn(Option<&str>, &str) -> String,
    ) -> Result<(), MergeError> {
        let whole =
            self.at(path)?.ok_or_else(|| MergeError::new(format!("`{}` is missing", path.join("."))))?;
        if !matches!(whole, CstNode::Container(_)) {
            return Err(MergeError::new(format!("`{}` holds a single value", path.join("."))));
        }
        let newline = if self.text().contains("\r\n") { "\r\n" } else { "\n" };
        let unit = self.root.single_indent_text().unwrap_or_else(|| INDENT.to_owned());
        let write = |indent: Option<&str>| write(indent, &unit).replace('\n', newline);
        let Some(last) = whole.children_exclude_trivia_and_tokens().pop() else {
            let text = self.text();
            let line = text[..start(&whole)].rsplit('\n').next().unwrap_or_default();
            let outer = &line[..line.len() - line.trim_start().len()];
            let indent = format!("{outer}{unit}");
            let close = end(&whole) - 1;
            let kept = text[..close].trim_end().len();
            return self
                .edit([(kept..close, format!("{newline}{indent}{}{newline}{outer}", write(Some(&indent))))]);
        };
        let comma = last.trailing_comma().map(CstNode::from);
        let (open, close) = if comma.is_some() { ("", ",") } else { (",", "") };
        let place = comma.unwrap_or_else(|| last.clone());
        let comma = (end(&last)..end(&last), open.to_owned());
        match own_line(&last) {
            Some(indent) => {
                let beside =
                    place.next_siblings().take_while(|node| node.is_whitespace() || node.is_comment());
                let rest = beside.filter(CstNode::is_comment).last().unwrap_or(place);
                let part = format!("{newline}{indent}{}{close}", write(Some(&indent)));
                self.edit([(end(&rest)..end(&rest), part), comma])
            }
            None => self.edit([(end(&place)..end(&place), format!(" {}{close}", write(None))), comma]),
        }
    }

    /// Removes a part of an object or a list, with its line if nothing else is on it. The crate's own `remove` removes
    /// the comments beside it too.
    fn cut(&mut self, part: &CstNode) -> Result<(), MergeError> {
        let blank = |node: CstNode| node.is_token() || node.is_whitespace() || node.is_newline();
        if part.previous_siblings().chain(part.next_siblings()).all(blank)
            && let Some(container) = part.parent().map(CstNode::from)
        {
            return self.edit([(start(&container) + 1..end(&container) - 1, String::new())]);
        }
        let mut first = part.clone();
        for is_gap in [CstNode::is_whitespace, CstNode::is_newline] {
            first = first.previous_sibling().filter(is_gap).unwrap_or(first);
        }
        let comma = part.trailing_comma().map(CstNode::from);
        let previous = part.previous_siblings().find(CstNode::is_comma).filter(|_| comma.is_none());
        let whole = start(&first)..end(comma.as_ref().unwrap_or(part));
        let previous = previous.map(|comma| start(&comma)..end(&comma));
        self.edit([Some(whole), previous].into_iter().flatten().map(|range| (range, String::new())))
    }
}

impl ConfigDocument for Jsonc {
    fn get(&self, path: &[String]) -> Result<Option<Value>, MergeError> {
        Ok(self.at(path)?.and_then(|node| node.to_serde_value()))
    }

    fn insert(&mut self, path: &[String], key: &str, value: &Value) -> Result<(), MergeError> {
        let key = Value::from(key);
        self.append(path, |indent, unit| format!("{key}: {}", layout(value, indent, unit)))
    }

    fn push(&mut self, path: &[String], item: &Value) -> Result<(), MergeError> {
        self.append(path, |indent, unit| layout(item, indent, unit))
    }

    fn remove(&mut self, path: &[String]) -> Result<(), MergeError> {
        let Some((key, parent)) = path.split_last() else { return Ok(()) };
        let Some(object) = self.at(parent)?.and_then(|node| node.as_object()) else { return Ok(()) };
        property(&object, key)?.map_or(Ok(()), |property| self.cut(&property.into()))
    }

    fn remove_item(&mut self, path: &[String], index: usize) -> Result<(), MergeError> {
        let item = self.at(path)?.and_then(|node| node.as_array()?.elements().into_iter().nth(index));
        item.map_or(Ok(()), |item| self.cut(&item))
    }

    fn text(&self) -> String {
        self.root.to_string()
    }
}

/// Finds a key; a duplicate key is an error, because either could be meant.
fn property(object: &CstObject, key: &str) -> Result<Option<CstObjectProp>, MergeError> {
    let properties = object.properties().into_iter();
    let mut named = properties.filter(|property| property.decoded_name().is_some_and(|name| name == key));
    match (named.next(), named.next()) {
        (_, Some(_)) => Err(MergeError::new(format!("the key `{key}` appears twice in one object"))),
        (found, None) => Ok(found),
    }
}

/// Returns the position in the text at which a node starts.
fn start(node: &CstNode) -> usize {
    let before =
        |node: &CstNode| node.previous_siblings().map(|sibling| sibling.to_string().len()).sum::<usize>();
    before(node) + node.ancestors().map(|container| before(&container.into())).sum::<usize>()
}

fn end(node: &CstNode) -> usize {
    start(node) + node.to_string().len()
}

/// Returns the indentation of a part that begins its line.
fn own_line(part: &CstNode) -> Option<String> {
    let before = part.previous_sibling()?;
    if before.is_newline() {
        return Some(String::new());
    }
    let begins = before.is_whitespace() && before.previous_sibling()?.is_newline();
    begins.then(|| before.to_string())
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
