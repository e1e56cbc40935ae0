//! The folder of a run (`.prose/runs/ID`): where its files lie and how they are written. What they say is
//! decided elsewhere. Everything is the owner's alone; what is replaced is replaced whole.

use std::fs::{DirBuilder, File, OpenOptions};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use jiff::Timestamp;

use super::disk::SharedDisk;
use super::error::Error;
use super::journal::Line;
use super::state;

/// The project's folder, in the workspace.
pub const PROJECT: &str = ".prose";
const ALPHABET: &[u8; 36] = b"0123456789abcdefghijklmnopqrstuvwxyz";

/// The folder of a run, or of a program it uses.
#[derive(Debug)]
pub struct Folder {
    path: PathBuf,
    state: Mutex<File>,
    disk: SharedDisk,
}

impl Folder {
    /// Makes the folder of a new run and returns it with the run's id.
    ///
    /// # Errors
    /// When it cannot be made.
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
                    let folder = Self::furnish(disk.clone(), path, &id, program, source)?;
                    return Ok((folder, id));
                }
                Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(Error::io("create the folder", path)(error)),
            }
        }
    }

    /// Makes the folder of a used program inside this one.
    ///
    /// # Errors
    /// When it cannot be made.
    pub fn import(&self, name: &str, run: &str, source: &str) -> Result<Self, Error> {
        Self::furnish(self.disk.clone(), self.path.join("imports").join(name), run, name, source)
    }

    /// Opens the folder of a run there has been.
    ///
    /// # Errors
    /// When it is none.
    pub fn open(disk: SharedDisk, path: PathBuf) -> Result<Self, Error> {
        let state = append(&path.join("state.md"))?;
        let folder = Self { path, state: Mutex::new(state), disk };
        folder.take_off_half_a_line()?;
        Ok(folder)
    }

    /// Opens the folder of a run that was cut off, and writes the line that its journal knows and it does not.
    ///
    /// # Errors
    /// When it is none, or cannot be written.
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

    fn note_unless_there(&self, text: &str, times: usize) -> Result<(), Error> {
        let lines = self.lines()?;
        let there = lines.split(|byte| *byte == b'\n').filter(|line| *line == text.as_bytes());
        if there.count() < times { self.note(text) } else { Ok(()) }
    }

    fn furnish(
        disk: SharedDisk,
        path: PathBuf,
        run: &str,
        program: &str,
        source: &str,
    ) -> Result<Self, Error> {
        make(&path.join("bindings"))?;
        let copy = path.join("program.prose");
        if !copy.exists() {
            disk.replace(&copy, source.as_bytes()).map_err(Error::io("write", &copy))?;
        }
        let folder = Self::open(disk, path)?;
        if folder.lines()?.is_empty() {
            folder.note_raw(&state::header(run, program))?;
        }
        Ok(folder)
    }

    /// What a run that was cut off has half written would run into the next line.
    fn take_off_half_a_line(&self) -> Result<(), Error> {
        let lines = self.lines()?;
        let whole = memchr::memrchr(b'\n', &lines).map_or(0, |at| at + 1);
        if whole == lines.len() {
            return Ok(());
        }
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let cut = self.disk.truncate(&state, whole as u64);
        cut.map_err(Error::io("repair", self.path.join("state.md")))
    }

    fn lines(&self) -> Result<Vec<u8>, Error> {
        let path = self.path.join("state.md");
        std::fs::read(&path).map_err(Error::io("read", path))
    }

    /// Returns its path.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Appends a line to `state.md`.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn note(&self, line: &str) -> Result<(), Error> {
        self.note_raw(&format!("{line}\n"))
    }

    fn note_raw(&self, text: &str) -> Result<(), Error> {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        self.disk.append(&state, text.as_bytes()).map_err(Error::io("write", self.path.join("state.md")))
    }

    /// Returns the file of a binding, relative to the folder.
    #[must_use]
    pub fn binding(name: &str, execution_id: Option<u32>) -> PathBuf {
        let name = match execution_id {
            Some(id) => format!("{name}__{id}.md"),
            None => format!("{name}.md"),
        };
        Path::new("bindings").join(name)
    }

    /// Replaces one of its files, making the folder it lies in.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn write(&self, file: &Path, text: &str) -> Result<(), Error> {
        self.keep(&self.path.join(file), text)
    }

    /// Replaces a file of what outlives the run, making the folder it lies in.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn keep(&self, path: &Path, text: &str) -> Result<(), Error> {
        if let Some(parent) = path.parent() {
            make(parent)?;
        }
        self.disk.replace(path, text.as_bytes()).map_err(Error::io("write", path))
    }

    /// Reads one of its files.
    #[must_use]
    pub fn read(&self, file: &Path) -> Option<String> {
        std::fs::read_to_string(self.path.join(file)).ok()
    }

    /// Removes one of its files, if it is there.
    pub fn remove(&self, file: &Path) {
        if let Err(error) = self.disk.remove(&self.path.join(file))
            && error.kind() != std::io::ErrorKind::NotFound
        {
            tracing::warn!(%error, file = %file.display(), "remove a file of a run");
        }
    }
}

/// Returns the folder of all runs of a workspace.
#[must_use]
pub fn runs(workspace: &Path) -> PathBuf {
    workspace.join(PROJECT).join("runs")
}

/// Makes a folder that is the owner's alone, with those above it.
///
/// # Errors
/// When it cannot be made.
fn make(path: &Path) -> Result<(), Error> {
    let made = DirBuilder::new().recursive(true).mode(0o700).create(path);
    made.map_err(Error::io("create the folder", path))
}

fn append(path: &Path) -> Result<File, Error> {
    let opened = OpenOptions::new().append(true).create(true).mode(0o600).open(path);
    opened.map_err(Error::io("open", path))
}

/// Runs are no part of the project's history.
fn keep_out_of_git(disk: &SharedDisk, runs: &Path) {
    let ignore = runs.join(".gitignore");
    if !ignore.exists()
        && let Err(error) = disk.replace(&ignore, b"*\n")
    {
        tracing::info!(%error, "runs will show in git");
    }
}

fn run_id(at: Timestamp) -> String {
    let mut random = [0; 6];
    // An id that is taken is made anew.
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
        let disk: SharedDisk = std::sync::Arc::new(super::super::disk::Os);
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
