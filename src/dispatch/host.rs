//! What commands need from the outside world: environment, folders, the terminal, access to a runtime. Implemented
//! where argv and environment are read.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::code::Code;
use super::response::Failure;
use crate::config::{Fault, Faults};
use crate::link::{Access, RemoteHost, Running, Started};
use crate::paths::Places;
use crate::runtime::Handle;
use crate::terminal::host_terminal::HostTerminal;
use crate::tools::IdempotencyKeys;

/// The outside world.
pub trait Host: Send + Sync {
    /// Returns an environment variable.
    fn variable(&self, name: &str) -> Option<OsString>;

    /// Returns all environment variables whose names are text.
    fn variables(&self) -> Vec<(String, OsString)> {
        Vec::new()
    }

    /// Returns the folders of the workspace.
    ///
    /// # Errors
    /// When there is no working directory or no home.
    fn places(&self) -> Result<Places, Failure>;

    /// Returns the folders in which a runtime of this workspace may have its sockets, whatever its variables were.
    fn runtime_dirs(&self) -> Vec<PathBuf> {
        Vec::new()
    }

    /// Returns the path of this program.
    fn program(&self) -> Option<PathBuf> {
        None
    }

    /// Returns the directory commands start in.
    ///
    /// # Errors
    /// When it is gone.
    fn cwd(&self) -> Result<PathBuf, Failure>;

    /// Returns how the runtime of the workspace is reached.
    ///
    /// # Errors
    /// When there is no working directory, or the settings are invalid.
    fn access(&self) -> Result<Access, Failure>;

    /// Starts a runtime in this process that nobody else can join, and whose tasks end with it.
    ///
    /// # Errors
    /// When it cannot be started.
    fn embed(&self) -> Result<Embedded, Failure>;

    /// Returns whether the caller asked for a runtime in this process.
    fn is_private(&self) -> bool {
        false
    }

    /// Is told of a runtime that was started for this command and outlives it.
    fn started(&self, _runtime: &Started) {}

    /// Returns the host that a person calls so.
    ///
    /// # Errors
    /// When it is no name of one.
    fn remote_host(&self, name: &str) -> Result<RemoteHost, Failure> {
        Err(Failure::new(Code::ArgError, format!("No host is called {name}.")))
    }

    /// Returns this user's runtimes on this machine.
    fn runtimes(&self) -> Vec<Running> {
        Vec::new()
    }

    /// Returns the name that this machine has for itself.
    fn machine(&self) -> String {
        String::new()
    }

    /// Asks the person at the terminal whether to go on; `None` when nobody is there. Blocks.
    fn confirm(&self, _question: &str) -> Option<bool> {
        None
    }

    /// Asks the terminal what it can do; `None` when there is none.
    fn probe_terminal(&self) -> Option<Probe>;

    /// Is told of a task whose id was given to the caller and that ends with this process.
    fn promised(&self, task: &str);

    /// Returns the completion script for a shell.
    fn completions(&self, shell: Shell) -> String;

    /// Returns the manual pages, each with the name of its file; the program's own is the last.
    fn man_pages(&self) -> Vec<(String, String)>;

    /// Returns the keys of the console; the faults of their files instead.
    ///
    /// # Errors
    /// When there is no place for them, or no console.
    fn keys(&self) -> Result<Result<Vec<KeyRow>, Faults>, Failure> {
        Err(Failure::new(Code::Precondition, "This program was built without the console, and has no keys."))
    }

    /// Checks the files of keys and themes: returns those without faults, and the faults of the others.
    ///
    /// # Errors
    /// When there is no place for them.
    fn check_console_files(&self) -> Result<(Vec<String>, Vec<Fault>), Failure> {
        Ok((Vec::new(), Vec::new()))
    }

    /// Reads standard input to its end, at most `limit` bytes and one more. Blocks.
    ///
    /// # Errors
    /// When it belongs to something else: a stream of commands, or a terminal.
    fn standard_input(&self, _limit: u64) -> Result<Vec<u8>, Failure> {
        let message = "Standard input is not this command's to read.";
        Err(Failure::new(Code::ArgError, message).fix("give the path of a file"))
    }
}

/// Finds a program on the caller's PATH.
pub(super) fn on_path(host: &dyn Host, name: &str) -> Option<PathBuf> {
    which::which_in_global(name, host.variable("PATH")).ok()?.next()
}

/// A runtime in this process.
#[derive(Debug, Clone)]
pub struct Embedded {
    /// The runtime.
    pub runtime: Handle,
    /// Its answers to requests that must not be done twice.
    pub idempotency: Arc<IdempotencyKeys>,
}

/// What the terminal answered when it was asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Probe {
    /// Columns and rows.
    pub size: (u16, u16),
    /// It speaks the keyboard protocol of kitty.
    pub kitty_keys: bool,
    /// Columns it gives to a wide character; none when it did not say.
    pub wide_columns: Option<u16>,
    /// Its colours, and how wide it draws a mark of the console.
    pub host: HostTerminal,
}

/// A shell with a completion script.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Shell {
    /// GNU bash.
    Bash,
    /// zsh.
    Zsh,
    /// fish.
    Fish,
}

/// One action in one context.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct KeyRow {
    /// Where: `tasks`, `focus`, `input` …; `observe` holds everywhere outside of typing and dialogs.
    pub context: String,
    /// The action's name, as in `keys.toml` and in the palette.
    pub action: String,
    /// What it does.
    pub about: String,
    /// Its keys.
    pub keys: Vec<String>,
    /// Its keys in the default keymap.
    pub default: Vec<String>,
}
