//! Configuration files of other programs, and the settings to add to each.

use std::path::Path;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use strum::IntoStaticStr;

/// The scope of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema, IntoStaticStr)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
#[schemars(rename = "Scope")]
pub enum InstallScope {
    /// You, in this workspace.
    Local,
    /// Everyone who works in this workspace: the files are shared.
    Project,
    /// You, everywhere.
    User,
}

/// The location of a file: a folder, and the names it may have there, the usual one first.
#[derive(Debug, Clone, Copy)]
pub struct ConfigFile {
    pub folder: ConfigFolder,
    pub names: &'static [&'static str],
}

/// A folder that contains configuration files.
#[derive(Debug, Clone, Copy)]
pub enum ConfigFolder {
    Workspace,
    /// The user's home.
    Home,
    /// `$XDG_CONFIG_HOME`, or `.config` in the home.
    Config,
    /// The folder named by a variable, or a folder in the home.
    Own(&'static str, &'static str),
}

impl ConfigFile {
    /// Creates the location of a file.
    pub const fn new(folder: ConfigFolder, names: &'static [&'static str]) -> Self {
        Self { folder, names }
    }

    /// Returns whether the file is shared with others who work in the workspace.
    pub fn is_in_workspace(self) -> bool {
        matches!(self.folder, ConfigFolder::Workspace)
    }
}

/// What a connection is made of.
#[derive(Debug, Clone, Copy)]
pub struct Connection<'a> {
    /// For whom.
    pub scope: InstallScope,
    /// The command that starts our program.
    pub command: &'a str,
    pub workspace: &'a Path,
}

impl Connection<'_> {
    /// Returns whether everyone in the workspace is connected.
    pub(super) fn is_project(self) -> bool {
        self.scope == InstallScope::Project
    }

    /// Returns the usual form of a server entry.
    pub(super) fn server(self) -> Value {
        json!({ "command": self.command, "args": ["mcp"] })
    }

    /// Returns the form of a server entry that names its transport.
    pub(super) fn stdio_server(self) -> Value {
        json!({ "type": "stdio", "command": self.command, "args": ["mcp"] })
    }
}

/// A configuration file, and the settings to add to it.
#[derive(Debug)]
pub struct Addition {
    pub file: ConfigFile,
    /// The settings that connect the program and allow it to call our tools.
    pub connect: Value,
    /// The settings that turn off the program's own shell; null if this file has no such setting.
    pub shell: Value,
}

impl Addition {
    pub(super) fn new(file: ConfigFile, connect: Value) -> Self {
        Self { file, connect, shell: Value::Null }
    }

    pub(super) fn shell(self, shell: Value) -> Self {
        Self { shell, ..self }
    }

    /// Returns the settings to add to the file.
    pub fn settings(&self, keeps_shell: bool) -> impl Iterator<Item = &Value> {
        let shell = Some(&self.shell).filter(|shell| !keeps_shell && !shell.is_null());
        std::iter::once(&self.connect).chain(shell)
    }
}

/// The setting that determines a program's own shell.
#[derive(Debug, Clone, Copy)]
pub struct ShellSetting {
    pub file: ConfigFile,
    /// The keys that lead to it.
    pub keys: &'static [&'static str],
    /// Whether its program ignores a file that is more than JSON, such as one with comments.
    pub is_strict: bool,
}

impl ShellSetting {
    /// Returns the settings to add to the file so that it names a shell.
    pub fn naming(self, shell: &str) -> Value {
        self.keys.iter().rev().fold(Value::from(shell), |inner, key| {
            Value::Object(Map::from_iter([((*key).to_owned(), inner)]))
        })
    }
}
