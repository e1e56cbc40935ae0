//! The configuration files of agents on this machine.

use std::path::{Path, PathBuf};

use crate::agents::ConfigFolder::{Config, Home, Own, Workspace};
use crate::agents::{AgentProgram, ConfigFile, InstallScope};
use crate::dispatch::host::{Host, on_path};
use crate::dispatch::merge::Format;
use crate::files::{self, Links};

impl ConfigFile {
    /// Returns the path of the existing file, or the usual path if there is none.
    pub(in crate::dispatch) fn path(self, host: &dyn Host) -> Option<PathBuf> {
        let variable = |name: &str| host.variable(name).filter(|path| !path.is_empty()).map(PathBuf::from);
        let folder = match self.folder {
            Workspace => host.places().ok()?.workspace,
            Home => variable("HOME")?,
            Config => variable("XDG_CONFIG_HOME").or_else(|| Some(variable("HOME")?.join(".config")))?,
            Own(name, usual) => variable(name).or_else(|| Some(variable("HOME")?.join(usual)))?,
        };
        let mut paths = self.names.iter().map(|name| folder.join(name));
        let usual = paths.next()?;
        let other = if usual.exists() { None } else { paths.find(|path| path.exists()) };
        Some(other.unwrap_or(usual))
    }

    /// Returns the file's format.
    pub(in crate::dispatch) fn format(self) -> Format {
        Format::of(Path::new(self.names.first().unwrap_or(&"")))
    }
}

impl AgentProgram {
    /// Returns the command by which the agent starts our program: its name if found on the agent's PATH, otherwise
    /// its path. A shared file always uses the name.
    pub(in crate::dispatch) fn command(self, host: &dyn Host, scope: InstallScope) -> String {
        match host.program() {
            Some(own) if scope != InstallScope::Project => {
                own_command(&own, on_path(host, NAME).filter(|_| !self.profile().is_graphical).as_deref())
            }
            _ => NAME.to_owned(),
        }
    }
}

/// The name of this program.
const NAME: &str = "pilothouse";

/// Returns what starts this program in a shell: its name if that is `found` to lead to it, otherwise its own path.
#[must_use]
pub fn own_command(own: &Path, found: Option<&Path>) -> String {
    let is_own = found.is_some_and(|found| found.canonicalize().ok() == own.canonicalize().ok());
    if is_own { NAME.to_owned() } else { own.to_string_lossy().into_owned() }
}

/// The longest file of an agent that is read.
const MOST_BYTES: u64 = 16 << 20;

/// Reads a file of an agent: its settings, its rules; `None` if there is none that can be read.
pub(in crate::dispatch) fn text(path: &Path) -> Option<String> {
    files::read_text(path, Links::Followed, MOST_BYTES).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agents::Connection;

    fn to(scope: InstallScope, command: &str) -> Connection<'_> {
        Connection { scope, command, workspace: Path::new("/w") }
    }

    #[test]
    fn every_agent_is_connected_in_each_of_its_scopes_by_files_that_can_be_read() {
        for agent in AgentProgram::ALL.iter().copied() {
            let profile = agent.profile();
            for scope in profile.scopes {
                let targets = agent.additions(to(*scope, "/bin/pilothouse"));
                assert!(targets[0].connect.to_string().contains("/bin/pilothouse"), "{agent:?}");
                for target in targets {
                    let format = target.file.format();
                    let mut text = String::new();
                    for settings in target.settings(false) {
                        text = format.add(&text, settings).expect("a file").text;
                    }
                    let read = format.read(&text).expect(&text);
                    assert!(
                        target.settings(false).all(|one| format
                            .add(&text, one)
                            .expect("one")
                            .added
                            .is_empty())
                    );
                    assert!(read.is_object(), "{agent:?}: {text}");
                }
            }
            assert_eq!(serde_json::to_value(agent).expect("a word"), agent.as_str());
        }
    }

    #[test]
    fn every_row_speaks_of_the_loss_and_of_the_agents_own_shell() {
        let is_connected = |agent: &AgentProgram| !agent.profile().scopes.is_empty();
        for agent in AgentProgram::ALL.iter().copied().filter(is_connected) {
            let profile = agent.profile();
            assert!(profile.loss.ends_with("no longer apply"), "{agent:?}");
            let targets = agent.additions(to(profile.scopes[0], "x"));
            let has_setting = targets.iter().any(|target| !target.shell.is_null());
            assert!(
                has_setting || profile.next.contains("shell") || profile.next.contains("terminal"),
                "{agent:?}"
            );
        }
    }
}
