//! How agents' configuration files start our program, and with which environment variables.

use std::ffi::OsString;
use std::path::PathBuf;

use serde_json::Value;

use super::text;
use crate::agents::{AgentProgram, Connection, InstallScope, PassedVariables};
use crate::dispatch::host::Host;
use crate::dispatch::merge::SERVER_NAME;

/// An agent's configuration entry that starts our program.
#[derive(Debug)]
pub(in crate::dispatch) struct AgentEntry {
    /// The file that contains it.
    pub(in crate::dispatch) file: PathBuf,
    /// The scope of the file.
    pub(in crate::dispatch) scope: InstallScope,
    /// The program.
    pub(in crate::dispatch) command: String,
    /// Its arguments.
    pub(in crate::dispatch) args: Vec<String>,
    /// Variables that the entry sets.
    set: Vec<(String, String)>,
    /// Variables that the entry has the agent pass on.
    handed_on: Vec<String>,
}

impl AgentProgram {
    /// Finds the entry that starts our program, in the first file that has one, starting with the narrowest scope.
    pub(in crate::dispatch) fn entry(self, host: &dyn Host) -> Option<AgentEntry> {
        let workspace = host.places().map(|places| places.workspace).unwrap_or_default();
        [InstallScope::Local, InstallScope::Project, InstallScope::User].into_iter().find_map(|scope| {
            let is_known = self.profile().scopes.contains(&scope);
            let to = Connection { scope, command: "", workspace: &workspace };
            let target = self.additions(to).into_iter().next().filter(|_| is_known)?;
            let file = target.file.path(host)?;
            let text = text(&file)?;
            let settings = target.file.format().read(&text).ok()?;
            let found = keys(&target.connect).iter().try_fold(&settings, |at, key| at.get(key))?;
            AgentEntry::read(file, scope, found)
        })
    }

    /// Returns the variables that the agent would start our program with if it were started from here.
    pub(in crate::dispatch) fn environment(
        self,
        host: &dyn Host,
        entry: &AgentEntry,
    ) -> Vec<(String, OsString)> {
        let is_handed_on = |name: &str| match self.profile().environment {
            PassedVariables::Whole => true,
            PassedVariables::Listed(list) => {
                list.contains(&name) || entry.handed_on.iter().any(|own| own == name)
            }
            PassedVariables::Without(words) => {
                let name = name.to_ascii_uppercase();
                !words.iter().any(|word| name.contains(word))
            }
        };
        let all = host.variables().into_iter().filter(|(name, _)| is_handed_on(name));
        let set = entry.set.iter().map(|(name, value)| (name.clone(), OsString::from(value)));
        all.chain(set).collect()
    }
}

impl AgentEntry {
    fn read(file: PathBuf, scope: InstallScope, entry: &Value) -> Option<Self> {
        let texts = |value: &Value| -> Vec<String> {
            value
                .as_array()
                .into_iter()
                .flatten()
                .filter_map(|text| Some(text.as_str()?.to_owned()))
                .collect()
        };
        let (command, args) = match &entry["command"] {
            Value::Array(_) => {
                let mut words = texts(&entry["command"]).into_iter();
                (words.next()?, words.collect())
            }
            command => (command.as_str().or(entry["cmd"].as_str())?.to_owned(), texts(&entry["args"])),
        };
        let set =
            ["env", "environment", "envs"].into_iter().filter_map(|key| entry[key].as_object()).flatten();
        let set = set.filter_map(|(name, value)| Some((name.clone(), value.as_str()?.to_owned())));
        Some(Self { file, scope, command, args, set: set.collect(), handed_on: texts(&entry["env_vars"]) })
    }

    /// Returns the command line that starts our program.
    pub(in crate::dispatch) fn command_line(&self) -> String {
        std::iter::once(&self.command).chain(&self.args).cloned().collect::<Vec<_>>().join(" ")
    }
}

/// Returns the keys that lead to our entry in the settings for an agent's file.
fn keys(settings: &Value) -> Vec<String> {
    let mut keys = Vec::new();
    let mut at = settings;
    while let Some((key, inner)) = at.as_object().and_then(|object| object.iter().next()) {
        keys.push(key.clone());
        if key == SERVER_NAME {
            break;
        }
        at = inner;
    }
    keys
}
