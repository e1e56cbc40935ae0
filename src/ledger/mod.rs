//! The ledger: what the files of a workspace were before a command and after it, by a private folder of git.
//!
//! Nothing here ever runs git in the user's `.git`: whatever is written there can make git start programs
//! (`core.fsmonitor`, filters, `textconv`, hooks, aliases), and an agent can write there. [`PrivateGit`] is the only
//! way to git in this program, and the only configuration it reads is its own.

mod cost;
mod current_file;
mod difference;
mod disk_look;
mod first_look;
mod program;
mod references;
mod repository;
mod rights;
mod secrets;
mod snapshot;
mod starts;
mod tracked;
mod tree_rights;
mod undo;
mod undo_plan;
mod undo_room;
mod watch;

pub use cost::{consequences, cost_main};
pub use difference::{FileDifference, FileState, Found, between, count, difference, report};
pub use program::{GitFailure, PrivateGit, find_git, global_ignores};
pub use repository::RepositoryFiles;
pub use rights::FileRights;
pub use snapshot::{SnapshotBounds, TreeSnapshot, paths, take};
pub use starts::{ComingStart, ComingStarts};
pub use tracked::TrackedFiles;
pub use tree_rights::TreeRights;
pub use undo::{UndoFacts, plan};
pub use undo_plan::{UndoFailure, UndoMoment, UndoPlan};
pub use watch::TreeWatch;

use std::path::Path;

/// The folder of a recording with the ledger.
pub const FOLDER: &str = "ledger";

/// Tells whether a path in a recording belongs to its ledger, whose files git names.
#[must_use]
pub fn is_of_ledger(path: &Path) -> bool {
    path.starts_with(FOLDER)
}
