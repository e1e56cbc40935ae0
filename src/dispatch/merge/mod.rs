//! Merges settings into another program's configuration file, and removes them again. Pure: text in, text out.
//!
//! Only what is missing is added. An existing value that differs is kept and reported. All other text of the file,
//! including comments, is left as written.
//!
//! **To add a format**: add a type that implements [`ConfigDocument`] in a file beside this one, and a variant of
//! [`Format`].

mod diff;
mod jsonc;
mod source;
mod toml;

use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

pub(super) use self::diff::unified_diff;
use self::jsonc::Jsonc;
use self::source::{Additions, Edit};
use self::toml::Toml;

/// An entry with this name is removed as a whole, whatever has been changed inside it.
pub(super) const SERVER_NAME: &str = "pilothouse";

/// The format of a configuration file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Format {
    /// JSON, optionally with comments and trailing commas.
    Jsonc,
    Toml,
}

/// One key or list item that was added to a file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct AddedSetting {
    /// The keys that lead to it; those of the list for an item.
    pub(super) path: Vec<String>,
    /// What was added there.
    pub(super) value: Value,
    /// It is an item of the list at `path`.
    pub(super) is_item: bool,
    /// The space around it was added with it: the line breaks in `{}`, the empty line above a table; for a key, the
    /// header of its table.
    #[serde(default)]
    has_frame: bool,
}

/// Why a file cannot be changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub(super) struct MergeError(String);

/// A file with settings added.
#[derive(Debug)]
pub(super) struct MergedFile {
    pub(super) text: String,
    /// What was added, in this order.
    pub(super) added: Vec<AddedSetting>,
    /// The keys, joined by dots, that have another value and keep it.
    pub(super) kept: Vec<String>,
}

/// A file with additions removed.
#[derive(Debug)]
pub(super) struct RestoredFile {
    pub(super) text: String,
    /// The keys, joined by dots, whose value was changed since and is kept.
    pub(super) left: Vec<String>,
}

/// A configuration file, and the edits that modify it. A path may lead through a list by the position of an item.
trait ConfigDocument {
    /// Returns the value at a path; the whole document for an empty path.
    fn get(&self, path: &[String]) -> Result<Option<Value>, MergeError>;
    /// Adds a key to the mapping at `path`, which must exist and not have the key.
    fn insert(&self, path: &[String], key: &str, value: &Value) -> Result<Additions, MergeError>;
    /// Appends an item to the list at `path`, which must exist.
    fn push(&self, path: &[String], item: &Value) -> Result<Additions, MergeError>;
    /// Removes the key or item at the end of a path, with its frame. The comments in it stay.
    fn remove(&self, path: &[String], has_frame: bool) -> Result<Vec<Edit>, MergeError>;
    /// Removes a mapping or list that was created, if what was added to it was all.
    fn remove_rest(&self, path: &[String], has_frame: bool) -> Result<Vec<Edit>, MergeError> {
        match self.get(path)? {
            Some(rest) if is_empty(&rest) => self.remove(path, has_frame),
            _ => Ok(Vec::new()),
        }
    }
}

impl MergeError {
    fn new(reason: impl ToString) -> Self {
        Self(reason.to_string())
    }
}

impl Format {
    /// Returns the format of a file by its name.
    pub(super) fn of(path: &Path) -> Self {
        match path.extension().and_then(|extension| extension.to_str()) {
            Some("toml") => Self::Toml,
            _ => Self::Jsonc,
        }
    }

    fn parse(self, text: &str) -> Result<Box<dyn ConfigDocument + '_>, MergeError> {
        Ok(match self {
            Self::Jsonc => Box::new(Jsonc::parse(text)?),
            Self::Toml => Box::new(Toml::parse(text)?),
        })
    }

    /// Parses a whole file as one value.
    ///
    /// # Errors
    /// When it cannot be parsed in this format.
    pub(super) fn read(self, text: &str) -> Result<Value, MergeError> {
        let document = self.parse(without_mark(text).1)?.get(&[])?;
        Ok(document.unwrap_or_else(|| Value::Object(Map::new())))
    }

    /// Adds settings to a file; `text` is empty if the file does not exist.
    ///
    /// # Errors
    /// When the file cannot be parsed, or has something else where a table is needed.
    pub(super) fn add(self, text: &str, settings: &Value) -> Result<MergedFile, MergeError> {
        let (mark, text) = without_mark(text);
        let file = MergedFile { text: text.to_owned(), added: Vec::new(), kept: Vec::new() };
        let mut merge = Merge { format: self, file };
        merge.merge(&mut Vec::new(), settings)?;
        self.parse(&merge.file.text)?;
        merge.file.text.insert_str(0, mark);
        Ok(merge.file)
    }

    /// Removes what was added to a file, as far as it is still there. Everything else stays to the byte.
    ///
    /// # Errors
    /// When the file cannot be parsed.
    pub(super) fn remove(self, text: &str, added: &[AddedSetting]) -> Result<RestoredFile, MergeError> {
        let (mark, text) = without_mark(text);
        let file = RestoredFile { text: text.to_owned(), left: Vec::new() };
        let mut removal = Removal { format: self, file };
        for AddedSetting { path, value, is_item, has_frame } in added.iter().rev() {
            if *is_item {
                removal.remove_item(&mut path.clone(), value, *has_frame)?;
            } else {
                removal.remove_key(&mut path.clone(), value, *has_frame)?;
            }
        }
        self.parse(&removal.file.text)?;
        removal.file.text.insert_str(0, mark);
        Ok(removal.file)
    }
}

/// Splits a byte-order mark off, which is no part of the document.
fn without_mark(text: &str) -> (&str, &str) {
    text.split_at(if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 })
}

struct Merge {
    format: Format,
    file: MergedFile,
}

impl Merge {
    fn merge(&mut self, path: &mut Vec<String>, wanted: &Value) -> Result<(), MergeError> {
        let there = self.format.parse(&self.file.text)?.get(path)?;
        match (there, wanted) {
            (None, _) => match path.split_last() {
                Some((key, parent)) => {
                    let additions = self.format.parse(&self.file.text)?.insert(parent, key, wanted)?;
                    self.write(additions, path, wanted, false);
                }
                None => {
                    let root = source::append_lines(&self.file.text, "{}", false);
                    self.write((vec![root], false), path, &Value::Object(Map::new()), false);
                    self.merge(path, wanted)?;
                }
            },
            (Some(Value::Object(_)), Value::Object(wanted)) => {
                for (key, value) in wanted {
                    path.push(key.clone());
                    self.merge(path, value)?;
                    path.pop();
                }
            }
            (Some(Value::Array(there)), Value::Array(wanted)) => {
                for item in wanted.iter().filter(|item| !there.contains(item)) {
                    let additions = self.format.parse(&self.file.text)?.push(path, item)?;
                    self.write(additions, path, item, true);
                }
            }
            (Some(there), _) if there == *wanted => {}
            (Some(_), Value::Object(_)) => {
                return Err(MergeError::new(format!("`{}` is not a table of settings", path.join("."))));
            }
            (Some(_), _) => self.file.kept.push(path.join(".")),
        }
        Ok(())
    }

    fn write(&mut self, (edits, has_frame): Additions, path: &[String], value: &Value, is_item: bool) {
        self.file.text = source::apply(&self.file.text, edits);
        let (path, value) = (path.to_owned(), value.clone());
        self.file.added.push(AddedSetting { path, value, is_item, has_frame });
    }
}

struct Removal {
    format: Format,
    file: RestoredFile,
}

impl Removal {
    fn get(&self, path: &[String]) -> Result<Option<Value>, MergeError> {
        self.format.parse(&self.file.text)?.get(path)
    }

    fn remove(&mut self, path: &[String], has_frame: bool) -> Result<(), MergeError> {
        let edits = self.format.parse(&self.file.text)?.remove(path, has_frame)?;
        self.file.text = source::apply(&self.file.text, edits);
        Ok(())
    }

    fn remove_key(
        &mut self,
        path: &mut Vec<String>,
        added: &Value,
        has_frame: bool,
    ) -> Result<(), MergeError> {
        let Some(there) = self.get(path)? else { return Ok(()) };
        if there == *added || path.last().is_some_and(|key| key == SERVER_NAME) {
            return self.remove(path, has_frame);
        }
        match added {
            Value::Object(added) if there.is_object() => {
                for (key, value) in added.iter().rev() {
                    path.push(key.clone());
                    self.remove_key(path, value, has_frame)?;
                    path.pop();
                }
            }
            Value::Array(added) if there.is_array() => {
                for item in added.iter().rev() {
                    self.remove_item(path, item, has_frame)?;
                }
            }
            _ => {
                self.file.left.push(path.join("."));
                return Ok(());
            }
        }
        // The table or list was created for what was added.
        let edits = self.format.parse(&self.file.text)?.remove_rest(path, has_frame)?;
        self.file.text = source::apply(&self.file.text, edits);
        Ok(())
    }

    fn remove_item(
        &mut self,
        path: &mut Vec<String>,
        item: &Value,
        has_frame: bool,
    ) -> Result<(), MergeError> {
        let Some(Value::Array(there)) = self.get(path)? else { return Ok(()) };
        let is_named = |item: &Value| item["id"] == SERVER_NAME;
        let is_changed = |other: &Value| covers(other, item) || is_named(other) && is_named(item);
        let ours = there.iter().rposition(|other| other == item);
        if let Some(index) = ours.or_else(|| there.iter().rposition(is_changed)) {
            path.push(index.to_string());
            match is_named(item) {
                true => self.remove(path, has_frame)?,
                false => self.remove_key(path, item, has_frame)?,
            }
            path.pop();
        }
        Ok(())
    }
}

fn is_empty(value: &Value) -> bool {
    value.as_object().is_some_and(Map::is_empty) || value.as_array().is_some_and(Vec::is_empty)
}

/// Returns whether a value contains everything that was added.
fn covers(there: &Value, added: &Value) -> bool {
    match (there, added) {
        (Value::Object(there), Value::Object(added)) => {
            let is_there =
                |(key, value): (&String, _)| there.get(key).is_some_and(|there| covers(there, value));
            added.iter().all(is_there)
        }
        (Value::Array(there), Value::Array(added)) => {
            added.iter().all(|item| there.iter().any(|there| covers(there, item)))
        }
        _ => there == added,
    }
}

#[cfg(test)]
mod tests;
