//! What a runtime is started with.

use std::ffi::OsString;
use std::path::PathBuf;

use crate::config::{EnvSettings, Limits};
use crate::process::Spawner;

/// The options for starting a runtime.
#[derive(Debug)]
pub struct Options {
    /// The execution root.
    pub workspace: PathBuf,
    /// Folder of all recordings; the new one is created in it.
    pub recordings: PathBuf,
    /// Folder of the lanes, which all runtimes of the user share.
    pub lanes: PathBuf,
    /// The agents' socket, shown to the person.
    pub socket: PathBuf,
    /// Whether no console is embedded in this process.
    pub headless: bool,
    /// The environment that commands inherit, before overrides.
    pub environment: Vec<(OsString, OsString)>,
    /// The overrides from the settings.
    pub env: EnvSettings,
    /// Starts task hosts.
    pub spawner: Spawner,
    pub limits: Limits,
}

#[cfg(test)]
impl Options {
    /// Returns options for a runtime in a folder of a test, which cannot start any command.
    pub(crate) fn of_test(dir: &std::path::Path) -> Self {
        Self {
            workspace: dir.to_owned(),
            recordings: dir.join("recordings"),
            lanes: dir.join("lanes"),
            socket: dir.join("agent.sock"),
            headless: true,
            environment: Vec::new(),
            env: EnvSettings::default(),
            spawner: Spawner::with_program("/nonexistent".into()),
            limits: Limits::default(),
        }
    }
}
