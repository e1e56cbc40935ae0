//! The folder of a console's copies of logs from other machines.

use std::io;
use std::path::{Path, PathBuf};

use crate::envelope::TaskId;
use crate::files::{HeldFolder, KnownTree};
use crate::runtime::LogPart;

/// The folder of the copies, which is removed with the console.
// Its name is the console's process id. Below it are a folder for each place by its number, one in that for each task,
// and the two files of the task's log.
#[derive(Debug)]
pub(super) struct LogCopies(pub(super) PathBuf);

impl Drop for LogCopies {
    fn drop(&mut self) {
        // There may be no copies.
        let _ = remove(&self.0);
    }
}

/// Removes copies left by consoles that were killed: folders named after processes that no longer exist.
pub fn remove_left_copies(folder: &Path) {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    for entry in entries {
        let name = entry.file_name();
        let is_pid = name.to_str().is_some_and(|name| name.parse::<u32>().is_ok());
        if is_pid
            && !Path::new("/proc").join(&name).exists()
            && let Err(error) = remove(&entry.path())
        {
            tracing::warn!(%error, folder = %entry.path().display(), "copies of logs stay");
        }
    }
}

/// Removes the copies of a console, unless something else is in their folder.
fn remove(copies: &Path) -> io::Result<()> {
    let (above, name) = (copies.parent().unwrap_or(copies), copies.file_name().unwrap_or_default());
    let (above, name) = (HeldFolder::open_own(above)?, Path::new(name));
    let is_known = |path: &Path, is_folder: bool| {
        let parts: Option<Vec<&str>> = path.iter().map(|part| part.to_str()).collect();
        let is_place = |slot: &str| slot.parse::<u32>().is_ok();
        match (parts.as_deref(), is_folder) {
            (Some([slot]), true) => is_place(slot),
            (Some([slot, task]), true) => is_place(slot) && task.parse::<TaskId>().is_ok(),
            (Some([_, _, file]), false) => LogPart::ALL.iter().any(|part| part.file_name() == *file),
            _ => false,
        }
    };
    KnownTree::read(&above, name, is_known)?.remove(&above, name, Path::new(""))
}
