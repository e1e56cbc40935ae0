//! Operating-system processes: starting a command, its descriptors, its process tree, and its termination.
//!
//! A command is never a direct child of the runtime. [`Spawner`] has a small *task host* started (a copy of the fork
//! server, which is this program run as `__fork`). The host starts the command through a second stage (a process that
//! shares its memory) and remains its child subreaper, so every descendant ends up below the host, however it
//! detached itself. No output flows through the host. When the control socket closes, because the runtime ended the
//! command or died, the host ends the tree and writes `exit.json`.
//!
//! The runtime is not a subreaper: it never reaps a process it did not start. Whatever a killed host leaves behind is
//! reparented to init, and is found by session, by descent and by `PILOTHOUSE_TASK_ID` ([`OrphanedTasks`]).
//!
//! Requires Linux 5.9 or newer for `close_range`, `openat2` and pidfds.

#[cfg(not(target_os = "linux"))]
compile_error!("pilothouse runs on Linux only: it relies on subreapers, pidfds and /proc");

mod caller_terminal;
mod cgroup;
mod command;
mod delegation;
mod detach;
mod editor;
pub mod environment;
mod exact;
mod exit_record;
mod fence;
mod file_watch;
mod foreign_shell;
mod forwarding;
mod group_counts;
mod guard;
mod hook_files;
mod host;
mod host_event;
mod identity;
mod inherited;
mod input_line;
mod keeper;
mod kinship;
mod lateness;
mod launcher;
mod limits;
mod lineage;
mod listening;
mod orphans;
mod peer;
mod process_table;
mod program_name;
mod pty;
mod pty_program;
mod running;
pub mod script;
pub mod shell_kind;
mod shell_links;
mod signal_queue;
mod size;
mod standstill;
mod start;
mod stopped_host_watch;
mod survey;
mod survivors;
mod sys;
mod task_mark;
mod termination;
mod tree;
mod unended;
mod usage;
mod wire;
mod witness;
pub mod workdir;
mod writers;

pub use caller_terminal::CallerTerminal;
pub use cgroup::cgroups;
pub use command::{HostedCommand, ShellProfile, SignalScope, Stdio};
pub use delegation::{CeilingObstacle, can_claim_controllers, claim_controllers};
#[cfg(feature = "console")]
pub use detach::{can_detach, detach};
pub use exact::{ExactCommand, ResourceLimits};
pub use exit_record::{EndReason, ExitRecord};
pub use fence::{Fence, is_confined};
pub use file_watch::FileWatch;
pub use foreign_shell::foreign_shell;
pub use group_counts::GroupCounts;
pub use guard::{has_lost_keeper, install as install_guards};
pub use hook_files::HookFiles;
pub use host_event::HostEvent;
pub use identity::{Identity, boot_id, console_process, container, own_console_process};
pub use inherited::{InheritedAttributes, MOST_DESCRIPTORS, inherited_descriptors};
pub use input_line::{InputLine, LineChange};
pub use kinship::{AgentKinship, kinship};
pub use limits::{bound_memory, forgo_core_dump, keep_descriptors, own_umask, raise_descriptor_limit};
pub use lineage::{Ancestry, EnclosingTask, Lineage, ancestry, is_in_command, parent};
pub use listening::{ListenChange, ListeningWatch, WatchedTask};
pub use orphans::{OrphanedTasks, Orphans};
pub use peer::{PeerReader, is_gone};
pub use process_table::ProcessTable;
pub use program_name::{is_called_with, program_name};
pub use pty::{InputLook, InputMode, Pty, TerminalRead, read_output, read_terminal};
pub use pty_program::{PtyCommand, PtyProgram};
pub use running::{HostHandle, Io, RunningCommand};
pub use shell_links::{
    SHELL_PREFIX, SHELL_PROGRAM, SHELLS, ShellLinks, is_own_bash_env, is_shell_link, kind_of_shell,
    whole_program,
};
pub use signal_queue::{
    RESIZED, SignalQueue, become_program, die_of, has_no_output, heed_signals, ignores_from_start,
};
pub use size::TreeSize;
pub use standstill::{Standstill, Turn};
pub use start::fork_server::fork_server_main;
pub use start::second_stage::find_shell;
pub use start::spare::SPARES;
pub use start::spawner::{ComingHost, CommandOrder, PreparedHost, SpawnError, Spawner};
pub use start::streams::read_end;
#[cfg(feature = "console")]
pub(crate) use sys::before_death;
pub(crate) use sys::{is_written, return_memory, take_short_turns, watch};
pub use task_mark::is_lasting as are_task_marks_lasting;
pub use unended::{is_still_alive, still_alive};
pub use usage::{ProcessUsage, Usage};
pub use wire::StartStage;
pub use workdir::{Workdir, WorkdirError};

pub use witness::Witness;
pub use writers::writers;
