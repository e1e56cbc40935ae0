//! The files by which an agent's program runs our hook, in the user's data folder: a plugin, and settings that name it.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use crate::files;
use crate::paths::plugins_dir;

/// The longest of these files that is compared with what it should be.
const MOST_BYTES: u64 = 64 << 10;

/// The folder of these files for one agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HookFiles(PathBuf);

impl HookFiles {
    /// Returns the files of this user for the agent with this name; `None` if the user has no data folder.
    #[must_use]
    pub fn of_user(agent: &str) -> Option<Self> {
        plugins_dir().map(|folder| Self(folder.join(agent)))
    }

    /// Returns the path of the plugin.
    #[must_use]
    pub fn plugin(&self) -> PathBuf {
        self.0.join("plugin.js")
    }

    /// Returns the folder, and the path of the file in it that makes it a plugin.
    #[must_use]
    pub fn folder(&self) -> (PathBuf, PathBuf) {
        (self.0.clone(), self.0.join("plugin.json"))
    }

    /// Returns the path of the settings for one process.
    #[must_use]
    pub fn settings(&self) -> PathBuf {
        self.0.join("settings.json")
    }

    /// Writes one of them, unless it is already so. An agent that is starting reads the old text or the new one.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn write(&self, path: &Path, text: &str) -> io::Result<()> {
        if files::read_text(path, files::OWN, MOST_BYTES).is_ok_and(|known| known == text) {
            return Ok(());
        }
        files::create_folder(&self.0)?;
        files::replace(path, |file| file.write_all(text.as_bytes()))
    }
}
