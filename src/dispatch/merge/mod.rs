//! Merges settings into another program's configuration file, and removes them again. Pure: text in, text out.
//!
//! Only what is missing is added. An existing value that differs is kept and reported. All other text of the file,
//! including comments, is left as written.
//!
//! **To add a format**: add a type that implements [`ConfigDocument`] in a file beside this one, and a variant of
//! [`Format`].

mod diff;
mod jsonc;
mod toml;

use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::Value;

pub(super) use self::diff::unified;
use self::jsonc::Jsonc;
use self::toml::Toml;

/// An entry with this name is removed as a whole, whatever has been changed inside it.
pub(super) const SERVER_NAME: &str = "pilothouse";

/// The format of a configuration file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Format {
    /// JSON, optionally with comments and trailing commas.
    Jsonc,
    /// TOML.
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

/// A configuration file that is modified in place.
trait ConfigDocument {
    /// Returns the value at a path; the whole document for an empty path.
    fn get(&self, path: &[String]) -> Result<Option<Value>, MergeError>;
    /// Adds a key to the mapping at `path`, which must exist and not have the key.
    fn insert(&mut self, path: &[String], key: &str, value: &Value) -> Result<(), MergeError>;
    /// Appends an item to the list at `path`, which must exist.
    fn push(&mut self, path: &[String], item: &Value) -> Result<(), MergeError>;
    /// Removes the key at the end of a path.
    fn remove(&mut self, path: &[String]) -> Result<(), MergeError>;
    /// Removes an item of the list at `path`.
    fn remove_item(&mut self, path: &[String], index: usize) -> Result<(), MergeError>;
    /// Returns the text.
    fn text(&self) -> String;
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

    fn parse(self, text: &str) -> Result<Box<dyn ConfigDocument>, MergeError> {
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
        Ok(self.parse(text)?.get(&[])?.unwrap_or_default())
    }

    /// Adds settings to a file; `text` is empty if the file does not exist.
    ///
    /// # Errors
    /// When the file cannot be parsed, or has something else where a table is needed.
    pub(super) fn add(self, text: &str, settings: &Value) -> Result<MergedFile, MergeError> {
        let mut merge = Merge { document: self.parse(text)?, added: Vec::new(), kept: Vec::new() };
        merge.merge(&mut Vec::new(), settings)?;
        let Merge { document, added, kept } = merge;
        let merged = MergedFile { text: document.text(), added, kept };
        self.parse(&merged.text)?;
        Ok(merged)
    }

    /// Removes what was added to a file, as far as it is still there.
    ///
    /// # Errors
    /// When the file cannot be parsed.
    pub(super) fn remove(self, text: &str, added: &[AddedSetting]) -> Result<RestoredFile, MergeError> {
        let mut removal = Removal { document: self.parse(text)?, left: Vec::new() };
        for AddedSetting { path, value, is_item } in added.iter().rev() {
            if *is_item {
                removal.remove_item(path, value)?;
            } else {
                removal.remove_key(&mut path.clone(), value)?;
            }
        }
        let removed = RestoredFile { text: removal.document.text(), left: removal.left };
        self.parse(&removed.text)?;
        Ok(removed)
    }
}

struct Merge {
    document: Box<dyn ConfigDocument>,
    added: Vec<AddedSetting>,
    kept: Vec<String>,
}

impl Merge {
    fn merge(&mut self, path: &mut Vec<String>, wanted: &Value) -> Result<(), MergeError> {
        match (self.document.get(path)?, wanted) {
            (None, _) => {
                let Some((key, parent)) = path.split_last() else { return Ok(()) };
                self.document.insert(parent, key, wanted)?;
                self.added.push(AddedSetting { path: path.clone(), value: wanted.clone(), is_item: false });
            }
            (Some(Value::Object(_)), Value::Object(wanted)) => {
                for (key, value) in wanted {
                    path.push(key.clone());
                    self.merge(path, value)?;
                    path.pop();
                }
            }
            (Some(Value::Array(there)), Value::Array(wanted)) => {
                for item in wanted.iter().filter(|item| !there.contains(item)) {
                    self.document.push(path, item)?;
                    self.added.push(AddedSetting { path: path.clone(), value: item.clone(), is_item: true });
                }
            }
            (Some(there), _) if there == *wanted => {}
            (Some(_), Value::Object(_)) => {
                return Err(MergeError::new(format!("`{}` is not a table of settings", path.join("."))));
            }
            (Some(_), _) => self.kept.push(path.join(".")),
        }
        Ok(())
    }
}

struct Removal {
    document: Box<dyn ConfigDocument>,
    left: Vec<String>,
}

impl Removal {
    fn remove_key(&mut self, path: &mut Vec<String>, added: &Value) -> Result<(), MergeError> {
        let Some(there) = self.document.get(path)? else { return Ok(()) };
        if there == *added || path.last().is_some_and(|key| key == SERVER_NAME) {
            return self.document.remove(path);
        }
        match added {
            Value::Object(added) if there.is_object() => {
                for (key, value) in added {
                    path.push(key.clone());
                    self.remove_key(path, value)?;
                    path.pop();
                }
            }
            Value::Array(added) if there.is_array() => {
                for item in added.iter().rev() {
                    self.remove_item(path, item)?;
                }
            }
            _ => {
                self.left.push(path.join("."));
                return Ok(());
            }
        }
        // The table or list was created for what was added.
        match self.document.get(path)? {
            Some(Value::Object(rest)) if rest.is_empty() => self.document.remove(path),
            Some(Value::Array(rest)) if rest.is_empty() => self.document.remove(path),
            _ => Ok(()),
        }
    }

    fn remove_item(&mut self, path: &[String], item: &Value) -> Result<(), MergeError> {
        let Some(Value::Array(there)) = self.document.get(path)? else { return Ok(()) };
        match there.iter().rposition(|other| other == item) {
            Some(index) => self.document.remove_item(path, index),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests;
