//! A command that runs exactly as another program would have run it: with its arguments, standard input and limits.

use std::ffi::OsString;
use std::os::fd::OwnedFd;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use serde::{Deserialize, Serialize};

use super::{CallerTerminal, InheritedAttributes};

/// The limits of a process, in the order in which they are sent.
const RESOURCES: [Resource; 16] = [
    Resource::Cpu,
    Resource::Fsize,
    Resource::Data,
    Resource::Stack,
    Resource::Core,
    Resource::Rss,
    Resource::Nproc,
    Resource::Nofile,
    Resource::Memlock,
    Resource::As,
    Resource::Locks,
    Resource::Sigpending,
    Resource::Msgqueue,
    Resource::Nice,
    Resource::Rtprio,
    Resource::Rttime,
];

/// The properties that a command takes over from the program that would have run it.
#[derive(Debug)]
pub struct ExactCommand {
    /// Its arguments, starting with the name it is called by.
    pub args: Vec<OsString>,
    /// Its standard input; `None` for that of the command's [`Stdio`](super::Stdio).
    pub stdin: Option<OwnedFd>,
    /// The terminal that its own one stands for.
    pub terminal: Option<CallerTerminal>,
    /// Whether standard output and error are the same file: a single pipe then keeps the output in order.
    pub one_output: bool,
    /// Output of its that is not read here, but goes where it goes without us: nothing can be written there.
    pub unread: [Option<OwnedFd>; 2],
    /// What that program would have handed on to it.
    pub inherited: InheritedAttributes,
    /// Its descriptors above the standard streams, with their numbers.
    pub descriptors: Vec<(i32, OwnedFd)>,
}

/// The soft and hard limits of a process; `None` means unlimited.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ResourceLimits(Vec<(Option<u64>, Option<u64>)>);

impl ResourceLimits {
    /// Returns the limits of this process.
    #[must_use]
    pub fn own() -> Self {
        let limit = |resource| {
            let Rlimit { current, maximum } = getrlimit(resource);
            (current, maximum)
        };
        Self(RESOURCES.into_iter().map(limit).collect())
    }

    /// Sets the limits for this process, which is about to become the command. If a hard limit cannot be set, the
    /// soft limit is set as close as this process is allowed to.
    pub(super) fn apply(&self) {
        for (resource, (current, maximum)) in RESOURCES.into_iter().zip(&self.0) {
            let wanted = Rlimit { current: *current, maximum: *maximum };
            let own = getrlimit(resource);
            if own == wanted || setrlimit(resource, wanted).is_ok() {
                continue;
            }
            let least = |one: Option<u64>, other: Option<u64>| match (one, other) {
                (Some(one), Some(other)) => Some(one.min(other)),
                (limit, None) | (None, limit) => limit,
            };
            let maximum = least(wanted.maximum, own.maximum);
            let _ = setrlimit(resource, Rlimit { current: least(wanted.current, maximum), maximum });
        }
    }
}
