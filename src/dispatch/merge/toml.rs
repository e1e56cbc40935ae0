//! TOML. The text is modified only where a key, a table or an item is added or removed; `toml_edit` says where it is.

use std::ops::Range;

use serde_json::Value;
use toml_edit::{Array, ArrayOfTables, Document, InlineTable, Item, Key, Table, Value as Node};

use super::source::{self, Additions, CommaList, Edit};
use super::{ConfigDocument, MergeError, is_empty};

/// A TOML document.
pub(super) struct Toml<'a> {
    text: &'a str,
    document: Document<&'a str>,
}

/// What is at a path.
#[derive(Clone, Copy)]
enum TomlPlace<'a> {
    Table(&'a Table),
    Tables(&'a ArrayOfTables),
    Node(&'a Node),
}

impl<'a> Toml<'a> {
    pub(super) fn parse(text: &'a str) -> Result<Self, MergeError> {
        let document = Document::parse(text).map_err(|error| MergeError::new(error.message()))?;
        Ok(Self { text, document })
    }

    fn at(&self, path: &[String]) -> Option<TomlPlace<'_>> {
        path.iter().try_fold(TomlPlace::Table(self.document.as_table()), |place, key| place.child(key))
    }

    /// Returns the edit that appends tables, with an empty line above unless they are the first lines.
    fn append(&self, tables: &[String]) -> Additions {
        let lines = tables.join("\n\n").replace('\n', source::newline(self.text, self.text.len()));
        let has_gap = !self.text.is_empty();
        (vec![source::append_lines(self.text, &lines, has_gap)], has_gap)
    }

    /// Returns the edit that adds the line of a key to the table at `owner`, after the last one of `table` or of that.
    fn insert_line(&self, owner: &[String], table: TomlPlace<'_>, line: &str) -> Additions {
        let above = self.at(owner);
        let last = table.keys().max_by_key(|span| span.end);
        let last = last.or_else(|| above?.keys().max_by_key(|span| span.end)).or_else(|| above?.header());
        let edit = match last {
            Some(last) => {
                let at = source::line_end(self.text, last.end);
                let indent = source::indent_at(self.text, last.start);
                (at..at, format!("{}{indent}{line}", source::newline(self.text, at)))
            }
            None if !owner.is_empty() => return self.append(&[format!("[{}]\n{line}", key_path(owner))]),
            None if self.document.is_empty() => source::append_lines(self.text, line, false),
            None => (0..0, format!("{line}{}", source::newline(self.text, 0))),
        };
        (vec![edit], false)
    }

    /// Adds the edits that remove a place, which is in a list or a table in one line if that has `brackets`.
    fn erase(
        &self,
        place: TomlPlace<'_>,
        brackets: Option<&Range<usize>>,
        has_gap: bool,
        edits: &mut Vec<Edit>,
    ) {
        let header = place.header();
        let is_first = header.is_none();
        edits.extend(header.map(|span| source::erase_lines(self.text, span, has_gap)));
        match (place, place.span(), brackets) {
            (TomlPlace::Node(_), Some(span), Some(brackets)) if !place.is_dotted() => {
                edits.extend(CommaList::of(self.text, brackets.clone()).cut(span.start, has_gap));
            }
            (TomlPlace::Node(_), Some(span), None) => edits.push(source::erase_lines(self.text, span, false)),
            _ => place.children().into_iter().enumerate().for_each(|(index, (_, child))| {
                self.erase(child, brackets, has_gap || index > 0 || !is_first, edits);
            }),
        }
    }

    /// Returns the header of the table at a path, unless it is one of a list.
    fn header(&self, path: &[String]) -> Option<Range<usize>> {
        let (_, list) = path.split_last()?;
        self.at(path)?.header().filter(|_| !matches!(self.at(list), Some(TomlPlace::Tables(_))))
    }

    fn count_keys(&self, path: &[String]) -> usize {
        self.at(path).map_or(0, |table| table.keys().count())
    }

    /// Returns the brackets around a path, if it is in a list or a table in one line.
    fn brackets(&self, path: &[String]) -> Option<Range<usize>> {
        let above = (0..path.len()).rev().filter_map(|length| self.at(&path[..length]));
        above.filter(|place| !place.is_dotted()).map(TomlPlace::span).next().flatten()
    }
}

impl ConfigDocument for Toml<'_> {
    fn get(&self, path: &[String]) -> Result<Option<Value>, MergeError> {
        Ok(self.at(path).map(TomlPlace::plain))
    }

    fn insert(&self, path: &[String], key: &str, value: &Value) -> Result<Additions, MergeError> {
        let missing = || MergeError::new(format!("`{}` is not a table", path.join(".")));
        let table = self.at(path).ok_or_else(missing)?;
        // Keys with dots are written with the names of all tables down from the one that has brackets.
        let is_dotted = |length: &usize| self.at(&path[..*length]).is_some_and(TomlPlace::is_dotted);
        let owner = path.len() - (1..=path.len()).rev().take_while(is_dotted).count();
        let name = [path, &[key.to_owned()]].concat();
        let line = format!("{} = {}", key_path(&name[owner..]), inline(value));
        match self.at(&path[..owner]) {
            Some(TomlPlace::Node(Node::InlineTable(table))) => {
                let whole = CommaList::of(self.text, table.span().unwrap_or_default());
                Ok(whole.append("", Some(" "), |_, _| line.clone()))
            }
            Some(TomlPlace::Table(_)) if is_block(value) && owner == path.len() => {
                Ok(self.append(&blocks(&name, value)))
            }
            Some(TomlPlace::Table(_)) => Ok(self.insert_line(&path[..owner], table, &line)),
            _ => Err(missing()),
        }
    }

    fn push(&self, path: &[String], item: &Value) -> Result<Additions, MergeError> {
        match (self.at(path), item) {
            (Some(TomlPlace::Tables(_)), Value::Object(_)) => {
                Ok(self.append(&blocks(path, &Value::Array(vec![item.clone()]))))
            }
            (Some(TomlPlace::Node(Node::Array(items))), _) => {
                let whole = CommaList::of(self.text, items.span().unwrap_or_default());
                Ok(whole.append("  ", Some(""), |_, _| inline(item).to_string()))
            }
            _ => Err(MergeError::new(format!("`{}` is not a list", path.join(".")))),
        }
    }

    fn remove(&self, path: &[String], has_frame: bool) -> Result<Vec<Edit>, MergeError> {
        let mut edits = Vec::new();
        let (Some(place), brackets) = (self.at(path), self.brackets(path)) else { return Ok(edits) };
        self.erase(place, brackets.as_ref(), has_frame, &mut edits);
        let table = &path[..path.len().saturating_sub(1)];
        // The header was added with the line.
        if has_frame && brackets.is_none() && place.span().is_some() && self.count_keys(table) == 1 {
            edits.extend(self.header(table).map(|span| source::erase_lines(self.text, span, true)));
        }
        Ok(edits)
    }

    fn remove_rest(&self, path: &[String], has_frame: bool) -> Result<Vec<Edit>, MergeError> {
        // Tables below it have headers of their own.
        match (self.at(path), self.header(path)) {
            (_, Some(header)) if self.count_keys(path) == 0 => {
                Ok(vec![source::erase_lines(self.text, header, has_frame)])
            }
            (Some(place), _) if is_empty(&place.plain()) => self.remove(path, has_frame),
            _ => Ok(Vec::new()),
        }
    }
}

impl<'a> TomlPlace<'a> {
    fn of(item: &'a Item) -> Option<Self> {
        match item {
            Item::None => None,
            Item::Value(node) => Some(Self::Node(node)),
            Item::Table(table) => Some(Self::Table(table)),
            Item::ArrayOfTables(tables) => Some(Self::Tables(tables)),
        }
    }

    fn child(self, key: &str) -> Option<Self> {
        self.children().into_iter().find_map(|(name, child)| (name == key).then_some(child))
    }

    /// Returns the values of a table by their keys, the items of a list by their positions.
    fn children(self) -> Vec<(String, Self)> {
        let name = |(at, child)| (usize::to_string(&at), child);
        match self {
            Self::Table(table) => {
                table.iter().filter_map(|(key, item)| Some((key.to_owned(), Self::of(item)?))).collect()
            }
            Self::Tables(tables) => tables.iter().map(Self::Table).enumerate().map(name).collect(),
            Self::Node(Node::InlineTable(table)) => {
                table.iter().map(|(key, node)| (key.to_owned(), Self::Node(node))).collect()
            }
            Self::Node(Node::Array(items)) => items.iter().map(Self::Node).enumerate().map(name).collect(),
            Self::Node(_) => Vec::new(),
        }
    }

    /// Returns where the values are whose keys are written below a table's header, or with dots.
    fn keys(self) -> Box<dyn Iterator<Item = Range<usize>> + 'a> {
        let children = self.children().into_iter();
        Box::new(children.flat_map(|(_, child)| match child {
            Self::Node(node) => Box::new(node.span().into_iter()),
            _ if child.is_dotted() => child.keys(),
            _ => Box::new(std::iter::empty()),
        }))
    }

    fn is_dotted(self) -> bool {
        match self {
            Self::Table(table) => table.is_dotted(),
            Self::Node(Node::InlineTable(table)) => table.is_dotted(),
            _ => false,
        }
    }

    fn header(self) -> Option<Range<usize>> {
        let Self::Table(table) = self else { return None };
        table.span().filter(|span| !table.is_implicit() && !table.is_dotted() && !span.is_empty())
    }

    /// Returns where a value is.
    fn span(self) -> Option<Range<usize>> {
        if let Self::Node(node) = self { node.span() } else { None }
    }

    fn plain(self) -> Value {
        let children = self.children().into_iter();
        match self {
            Self::Node(Node::String(text)) => Value::from(text.value().as_str()),
            Self::Node(Node::Integer(number)) => Value::from(*number.value()),
            Self::Node(Node::Float(number)) => Value::from(*number.value()),
            Self::Node(Node::Boolean(flag)) => Value::from(*flag.value()),
            Self::Node(Node::Datetime(time)) => Value::from(time.value().to_string()),
            Self::Tables(_) | Self::Node(Node::Array(_)) => {
                children.map(|(_, child)| child.plain()).collect()
            }
            _ => Value::Object(children.map(|(key, child)| (key, child.plain())).collect()),
        }
    }
}

fn key_path(path: &[String]) -> String {
    let keys = path.iter().map(|key| Key::new(key.as_str()).display_repr().into_owned());
    keys.collect::<Vec<_>>().join(".")
}

/// Returns whether a value gets a header of its own.
fn is_block(value: &Value) -> bool {
    match value {
        Value::Array(items) => !items.is_empty() && items.iter().all(Value::is_object),
        _ => value.is_object(),
    }
}

/// Formats a table or a list of tables, and the tables in each; each with its header.
fn blocks(path: &[String], value: &Value) -> Vec<String> {
    let (brackets, all) = match value {
        Value::Array(items) => (["[[", "]]"], &items[..]),
        _ => (["[", "]"], std::slice::from_ref(value)),
    };
    let mut tables = Vec::new();
    for entries in all.iter().filter_map(Value::as_object) {
        let (inner, lines): (Vec<_>, Vec<_>) = entries.iter().partition(|(_, value)| is_block(value));
        // A table that contains only tables needs no header of its own.
        if value.is_array() || inner.is_empty() || !lines.is_empty() {
            let header = brackets.join(&key_path(path));
            let lines = lines.iter().map(|(key, value)| {
                format!("\n{} = {}", Key::new(key.as_str()).display_repr(), inline(value))
            });
            tables.push(header + &lines.collect::<String>());
        }
        tables
            .extend(inner.iter().flat_map(|(key, value)| blocks(&[path, &[(*key).clone()]].concat(), value)));
    }
    tables
}

fn inline(value: &Value) -> Node {
    match value {
        Value::Object(entries) => {
            let entries = entries.iter().map(|(key, value)| (key.as_str(), inline(value)));
            Node::InlineTable(entries.collect::<InlineTable>())
        }
        Value::Array(items) => Node::Array(items.iter().map(inline).collect::<Array>()),
        Value::Bool(flag) => Node::from(*flag),
        Value::Number(number) => match number.as_i64() {
            Some(number) => Node::from(number),
            None => Node::from(number.as_f64().unwrap_or_default()),
        },
        Value::String(text) => Node::from(text.as_str()),
        Value::Null => Node::from(""),
    }
}
