//! YAML as used in configuration files: block mappings of scalars, flow lists and further mappings. Lines are added
//! and removed; a file is rejected if anything beyond that would have to be understood.

use serde_json::{Map, Value};

use super::{ConfigDocument, MergeError};

/// A YAML document.
pub(super) struct Yaml {
    lines: Vec<String>,
    newline: &'static str,
}

/// A key of a block mapping, and the lines of its value.
#[derive(Debug)]
struct YamlEntry {
    key: String,
    /// The text after the colon, without a comment.
    rest: String,
    indent: usize,
    /// The first line, that of the key; the lines up to `end` belong to it.
    first: usize,
    end: usize,
}

impl Yaml {
    pub(super) fn parse(text: &str) -> Result<Self, MergeError> {
        let newline = if text.contains("\r\n") { "\r\n" } else { "\n" };
        let own = Self { lines: text.lines().map(str::to_owned).collect(), newline };
        if own.lines.iter().skip(1).any(|line| line.starts_with("---") || line.starts_with("...")) {
            return Err(MergeError::new("it holds several documents"));
        }
        own.entries(0..own.lines.len())?;
        Ok(own)
    }

    /// Parses the keys of the mapping in a range of lines.
    fn entries(&self, range: std::ops::Range<usize>) -> Result<Vec<YamlEntry>, MergeError> {
        let mut entries: Vec<YamlEntry> = Vec::new();
        let mut level = None;
        for at in range.clone() {
            let line = &self.lines[at];
            if is_blank(line) || at == 0 && line.trim_end() == "---" {
                continue;
            }
            let indent = line.len() - line.trim_start_matches(' ').len();
            let level = *level.get_or_insert(indent);
            let error = |what: &str| MergeError::new(format!("line {}: {what}", at + 1));
            if indent > level {
                continue;
            }
            // A list may be indented no deeper than its key.
            if line[indent..].starts_with("- ") && entries.last().is_some_and(|last| last.rest.is_empty()) {
                continue;
            }
            if indent < level || line[indent..].starts_with('\t') {
                return Err(error("its indentation is not understood"));
            }
            let (key, rest) = key(&line[indent..]).ok_or_else(|| error("`key: value` is expected"))?;
            if entries.iter().any(|entry| entry.key == key) {
                return Err(error("the key appears twice"));
            }
            if let Some(last) = entries.last_mut() {
                last.end = at;
            }
            entries.push(YamlEntry { key, rest, indent, first: at, end: range.end });
        }
        // Blank lines and comments after the last line of a value belong to what follows.
        for entry in &mut entries {
            while entry.end > entry.first + 1 && is_blank(&self.lines[entry.end - 1]) {
                entry.end -= 1;
            }
        }
        Ok(entries)
    }

    fn find(&self, path: &[String]) -> Result<Option<YamlEntry>, MergeError> {
        let mut range = 0..self.lines.len();
        let mut found = None;
        for key in path {
            let entry = self.entries(range.clone())?.into_iter().find(|entry| entry.key == *key);
            let Some(entry) = entry else { return Ok(None) };
            range = entry.first + 1..entry.end;
            found = Some(entry);
        }
        Ok(found)
    }

    fn value(&self, entry: &YamlEntry) -> Value {
        if !entry.rest.is_empty() {
            return scalar(&entry.rest);
        }
        match self.entries(entry.first + 1..entry.end) {
            Ok(entries) => self.mapping(&entries),
            // It is a list.
            Err(_) => Value::Null,
        }
    }

    fn mapping(&self, entries: &[YamlEntry]) -> Value {
        let all = entries.iter().map(|entry| (entry.key.clone(), self.value(entry)));
        Value::Object(all.collect::<Map<_, _>>())
    }
}

impl ConfigDocument for Yaml {
    fn get(&self, path: &[String]) -> Result<Option<Value>, MergeError> {
        if path.is_empty() {
            return Ok(Some(self.mapping(&self.entries(0..self.lines.len())?)));
        }
        Ok(self.find(path)?.map(|entry| self.value(&entry)))
    }

    fn insert(&mut self, path: &[String], key: &str, value: &Value) -> Result<(), MergeError> {
        let (at, indent) = match self.find(path)? {
            None if path.is_empty() => (self.lines.len(), 0),
            None => return Err(MergeError::new(format!("`{}` is missing", path.join(".")))),
            Some(parent) => {
                let inner = self.entries(parent.first + 1..parent.end)?;
                let indent = inner.first().map_or(parent.indent + 2, |entry| entry.indent);
                if parent.rest == "{}" {
                    let line = &mut self.lines[parent.first];
                    *line = line.replacen(": {}", ":", 1);
                }
                (parent.end, indent)
            }
        };
        let mut lines = Vec::new();
        write(key, value, indent, &mut lines);
        self.lines.splice(at..at, lines);
        Ok(())
    }

    fn push(&mut self, path: &[String], _item: &Value) -> Result<(), MergeError> {
        Err(MergeError::new(format!("the list `{}` is not changed here", path.join("."))))
    }

    fn remove(&mut self, path: &[String]) -> Result<(), MergeError> {
        if let Some(entry) = self.find(path)? {
            self.lines.drain(entry.first..entry.end);
        }
        Ok(())
    }

    fn remove_item(&mut self, path: &[String], _index: usize) -> Result<(), MergeError> {
        self.push(path, &Value::Null)
    }

    fn text(&self) -> String {
        self.lines.iter().flat_map(|line| [line.as_str(), self.newline]).collect()
    }
}

fn is_blank(line: &str) -> bool {
    let line = line.trim();
    line.is_empty() || line.starts_with('#')
}

/// Splits a line into its key and the text after the colon.
fn key(line: &str) -> Option<(String, String)> {
    let (key, rest) = match line.strip_suffix(':') {
        Some(key) if !key.contains(": ") => (key, ""),
        _ => line.split_once(": ")?,
    };
    let quoted = key.strip_prefix('"').and_then(|key| key.strip_suffix('"'));
    let key = quoted.or_else(|| key.strip_prefix('\'')?.strip_suffix('\'')).unwrap_or(key.trim_end());
    let is_plain = !key.is_empty()
        && !key.starts_with(['-', '?', '{', '[', '&', '*', '!', '|', '>', '%', '@', '"', '\'']);
    let rest = if rest.trim_start().starts_with('#') { "" } else { rest };
    let rest = rest.split(" #").next().unwrap_or(rest).trim();
    is_plain.then(|| (key.to_owned(), rest.to_owned()))
}

/// Parses the text after a colon. Anything more complex than a scalar or a flow list of scalars is returned as text.
fn scalar(text: &str) -> Value {
    if let Some(items) = text.strip_prefix('[').and_then(|text| text.strip_suffix(']')) {
        let items = items.split(',').map(str::trim).filter(|item| !item.is_empty());
        return items.map(scalar).collect();
    }
    let inner = |quote: char| text.strip_prefix(quote)?.strip_suffix(quote);
    if let Some(text) = inner('\'') {
        return Value::from(text);
    }
    match text {
        "{}" => Value::Object(Map::new()),
        _ => serde_json::from_str(text).unwrap_or_else(|_| Value::from(text)),
    }
}

fn write(key: &str, value: &Value, indent: usize, lines: &mut Vec<String>) {
    let start = format!("{:indent$}{key}:", "");
    match value {
        Value::Object(entries) => {
            lines.push(start);
            entries.iter().for_each(|(key, value)| write(key, value, indent + 2, lines));
        }
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(word).collect();
            lines.push(format!("{start} [{}]", items.join(", ")));
        }
        _ => lines.push(format!("{start} {}", word(value))),
    }
}

/// Formats a scalar: a plain word as it is, any other text in quotes.
fn word(value: &Value) -> String {
    let is_plain = |text: &&str| {
        let is_word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '/');
        text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '/')
            && text.chars().all(is_word)
            && !matches!(
                text.to_ascii_lowercase().as_str(),
                "true" | "false" | "yes" | "no" | "on" | "off" | "null" | "y" | "n"
            )
    };
    match value.as_str().filter(is_plain) {
        Some(text) => text.to_owned(),
        None => value.to_string(),
    }
}
