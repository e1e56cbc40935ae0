//! The folder of a run: `.prose/runs/ID/` in the workspace, readable only by its owner.

use std::fs::DirBuilder;
use std::io::{self, ErrorKind};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use jiff::Timestamp;

use super::error::RunError;
use super::state::{self, StateLine};
use crate::files::{self, HeldFolder, Links};
use crate::journal::{Disk, LineFile, replace_file};

/// The disk that stores a run's files; tests make it fail.
pub type SharedDisk = Arc<dyn Disk>;

/// The folder of a project that contains its runs and its agents' memory.
pub const PROJECT: &str = ".prose";

const STATE: &str = "state.md";
/// The longest file of a run that is read.
const MOST_BYTES: u64 = 16 << 20;
const ALPHABET: &[u8; 36] = b"0123456789abcdefghijklmnopqrstuvwxyz";

/// The folder of a run, or of a program it uses.
#[derive(Debug)]
pub struct RunFolder {
    path: PathBuf,
    state: Mutex<LineFile>,
    disk: SharedDisk,
}

impl RunFolder {
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
    ) -> Result<(Self, String), RunError> {
        let runs = runs(workspace);
        let held = make(&runs)?;
        keep_out_of_git(disk, &held);
        loop {
            let id = run_id(at);
            let path = runs.join(&id);
            match DirBuilder::new().mode(0o700).create(held.path(Path::new(&id))) {
                Ok(()) => {
                    let folder = Self::populate(disk.clone(), path, &id, program, source)?;
                    return Ok((folder, id));
                }
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                Err(error) => return Err(RunError::io("create the folder", path)(error)),
            }
        }
    }

    /// Creates the folder of a used program inside this one.
    ///
    /// # Errors
    /// When it cannot be created.
    pub fn import(&self, name: &str, run: &str, source: &str) -> Result<Self, RunError> {
        Self::populate(self.disk.clone(), self.path.join("imports").join(name), run, name, source)
    }

    /// Opens the folder of an earlier run, and writes the last line recorded in its journal if the folder lacks it.
    ///
    /// # Errors
    /// When it is not the folder of a run, or cannot be written.
    pub fn reopen(disk: &SharedDisk, path: PathBuf, last: Option<&StateLine>) -> Result<Self, RunError> {
        let folder = Self::open(disk.clone(), path)?;
        match last {
            // Only what is inside the run is written to, whatever its journal says.
            Some(StateLine { of: Some(used), text, times }) if used.starts_with(&folder.path) => {
                Self::open(disk.clone(), used.clone())?.note_unless_there(text, *times)?;
            }
            Some(StateLine { of: Some(_), .. }) => {}
            Some(StateLine { of: None, text, times }) => folder.note_unless_there(text, *times)?,
            None => {}
        }
        Ok(folder)
    }

    fn open(disk: SharedDisk, path: PathBuf) -> Result<Self, RunError> {
        let lines = hold(&path).and_then(|held| {
            let state = held.path(Path::new(STATE));
            let file = match disk.open(&state) {
                Err(error) if error.kind() == ErrorKind::NotFound => disk.create(&state),
                opened => opened,
            };
            LineFile::repair(&*disk, file?, &state)
        });
        let (lines, _) = lines.map_err(RunError::io("open", path.join(STATE)))?;
        Ok(Self { path, state: Mutex::new(lines), disk })
    }

    fn note_unless_there(&self, text: &str, times: usize) -> Result<(), RunError> {
        let path = self.path.join(STATE);
        let lines = ProjectPath::new(&self.path, &path).read().map_err(RunError::io("read", path))?;
        let there = lines.split(|byte| *byte == b'\n').filter(|line| *line == text.as_bytes());
        if there.count() < times { self.note(text) } else { Ok(()) }
    }

    fn populate(
        disk: SharedDisk,
        path: PathBuf,
        run: &str,
        program: &str,
        source: &str,
    ) -> Result<Self, RunError> {
        make(&path.join("bindings"))?;
        let held = make(&path)?;
        let copy = Path::new("program.prose");
        if held.facts(copy).is_err() {
            let written = replace_file(&*disk, &held.path(copy), source.as_bytes());
            written.map_err(RunError::io("write", path.join(copy)))?;
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
    pub fn note(&self, line: &str) -> Result<(), RunError> {
        self.append(&format!("{line}\n"))
    }

    fn append(&self, lines: &str) -> Result<(), RunError> {
        let appended = self.state().append(&*self.disk, lines.as_bytes());
        appended.map_err(RunError::io("write", self.path.join(STATE)))
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
    pub fn write(&self, file: &Path, text: &str) -> Result<(), RunError> {
        let path = self.path.join(file);
        let name = Path::new(path.file_name().unwrap_or_default());
        let made = ProjectPath::new(&self.path, path.parent().unwrap_or(&self.path)).make();
        let written = made.and_then(|held| replace_file(&*self.disk, &held.path(name), text.as_bytes()));
        written.map_err(RunError::io("write", path))
    }

    /// Reads a file; paths as in [`write`](Self::write).
    pub fn read(&self, file: &Path) -> Option<String> {
        String::from_utf8(ProjectPath::new(&self.path, &self.path.join(file)).read().ok()?).ok()
    }

    /// Returns whether a file exists; paths as in [`write`](Self::write).
    pub fn has(&self, file: &Path) -> bool {
        self.path.join(file).symlink_metadata().is_ok()
    }

    /// Removes one of its files, if it exists.
    pub fn remove(&self, file: &Path) {
        let path = self.path.join(file);
        let removed =
            ProjectPath::new(&self.path, path.parent().unwrap_or(&self.path)).hold().and_then(|held| {
                let name = Path::new(path.file_name().unwrap_or_default());
                self.disk.remove(&held.path(name))
            });
        if let Err(error) = removed
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

/// A path that is split where the files of a project begin: below that, no link is followed, because it may have come
/// with the project.
struct ProjectPath {
    root: PathBuf,
    path: PathBuf,
}

impl ProjectPath {
    /// Splits a path: at the project of the run in the folder `run`, or else at the one it names itself (an agent's
    /// memory in the home folder), or else at its own folder.
    fn new(run: &Path, path: &Path) -> Self {
        let path = lexical(path);
        let named =
            |path: &Path| Some(path.ancestors().find(|above| above.ends_with(PROJECT))?.parent()?.to_owned());
        let own = named(run).filter(|root| path.starts_with(root));
        let root = own.or_else(|| named(&path)).or_else(|| path.parent().map(Path::to_owned));
        let root = root.unwrap_or_else(|| path.clone());
        Self { path: path.strip_prefix(&root).unwrap_or(Path::new("")).to_owned(), root }
    }

    fn hold(&self) -> io::Result<HeldFolder> {
        HeldFolder::open(&self.root)?.folder(&self.path)
    }

    fn make(&self) -> io::Result<HeldFolder> {
        files::create_folder(&self.root)?;
        HeldFolder::open(&self.root)?.make_folder(&self.path)
    }

    fn read(&self) -> io::Result<Vec<u8>> {
        let links = Links::NoneIn(self.path.components().count());
        files::read(&self.root.join(&self.path), links, MOST_BYTES)
    }
}

/// Resolves the `..` of a path by its text alone.
fn lexical(path: &Path) -> PathBuf {
    path.components().fold(PathBuf::new(), |mut whole, part| {
        match part {
            Component::ParentDir => drop(whole.pop()),
            other => whole.push(other),
        }
        whole
    })
}

/// Opens the folder of a run.
pub(super) fn hold(path: &Path) -> io::Result<HeldFolder> {
    ProjectPath::new(path, path).hold()
}

/// Opens a folder of a project's runs or programs; what is missing of it is created, for its owner only.
pub(in crate::prose::engine) fn make(path: &Path) -> Result<HeldFolder, RunError> {
    ProjectPath::new(path, path).make().map_err(RunError::io("create the folder", path))
}

/// Excludes the runs from git: they are not part of the project's history.
fn keep_out_of_git(disk: &SharedDisk, runs: &HeldFolder) {
    let ignore = Path::new(".gitignore");
    if runs.facts(ignore).is_err()
        && let Err(error) = replace_file(&**disk, &runs.path(ignore), b"*\n")
    {
        tracing::info!(%error, "runs will show in git");
    }
}

/// Returns a new id: the start time, and six letters and digits, of which the first four are the microsecond, so that ids
/// sort by time, and two are random.
fn run_id(at: Timestamp) -> String {
    let mut random = [0; 2];
    // If the id is taken, another one is created.
    let _ = rustix::rand::getrandom(&mut random, rustix::rand::GetRandomFlags::empty());
    let letter = |number: usize| char::from(ALPHABET[number % ALPHABET.len()]);
    let micros = usize::try_from(at.subsec_nanosecond() / 1_000).unwrap_or_default();
    let time = [46_656, 1_296, 36, 1].map(|place| letter(micros / place));
    let tail: String = time.into_iter().chain(random.map(|byte| letter(usize::from(byte)))).collect();
    format!("{}-{tail}", at.strftime("%Y%m%d-%H%M%S"))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn ids_of_runs_sort_by_time_within_a_second() {
        let second: Timestamp = "2026-01-15T14:30:52Z".parse().expect("a time");
        let ids = [0, 1, 35, 36, 1_295, 1_296, 46_655, 46_656, 500_000, 999_999].map(|micros| {
            let id = run_id(second + jiff::SignedDuration::from_micros(micros));
            // What is random comes last.
            id[..id.len() - 2].to_owned()
        });
        assert!(ids.is_sorted() && ids.windows(2).all(|pair| pair[0] != pair[1]), "{ids:?}");
        assert!(ids.iter().all(|id| id.starts_with("20260115-143052-") && id.len() == 20), "{ids:?}");
    }

    #[test]
    fn a_run_has_a_folder_of_its_own_that_nobody_else_reads() {
        let dir = tempfile::tempdir().expect("temp dir");
        let at: Timestamp = "2026-01-15T14:30:52Z".parse().expect("a time");
        let disk: SharedDisk = Arc::new(crate::journal::Os);
        let (folder, id) =
            RunFolder::create(&disk, dir.path(), "x.prose", "exec \"true\"\n", at).expect("made");
        assert!(id.starts_with("20260115-143052-") && id.len() == 22, "{id}");
        folder.write(&RunFolder::binding("x", Some(3)), "text").expect("written");
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
