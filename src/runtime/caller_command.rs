//! A command from an agent's own shell: the resources its caller passes in, and the progress reported back.

use std::ffi::OsString;
use std::io;
use std::os::fd::OwnedFd;

use tokio::sync::watch;

use super::bytes::{Outlet, are_one, full_device};
use crate::model::{CeilingHit, ExecRequest, Exit};
use crate::process::{CallerTerminal, ExactCommand, InheritedAttributes};

/// What the caller of such a command passes in, besides its environment.
#[derive(Debug)]
pub struct Native {
    /// The arguments of the shell, starting with the name it is called by.
    pub args: Vec<OsString>,
    /// The directory it starts in.
    pub workdir: OwnedFd,
    /// Its standard input; `None` if input is typed by its caller and by a person.
    pub stdin: Option<OwnedFd>,
    /// The terminal that it would have run on, if all its standard streams are that.
    pub terminal: Option<CallerTerminal>,
    /// Where its standard output goes; with a terminal, everything it writes there.
    pub stdout: OwnedFd,
    /// Where its standard error goes.
    pub stderr: OwnedFd,
    /// What its caller would hand on to it.
    pub inherited: InheritedAttributes,
    /// Its descriptors above the standard streams, with their numbers.
    pub descriptors: Vec<(i32, OwnedFd)>,
}

/// The progress of such a command.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum CallerStage {
    /// Not started yet.
    #[default]
    Waiting,
    /// Waiting for the operator's approval.
    Held,
    /// Its shell runs.
    Started,
    /// Its shell has ended, and everything it wrote before that has been delivered.
    Ended {
        /// How the shell ended; `None` if unknown.
        exit: Option<Exit>,
        /// Why the runtime ended, if the command was ended with it.
        closing: Option<String>,
        /// Why some of its output could not be written to the caller's descriptors.
        unwritten: Option<String>,
        /// The ceiling that ended it.
        ceiling: Option<CeilingHit>,
        /// Which of its processes could not be ended, in words.
        unended: Option<String>,
        /// What a person did to it.
        by_operator: Intervention,
    },
}

/// What a person did to such a command. It is then no longer what it would have been without us.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Intervention {
    #[default]
    Nothing,
    /// Typed into it.
    Typed,
    /// Stopped it, or sent it a signal.
    Stopped,
}

/// A request from an agent's shell, and the channel for its progress.
#[derive(Debug)]
pub struct NativeRequest {
    /// The request as others see it. Its `native` field is the id of the task.
    pub exec: ExecRequest,
    /// What the caller passes in.
    pub native: Native,
    /// Where progress is reported to the caller.
    pub told: watch::Sender<CallerStage>,
}

/// What is held for such a command until it ends.
#[derive(Debug)]
pub(super) struct WaitingCaller {
    /// How and where to start it, until it is started.
    pub(super) start: Option<(ExactCommand, OwnedFd)>,
    /// Where its output goes, until it is started.
    pub(super) outlets: Vec<Outlet>,
    /// The terminal that the command's stands for, until its shell has ended.
    pub(super) terminal: Option<CallerTerminal>,
    pub(super) told: watch::Sender<CallerStage>,
}

impl WaitingCaller {
    /// Takes over the caller's descriptors. A terminal's output is a single stream.
    ///
    /// # Errors
    /// If one of them cannot be examined.
    pub(super) fn new(native: Native, tty: bool, told: watch::Sender<CallerStage>) -> io::Result<Self> {
        let Native { args, workdir, stdin, terminal, stdout, stderr, inherited, descriptors } = native;
        let one_output = tty || are_one(&stdout, &stderr)?;
        let unread = [full_device(&stdout)?, full_device(&stderr)?];
        let mut outlets = vec![Outlet::new(stdout)?];
        if !one_output {
            outlets.push(Outlet::new(stderr)?);
        }
        let own = terminal.as_ref().map(CallerTerminal::try_clone).transpose()?;
        let exact = ExactCommand { args, stdin, terminal: own, one_output, unread, inherited, descriptors };
        Ok(Self { start: Some((exact, workdir)), outlets, terminal, told })
    }

    /// Reports progress to the caller; the end is reported only once.
    pub(super) fn tell(&self, stage: CallerStage) {
        self.told.send_if_modified(|told| {
            let is_over = matches!(told, CallerStage::Ended { .. });
            if !is_over {
                *told = stage;
            }
            !is_over
        });
    }
}
