//! Undo of what differs since one command began: checked as a whole, and refused as a whole.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use rustix::fs::FileType;
use serde::{Deserialize, Serialize};
use tokio::time::Instant;

use super::difference::{FileDifference, FileState, Found};
use super::program::{GitFailure, PrivateGit};
use super::snapshot::{TreeSnapshot, path};
use super::undo_plan::{SeenFile, UndoPlan, UndoStep, UndoTarget, beside, is_younger, left_beside};
use crate::files::HeldFolder;

/// The most files of an undo, and the most bytes that they held.
const MOST_FILES: usize = 2_000;
const MOST_BYTES: usize = 128 << 20;

/// What a command left, and what was there before: all that an undo needs, kept with the recording.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UndoFacts {
    /// When the command began, less what times of files lag behind.
    began: Timestamp,
    /// Whether ignore rules changed, so that it is not known which files are new.
    has_other_rules: bool,
    files: BTreeMap<PathBuf, UndoFile>,
}

/// A file that differs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct UndoFile {
    old: Option<FileState>,
    new: Option<FileState>,
    /// Its permissions, where git's mode does not say them.
    old_permissions: Option<u32>,
    new_permissions: Option<u32>,
}

impl UndoFacts {
    /// Puts together what an undo of a command needs that began then.
    #[must_use]
    pub fn of(began: Timestamp, found: &Found, before: &TreeSnapshot, after: &TreeSnapshot) -> Self {
        let is_rules = |path: &PathBuf| path.file_name() == Some(std::ffi::OsStr::new(".gitignore"));
        let has_other_rules = after.is_without_new || found.keys().any(is_rules);
        let file = |(path, file): (&PathBuf, &FileDifference)| {
            let (old_permissions, new_permissions) = (before.modes.get(path), after.modes.get(path));
            let (old, new) = (file.old.clone(), file.new.clone());
            let (old_permissions, new_permissions) = (old_permissions.copied(), new_permissions.copied());
            (path.clone(), UndoFile { old, new, old_permissions, new_permissions })
        };
        Self { began, has_other_rules, files: found.iter().map(file).collect() }
    }
}

/// Checks whether what differs can be undone as a whole. `past` has what the files held, `git` the tree as it is `now`.
///
/// # Errors
/// Why not: a sentence for each path, or one for all.
pub async fn plan(
    (past, git): (&PrivateGit, &PrivateGit),
    facts: &UndoFacts,
    now: &TreeSnapshot,
    seen: &SeenFiles,
    by: Instant,
) -> Result<UndoPlan, Vec<String>> {
    let top = HeldFolder::open(git.top()).map_err(|error| vec![error.to_string()])?;
    if facts.files.len() > MOST_FILES {
        return Err(vec![format!(
            "{} files differ: more than {MOST_FILES} are not undone",
            facts.files.len()
        )]);
    }
    if facts.has_other_rules {
        return Err(vec!["ignore rules have changed: which files are new is not known".to_owned()]);
    }
    let there = listed(git, &now.tree, by).await.map_err(|error| vec![error.to_string()])?;
    let (mut todo, mut problems) = (Vec::new(), Vec::new());
    for (path, file) in &facts.files {
        let shown = path.display();
        let is = there.get(path);
        let is_unread = now.unread.contains_key(path);
        let own = seen.0.get(path).copied().flatten();
        let is_as = |state: &Option<FileState>, permissions: Option<u32>| {
            // Git does not notice every change of permissions.
            let is_same =
                |own: SeenFile| own.permissions().is_none_or(|own| Some(own) == usual(state, permissions));
            !is_unread && is == state.as_ref() && (state.is_none() || own.is_some_and(is_same))
        };
        let was_seen = seen.0.get(path).is_some_and(Option::is_some);
        match file {
            UndoFile { old: Some(FileState::Unread(_)), .. }
            | UndoFile { new: Some(FileState::Unread(_)), .. } => {
                problems.push(format!("{shown}: no copy of it is kept"));
            }
            file if is_as(&file.old, file.old_permissions) && is.is_some() == was_seen => {}
            file if !is_as(&file.new, file.new_permissions) || is.is_some() != was_seen => {
                problems.push(format!("{shown}: it is no longer what the command left"));
            }
            file => todo.push((path, file)),
        }
    }
    let restored: Vec<&FileState> = todo.iter().filter_map(|(_, file)| file.old.as_ref()).collect();
    for (path, file) in &todo {
        // What was moved here is as old as it was there, and goes back.
        let is_moved = || file.new.as_ref().is_some_and(|state| restored.contains(&state));
        if file.old.is_none() && !is_moved() && !is_younger(git.top(), path, facts.began) {
            problems.push(format!("{}: it is older than the command", path.display()));
        }
    }
    let removed: BTreeSet<&Path> =
        todo.iter().filter(|(_, file)| file.old.is_none()).map(|(path, _)| path.as_path()).collect();
    let new = || facts.files.iter().filter(|(_, file)| file.old.is_none()).map(|(path, _)| path);
    let left = new().filter_map(|path| Some(path.with_file_name(beside(Path::new(path.file_name()?)))));
    let made = new().flat_map(|path| path.ancestors().skip(1)).collect();
    let room = UndoRoom { top: git.top(), began: facts.began, removed, left: left.collect(), made };
    for (path, _) in todo.iter().filter(|(_, file)| file.old.is_some()) {
        if !room.is_for(path) {
            problems.push(format!("{}: something else is in its place, or above it", path.display()));
        }
    }
    if !problems.is_empty() {
        return Err(problems);
    }
    let held = contents(past, &restored, by).await?;
    for (path, file) in &facts.files {
        let Some(rest) = left_beside(&top, path) else { continue };
        let id = git.run(&["hash-object", "--no-filters", "--stdin"], &rest, by).await.unwrap_or_default();
        let is_known = [&file.old, &file.new].into_iter().flatten().any(|state| match state {
            // What was cut off while it was written is the beginning of what is put back.
            FileState::Kept { id: own, .. } => {
                id.trim_ascii() == own.as_bytes()
                    || held.get(own).is_some_and(|whole| whole.starts_with(&rest))
            }
            FileState::Unread(_) => false,
        });
        if !is_known {
            let beside = path.with_file_name(beside(Path::new(path.file_name().unwrap_or_default())));
            return Err(vec![format!("{}: an undo that was cut off has left it there", beside.display())]);
        }
    }
    let step = |(path, file): (&PathBuf, &UndoFile)| {
        let to = match &file.old {
            Some(FileState::Kept { mode, id }) => {
                let bytes = held.get(id).cloned().unwrap_or_default();
                let permissions = usual(&file.old, file.old_permissions).unwrap_or(0o644);
                if mode == "120000" {
                    UndoTarget::Link(bytes)
                } else {
                    UndoTarget::File { bytes, permissions }
                }
            }
            _ => UndoTarget::Gone,
        };
        UndoStep { path: path.clone(), seen: seen.0.get(path).copied().flatten(), to }
    };
    let mut steps: Vec<UndoStep> = todo.into_iter().map(step).collect();
    // What is removed makes room for what stood in its place; the deepest first.
    steps.sort_by_key(|step| (!matches!(step.to, UndoTarget::Gone), std::cmp::Reverse(step.path.clone())));
    let paths = facts.files.keys().cloned().collect();
    Ok(UndoPlan { at: git.top().to_owned(), top, began: facts.began, steps, paths })
}

/// Returns the permissions of a file: those that were noted, or else what git's mode says.
fn usual(state: &Option<FileState>, noted: Option<u32>) -> Option<u32> {
    match state {
        Some(FileState::Kept { mode, .. }) if mode == "100755" => noted.or(Some(0o755)),
        Some(FileState::Kept { .. }) => noted.or(Some(0o644)),
        Some(FileState::Unread(_)) | None => noted,
    }
}

/// Whether there is room for what is put back, once other files were removed.
struct UndoRoom<'a> {
    top: &'a Path,
    began: Timestamp,
    removed: BTreeSet<&'a Path>,
    /// What an undo that was cut off may have left beside files that are removed.
    left: BTreeSet<PathBuf>,
    /// The folders above files that are new.
    made: BTreeSet<&'a Path>,
}

impl UndoRoom<'_> {
    /// Tells whether a file can be put back. Blocks.
    fn is_for(&self, path: &Path) -> bool {
        let kind =
            |path: &Path| std::fs::symlink_metadata(self.top.join(path)).map(|facts| facts.file_type());
        let is_free =
            |above: &Path| kind(above).map_or(true, |kind| kind.is_dir()) || self.removed.contains(above);
        let is_below = path.ancestors().skip(1).all(|above| above.as_os_str().is_empty() || is_free(above));
        is_below && kind(path).map_or(true, |kind| !kind.is_dir() || self.empties(path))
    }

    /// Tells whether a folder is gone once the files in it are removed. Blocks.
    fn empties(&self, folder: &Path) -> bool {
        let Ok(entries) = std::fs::read_dir(self.top.join(folder)) else { return false };
        let paths: Vec<PathBuf> = entries.flatten().map(|entry| folder.join(entry.file_name())).collect();
        let is_removed = |path: &PathBuf| {
            self.removed.contains(path.as_path()) || self.left.contains(path) || self.empties(path)
        };
        // An empty one may be what an undo that was cut off has left, or anybody's.
        let is_ours = !paths.is_empty() || self.made.contains(folder);
        is_ours && paths.iter().all(is_removed) && is_younger(self.top, folder, self.began)
    }
}

/// The files of an undo as they were seen before the look at their contents: whoever touches one from then on is noticed.
#[derive(Debug)]
pub struct SeenFiles(BTreeMap<PathBuf, Option<SeenFile>>);

impl SeenFiles {
    /// Looks at the files. Blocks.
    ///
    /// # Errors
    /// If the tree cannot be opened.
    pub fn look(top: &Path, facts: &UndoFacts) -> io::Result<Self> {
        let top = HeldFolder::open(top)?;
        let look = |path: &Path| {
            let facts = top.folder(path.parent()?).ok()?.facts(Path::new(path.file_name()?)).ok()?;
            let is_folder = FileType::from_raw_mode(facts.st_mode) == FileType::Directory;
            (!is_folder).then(|| SeenFile::of(&facts))
        };
        Ok(Self(facts.files.keys().map(|path| (path.clone(), look(path))).collect()))
    }
}

/// Lists a tree.
async fn listed(
    git: &PrivateGit,
    tree: &str,
    by: Instant,
) -> Result<BTreeMap<PathBuf, FileState>, GitFailure> {
    let listed = git.run(&["ls-tree", "-r", "-z", "--full-tree", tree], &[], by).await?;
    let entry = |entry: &[u8]| {
        let tab = memchr::memchr(b'\t', entry)?;
        let facts = std::str::from_utf8(entry.get(..tab)?).ok()?;
        let mut words = facts.split(' ');
        let (mode, _, id) = (words.next()?.to_owned(), words.next()?, words.next()?.to_owned());
        Some((path(entry.get(tab + 1..)?), FileState::Kept { mode, id }))
    };
    Ok(listed.split(|byte| *byte == 0).filter_map(entry).collect())
}

/// Reads what files held.
async fn contents(
    git: &PrivateGit,
    states: &[&FileState],
    by: Instant,
) -> Result<BTreeMap<String, Vec<u8>>, Vec<String>> {
    let mut ids: Vec<&str> = states
        .iter()
        .filter_map(|state| match state {
            FileState::Kept { id, .. } => Some(id.as_str()),
            FileState::Unread(_) => None,
        })
        .collect();
    ids.sort_unstable();
    ids.dedup();
    let asked: String = ids.iter().map(|id| format!("{id}\n")).collect();
    let listed = git.run(&["cat-file", "--batch-check"], asked.as_bytes(), by).await;
    let listed = String::from_utf8(listed.map_err(|error| vec![error.to_string()])?).unwrap_or_default();
    let bytes = |line: &str| line.split_once(" blob ").and_then(|(_, bytes)| bytes.parse::<usize>().ok());
    let sizes: Vec<Option<usize>> = listed.lines().map(bytes).collect();
    if sizes.len() != ids.len() || sizes.iter().any(Option::is_none) {
        return Err(vec!["what a file held before is no longer there".to_owned()]);
    }
    let total = sizes.iter().flatten().sum::<usize>();
    if total > MOST_BYTES {
        return Err(vec![format!("the files held {} MiB: more than is undone", total >> 20)]);
    }
    let answer = git.run(&["cat-file", "--batch"], asked.as_bytes(), by).await;
    let answer = answer.map_err(|error| vec![error.to_string()])?;
    let (mut rest, mut held) = (&answer[..], BTreeMap::new());
    for (id, bytes) in ids.into_iter().zip(sizes.into_iter().flatten()) {
        let torn = || vec![GitFailure::Answer.to_string()];
        let begin = memchr::memchr(b'\n', rest).ok_or_else(torn)? + 1;
        held.insert(id.to_owned(), rest.get(begin..begin + bytes).ok_or_else(torn)?.to_vec());
        rest = rest.get(begin + bytes + 1..).unwrap_or_default();
    }
    Ok(held)
}
