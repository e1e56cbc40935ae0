//! The folder of a run: `.prose/runs/ID/` in the workspace, readable only by its owner.

use std::fs::DirBuilder;
use std::io::ErrorKind;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use jiff::Timestamp;

use super::SharedDisk;
use super::error::Error;
use super::journal::Line;
use super::state;
use crate::files;
use crate::journal::{LineFile, replace_file};

/// The folder of a project that contains its runs and its agents' memory.
pub const PROJECT: &str = ".prose";

const STATE: &str = "state.md";
const ALPHABET: &[u8; 36] = b"0123456789abcdefghijklmnopqrstuvwxyz";

/// The folder of a run, or of a program it uses.
#[derive(Debug)]
pub struct Folder {
    path: PathBuf,
    state: Mutex<LineFile>,
    disk: SharedDisk,
}

impl Folder {
    /// Creates the folder of a new run and returns it with the run's id.
    ///
    /// # Errors
    /// When it cannot be created.
    pub fn create(
        disk: &SharedDisk,
        workspace: &Path,
        program: &str,
        source: &str,
        at: Timestamp,
    ) -> Result<(Self, String), Error> {
        let runs = runs(workspace);
        make(&runs)?;
        keep_out_of_git(disk, &runs);
        loop {
            let id = run_id(at);
            let path = runs.join(&id);
            match DirBuilder::new().mode(0o700).create(&path) {
                Ok(()) => {
                    let folder = Self::populated(disk.clone(), path, &id, program, source)?;
                    return Ok((folder, id));
                }
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                Err(error) => return Err(Error::io("create the folder", path)(error)),
            }
        }
    }

    /// Creates the folder of a used program inside this one.
    ///
    /// # Errors
    /// When it cannot be created.
    pub fn import(&self, name: &str, run: &str, source: &str) -> Result<Self, Error> {
        Self::populated(self.disk.clone(), self.path.join("imports").join(name), run, name, source)
    }

    /// Opens the folder of an earlier run, and writes the last line recorded in its journal if the folder lacks it.
    ///
    /// # Errors
    /// When it is not the folder of a run, or cannot be written.
    pub fn reopen(disk: &SharedDisk, path: PathBuf, last: Option<&Line>) -> Result<Self, Error> {
        let folder = Self::open(disk.clone(), path)?;
        match last {
            Some(Line { of: Some(used), text, times }) => {
                Self::open(disk.clone(), used.clone())?.note_unless_there(text, *times)?;
            }
            Some(Line { of: None, text, times }) => folder.note_unless_there(text, *times)?,
            None => {}
        }
        Ok(folder)
    }

    fn open(disk: SharedDisk, path: PathBuf) -> Result<Self, Error> {
        let state = path.join(STATE);
        let file = match disk.open(&state) {
            Err(error) if error.kind() == ErrorKind::NotFound => disk.create(&state),
            opened => opened,
        };
        let lines = file.and_then(|file| LineFile::repaired(&*disk, file, &state));
        let (lines, _) = lines.map_err(Error::io("open", state))?;
        Ok(Self { path, state: Mutex::new(lines), disk })
    }

    fn note_unless_there(&self, text: &str, times: usize) -> Result<(), Error> {
        let path = self.path.join(STATE);
        let lines = std::fs::read(&path).map_err(Error::io("read", path))?;
        let there = lines.split(|byte| *byte == b'\n').filter(|line| *line == text.as_bytes());
        if there.count() < times { self.note(text) } else { Ok(()) }
    }

    fn populated(
        disk: SharedDisk,
        path: PathBuf,
        run: &str,
        program: &str,
        source: &str,
    ) -> Result<Self, Error> {
        make(&path.join("bindings"))?;
        let copy = path.join("program.prose");
        if !copy.exists() {
            replace_file(&*disk, &copy, source.as_bytes()).map_err(Error::io("write", &copy))?;
        }
        let folder = Self::open(disk, path)?;
        if folder.state().length() == 0 {
            folder.append(&state::header(run, program))?;
        }
        Ok(folder)
    }

    /// Returns its path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    fn state(&self) -> MutexGuard<'_, LineFile> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Appends a line to `state.md`.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn note(&self, line: &str) -> Result<(), Error> {
        self.append(&format!("{line}\n"))
    }

    fn append(&self, lines: &str) -> Result<(), Error> {
        let appended = self.state().append(&*self.disk, lines.as_bytes());
        appended.map_err(Error::io("write", self.path.join(STATE)))
    }

    /// Returns the file of a binding, relative to the folder.
    pub fn binding(name: &str, execution_id: Option<u32>) -> PathBuf {
        let name = match execution_id {
            Some(id) => format!("{name}__{id}.md"),
            None => format!("{name}.md"),
        };
        Path::new("bindings").join(name)
    }

    /// Replaces a file, creating the folder it is in. A relative path is inside this folder; an absolute one belongs
    /// to something that outlives the run.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn write(&self, file: &Path, text: &str) -> Result<(), Error> {
        let path = self.path.join(file);
        if let Some(parent) = path.parent() {
            make(parent)?;
        }
        replace_file(&*self.disk, &path, text.as_bytes()).map_err(Error::io("write", path))
    }

    /// Reads a file; paths as in [`write`](Self::write).
    pub fn read(&self, file: &Path) -> Option<String> {
        std::fs::read_to_string(self.path.join(file)).ok()
    }

    /// Returns whether a file exists; paths as in [`write`](Self::write).
    pub fn has(&self, file: &Path) -> bool {
        self.path.join(file).exists()
    }

    /// Removes one of its files, if it exists.
    pub fn remove(&self, file: &Path) {
        if let Err(error) = self.disk.remove(&self.path.join(file))
            && error.kind() != ErrorKind::NotFound
        {
            tracing::warn!(%error, file = %file.display(), "remove a file of a run");
        }
    }
}

/// Returns the folder of all runs of a workspace.
pub fn runs(workspace: &Path) -> PathBuf {
    workspace.join(PROJECT).join("runs")
}

/// Creates a folder that only its owner can enter, and its missing parents.
fn make(path: &Path) -> Result<(), Error> {
    files::create_folder(path).map_err(Error::io("create the folder", path))
}

/// Excludes the runs from git: they are not part of the project's history.
fn keep_out_of_git(disk: &SharedDisk, runs: &Path) {
    let ignore = runs.join(".gitignore");
    if !ignore.exists()
        && let Err(error) = replace_file(&**disk, &ignore, b"*\n")
    {
        tracing::info!(%error, "runs will show in git");
    }
}

/// Returns a new id: the start time, and six random letters and digits.
fn run_id(at: Timestamp) -> String {
    let mut random = [0; 6];
    // If the id is taken, another one is created.
    let _ = rustix::rand::getrandom(&mut random, rustix::rand::GetRandomFlags::empty());
    let tail: String =
        random.iter().map(|byte| char::from(ALPHABET[usize::from(*byte) % ALPHABET.len()])).collect();
    format!("{}-{tail}", at.strftime("%Y%m%d-%H%M%S"))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn a_run_has_a_folder_of_its_own_that_nobody_else_reads() {
        let dir = tempfile::tempdir().expect("temp dir");
        let at: Timestamp = "2026-01-15T14:30:52Z".parse().expect("a time");
        let disk: SharedDisk = std::sync::Arc::new(crate::journal::Os);
        let (folder, id) = Folder::create(&disk, dir.path(), "x.prose", "exec \"true\"\n", at).expect("made");
        assert!(id.starts_with("20260115-143052-") && id.len() == 22, "{id}");
        folder.write(&Folder::binding("x", Some(3)), "text").expect("written");
        folder.note("1→ ✓").expect("written");
        let state = folder.read(Path::new("state.md")).expect("there");
        assert_eq!(state, format!("# run:{id} x.prose\n\n1→ ✓\n"));
        assert_eq!(folder.read(Path::new("program.prose")).as_deref(), Some("exec \"true\"\n"));
        let mode = |path: &Path| path.metadata().expect("there").permissions().mode() & 0o777;
        assert_eq!(mode(folder.path()), 0o700);
        assert_eq!(mode(&folder.path().join("bindings/x__3.md")), 0o600);
        assert_eq!(mode(&folder.path().join("state.md")), 0o600);
        let again = folder.import("local--y", &id, "").expect("made");
        again.note("1→ ✓").expect("written");
        let opened = folder.import("local--y", &id, "").expect("opened");
        assert_eq!(opened.read(Path::new("state.md")).expect("there").matches("# run").count(), 1);
    }
}
