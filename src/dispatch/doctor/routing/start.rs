//! How to start an agent with the scripted model in place of its own.

use std::ffi::OsString;
use std::io::{self, Write as _};
use std::path::PathBuf;

use crate::agents::{ScriptedModel, Trial};
use crate::dispatch::host::Host;
use crate::paths::Places;
use crate::process::PtyCommand;
use crate::process::environment::{TASK_ID, TASK_KIND};

/// Variables that lead a program past this machine or to a terminal that is not the one it has here.
const REMOVED: [&str; 10] = [
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "ALL_PROXY",
    "http_proxy",
    "https_proxy",
    "all_proxy",
    "TMUX",
    "TMUX_PANE",
    TASK_ID,
    TASK_KIND,
];
/// What the emulator draws.
const TERM: &str = "xterm-256color";

/// A form in which an agent is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TrialForm {
    /// Its screen, on a terminal.
    Screen,
    /// A single prompt, without a terminal.
    Prompt,
}

/// How to start an agent.
pub(super) struct TrialStart<'a> {
    pub(super) host: &'a dyn Host,
    pub(super) trial: &'a Trial,
    pub(super) places: &'a Places,
    /// The program to start, and the words before the agent's own arguments.
    pub(super) first: PathBuf,
    pub(super) words: Vec<String>,
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
    /// Returns the command that starts an agent, and writes its file, if it has one, which is removed when dropped;
    /// `None` if the agent has no such form.
    pub(super) fn prepare(
        &self,
        form: TrialForm,
        port: u16,
        mark: &str,
    ) -> io::Result<Option<(PtyCommand, Option<TrialSettings>)>> {
        let url = format!("http://127.0.0.1:{port}");
        let prompt = format!("{mark}: run the command you are asked to.");
        let file = self.trial.settings.map(|settings| {
            let name = format!("doctor-{}.{}", std::process::id(), settings.ending);
            self.places.runtime_dir.join(name)
        });
        let model = ScriptedModel {
            url: &url,
            prompt: &prompt,
            workspace: &self.places.workspace,
            file: file.as_deref().unwrap_or("".as_ref()),
        };
        let arguments = match form {
            TrialForm::Prompt => self.trial.arguments,
            TrialForm::Screen => match self.trial.screen {
                Some(screen) => screen.arguments,
                None => return Ok(None),
            },
        };
        let mut set: Vec<(&str, OsString)> = vec![("NO_PROXY", "127.0.0.1".into())];
        if form == TrialForm::Screen {
            set.push(("TERM", TERM.into()));
        }
        set.extend((self.trial.variables)(model).into_iter().map(|(name, value)| (name, value.into())));
        let written = match (self.trial.settings, &file) {
            (Some(settings), Some(file)) => {
                crate::files::create_folder(&self.places.runtime_dir)?;
                crate::files::create_new(file)?.write_all((settings.text)(model).as_bytes())?;
                set.extend(settings.variable.map(|name| (name, file.clone().into_os_string())));
                Some(TrialSettings(file.clone()))
            }
            _ => None,
        };
        let is_kept = |name: &str| {
            !REMOVED.contains(&name)
                && !self.trial.unset.contains(&name)
                && !set.iter().any(|(own, _)| *own == name)
        };
        let kept = self.host.variables().into_iter().filter(|(name, _)| is_kept(name));
        let mut variables: Vec<(OsString, OsString)> =
            kept.map(|(name, value)| (name.into(), value)).collect();
        variables.extend(set.into_iter().map(|(name, value)| (name.into(), value)));
        let words = self.words.iter().cloned().chain(arguments(model));
        let command = PtyCommand {
            program: self.first.clone().into_os_string(),
            args: words.map(OsString::from).collect(),
            variables,
            cwd: self.places.workspace.clone(),
        };
        Ok(Some((command, written)))
    }
}
