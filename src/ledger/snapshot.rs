//! One snapshot of the tree: which paths git is given to read is decided here, one by one.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::ffi::OsStr;
use std::io::{self, Read as _};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::fs::{FileType, Stat};
use tokio::time::Instant;

use super::program::{GitFailure, PrivateGit};
use super::rights::{FileRights, mode};
use super::secrets::is_secret;
use super::starts::ComingStarts;
use super::tree_rights::TreeRights;
use crate::envelope::units::size;
use crate::files::{self, FileAccess, HeldFolder, OWN};

/// Files beyond this many bytes are not read, only noticed.
const LARGE: u64 = 50 << 20;
/// The most bytes of a new file of ignore rules in which exceptions are looked for.
const MOST_RULES: u64 = 64 << 10;
const RULES: &str = ".gitignore";
/// The most bytes that git is given to read but at first: where ignore rules no longer hold, it would copy whatever is built.
const MOST_READ: u64 = 512 << 20;

/// What a snapshot may read.
#[derive(Debug, Clone)]
pub struct SnapshotBounds {
    /// A folder that is left out: that of the recordings, should it be in the tree.
    pub without: PathBuf,
    /// The most files and bytes of a folder that is no repository.
    pub plain: Option<(usize, u64)>,
    /// What makes digests of secrets worthless elsewhere.
    pub salt: [u8; 16],
    /// What is read though it is ignored, because the repository tracks it.
    pub tracked: Arc<BTreeSet<PathBuf>>,
}

/// What the files of the tree were at one moment.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TreeSnapshot {
    /// The id of git's tree with all files that were read.
    pub tree: String,
    /// Files that were not read, because they look like secrets or are large, by a digest.
    pub unread: Arc<BTreeMap<PathBuf, String>>,
    /// The rights of the files that were read, and of the folders above them.
    pub rights: TreeRights,
    /// What was read though it is ignored.
    tracked: Arc<BTreeSet<PathBuf>>,
    /// The files of ignore rules.
    rules: Arc<BTreeMap<PathBuf, FileStamp>>,
    /// Whether ignore rules had changed, so that new files were not read.
    pub is_without_new: bool,
    /// How many files could not be read.
    pub unreadable: usize,
    /// How many bytes were given to git to read.
    pub read_bytes: u64,
}

/// By what a change of a file is noticed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct FileStamp([i128; 4]);

impl FileStamp {
    fn of(facts: &Stat) -> Self {
        Self([facts.st_ino.into(), facts.st_size.into(), facts.st_ctime.into(), facts.st_ctime_nsec.into()])
    }
}

/// Takes a snapshot. What was ignored at the one before is not read, even if it no longer is. If it is known what alone
/// has `moved` since the one before, the rest of the tree is not looked at.
///
/// # Errors
/// If git fails or has not answered by then, or the folder is too large.
pub async fn take(
    git: &PrivateGit,
    before: Option<&TreeSnapshot>,
    moved: Option<BTreeSet<PathBuf>>,
    bounds: &SnapshotBounds,
    by: Instant,
) -> Result<TreeSnapshot, GitFailure> {
    let moved = moved.filter(|_| before.is_some()).filter(has_no_rules);
    let listed = match (before, &moved) {
        (Some(_), Some(moved)) => listed_in(git, moved, by).await?,
        // Without this flag, git would ask the git of a nested repository, which has a configuration of its own.
        (Some(_), None) => {
            let differ = ["diff-files", "--ignore-submodules=all", "-z", "--name-only"];
            (paths(&git.run(&differ, &[], by).await?), untracked_files(git, by).await?)
        }
        (None, _) => (BTreeSet::new(), untracked_files(git, by).await?),
    };
    let (known, others) = listed;
    let (top, folder, starts) = (git.top().to_owned(), git.folder().to_owned(), git.starts().clone());
    let (snapshot, bounds) = (before.cloned().unwrap_or_default(), bounds.clone());
    let sort = move || {
        // A git that was killed leaves it, and nobody else writes here.
        let _ = std::fs::remove_file(folder.join("index.lock"));
        let mut sorter = TreeReader::new(&top, snapshot, bounds, starts)?;
        let is_first = sorter.snapshot.tree.is_empty();
        sorter.read(known, others, moved.as_ref());
        sorter.within(is_first)
    };
    let sorted = tokio::task::spawn_blocking(sort).await.map_err(io::Error::other)??;
    let TreeReader { mut snapshot, gone, present, .. } = sorted;
    if !gone.is_empty() {
        git.run(&["update-index", "-z", "--force-remove", "--stdin"], &gone, by).await?;
    }
    if !present.is_empty() {
        git.run(&["update-index", "-z", "--add", "--replace", "--remove", "--stdin"], &present, by).await?;
    }
    if !gone.is_empty() || !present.is_empty() || snapshot.tree.is_empty() {
        let tree = git.run(&["write-tree"], &[], by).await?;
        snapshot.tree = String::from_utf8(tree).map_err(|_| GitFailure::Answer)?.trim().to_owned();
        if snapshot.tree.len() != 40 {
            return Err(GitFailure::Answer);
        }
    }
    Ok(snapshot)
}

/// Tells whether git takes a file with this name; it says nothing of one that it leaves out.
fn is_taken(path: &Path, is_link: bool) -> bool {
    let is = |name: &OsStr, other: &str| name.eq_ignore_ascii_case(other);
    let is_modules = is_link && path.file_name().is_some_and(|name| is(name, ".gitmodules"));
    !is_modules && !path.iter().any(|part| is(part, ".git"))
}

/// Tells whether no file of ignore rules has moved: these say which others are to be looked at.
fn has_no_rules(moved: &BTreeSet<PathBuf>) -> bool {
    moved.iter().all(|path| path.file_name() != Some(OsStr::new(RULES)))
}

/// Lists files that git does not know.
async fn untracked_files(git: &PrivateGit, by: Instant) -> Result<BTreeSet<PathBuf>, GitFailure> {
    Ok(paths(&git.run(&["ls-files", "-z", "--others", "--exclude-standard"], &[], by).await?))
}

/// Lists the files at these paths and below them: those that git knows, and others.
async fn listed_in(
    git: &PrivateGit,
    moved: &BTreeSet<PathBuf>,
    by: Instant,
) -> Result<(BTreeSet<PathBuf>, BTreeSet<PathBuf>), GitFailure> {
    if moved.is_empty() {
        return Ok((BTreeSet::new(), BTreeSet::new()));
    }
    let args = ["ls-files", "-z", "-t", "--cached", "--others", "--exclude-standard", "--"].map(OsStr::new);
    let args: Vec<&OsStr> = args.into_iter().chain(moved.iter().map(|path| path.as_os_str())).collect();
    let listed = git.run(&args, &[], by).await?;
    let marked = |mark: &'static [u8]| {
        let lines = listed.split(|byte| *byte == 0);
        lines.filter_map(move |line| line.strip_prefix(mark)).map(path).collect()
    };
    Ok((marked(b"H "), marked(b"? ")))
}

/// Splits what git lists.
pub fn paths(listed: &[u8]) -> BTreeSet<PathBuf> {
    listed.split(|byte| *byte == 0).filter(|path| !path.is_empty()).map(path).collect()
}

pub(super) fn path(bytes: &[u8]) -> PathBuf {
    PathBuf::from(OsStr::from_bytes(bytes))
}

/// Looks at the paths that git has listed.
struct TreeReader {
    top: HeldFolder,
    /// The folder looked at last.
    folder: Option<(PathBuf, HeldFolder)>,
    bounds: SnapshotBounds,
    snapshot: TreeSnapshot,
    /// Paths for git to forget, each with a NUL.
    gone: Vec<u8>,
    /// Paths for git to read.
    present: Vec<u8>,
    count: usize,
    /// The folders whose rights were looked at.
    seen: HashSet<PathBuf>,
    /// The absolute path of the top.
    at: PathBuf,
    /// During these, nothing is looked at.
    starts: ComingStarts,
}

impl TreeReader {
    fn new(
        top: &Path,
        snapshot: TreeSnapshot,
        bounds: SnapshotBounds,
        starts: ComingStarts,
    ) -> io::Result<Self> {
        let held = HeldFolder::open(top)?;
        let mut snapshot = TreeSnapshot { unreadable: 0, read_bytes: 0, is_without_new: false, ..snapshot };
        if snapshot.tree.is_empty() {
            let own = FileRights::read(&held.path(Path::new(".")), &held.own_facts()?);
            snapshot.rights = TreeRights::with_usual(own.usual());
        }
        let (gone, present, at, seen) = (Vec::new(), Vec::new(), top.to_owned(), HashSet::new());
        Ok(Self { top: held, folder: None, bounds, snapshot, gone, present, count: 0, seen, at, starts })
    }

    /// Reads what git has listed: of all files, or of those that have `moved`.
    fn read(
        &mut self,
        known: BTreeSet<PathBuf>,
        others: BTreeSet<PathBuf>,
        moved: Option<&BTreeSet<PathBuf>>,
    ) {
        let is_first = self.snapshot.tree.is_empty();
        self.snapshot.is_without_new = !is_first && (self.rules_changed() || self.has_exceptions(&others));
        let is_listed = |path: &Path| moved.is_none_or(|moved| path.ancestors().any(|at| moved.contains(at)));
        for path in self.snapshot.unread.keys().cloned().collect::<Vec<_>>() {
            if is_listed(&path) && !others.contains(&path) {
                Arc::make_mut(&mut self.snapshot.unread).remove(&path);
            }
        }
        for path in &known {
            self.look(path, true);
        }
        for path in others {
            // A nested repository is listed as a folder.
            let is_folder = path.as_os_str().as_bytes().ends_with(b"/");
            let is_new = !known.contains(&path) && path.file_name() != Some(OsStr::new(RULES));
            let is_left_out = is_new && self.snapshot.is_without_new && !self.was_unread(&path);
            if !is_folder && !is_left_out {
                self.look(&path, false);
            }
        }
        let (tracked, before) = (self.bounds.tracked.clone(), self.snapshot.tracked.clone());
        let is_due = |path: &PathBuf| is_listed(path) || !before.contains(path);
        for path in tracked.iter().filter(|path| !known.contains(*path) && is_due(path)) {
            self.look(path, false);
        }
        self.snapshot.tracked = tracked;
        let rights = &self.snapshot.rights;
        let folders: Vec<PathBuf> = match moved {
            None => rights.folders_below(Path::new("")),
            Some(moved) => moved.iter().flat_map(|path| rights.folders_below(path)).collect(),
        };
        folders.iter().for_each(|folder| _ = self.look_at_folder(folder));
    }

    fn was_unread(&self, path: &Path) -> bool {
        self.snapshot.unread.contains_key(path)
    }

    /// Tells whether a known file of ignore rules is another one now.
    fn rules_changed(&mut self) -> bool {
        let rules = Arc::clone(&self.snapshot.rules);
        rules.iter().any(|(path, stamp)| self.facts(path).map(|facts| FileStamp::of(&facts)) != Some(*stamp))
    }

    /// Tells whether a new file of ignore rules makes exceptions, which may let in what was ignored.
    fn has_exceptions(&mut self, others: &BTreeSet<PathBuf>) -> bool {
        let mut new = others.iter().filter(|path| path.file_name() == Some(OsStr::new(RULES)));
        new.any(|path| {
            let text = files::read(&self.at.join(path), files::Links::Within, MOST_RULES);
            text.map_or(true, |text| text.split(|byte| *byte == b'\n').any(|line| line.starts_with(b"!")))
        })
    }

    /// Decides what becomes of one path.
    fn look(&mut self, path: &Path, is_known: bool) {
        self.starts.pass();
        let above = path.ancestors().skip(1).filter(|above| !above.as_os_str().is_empty());
        for folder in above {
            if !self.look_at_folder(folder) {
                break;
            }
        }
        let facts = self.facts(path);
        let kind = facts.as_ref().map(|facts| FileType::from_raw_mode(facts.st_mode));
        let is_file = matches!(kind, Some(FileType::RegularFile | FileType::Symlink));
        let Some(facts) = facts.filter(|_| is_file && !self.at.join(path).starts_with(&self.bounds.without))
        else {
            return self.forget(path, is_known);
        };
        let bytes = u64::try_from(facts.st_size).unwrap_or(0);
        let is_link = kind == Some(FileType::Symlink);
        if !is_link && (bytes > LARGE || is_secret(path)) || !is_taken(path, is_link) {
            self.forget(path, is_known);
            let digest = self.digest(path, &facts);
            Arc::make_mut(&mut self.snapshot.unread).insert(path.to_owned(), digest);
            return;
        }
        if !is_link && !self.can_read(path) {
            self.snapshot.unreadable += 1;
            return self.forget(path, is_known);
        }
        if let Some(rights) = self.rights(path, &facts) {
            self.snapshot.rights.note(path, rights, mode(&facts));
        }
        if path.file_name() == Some(OsStr::new(RULES)) {
            Arc::make_mut(&mut self.snapshot.rules).insert(path.to_owned(), FileStamp::of(&facts));
        }
        self.present.extend(path.as_os_str().as_bytes());
        self.present.push(0);
        self.count += 1;
        self.snapshot.read_bytes += bytes;
    }

    /// Leaves out a path that is gone, or is nothing to be read.
    fn forget(&mut self, path: &Path, is_known: bool) {
        if is_known {
            self.gone.extend(path.as_os_str().as_bytes());
            self.gone.push(0);
        }
        self.snapshot.rights.forget(path);
        if self.snapshot.rules.contains_key(path) {
            Arc::make_mut(&mut self.snapshot.rules).remove(path);
        }
    }

    /// Notes the rights of a folder; returns whether it had not been looked at yet, with all above it.
    fn look_at_folder(&mut self, folder: &Path) -> bool {
        if self.seen.contains(folder) {
            return false;
        }
        self.seen.insert(folder.to_owned());
        let is_folder = |facts: &Stat| FileType::from_raw_mode(facts.st_mode) == FileType::Directory;
        let facts = self.facts(folder).filter(is_folder);
        let rights = facts.and_then(|facts| self.rights(folder, &facts));
        self.snapshot.rights.note_folder(folder, rights);
        true
    }

    fn rights(&mut self, path: &Path, facts: &Stat) -> Option<FileRights> {
        let name = Path::new(path.file_name()?);
        let path = self.folder_of(path)?.path(name);
        Some(FileRights::read(&path, facts))
    }

    /// Returns the facts of what is at a path, if no link leads there.
    fn facts(&mut self, path: &Path) -> Option<Stat> {
        let name = Path::new(path.file_name()?);
        self.folder_of(path)?.facts(name).ok()
    }

    fn folder_of(&mut self, path: &Path) -> Option<&HeldFolder> {
        let above = path.parent()?;
        if self.folder.as_ref().is_none_or(|(known, _)| known != above) {
            self.folder = Some((above.to_owned(), self.top.folder(above).ok()?));
        }
        self.folder.as_ref().map(|(_, folder)| folder)
    }

    fn can_read(&mut self, path: &Path) -> bool {
        let Some(name) = path.file_name().map(Path::new) else { return false };
        let path = self.folder_of(path).map(|folder| folder.path(name));
        path.is_some_and(|path| rustix::fs::access(&path, rustix::fs::Access::READ_OK).is_ok())
    }

    /// Returns a digest of a file that is not read into the ledger: of its contents, or if it is large, of its facts.
    fn digest(&mut self, path: &Path, facts: &Stat) -> String {
        let name = path.file_name().map(Path::new).unwrap_or(path);
        let within = self.folder_of(path).map(|folder| folder.path(name));
        let file = within.and_then(|path| files::open(&path, OWN, FileAccess::Read).ok());
        let small = file.filter(|_| u64::try_from(facts.st_size).is_ok_and(|bytes| bytes <= 1 << 20));
        let mut bytes = Vec::new();
        if !matches!(small.map(|file| file.take(1 << 20).read_to_end(&mut bytes)), Some(Ok(_))) {
            bytes = format!("{:?}", FileStamp::of(facts)).into_bytes();
        }
        let digest = files::digest([&self.bounds.salt[..], &bytes].concat());
        format!("{} {:o}", digest.get(..16).unwrap_or(&digest), facts.st_mode)
    }

    /// Checks what git would be given to read.
    fn within(self, is_first: bool) -> Result<Self, GitFailure> {
        let (files, bytes) = (self.count, self.snapshot.read_bytes);
        let is_beyond = |(most, most_bytes)| files > most || bytes > most_bytes;
        let what = match self.bounds.plain {
            Some(most) if is_first && is_beyond(most) => "a folder without a repository, of",
            _ if !is_first && bytes > MOST_READ => "a change of",
            _ => return Ok(self),
        };
        let text = format!("{what} {files} files and {}", size(bytes));
        Err(GitFailure::Io(io::Error::other(text)))
    }
}
