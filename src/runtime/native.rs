//! A command of an agent's own shell: what it has from its caller, and what its caller is told.

use std::ffi::OsString;
use std::io;
use std::os::fd::OwnedFd;

use tokio::sync::watch;

use super::bytes::{Outlet, are_one};
use super::request::ExecRequest;
use crate::facts::Exit;
use crate::process::{Exact, ResourceLimits};

/// What the caller of such a command hands over, beside its environment.
#[derive(Debug)]
pub struct Native {
    /// The arguments of the shell, the name it is called by first.
    pub args: Vec<OsString>,
    /// Where it starts.
    pub workdir: OwnedFd,
    /// Its standard input; `None` where it is typed by its caller and by a person.
    pub stdin: Option<OwnedFd>,
    /// Where its standard output goes; of one with a terminal, what it writes there.
    pub stdout: OwnedFd,
    /// Where its standard error goes.
    pub stderr: OwnedFd,
    /// Its limits.
    pub limits: ResourceLimits,
}

/// How far such a command has come.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Stage {
    /// It has not begun.
    #[default]
    Waiting,
    /// It waits for the operator's word.
    Held,
    /// Its shell runs.
    Started,
    /// Its shell has ended, and all it wrote before has been delivered. `closing`: why the runtime ended it, where it did.
    Ended {
        /// How the shell ended; `None` where nobody knows.
        exit: Option<Exit>,
        /// It was ended with its runtime; why.
        closing: Option<String>,
    },
}

/// A request of an agent's shell, with what comes of it.
#[derive(Debug)]
pub struct NativeRequest {
    /// What is run, as others see it. Its `native` is the id of the task.
    pub exec: ExecRequest,
    /// What it has from its caller.
    pub native: Native,
    /// Where its caller hears how far it is.
    pub told: watch::Sender<Stage>,
}

/// What is held for such a command until it ends.
#[derive(Debug)]
pub(super) struct Caller {
    /// What it starts with, until it does.
    pub(super) start: Option<(Exact, OwnedFd)>,
    /// Where its output goes, until it starts.
    pub(super) outlets: Vec<Outlet>,
    pub(super) told: watch::Sender<Stage>,
}

impl Caller {
    /// Takes the caller's descriptors over. What is written to a terminal is one stream.
    ///
    /// # Errors
    /// When one of them cannot be looked at.
    pub(super) fn new(native: Native, tty: bool, told: watch::Sender<Stage>) -> io::Result<Self> {
        let Native { args, workdir, stdin, stdout, stderr, limits } = native;
        let one_output = tty || are_one(&stdout, &stderr)?;
        let mut outlets = vec![Outlet::new(stdout)?];
        if !one_output {
            outlets.push(Outlet::new(stderr)?);
        }
        let exact = Exact { args, stdin, one_output, limits };
        Ok(Self { start: Some((exact, workdir)), outlets, told })
    }

    /// Tells its caller how far it is; an end is told once.
    pub(super) fn tell(&self, stage: Stage) {
        self.told.send_if_modified(|told| {
            let is_over = matches!(told, Stage::Ended { .. });
            if !is_over {
                *told = stage;
            }
            !is_over
        });
    }
}
