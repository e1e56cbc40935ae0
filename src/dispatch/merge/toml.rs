//! TOML, edited with `toml_edit`: comments and the order of keys are preserved.

use serde_json::{Map, Value};
use toml_edit::{Array, ArrayOfTables, DocumentMut, InlineTable, Item, Table, TableLike, Value as Node};

use super::{ConfigDocument, MergeError};

/// A TOML document.
pub(super) struct Toml {
    document: DocumentMut,
    /// Whether its lines end with CR LF, which the library writes as LF.
    is_crlf: bool,
}

impl Toml {
    pub(super) fn parse(text: &str) -> Result<Self, MergeError> {
        let is_crlf = text.contains("\r\n");
        if is_crlf && text.matches('\n').count() != text.matches("\r\n").count() {
            return Err(MergeError::new("some of its lines end with CR LF and some with LF"));
        }
        let document =
            text.parse().map_err(|error: toml_edit::TomlError| MergeError::new(error.message()))?;
        Ok(Self { document, is_crlf })
    }

    fn table(&mut self, path: &[String]) -> Result<&mut dyn TableLike, MergeError> {
        let mut table: &mut dyn TableLike = self.document.as_table_mut();
        for key in path {
            let next = table.get_mut(key).and_then(Item::as_table_like_mut);
            table = next.ok_or_else(|| MergeError::new(format!("`{}` is not a table", path.join("."))))?;
        }
        Ok(table)
    }

    fn item(&mut self, path: &[String]) -> Result<&mut Item, MergeError> {
        let missing = || MergeError::new(format!("`{}` is missing", path.join(".")));
        let (key, parent) = path.split_last().ok_or_else(missing)?;
        self.table(parent)?.get_mut(key).ok_or_else(missing)
    }
}

impl ConfigDocument for Toml {
    fn get(&self, path: &[String]) -> Result<Option<Value>, MergeError> {
        let mut item = self.document.as_item();
        for key in path {
            match item.as_table_like().and_then(|table| table.get(key)) {
                Some(next) => item = next,
                None => return Ok(None),
            }
        }
        Ok(Some(plain(item)))
    }

    fn insert(&mut self, path: &[String], key: &str, value: &Value) -> Result<(), MergeError> {
        let is_block = self.table(path)?.is_dotted() || path.is_empty() || self.item(path)?.is_table();
        let item = if is_block { block(value) } else { Item::Value(inline(value)) };
        self.table(path)?.insert(key, item);
        Ok(())
    }

    fn push(&mut self, path: &[String], value: &Value) -> Result<(), MergeError> {
        match (self.item(path)?, value) {
            (Item::ArrayOfTables(tables), Value::Object(entries)) => tables.push(table(entries)),
            (Item::Value(Node::Array(items)), _) => items.push(inline(value)),
            _ => return Err(MergeError::new(format!("`{}` is not a list", path.join(".")))),
        }
        Ok(())
    }

    fn remove(&mut self, path: &[String]) -> Result<(), MergeError> {
        let Some((key, parent)) = path.split_last() else { return Ok(()) };
        let removed = self.table(parent)?.remove(key);
        if let Some(Item::Table(removed)) = removed {
            self.keep_comments(&removed);
        }
        Ok(())
    }

    fn remove_item(&mut self, path: &[String], index: usize) -> Result<(), MergeError> {
        match self.item(path)? {
            Item::ArrayOfTables(tables) => drop(tables.remove(index)),
            Item::Value(Node::Array(items)) => drop(items.remove(index)),
            _ => {}
        }
        Ok(())
    }

    fn text(&self) -> String {
        let text = self.document.to_string();
        if self.is_crlf { text.replace('\n', "\r\n") } else { text }
    }
}

impl Toml {
    /// Preserves the comments above a removed table: they belong to the file, not to the table.
    fn keep_comments(&mut self, removed: &Table) {
        let above = comments(removed);
        if above.is_empty() {
            return;
        }
        let position = removed.position().or_else(|| children(removed).filter_map(Table::position).min());
        match position.and_then(|position| next_table(self.document.as_table_mut(), position)) {
            Some(next) => {
                let own = next.decor().prefix().and_then(|text| text.as_str()).unwrap_or_default();
                let both = format!("{above}{own}");
                next.decor_mut().set_prefix(both);
            }
            None => {
                let both = format!("{above}{}", self.document.trailing().as_str().unwrap_or_default());
                self.document.set_trailing(both);
            }
        }
    }
}

/// Returns the comments above the headers of a table and its subtables.
fn comments(table: &Table) -> String {
    let own = table.decor().prefix().and_then(|text| text.as_str()).unwrap_or_default();
    let own = if own.contains('#') { own } else { "" };
    std::iter::once(own.to_owned()).chain(children(table).map(comments)).collect()
}

fn children(table: &Table) -> impl Iterator<Item = &Table> {
    table.iter().filter_map(|(_, item)| item.as_table())
}

/// Returns the table whose header is the first after a position.
fn next_table(table: &mut Table, after: isize) -> Option<&mut Table> {
    let tables = table.iter_mut().flat_map(|(_, item)| -> Box<dyn Iterator<Item = &mut Table>> {
        match item {
            Item::Table(table) => Box::new(std::iter::once(table)),
            Item::ArrayOfTables(tables) => Box::new(tables.iter_mut()),
            _ => Box::new(std::iter::empty()),
        }
    });
    let nearest = tables.filter_map(|table| {
        let own = table.position().filter(|position| *position > after && !table.is_implicit());
        match own {
            Some(_) => Some(table),
            None => next_table(table, after),
        }
    });
    nearest.min_by_key(|table| table.position())
}

fn plain(item: &Item) -> Value {
    match item {
        Item::None => Value::Null,
        Item::Value(node) => plain_node(node),
        Item::Table(table) => entries(table),
        Item::ArrayOfTables(tables) => tables.iter().map(|table| entries(table)).collect(),
    }
}

fn plain_node(node: &Node) -> Value {
    match node {
        Node::String(text) => Value::from(text.value().as_str()),
        Node::Integer(number) => Value::from(*number.value()),
        Node::Float(number) => Value::from(*number.value()),
        Node::Boolean(flag) => Value::from(*flag.value()),
        Node::Datetime(time) => Value::from(time.value().to_string()),
        Node::Array(items) => items.iter().map(plain_node).collect(),
        Node::InlineTable(table) => entries(table),
    }
}

fn entries(table: &dyn TableLike) -> Value {
    let all = table.iter().map(|(key, item)| (key.to_owned(), plain(item)));
    Value::Object(all.collect::<Map<_, _>>())
}

/// Creates an item for a value in a table with a header.
fn block(value: &Value) -> Item {
    match value {
        Value::Object(entries) => Item::Table(table(entries)),
        Value::Array(items) if !items.is_empty() && items.iter().all(Value::is_object) => {
            let tables = items.iter().filter_map(Value::as_object).map(table);
            Item::ArrayOfTables(tables.collect::<ArrayOfTables>())
        }
        _ => Item::Value(inline(value)),
    }
}

fn table(entries: &Map<String, Value>) -> Table {
    let mut table: Table = entries.iter().map(|(key, value)| (key.as_str(), block(value))).collect();
    // A table that contains only tables needs no header of its own.
    table.set_implicit(!entries.is_empty() && entries.values().all(Value::is_object));
    table
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
