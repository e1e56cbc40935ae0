//! Operating-system processes: one command, its descriptors, its whole tree, its end.
//!
//! A command never runs under the runtime itself. [`Spawner`] starts a small *task host* (this
//! program again, `__host`), which starts the command through a second stage (a fork) and stays
//! its child subreaper: every descendant, however it detached itself, ends up below the host. No
//! output flows through the host. When the control socket closes, because the runtime ended the
//! command or died, the host ends the tree and writes `exit.json`.
//!
//! The runtime is no subreaper: it never reaps a process it did not start. What a killed host
//! leaves behind goes to init and is found by session, descent and `PILOTHOUSE_TASK_ID`
//! ([`end_strays`]).
//!
//! Linux 5.9 or newer: `close_range`, `openat2`, pidfds.

#[cfg(not(target_os = "linux"))]
compile_error!("pilothouse runs on Linux only: it relies on subreapers, pidfds and /proc");

mod above;
mod arrived;
mod cgroup;
mod command;
mod console;
pub mod environment;
mod exec;
mod exit_record;
mod guard;
mod host;
mod identity;
mod keeper;
mod ladder;
mod launcher;
mod limits;
mod lineage;
mod orphan;
mod pty;
mod running;
mod sieve;
mod signal;
pub mod sourced;
mod spawner;
mod start;
mod stray;
mod sys;
mod tree;
mod usage;
mod wire;
pub mod workdir;

pub use above::{Above, task_above};
pub use cgroup::cgroups;
pub use command::{Command, Leftovers, Profile, Scope, Stdio};
pub use console::ConsoleProcess;
pub use exit_record::{EndReason, ExitRecord};
pub use guard::plant;
pub use host::host_main;
pub use identity::{Identity, boot_id};
pub use limits::{keep_descriptors, raise_descriptor_limit};
pub use lineage::{Lineage, lineage, task_host};
pub use pty::{InputMode, Pty};
pub use running::{Host, HostEvent, Io, Running};
pub use signal::{ExitStatus, Signal, UnknownSignal};
pub use spawner::{PreparedHost, Resource, SpawnError, Spawner};
pub use stray::{Remains, Strays, end_strays};
#[cfg(feature = "console")]
pub(crate) use sys::before_death;
pub use usage::Usage;
pub use wire::Stage;
pub use workdir::{Workdir, WorkdirError};
