//! The record of what `mcp install` has added to which file, so that `--undo` removes exactly that.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::file;
use crate::agents::{AgentProgram, InstallScope};
use crate::dispatch::code::Code;
use crate::dispatch::merge::AddedSetting;
use crate::dispatch::response::Failure;
use crate::files;

/// The name of the file in the state folder.
const FILE: &str = "mcp-install.json";

/// One change of one file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct InstallRecordEntry {
    pub(super) agent: AgentProgram,
    pub(super) scope: InstallScope,
    pub(super) workspace: PathBuf,
    /// The file.
    pub(super) path: PathBuf,
    /// The copy of it as it was; none for a file that was not there.
    pub(super) backup: Option<PathBuf>,
    /// The topmost folder that was created for it.
    pub(super) created_folder: Option<PathBuf>,
    /// SHA-256 of what it was and of what it became.
    pub(super) before: String,
    pub(super) after: String,
    pub(super) added: Vec<AddedSetting>,
    /// It leads the agent's own shell here (`adopt`), and connects nothing.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) leads_shell: bool,
}

/// Everything that was added and not undone, oldest first.
#[derive(Debug, Default)]
pub(super) struct InstallRecord {
    path: PathBuf,
    pub(super) entries: Vec<InstallRecordEntry>,
}

impl InstallRecord {
    /// Reads the record.
    ///
    /// # Errors
    /// When it exists but cannot be read.
    pub(super) fn read(state: &Path) -> Result<Self, Failure> {
        let path = state.join(FILE);
        let entries = match file::read(&path)? {
            None => Vec::new(),
            Some(text) => serde_json::from_str(&text).map_err(|error| {
                Failure::new(Code::Precondition, format!("{} cannot be read: {error}", path.display()))
                    .fix("remove it; what was added must then be removed by hand")
            })?,
        };
        Ok(Self { path, entries })
    }

    /// Writes the record.
    ///
    /// # Errors
    /// When it cannot be written.
    pub(super) fn write(&self) -> Result<(), Failure> {
        let written = files::create_folder(self.path.parent().unwrap_or(&self.path)).and_then(|()| {
            files::replace(&self.path, |file| {
                serde_json::to_writer_pretty(&mut *file, &self.entries)?;
                file.write_all(b"\n")?;
                file.sync_all()
            })
        });
        written.map_err(|error| {
            Failure::running(Code::InternalError, format!("write {}: {error}", self.path.display()))
        })
    }
}
