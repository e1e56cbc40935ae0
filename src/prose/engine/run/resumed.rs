//! A run to be resumed: its journal and its folder, opened and checked.

use std::path::{Path, PathBuf};

use super::load::read;
use crate::prose::engine::record::error::RunError;
use crate::prose::engine::record::folder::{self, RunFolder, SharedDisk};
use crate::prose::engine::record::journal::{self, RunHeader, RunJournal};

pub(super) struct ResumedRun {
    pub(super) journal: RunJournal,
    pub(super) folder: RunFolder,
    pub(super) first: RunHeader,
    /// The program's text.
    pub(super) text: String,
}

/// Returns the folder of a run.
///
/// # Errors
/// When there is no such run.
pub fn find(workspace: &Path, run: &str) -> Result<PathBuf, RunError> {
    let runs = folder::runs(workspace);
    let path = runs.join(run);
    let is_name = !run.is_empty() && !run.contains('/') && run != "." && run != "..";
    if !is_name || !path.join(journal::JOURNAL).is_file() {
        return Err(RunError::NoRun { run: run.to_owned(), folder: runs });
    }
    Ok(path)
}

impl ResumedRun {
    /// Opens it; if `program` is given, it must not have changed since.
    ///
    /// # Errors
    /// When there is no such run, or it cannot be used.
    pub(super) fn open(
        disk: &SharedDisk,
        workspace: &Path,
        run: &str,
        program: Option<&Path>,
    ) -> Result<Self, RunError> {
        let path = find(workspace, run)?;
        let (journal, first) = RunJournal::open(disk.clone(), &path, run)?;
        let copy = path.join("program.prose");
        let text = read(&copy)?;
        if let Some(program) = program.filter(|program| **program != *copy)
            && read(program)? != text
        {
            return Err(RunError::Changed { path: program.to_owned(), run: run.to_owned() });
        }
        let folder = RunFolder::reopen(disk, path, journal.last_line())?;
        Ok(Self { journal, folder, first, text })
    }
}
