//! The interface through which commands access the process's environment: variables, file locations, the terminal, a
//! runtime. Implemented where argv and the environment are read.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::code::Code;
use super::response::Failure;
use crate::config::{Fault, Faults};
use crate::link::{Access, RemoteHost, RunningRuntime, StartedRuntime};
use crate::paths::Places;
use crate::runtime::Handle;
use crate::terminal::host_terminal::HostTerminal;
use crate::tools::IdempotencyKeys;

/// Access to the process's environment.
pub trait Host: Send + Sync {
    /// Returns an environment variable.
    fn variable(&self, name: &str) -> Option<OsString>;

    /// Returns all environment variables whose names are valid UTF-8.
    fn variables(&self) -> Vec<(String, OsString)> {
        Vec::new()
    }

    /// Returns the workspace's file locations.
    ///
    /// # Errors
    /// When there is no working directory or no home.
    fn places(&self) -> Result<Places, Failure>;

    /// Returns the folders in which a runtime of this workspace may have its sockets, whatever its environment
    /// variables were.
    fn runtime_dirs(&self) -> Vec<PathBuf> {
        Vec::new()
    }

    /// Returns the path of this program.
    fn program(&self) -> Option<PathBuf> {
        None
    }

    /// Returns the working directory, in which commands start.
    ///
    /// # Errors
    /// When it no longer exists.
    fn cwd(&self) -> Result<PathBuf, Failure>;

    /// Returns how to reach the workspace's runtime.
    ///
    /// # Errors
    /// When there is no working directory, or the settings are invalid.
    fn access(&self) -> Result<Access, Failure>;

    /// Starts a runtime in this process that nobody else can join, and whose tasks end with it.
    ///
    /// # Errors
    /// When it cannot be started.
    fn embed(&self) -> Result<PrivateRuntime, Failure>;

    /// Returns whether the caller requested a runtime in this process.
    fn is_private(&self) -> bool {
        false
    }

    /// Called when a runtime has been started for this command and will outlive it.
    fn announce_runtime(&self, _runtime: &StartedRuntime) {}

    /// Returns the host with this name.
    ///
    /// # Errors
    /// When the name is not that of a host.
    fn remote_host(&self, name: &str) -> Result<RemoteHost, Failure> {
        Err(Failure::new(Code::ArgError, format!("No host is called {name}.")))
    }

    /// Returns this user's runtimes on this machine.
    fn runtimes(&self) -> Vec<RunningRuntime> {
        Vec::new()
    }

    /// Returns this machine's own name.
    fn machine(&self) -> String {
        String::new()
    }

    /// Queries the terminal's capabilities; `None` if there is none.
    fn probe_terminal(&self) -> Option<Probe>;

    /// Called when the caller has been given the id of a task that ends with this process.
    fn note_promise(&self, task: &str);

    /// Returns the completion script for a shell.
    fn completions(&self, shell: Shell) -> String;

    /// Returns the manual pages, each with its file name; the program's own is the last.
    fn man_pages(&self) -> Vec<(String, String)>;

    /// Returns the console's key bindings, or the faults in their files.
    ///
    /// # Errors
    /// When there is no location for them, or no console.
    fn keys(&self) -> Result<Result<Vec<KeyRow>, Faults>, Failure> {
        Err(Failure::new(Code::Precondition, "This program was built without the console, and has no keys."))
    }

    /// Checks the files of key bindings and themes: returns those without faults, and the faults of the others.
    ///
    /// # Errors
    /// When there is no location for them.
    fn check_console_files(&self) -> Result<(Vec<String>, Vec<Fault>), Failure> {
        Ok((Vec::new(), Vec::new()))
    }

    /// Reads standard input to its end, at most `limit` bytes plus one. Blocks.
    ///
    /// # Errors
    /// When it is used for something else: a stream of commands, or a terminal.
    fn standard_input(&self, _limit: u64) -> Result<Vec<u8>, Failure> {
        let message = "This command cannot read standard input.";
        Err(Failure::new(Code::ArgError, message).fix("give the path of a file"))
    }
}

/// Finds a program on the caller's PATH.
pub(super) fn on_path(host: &dyn Host, name: &str) -> Option<PathBuf> {
    which::which_in_global(name, host.variable("PATH")).ok()?.next()
}

/// A runtime in this process.
#[derive(Debug, Clone)]
pub struct PrivateRuntime {
    pub runtime: Handle,
    /// Its answers by idempotency key.
    pub idempotency: Arc<IdempotencyKeys>,
}

/// The terminal's answers to queries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Probe {
    /// Columns and rows.
    pub size: (u16, u16),
    /// Whether it supports the kitty keyboard protocol.
    pub kitty_keys: bool,
    /// The columns it uses for a wide character; `None` if it did not answer.
    pub wide_columns: Option<u16>,
    /// Its colours, and how wide it draws the console's marker.
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
    /// The context: `tasks`, `focus`, `input` …; `observe` applies everywhere outside of typing and dialogs.
    pub context: String,
    /// The action's name, as in `keys.toml` and in the palette.
    pub action: String,
    /// The effect of the action.
    pub about: String,
    /// Its keys.
    pub keys: Vec<String>,
    /// Its keys in the default keymap.
    pub default: Vec<String>,
}
