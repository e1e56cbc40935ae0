//! What is asked about a command's cost: its text with the environment, the folder and the shell that it would start with.

use std::ffi::OsString;
use std::path::Path;

use crate::config::EnvSettings;
use crate::consequence::ConsequenceRequest;
use crate::envelope::TaskId;
use crate::model::{ExecRequest, HeldCommand};
use crate::process::environment::{self, Environment, Terminals};

/// Where commands run: the workspace, and how the settings change the environment.
#[derive(Debug, Clone, Copy)]
pub(in crate::runtime) struct CommandPlace<'a> {
    pub(in crate::runtime) workspace: &'a Path,
    pub(in crate::runtime) env: &'a EnvSettings,
}

impl CommandPlace<'_> {
    /// Returns what is asked about a command that would start in this folder and shell, with this environment.
    pub(in crate::runtime) fn ask(
        self,
        exec: &ExecRequest,
        (workdir, shell): (&Path, &str),
        environment: &Environment,
    ) -> ConsequenceRequest {
        let (base, id) = (environment.iter().cloned(), no_task());
        let variables = match &exec.step {
            _ if exec.native.is_some() => environment::for_native(base, &id),
            Some(step) => environment::for_step(base, &id, &step.variables),
            None => {
                let terminals = if exec.tty { Terminals::Own } else { Terminals::None };
                environment::for_task(base, terminals, &id, &self.env.set, |name| self.env.keeps(name))
            }
        };
        // A program's command is read without a profile.
        let is_login = exec.login && exec.step.is_none();
        self.request(&exec.cmd, (workdir, shell, is_login), Some(variables))
    }

    /// Returns what is asked about a command of a batch.
    pub(in crate::runtime) fn ask_item(
        self,
        item: &HeldCommand,
        environment: &Environment,
    ) -> ConsequenceRequest {
        let base = environment.iter().cloned();
        let variables = environment::for_task(base, Terminals::None, &no_task(), &self.env.set, |name| {
            self.env.keeps(name)
        });
        let shell = environment::choose_shell(item.shell.as_deref(), environment.get("SHELL"));
        self.request(&item.cmd, (&item.workdir, &shell.to_string_lossy(), item.login), Some(variables))
    }

    /// Returns what is asked about a command that an agent is about to run in its own shell. That shell reads files of its
    /// own first.
    pub(in crate::runtime) fn ask_prompt(
        self,
        cmd: &str,
        workdir: &Path,
        environment: Option<&Environment>,
    ) -> ConsequenceRequest {
        let variables = environment.map(|known| known.iter().cloned().collect());
        self.request(cmd, (workdir, "bash", true), variables)
    }

    fn request(
        self,
        cmd: &str,
        (workdir, shell, is_login): (&Path, &str, bool),
        variables: Option<Vec<(OsString, OsString)>>,
    ) -> ConsequenceRequest {
        let text = |text: &OsString| text.to_string_lossy().into_owned();
        let variables =
            variables.map(|all| all.iter().map(|(name, value)| (text(name), text(value))).collect());
        let environment: Option<std::collections::BTreeMap<String, String>> = variables;
        let home = environment.as_ref().and_then(|all| all.get("HOME")).map(Into::into);
        ConsequenceRequest {
            text: cmd.to_owned(),
            folder: self.workspace.join(workdir),
            workspace: self.workspace.to_owned(),
            home: home.unwrap_or_default(),
            environment,
            shell: shell.to_owned(),
            is_login,
        }
    }
}

/// Returns an id that no task has: what a command would cost does not depend on its own.
fn no_task() -> TaskId {
    TaskId::from_random([0; 8])
}
