//! The start of a command, in the order of its stages:
//!
//! 1. **Order** (`streams`, `spawner`; in the runtime): the [`HostedCommand`](crate::process::HostedCommand) gets its
//!    pipes or its terminal, while `descriptor_lock` keeps other starts from inheriting them.
//! 2. **Host** (`hosts`, `spare`; in the runtime): a task host that is kept ready, or a new one from the fork server.
//!    `fork_server` is that server, a process of its own.
//! 3. **Instruction** (`idle_host`; in the host): it waits for the command, and then for the word to begin, which the
//!    runtime sends once the start is on record.
//! 4. **Creation** (`creation`; in the host): a process is created that shares the host's memory, and the host learns
//!    whether it became the command.
//! 5. **Second stage** (`second_stage`; in that process): it takes its session, streams, directory and limits, and
//!    executes the shell.
//!
//! From then on the command is a [`RunningCommand`](crate::process::RunningCommand) for the runtime, and a
//! [`TaskHost`](crate::process::host) for its host.

pub(in crate::process) mod creation;
pub(in crate::process) mod descriptor_lock;
pub(in crate::process) mod fork_server;
pub(in crate::process) mod hosts;
pub(in crate::process) mod idle_host;
pub(in crate::process) mod second_stage;
pub(in crate::process) mod spare;
pub(in crate::process) mod spawner;
pub(in crate::process) mod streams;
