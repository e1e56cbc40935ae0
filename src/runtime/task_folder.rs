//! The folder of a task that is about to be created, and those prepared for the next tasks, so that a start need not
//! wait for a file system: creating files may take milliseconds (docs/decisions/24-process-tree.md).

use std::collections::VecDeque;
use std::fs::DirBuilder;
use std::io;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use rustix::fs::ResolveFlags;

use super::log::{LOG, LogFiles, MARKS};
use crate::envelope::TaskId;
use crate::files::{self, HeldFolder, KnownTree};
use crate::model::Error;
use crate::process::SPARES;
use crate::terminal::Size;

/// The folder of a recording with a folder for each task.
pub(super) const TASKS: &str = "tasks";
/// The files of a task: those of its log, its end, its streams as artifacts, and those around a program's command.
const FILES: [&str; 9] =
    [LOG, MARKS, "output.tail", "exit.json", "stdout.log", "stderr.log", "merged.log", "command", "cwd"];
/// The most folders kept for future tasks: for spare hosts, and for hosts that callers were promised but have not taken.
const KEPT: usize = 2 * SPARES;

/// The folder of a task with its empty log. It is removed on drop, unless it is kept.
#[derive(Debug)]
pub(super) struct TaskFolder {
    path: PathBuf,
    files: Option<LogFiles>,
    is_kept: bool,
}

impl TaskFolder {
    /// Creates the folder of a task in a recording, for a terminal of this size. Blocks.
    ///
    /// # Errors
    /// If the recording is gone, or the folder or a file cannot be created.
    pub(super) fn create(recording: &Path, id: &TaskId, size: Size) -> Result<Self, Error> {
        let path = path_of(recording, id)?;
        // A folder that is there already was made by somebody else, who keeps it.
        DirBuilder::new().mode(0o700).create(&path).map_err(Error::io("create the task's folder", &path))?;
        let mut folder = Self { path, files: None, is_kept: false };
        folder.files = Some(LogFiles::create(&folder.path)?);
        folder.set_size(size)?;
        Ok(folder)
    }

    fn set_size(&mut self, size: Size) -> Result<(), Error> {
        let set = self.files.as_mut().map_or(Ok(()), |files| files.set_size(size));
        set.map_err(Error::io("write the size of the terminal in", &self.path))
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Takes the files of the log out.
    ///
    /// # Errors
    /// If they were taken before.
    pub(super) fn take_files(&mut self) -> Result<LogFiles, Error> {
        let taken = || Error::io("open the log in", &self.path)(std::io::ErrorKind::NotFound.into());
        self.files.take().ok_or_else(taken)
    }

    /// Leaves the folder to its task.
    pub(super) fn keep(mut self) {
        self.is_kept = true;
    }
}

impl Drop for TaskFolder {
    fn drop(&mut self) {
        if !self.is_kept
            && let Err(error) = remove(&self.path)
        {
            tracing::warn!(%error, folder = %self.path.display(), "remove the folder of a task that was not started");
        }
    }
}

/// Removes a task's folder, unless something is in it that does not belong there.
pub(super) fn remove(path: &Path) -> io::Result<()> {
    let (above, name) = (path.parent().unwrap_or(path), Path::new(path.file_name().unwrap_or_default()));
    let tasks = HeldFolder::open(above)?;
    let is_known = |path: &Path, is_folder: bool| !is_folder && path.to_str().is_some_and(is_file_of_task);
    KnownTree::read(&tasks, name, is_known)?.remove(&tasks, name, Path::new(""))
}

/// Tells whether a path in a recording is the folder of tasks, one of them, or one of its files.
pub(super) fn is_of_tasks(path: &Path, is_folder: bool) -> bool {
    let parts: Option<Vec<&str>> = path.iter().map(|part| part.to_str()).collect();
    match (parts.as_deref(), is_folder) {
        (Some([TASKS]), true) => true,
        (Some([TASKS, id]), true) => id.parse::<TaskId>().is_ok(),
        (Some([TASKS, id, name]), false) => id.parse::<TaskId>().is_ok() && is_file_of_task(name),
        _ => false,
    }
}

/// Tells whether a name is that of a task's file, or of one that was about to replace it.
fn is_file_of_task(name: &str) -> bool {
    let replaced = || {
        let (name, end) = name.strip_prefix('.')?.rsplit_once('.')?;
        end.bytes().all(|byte| byte.is_ascii_hexdigit()).then_some(name)
    };
    FILES.contains(&replaced().unwrap_or(name))
}

fn path_of(recording: &Path, id: &TaskId) -> Result<PathBuf, Error> {
    let tasks = recording.join(TASKS);
    if !tasks.exists() {
        // A folder created here would look like a recording, but contain nothing that happened before.
        let reason = "the recording was removed or moved away".to_owned();
        return Err(Error::Unrecorded { reason, is_full: false });
    }
    Ok(tasks.join(id.as_str()))
}

/// The folders prepared for the next tasks, oldest first.
// A lock, not a message. Only threads for blocking work wait for it, and they hold it while they remove a folder: the
// task that it was prepared for may be about to create it. A folder is created without it: nobody else knows its id
// then.
#[derive(Debug, Default)]
pub(super) struct SpareFolders(Mutex<VecDeque<(TaskId, TaskFolder)>>);

impl SpareFolders {
    /// Prepares the folder of a future task and returns its path. If it cannot be created, that is left to the task to
    /// report. Of more than [`KEPT`] folders, the oldest is removed. Blocks.
    pub(super) fn prepare(&self, recording: &Path, id: &TaskId) -> Option<PathBuf> {
        let folder = TaskFolder::create(recording, id, Size::default()).ok()?;
        let path = folder.path.clone();
        let mut spares = self.lock();
        spares.push_back((id.clone(), folder));
        if spares.len() > KEPT {
            spares.pop_front();
        }
        Some(path)
    }

    /// Returns the folder prepared for a task, or creates it. Blocks.
    ///
    /// # Errors
    /// As [`TaskFolder::create`].
    pub(super) fn take_or_create(
        &self,
        recording: &Path,
        id: &TaskId,
        size: Size,
    ) -> Result<TaskFolder, Error> {
        match take(&mut self.lock(), id).filter(|folder| folder.path.is_dir()) {
            Some(mut folder) => folder.set_size(size).map(|()| folder),
            None => TaskFolder::create(recording, id, size),
        }
    }

    /// Returns the folder prepared for a task, for a terminal of the usual size, if that takes no wait: neither for the
    /// file system nor for another thread.
    pub(super) fn take_at_once(&self, id: &TaskId) -> Option<TaskFolder> {
        let mut spares = self.0.try_lock().ok()?;
        let (_, folder) = spares.iter().find(|(prepared, _)| prepared == id)?;
        files::open_cached(&folder.path, ResolveFlags::empty()).ok()?;
        take(&mut spares, id)
    }

    /// Removes all of them. Blocks.
    pub(super) fn clear(&self) {
        self.lock().clear();
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<(TaskId, TaskFolder)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn take(spares: &mut VecDeque<(TaskId, TaskFolder)>, id: &TaskId) -> Option<TaskFolder> {
    let at = spares.iter().position(|(prepared, _)| prepared == id)?;
    spares.remove(at).map(|(_, folder)| folder)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runtime::log::read_marks;
    use crate::terminal::MarkKind;

    fn recording() -> tempfile::TempDir {
        let recording = tempfile::tempdir().expect("temp dir");
        std::fs::create_dir(recording.path().join("tasks")).expect("a folder");
        recording
    }

    fn names(recording: &Path) -> usize {
        std::fs::read_dir(recording.join("tasks")).expect("lists").count()
    }

    #[test]
    fn a_folder_that_was_prepared_is_used_by_its_task_and_by_no_other() {
        let (recording, spare) = (recording(), SpareFolders::default());
        let [own, other] = [1, 2].map(|seed| TaskId::from_random([seed; 8]));
        spare.prepare(recording.path(), &own);
        let path = recording.path().join("tasks").join(own.as_str());
        std::fs::write(path.join("mark"), "").expect("written");
        let mut created = spare.take_or_create(recording.path(), &other, Size::default()).expect("created");
        assert!(created.take_files().is_ok() && created.take_files().is_err());
        let taken = spare.take_or_create(recording.path(), &own, Size::default()).expect("taken");
        assert!(taken.path().join("mark").is_file(), "it is the same folder");
        taken.keep();
        drop(created);
        assert!(path.is_dir());
        assert_eq!(names(recording.path()), 1);
    }

    #[test]
    fn a_prepared_folder_records_the_size_of_its_tasks_terminal() {
        let (recording, spare) = (recording(), SpareFolders::default());
        let large = Size::nearest(200, 50);
        for (seed, size) in [(1, Size::default()), (2, large)] {
            let id = TaskId::from_random([seed; 8]);
            for is_prepared in [true, false] {
                if is_prepared {
                    spare.prepare(recording.path(), &id);
                }
                let folder = spare.take_or_create(recording.path(), &id, size).expect("taken or created");
                let kinds: Vec<_> =
                    read_marks(folder.path()).expect("marks").iter().map(|mark| mark.kind).collect();
                assert_eq!(kinds, [MarkKind::Resize(size)]);
            }
        }
    }

    #[test]
    fn a_prepared_folder_is_taken_at_once_while_it_is_there() {
        let (recording, spare) = (recording(), SpareFolders::default());
        let [first, second] = [1, 2].map(|seed| TaskId::from_random([seed; 8]));
        assert!(spare.take_at_once(&first).is_none());
        let paths = [&first, &second].map(|id| spare.prepare(recording.path(), id).expect("prepared"));
        let taken = spare.take_at_once(&first).expect("taken");
        assert_eq!(taken.path(), paths[0]);
        assert!(spare.take_at_once(&first).is_none());
        std::fs::remove_dir_all(&paths[1]).expect("removed");
        assert!(spare.take_at_once(&second).is_none());
    }

    #[test]
    fn a_folder_that_is_not_used_leaves_nothing() {
        let (recording, spare) = (recording(), SpareFolders::default());
        for seed in 1..=9 {
            spare.prepare(recording.path(), &TaskId::from_random([seed; 8]));
            assert_eq!(names(recording.path()), KEPT.min(seed.into()));
        }
        spare.clear();
        assert_eq!(names(recording.path()), 0);
    }

    #[test]
    fn a_folder_that_was_removed_meanwhile_is_created_again() {
        let (recording, spare, id) = (recording(), SpareFolders::default(), TaskId::from_random([1; 8]));
        spare.prepare(recording.path(), &id);
        std::fs::remove_dir_all(recording.path().join("tasks").join(id.as_str())).expect("removed");
        assert!(
            spare.take_or_create(recording.path(), &id, Size::default()).expect("created").path().is_dir()
        );
        std::fs::remove_dir_all(recording.path().join("tasks")).expect("removed");
        let gone = spare.take_or_create(recording.path(), &id, Size::default()).expect_err("no recording");
        assert!(matches!(gone, Error::Unrecorded { .. }));
    }
}
