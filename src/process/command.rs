//! A command to start, and the parameters of the requests that may follow. Plain values.

use std::ffi::OsString;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::environment::OsText;
use super::wire::Spec;
use super::{ExactCommand, Workdir, limits};
use crate::config::Ceilings;
use crate::terminal::Size;

/// One command to start.
#[derive(Debug)]
pub struct HostedCommand {
    /// The shell: a path, or a name to be found in the command's `PATH`.
    pub shell: PathBuf,
    /// What the shell reads before the command.
    pub profile: ShellProfile,
    /// The command line, of any length.
    pub cmd: String,
    /// A text that the command line finds as [a file](super::script::text_path).
    pub text: Option<String>,
    /// The directory it starts in.
    pub workdir: Workdir,
    /// Its whole environment.
    pub env: Vec<(OsString, OsString)>,
    /// The file mode creation mask; `None` for the runtime's.
    pub umask: Option<u32>,
    /// Its standard streams.
    pub stdio: Stdio,
    /// Set if it runs exactly as another program would have run it; `cmd` and `profile` are then ignored.
    pub exact: Option<ExactCommand>,
    /// What it may take; the host has the kernel hold it where it can.
    pub ceilings: Ceilings,
    /// Whether it must not run if the kernel cannot.
    pub must_hold: bool,
    /// The task's folder; the host writes `exit.json` there.
    pub folder: PathBuf,
}

/// What a shell reads before its command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ShellProfile {
    /// The user's profile: a login shell (`-lc`).
    Login,
    /// What it reads by default (`-c`).
    Usual,
    /// Nothing (bash: `--noprofile --norc -c`).
    Nothing,
}

/// The standard streams of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stdio {
    /// Two pipes for output; standard input is a pipe if requested, else `/dev/null`.
    Pipes {
        /// Keeps standard input open.
        stdin: bool,
    },
    /// A PTY, which becomes the controlling terminal.
    Pty {
        /// Its initial size.
        size: Size,
    },
}

/// The processes a signal is sent to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SignalScope {
    /// The foreground process group of the command's terminal; without a terminal, as `Group`.
    Foreground,
    /// The command's own process group.
    Group,
    /// Every process of the command, in any session.
    Tree,
    /// The shell alone.
    Shell,
}

impl<'a> Spec<'a> {
    /// Describes a command for its host.
    pub(super) fn of(command: &'a HostedCommand) -> Self {
        let has_own_input = command.exact.as_ref().is_some_and(|exact| exact.stdin.is_some());
        Self {
            shell: OsText::of(&command.shell),
            profile: command.profile,
            cmd: command.cmd.clone(),
            text: command.text.clone(),
            args: command.exact.as_ref().map(|exact| exact.args.iter().map(OsText::of).collect()),
            inherited: command.exact.as_ref().map(|exact| exact.inherited.clone()),
            descriptors: command
                .exact
                .iter()
                .flat_map(|exact| &exact.descriptors)
                .map(|(number, _)| *number)
                .collect(),
            env: command.env.iter().map(|(name, value)| (OsText::of(name), OsText::of(value))).collect(),
            umask: command.umask,
            tty: matches!(command.stdio, Stdio::Pty { .. }),
            stdin: matches!(command.stdio, Stdio::Pipes { stdin: true }) || has_own_input,
            descriptor_limit: limits::original(),
            ceilings: command.ceilings,
            must_hold: command.must_hold,
            folder: OsText::of(&command.folder),
        }
    }
}
