//! How to start an agent for a single prompt, with the scripted model in place of its own.

use std::io::{self, Write as _};
use std::path::PathBuf;

use tokio::process::Command;

use crate::agents::{ScriptedModel, Trial};
use crate::paths::Places;

/// How to start an agent.
pub(super) struct TrialStart<'a> {
    pub(super) trial: &'a Trial,
    pub(super) model: ScriptedModel<'a>,
    pub(super) places: &'a Places,
}

/// A settings file that an agent reads while it runs; removed when dropped.
pub(super) struct TrialSettings(PathBuf);

impl Drop for TrialSettings {
    fn drop(&mut self) {
        // It is in a folder that is emptied anyway.
        let _ = std::fs::remove_file(&self.0);
    }
}

impl TrialStart<'_> {
    /// Returns the agent's arguments.
    pub(super) fn args(&self) -> Vec<String> {
        (self.trial.arguments)(self.model)
    }

    /// Sets the variables that direct an agent to the model, and writes the settings file if no variable can do that.
    pub(super) fn prepare(&self, command: &mut Command) -> io::Result<Option<TrialSettings>> {
        let proxies = ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"];
        for name in proxies.iter().chain(self.trial.unset) {
            command.env_remove(name);
        }
        command.env("NO_PROXY", "127.0.0.1").envs((self.trial.variables)(self.model));
        let Some((variable, settings)) = self.trial.settings else { return Ok(None) };
        let file = self.places.runtime_dir.join(format!("doctor-{}.json", std::process::id()));
        crate::files::create_folder(&self.places.runtime_dir)?;
        crate::files::create_new(&file)?.write_all(settings.as_bytes())?;
        command.env(variable, &file);
        Ok(Some(TrialSettings(file)))
    }
}
