//! What a shell knows while it runs: variables, its folder, its parameters, functions and options.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::rc::Rc;

use brush_parser::ast::FunctionBody;

use crate::names::cut;

/// The most bytes of a value; a longer one is not known.
pub(crate) const MOST_VALUE: usize = 64 << 10;

/// The value of a variable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Value {
    Text(String),
    List(Vec<String>),
    /// A number that is not known, and why.
    Number(String),
    /// Not known, and why.
    Unknown(String),
}

/// Whose language a shell reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Dialect {
    #[default]
    Bash,
    /// A plain POSIX shell.
    Sh,
    Ksh,
    Zsh,
}

impl Dialect {
    /// Returns that of the shell with this name.
    pub(crate) fn of(shell: &str) -> Self {
        match shell.rsplit('/').next() {
            Some("zsh") => Self::Zsh,
            Some("ksh") => Self::Ksh,
            Some("sh" | "dash" | "ash") => Self::Sh,
            _ => Self::Bash,
        }
    }
}

impl Value {
    /// Returns how many bytes it has.
    fn bytes(&self) -> usize {
        match self {
            Self::Text(text) | Self::Number(text) | Self::Unknown(text) => text.len(),
            Self::List(list) => list_bytes(list),
        }
    }

    /// Returns how it can be shown.
    pub(crate) fn said_text(&self) -> String {
        match self {
            Self::Text(text) | Self::Number(text) | Self::Unknown(text) => text.clone(),
            Self::List(list) => list.join(" "),
        }
    }

    /// Tells whether it is a number, known or not.
    pub(crate) fn is_number(&self) -> bool {
        match self {
            Self::Text(text) => text.parse::<i64>().is_ok(),
            Self::Number(_) => true,
            Self::List(_) | Self::Unknown(_) => false,
        }
    }
}

/// Returns how many bytes a list has.
pub(crate) fn list_bytes(list: &[String]) -> usize {
    list.iter().map(|text| text.len() + size_of::<String>()).sum()
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Variable {
    pub(crate) value: Value,
    pub(crate) is_exported: bool,
}

/// What a shell knows while it runs.
#[derive(Debug, Clone, Default)]
pub(crate) struct ShellState {
    pub(crate) variables: BTreeMap<String, Variable>,
    /// Its folder as it names it; `None` if that is not known.
    pub(crate) folder: Option<PathBuf>,
    /// The folder that `cd -` goes to.
    pub(crate) last_folder: Option<PathBuf>,
    /// `$1` and so on; `None` if they are not known.
    pub(crate) parameters: Option<Vec<String>>,
    /// `None` is a function of which only the name is known.
    pub(crate) functions: BTreeMap<String, Option<Rc<FunctionBody>>>,
    /// The options that are set, by their names for `set -o` and `shopt`.
    pub(crate) options: BTreeSet<&'static str>,
    /// Why a variable that is not here may be set all the same.
    pub(crate) doubt: Option<String>,
    pub(crate) dialect: Dialect,
    /// The variables that are exported once they are set.
    pub(crate) exported: BTreeSet<String>,
    /// The variables that cannot be set any more.
    pub(crate) fixed: BTreeSet<String>,
    /// The arrays whose subscripts are words.
    pub(crate) maps: BTreeSet<String>,
    /// The folder that could not be entered, if the commands that follow run where they were not meant to.
    pub(crate) missed: Option<String>,
}

/// Variables that a shell sets by itself: those that stay what they are whatever they are set to, and others.
const OWN: [&str; 2] = [
    " BASHPID BASH_ARGC BASH_ARGV BASH_COMMAND BASH_LINENO BASH_SOURCE BASH_SUBSHELL DIRSTACK EPOCHREALTIME \
     EPOCHSECONDS EUID FUNCNAME GROUPS LINENO PIPESTATUS PPID RANDOM SECONDS SRANDOM UID _ ",
    " BASH BASHOPTS BASH_REMATCH BASH_VERSINFO BASH_VERSION COLUMNS HOSTNAME HOSTTYPE LINES MACHTYPE MAPFILE OPTARG \
     OPTIND OSTYPE REPLY SHELLOPTS SHLVL ",
];
/// Those of them that are numbers.
const NUMBERS: &str = " BASHPID BASH_SUBSHELL EPOCHSECONDS EUID GROUPS LINENO OPTIND PIPESTATUS PPID RANDOM SECONDS SHLVL SRANDOM UID ";

fn names(list: &str, name: &str) -> bool {
    list.contains(&format!(" {name} "))
}

impl ShellState {
    /// Makes a variable what it was before.
    pub(crate) fn restore(&mut self, name: String, before: Option<Variable>) {
        match before {
            Some(before) => self.variables.insert(name, before),
            None => self.variables.remove(&name),
        };
    }

    pub(crate) fn has(&self, option: &str) -> bool {
        self.options.contains(option)
    }

    /// Returns the value of a variable; `None` if it is not set.
    pub(crate) fn get(&self, name: &str) -> Option<Value> {
        if let Some(variable) = self.variables.get(name) {
            return Some(variable.value.clone());
        }
        let text = |path: &Option<PathBuf>| match path {
            Some(path) => Value::Text(crate::names::text_of(path)),
            None => Value::Unknown("the folder".to_owned()),
        };
        match name {
            "PWD" => Some(text(&self.folder)),
            "OLDPWD" => self.last_folder.is_some().then(|| text(&self.last_folder)),
            "IFS" => Some(Value::Text(" \t\n".to_owned())),
            _ if names(NUMBERS, name) => Some(Value::Number(format!("${name}"))),
            _ if OWN.iter().any(|list| names(list, name)) => Some(Value::Unknown(format!("${name}"))),
            _ => self.doubt.as_ref().map(|why| Value::Unknown(format!("${name} ({why})"))),
        }
    }

    pub(crate) fn set(&mut self, name: &str, value: Value) {
        let is_exported = self.has("allexport")
            || self.exported.contains(name)
            || self.variables.get(name).is_some_and(|known| known.is_exported);
        if names(OWN[0], name) {
            return;
        }
        let value = match value {
            _ if self.fixed.contains(name) => Value::Unknown(format!("${name}, which is read-only")),
            Value::Unknown(from) => Value::Unknown(cut(from)),
            value if value.bytes() > MOST_VALUE => Value::Unknown(format!("${name}, which is too long")),
            value => value,
        };
        self.variables.insert(name.to_owned(), Variable { value, is_exported });
    }

    /// Returns how many bytes it takes, about.
    pub(crate) fn bytes(&self) -> usize {
        const ENTRY: usize = 96;
        let variables = self.variables.iter().map(|(name, known)| ENTRY + name.len() + known.value.bytes());
        let parameters = self.parameters.as_deref().map_or(0, list_bytes);
        variables.sum::<usize>() + parameters + ENTRY * self.functions.len()
    }

    /// Forgets whatever differs in another state that may hold instead. Returns the options that differ.
    pub(crate) fn merge(&mut self, other: &Self) -> Vec<&'static str> {
        let names: Vec<String> = self.variables.keys().chain(other.variables.keys()).cloned().collect();
        for name in names {
            let both = [self, other].map(|state| state.variables.get(&name));
            if both[0] == both[1] {
                continue;
            }
            let from = format!("${name} (set in a condition or loop)");
            let are_numbers = both.iter().flatten().all(|variable| variable.value.is_number());
            let is_exported = both.iter().flatten().any(|variable| variable.is_exported);
            let value = if are_numbers { Value::Number(from) } else { Value::Unknown(from) };
            self.variables.insert(name, Variable { value, is_exported });
        }
        if self.folder != other.folder {
            self.folder = None;
        }
        if self.last_folder != other.last_folder {
            self.last_folder = None;
        }
        if self.parameters != other.parameters {
            self.parameters = None;
        }
        let functions: Vec<String> = self.functions.keys().chain(other.functions.keys()).cloned().collect();
        for name in functions {
            let both = [&*self, other].map(|state| state.functions.get(&name));
            if !is_same_function(both[0], both[1]) {
                self.functions.insert(name, None);
            }
        }
        let differ = self.options.symmetric_difference(&other.options).copied().collect();
        self.options.extend(other.options.iter());
        self.fixed.extend(other.fixed.iter().cloned());
        self.exported.extend(other.exported.iter().cloned());
        self.missed = self.missed.take().or_else(|| other.missed.clone());
        self.doubt = self.doubt.take().or_else(|| other.doubt.clone());
        differ
    }

    /// Tells whether another state is the same.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        let functions = self.functions.iter().zip(&other.functions);
        self.variables == other.variables
            && (&self.folder, &self.last_folder) == (&other.folder, &other.last_folder)
            && (&self.parameters, &self.options) == (&other.parameters, &other.options)
            && (&self.fixed, &self.maps, &self.exported) == (&other.fixed, &other.maps, &other.exported)
            && self.functions.len() == other.functions.len()
            && functions
                .into_iter()
                .all(|(one, two)| one.0 == two.0 && is_same_function(Some(one.1), Some(two.1)))
    }

    /// Returns the state of a shell that this one starts as a program.
    pub(crate) fn child(&self, parameters: Vec<String>) -> Self {
        let exported = self.variables.iter().filter(|(_, variable)| variable.is_exported);
        Self {
            variables: exported.map(|(name, variable)| (name.clone(), variable.clone())).collect(),
            parameters: Some(parameters),
            functions: BTreeMap::new(),
            options: BTreeSet::new(),
            exported: BTreeSet::new(),
            fixed: BTreeSet::new(),
            maps: BTreeSet::new(),
            ..self.clone()
        }
    }
}

fn is_same_function(one: Option<&Option<Rc<FunctionBody>>>, two: Option<&Option<Rc<FunctionBody>>>) -> bool {
    match (one, two) {
        (Some(Some(one)), Some(Some(two))) => Rc::ptr_eq(one, two),
        (Some(None), Some(None)) | (None, None) => true,
        _ => false,
    }
}
