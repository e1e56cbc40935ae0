//! What a host reports of its command.

use super::GroupCounts;
use crate::model::{Exit, UnendedProcess};

/// An event from a host, in this order: `Exited`, then, after [`Host::finish`](super::HostHandle::finish) or immediately if
/// nothing is left, perhaps `AtWork`, then `Leftovers` and `Ended`. `Ended` without `Exited` means that not even the shell
/// could be killed. `Lost` may come at any time and is the last event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HostEvent {
    /// The shell ended; other processes may still run and write.
    Exited(Exit),
    /// These processes outlived the shell and are still part of the command: they are waited for.
    AtWork {
        /// The names, one per process.
        names: Vec<String>,
    },
    /// The processes that outlived a shell that ended by itself; they are being ended, or kept as requested. Empty if
    /// the whole tree is being ended.
    Leftovers {
        /// The names, one per process.
        names: Vec<String>,
    },
    /// What the kernel has counted in its control group, if that has controllers: before `Ended`, and before `Exited` too if
    /// the shell was killed.
    Counted(GroupCounts),
    /// Nothing is left that can be ended, and `exit.json` has been written.
    Ended {
        /// The processes that could not be ended.
        survivors: Vec<UnendedProcess>,
    },
    /// The host was killed. Any of the command's processes that could be found were killed too.
    Lost {
        /// Those that could not be ended.
        survivors: Vec<UnendedProcess>,
    },
}
