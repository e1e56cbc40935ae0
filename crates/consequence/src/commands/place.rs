//! Which program a name stands for, and what else it is told: by a search path, and by variables that the line sets.

use crate::commands::SYSTEM;
use crate::interpreter::Interpreter;
use crate::names::text_of;
use crate::shell_state::Value;

/// Variables by which programs start or read something, or, with `_` at their end, how such begin: those of all programs,
/// and of some by name.
const STARTING: [(&str, &str); 6] = [
    ("", "LD_ DYLD_ POSIXLY_CORRECT"),
    ("git", "GIT_ PAGER"),
    ("less", "LESS LESSOPEN LESSCLOSE LESSKEY LESSKEYIN LESSKEY_SYSTEM"),
    ("more", "LESS MORE LESSOPEN"),
    ("rg", "RIPGREP_CONFIG_PATH"),
    ("bash sh dash zsh ksh ash", "BASH_ENV BASH_FUNC_ SHELLOPTS BASHOPTS ENV PROMPT_COMMAND ZDOTDIR"),
];
/// Those that start nothing, or whose command is gone through.
const NOT_STARTING: [&str; 12] = [
    "GIT_AUTHOR_",
    "GIT_COMMITTER_",
    "GIT_TERMINAL_PROMPT",
    "GIT_OPTIONAL_LOCKS",
    "GIT_MERGE_AUTOEDIT",
    "GIT_EDITOR",
    "GIT_SEQUENCE_EDITOR",
    "GIT_CONFIG_COUNT",
    "GIT_CONFIG_KEY_",
    "GIT_CONFIG_VALUE_",
    "GIT_DIR",
    "GIT_WORK_TREE",
];

impl Interpreter<'_> {
    /// Notes what is not known of a program because of where it is found, or of what the line has set before.
    pub(crate) fn check_place(&mut self, text: &str, name: &str) {
        if !text.contains('/')
            && let Some(place) = self.foreign_place(name)
        {
            self.not_known(place);
        }
        let programs = STARTING.iter().filter(|(programs, _)| {
            programs.is_empty() || programs.split(' ').any(|program| program == name)
        });
        let starting: Vec<&str> = programs.flat_map(|(_, names)| names.split(' ')).collect();
        let is_one = |names: &[&str], variable: &str| {
            names.iter().any(|name| *name == variable || (name.ends_with('_') && variable.starts_with(name)))
        };
        let set: Vec<String> =
            self.state.variables.keys().filter(|set| self.is_by_line(set)).cloned().collect();
        for variable in set {
            let is_exported = self.state.variables.get(&variable).is_some_and(|known| known.is_exported);
            if is_exported && is_one(&starting, &variable) && !is_one(&NOT_STARTING, &variable) {
                self.not_known(format!("what {variable} makes {name} do"));
            }
        }
    }

    /// Tells whether the line has set a variable.
    pub(crate) fn is_by_line(&self, name: &str) -> bool {
        let before = self.request.environment.as_ref().and_then(|all| all.get(name));
        match self.state.variables.get(name).map(|variable| &variable.value) {
            Some(Value::Text(text)) => before != Some(text),
            Some(_) => true,
            None => false,
        }
    }

    /// Says what runs in the place of a program, if its name does not tell.
    fn foreign_place(&self, name: &str) -> Option<String> {
        let path = match &self.state.variables.get("PATH")?.value {
            Value::Text(path) => path,
            _ => return Some(format!("which {name} runs: $PATH is not known")),
        };
        let usual = self.request.environment.as_ref().and_then(|all| all.get("PATH"));
        for folder in path.split(':') {
            let is_usual = usual.is_some_and(|usual| usual.split(':').any(|usual| usual == folder));
            let is_theirs = is_usual && folder.starts_with('/') && self.is_outside(folder.as_ref());
            if SYSTEM.contains(&folder) || is_theirs {
                if self.full(folder).is_some_and(|at| self.files.find(&at.join(name), true).is_some()) {
                    return None;
                }
                continue;
            }
            let Some(at) = self.full(if folder.is_empty() { "." } else { folder }) else {
                return Some(format!("which {name} runs: it is looked up in a folder that is not known"));
            };
            if self.files.find(&at.join(name), true).is_some() {
                return Some(format!("what {} does", self.display_path(&at.join(text_of(name)))));
            }
        }
        None
    }
}
