//! The files of this machine, and what git has of them, for a computation of what a command would cost.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::io::{self, Write as _};
use std::os::unix::fs::FileTypeExt as _;
use std::path::{Path, PathBuf};

use tokio::runtime::Handle;
use tokio::time::Instant;

use super::program::{PrivateGit, find_git, global_ignores};
use super::repository::RepositoryFiles;
use super::snapshot::paths;
use crate::consequence::{ConsequenceRequest, FileKind, FileStat, GitFiles, GitRefs, Look, Unseen};
use crate::files::{self, HeldFolder, KnownTree};

/// Where git is looked for: not in the caller's `PATH`, which an agent may have set.
const PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// The view of one computation.
pub(super) struct DiskLook {
    runtime: Handle,
    home: PathBuf,
    workspace: PathBuf,
    /// When it, and git, has to have looked.
    by: Instant,
    /// The folder for private ones of git, and whether it has been made.
    scratch: PathBuf,
    has_scratch: Cell<bool>,
    gits: RefCell<BTreeMap<PathBuf, Option<PrivateGit>>>,
}

/// Returns the path of a folder that nobody else knows, for private ones of git.
pub(super) fn scratch() -> io::Result<PathBuf> {
    let mut random = [0; 16];
    rustix::rand::getrandom(&mut random, rustix::rand::GetRandomFlags::empty())?;
    Ok(std::env::temp_dir().join(format!("pilothouse-{}", &files::digest(random)[..24])))
}

/// Removes such a folder, if it was made. Blocks.
pub(super) fn remove(scratch: &Path) {
    if let Some((above, name)) = scratch.parent().zip(scratch.file_name()) {
        let remove = |above: &HeldFolder| {
            let name = Path::new(name);
            KnownTree::read(above, name, |_, _| true)?.remove(above, name, Path::new(""))
        };
        // What is left of it is in the folder for temporary files.
        let _ = HeldFolder::open(above).and_then(|above| remove(&above));
    }
}

impl DiskLook {
    /// Returns a view for commands in the same home and workspace.
    pub(super) fn new(runtime: Handle, of: &ConsequenceRequest, scratch: PathBuf, by: Instant) -> Self {
        let (home, workspace) = (of.home.clone(), of.workspace.clone());
        Self { runtime, home, workspace, by, scratch, has_scratch: Cell::default(), gits: RefCell::default() }
    }

    /// Returns the private git of a tree, made when it is first asked for.
    fn git(&self, top: &Path) -> Option<PrivateGit> {
        let mut gits = self.gits.borrow_mut();
        if let Some(known) = gits.get(top) {
            return known.clone();
        }
        let git = self.make(top, gits.len()).ok().flatten();
        gits.insert(top.to_owned(), git.clone());
        git
    }

    fn make(&self, top: &Path, number: usize) -> io::Result<Option<PrivateGit>> {
        let (Some(program), Some(repository)) =
            (find_git(OsStr::new(PATH), &self.workspace), RepositoryFiles::find(top))
        else {
            return Ok(None);
        };
        if !self.has_scratch.replace(true) {
            files::create_folder(&self.scratch)?;
        }
        let ignores = global_ignores(&program, self.home.as_os_str(), None, self.by);
        let ignores = self.runtime.block_on(ignores);
        let folder = self.scratch.join(number.to_string());
        let git = PrivateGit::create(program, folder, top.to_owned(), Some(&repository), &ignores)?;
        // The index is data. What of it is read again, is written to this copy.
        if let Some((index, written)) = repository.index() {
            let mut copy = files::create_new(&git.folder().join("index"))?;
            copy.write_all(&index)?;
            copy.set_modified(written)?;
        }
        Ok(Some(git))
    }

    fn ask(&self, git: &PrivateGit, args: &[&str], input: &[u8]) -> Option<Vec<u8>> {
        self.runtime.block_on(git.run(args, input, self.by)).ok()
    }
}

impl Look for DiskLook {
    fn stat(&self, path: &Path) -> Result<Option<FileStat>, Unseen> {
        let facts = match fs::symlink_metadata(path) {
            Ok(facts) => facts,
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
                return Ok(None);
            }
            Err(error) if error.kind() == io::ErrorKind::InvalidFilename => return Ok(None),
            Err(_) => return Err(Unseen),
        };
        let kind = match facts.file_type() {
            kind if kind.is_file() => FileKind::File,
            kind if kind.is_dir() => FileKind::Folder,
            kind if kind.is_symlink() => FileKind::Link,
            kind if kind.is_block_device() || kind.is_char_device() => FileKind::Device,
            _ => FileKind::Other,
        };
        Ok(Some(FileStat { kind, bytes: facts.len() }))
    }

    fn list(&self, path: &Path, each: &mut dyn FnMut(&OsStr) -> bool) -> Result<(), Unseen> {
        for entry in fs::read_dir(path).map_err(|_| Unseen)? {
            let entry = entry.map_err(|_| Unseen)?;
            if !each(&entry.file_name()) {
                break;
            }
        }
        Ok(())
    }

    fn read_link(&self, path: &Path) -> Option<PathBuf> {
        fs::read_link(path).ok()
    }

    fn has_time(&self) -> bool {
        Instant::now() < self.by
    }

    fn git_files(&self, top: &Path) -> Option<GitFiles> {
        let git = self.git(top)?;
        // Files whose times have changed, but not their contents, are not changed. It fails if others are.
        let _ = self.ask(&git, &["update-index", "-q", "--refresh"], &[]);
        let tracked = paths(&self.ask(&git, &["ls-files", "-z"], &[])?);
        let different = ["diff-files", "--ignore-submodules=all", "-z", "--name-only"];
        let mut changed = paths(&self.ask(&git, &different, &[])?);
        match RepositoryFiles::find(top)?.head() {
            Some(head) => {
                let staged =
                    ["diff-index", "--cached", "--ignore-submodules=all", "-z", "--name-only", &head];
                changed.extend(paths(&self.ask(&git, &staged, &[])?));
            }
            None => changed.extend(tracked.iter().cloned()),
        }
        let ignored = ["ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--directory"];
        let ignored = paths(&self.ask(&git, &ignored, &[])?);
        Some(GitFiles { tracked, changed, ignored })
    }

    fn git_refs(&self, top: &Path) -> Option<GitRefs> {
        Some(RepositoryFiles::find(top)?.references())
    }

    fn git_count(&self, top: &Path, from: &[String], without: &[String]) -> Option<u64> {
        let git = self.git(top)?;
        let lines = from.iter().cloned().chain(without.iter().map(|commit| format!("^{commit}")));
        let input: String = lines.map(|line| line + "\n").collect();
        let counted = self.ask(&git, &["rev-list", "--count", "--stdin"], input.as_bytes())?;
        std::str::from_utf8(&counted).ok()?.trim().parse().ok()
    }
}
