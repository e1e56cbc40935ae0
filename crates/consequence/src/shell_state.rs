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
    /// Not known, and why.
    Unknown(String),
}

impl Value {
    /// Returns how many bytes it has.
    fn bytes(&self) -> usize {
        match self {
            Self::Text(text) | Self::Unknown(text) => text.len(),
            Self::List(list) => list_bytes(list),
        }
    }
}

/// Returns how many bytes a list has.
pub(crate) fn list_bytes(list: &[String]) -> usize {
    list.iter().map(|text| text.len() + size_of::<String>()).sum()
}

/// A variable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Variable {
    pub(crate) value: Value,
    pub(crate) is_exported: bool,
}

/// What a shell knows while it runs.
#[derive(Debug, Clone)]
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
    /// Whether what the shell does is bash's: words are split and patterns without a match stay.
    pub(crate) splits: bool,
    /// The folder that could not be entered, if the commands that follow run where they were not meant to.
    pub(crate) missed: Option<String>,
}

/// Variables that a shell sets by itself.
const OWN: [&str; 26] = [
    "BASH",
    "BASHOPTS",
    "BASHPID",
    "BASH_COMMAND",
    "BASH_SUBSHELL",
    "BASH_VERSION",
    "DIRSTACK",
    "EPOCHREALTIME",
    "EPOCHSECONDS",
    "EUID",
    "FUNCNAME",
    "GROUPS",
    "HOSTNAME",
    "HOSTTYPE",
    "LINENO",
    "MACHTYPE",
    "OPTARG",
    "OPTIND",
    "OSTYPE",
    "PIPESTATUS",
    "PPID",
    "RANDOM",
    "REPLY",
    "SECONDS",
    "SHLVL",
    "UID",
];

impl ShellState {
    pub(crate) fn has(&self, option: &str) -> bool {
        self.options.contains(option)
    }

    /// Returns the value of a variable; `None` if it is not set.
    pub(crate) fn get(&self, name: &str) -> Option<Value> {
        if let Some(variable) = self.variables.get(name) {
            return Some(variable.value.clone());
        }
        let text = |path: &Option<PathBuf>| match path {
            Some(path) => Value::Text(crate::names::text_of(path.as_os_str())),
            None => Value::Unknown("the folder".to_owned()),
        };
        match name {
            "PWD" => Some(text(&self.folder)),
            "OLDPWD" => self.last_folder.is_some().then(|| text(&self.last_folder)),
            "IFS" => Some(Value::Text(" \t\n".to_owned())),
            _ if OWN.contains(&name) || name == "_" => Some(Value::Unknown(format!("${name}"))),
            _ => self.doubt.as_ref().map(|why| Value::Unknown(format!("${name} ({why})"))),
        }
    }

    pub(crate) fn set(&mut self, name: &str, value: Value) {
        let is_exported =
            self.has("allexport") || self.variables.get(name).is_some_and(|known| known.is_exported);
        let value = match value {
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

    /// Forgets whatever differs in another state that may hold instead.
    pub(crate) fn merge(&mut self, other: &Self) {
        let names: Vec<String> = self.variables.keys().chain(other.variables.keys()).cloned().collect();
        for name in names {
            if self.variables.get(&name) != other.variables.get(&name) {
                self.set(&name, Value::Unknown(format!("${name} (set in a condition or loop)")));
            }
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
        for (name, body) in &other.functions {
            let own = self.functions.entry(name.clone()).or_insert(None);
            let is_same = matches!((&*own, body), (Some(one), Some(two)) if Rc::ptr_eq(one, two));
            if !is_same {
                *own = None;
            }
        }
        self.options.extend(other.options.iter());
        self.missed = self.missed.take().or_else(|| other.missed.clone());
    }

    /// Returns the state of a shell that this one starts as a program.
    pub(crate) fn child(&self, parameters: Vec<String>) -> Self {
        let exported = self.variables.iter().filter(|(_, variable)| variable.is_exported);
        Self {
            variables: exported.map(|(name, variable)| (name.clone(), variable.clone())).collect(),
            parameters: Some(parameters),
            functions: BTreeMap::new(),
            options: BTreeSet::new(),
            ..self.clone()
        }
    }
}
