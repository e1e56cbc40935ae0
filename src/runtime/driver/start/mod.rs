//! How a command starts, by where each part runs:
//!
//! 1. `in_caller`, in the task of who calls: finds the directory, creates the folder and the log, while the host comes
//!    up. Nothing has happened if this fails or is dropped.
//! 2. `in_loop`, in the driver's loop: the supervisor accepts the command, holds it or refuses it; later it takes over
//!    the command that was started.
//! 3. `in_job`, in a job that the loop spawns: instructs the host, records the start, and lets the command begin once the
//!    row is on disk.

mod files;
mod in_caller;
mod in_job;
mod in_loop;

pub(super) use files::spare_folder;
pub(super) use in_caller::StartKit;
pub(in crate::runtime) use in_caller::{PreparedStart, StartingTask, prepare};
pub(super) use in_loop::{exec, fail_start, spawn, take_over};
