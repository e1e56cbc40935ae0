//! What is asked for: a command and the orders that may follow it. Plain values.

use std::ffi::OsString;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::Workdir;
use crate::terminal::Size;

/// One command to start.
#[derive(Debug)]
pub struct Command {
    /// The shell: a path, or a name to be found in the command's `PATH`.
    pub shell: PathBuf,
    /// What the shell reads before the command.
    pub profile: Profile,
    /// The command line, of any length.
    pub cmd: String,
    /// Where it starts.
    pub workdir: Workdir,
    /// Its whole environment.
    pub env: Vec<(OsString, OsString)>,
    /// What its standard streams are.
    pub stdio: Stdio,
    /// The task's folder; the host writes `exit.json` there.
    pub folder: PathBuf,
}

/// What a shell reads before its command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Profile {
    /// The user's profile: a login shell (`-lc`).
    Login,
    /// What it reads by itself (`-c`).
    Usual,
    /// Nothing (bash: `--noprofile --norc -c`).
    Nothing,
}

/// What the standard streams of a command are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stdio {
    /// Two pipes for output; standard input is a pipe when asked for, else `/dev/null`.
    Pipes {
        /// Keeps standard input open.
        stdin: bool,
    },
    /// A PTY, which becomes the controlling terminal.
    Pty {
        /// Its first size.
        size: Size,
    },
}

/// What becomes of processes that outlive their shell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Leftovers {
    /// They are ended.
    End,
    /// They live on; the host stays with them.
    Keep,
}

/// Whom a signal goes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// The foreground process group of the command's terminal; without a terminal, as `Group`.
    Foreground,
    /// The command's own process group.
    Group,
    /// Every process of the command, in whatever session.
    Tree,
}
