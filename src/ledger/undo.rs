//! Undo of what differs since one command began: checked as a whole, and refused as a whole.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use tokio::time::Instant;

use super::current_file::{CurrentFile, blob_id, written};
use super::difference::{FileDifference, FileState, Found};
use super::program::{GitFailure, PrivateGit};
use super::snapshot::TreeSnapshot;
use super::undo_plan::{UndoPlan, UndoStep, UndoTarget, aside, is_younger};
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
    /// By path, which need not be text.
    files: Vec<(OsString, UndoFile)>,
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
            (path.clone().into_os_string(), UndoFile { old, new, old_permissions, new_permissions })
        };
        Self { began, has_other_rules, files: found.iter().map(file).collect() }
    }

    /// Returns what it takes to bring back what an undo of it has taken.
    #[must_use]
    pub fn reversed(mut self) -> Self {
        for (_, file) in &mut self.files {
            std::mem::swap(&mut file.old, &mut file.new);
            std::mem::swap(&mut file.old_permissions, &mut file.new_permissions);
        }
        self
    }

    fn files(&self) -> impl Iterator<Item = (&Path, &UndoFile)> {
        self.files.iter().map(|(path, file)| (Path::new(path), file))
    }
}

/// Checks whether what differs can be undone as a whole: each file is looked at and read, whatever was told of it. `past` has
/// what the files held.
///
/// # Errors
/// Why not: a sentence for each path, or one for all.
pub async fn plan(past: &PrivateGit, facts: &UndoFacts, by: Instant) -> Result<UndoPlan, Vec<String>> {
    if facts.files.len() > MOST_FILES {
        let count = facts.files.len();
        return Err(vec![format!("{count} files differ: more than {MOST_FILES} are not undone")]);
    }
    if facts.has_other_rules {
        return Err(vec!["ignore rules have changed: which files are new is not known".to_owned()]);
    }
    let (at, own) = (past.top().to_owned(), facts.clone());
    let draft = tokio::task::spawn_blocking(move || UndoDraft::of(at, own)).await;
    let draft = draft.map_err(|error| vec![error.to_string()])??;
    let held = contents(past, &draft.ids(|file| &file.old), &draft.ids(|file| &file.new), by).await?;
    draft.plan(&held)
}

/// An undo whose files were looked at.
struct UndoDraft {
    at: PathBuf,
    top: HeldFolder,
    facts: UndoFacts,
    /// What is not yet as it was, and what is there now.
    todo: Vec<(PathBuf, UndoFile, Option<CurrentFile>)>,
    /// What an undo that was cut off has left: of which file, where, what it is; and its contents, if they are not known.
    rests: Vec<(PathBuf, PathBuf, CurrentFile, Option<Vec<u8>>)>,
    /// The folders in which files wait.
    asides: BTreeSet<PathBuf>,
}

impl UndoDraft {
    /// Looks at the files. Blocks.
    fn of(at: PathBuf, facts: UndoFacts) -> Result<Self, Vec<String>> {
        let top = HeldFolder::open(&at).map_err(|error| vec![error.to_string()])?;
        let (mut todo, mut rests, mut problems) = (Vec::new(), Vec::new(), Vec::new());
        let mut asides = BTreeSet::new();
        let listed: BTreeSet<&Path> = facts.files().map(|(path, _)| path).collect();
        for (path, file) in facts.files() {
            let mut refuse =
                |why: &dyn std::fmt::Display| problems.push(format!("{}: {why}", path.display()));
            if [&file.old, &file.new].iter().any(|state| matches!(state, Some(FileState::Unread(_)))) {
                refuse(&"no copy of it is kept");
                continue;
            }
            let now = CurrentFile::read(&top, path);
            // A link above it may be one that the command has made, or removed.
            let is_below = path.ancestors().skip(1).any(|above| listed.contains(above));
            match if is_below { Ok(now.unwrap_or_default()) } else { now } {
                Err(error) => refuse(&error),
                Ok(now) if is_as(&file.old, file.old_permissions, now.as_ref()) => {}
                Ok(now) if !is_as(&file.new, file.new_permissions, now.as_ref()) => {
                    refuse(&"it is no longer what the command left");
                }
                Ok(Some(now)) if now.names > 1 => {
                    refuse(&format!("it has {} names, and the others would stay as they are", now.names));
                }
                Ok(now) => todo.push((path.to_owned(), file.clone(), now)),
            }
            let aside = match aside(&top, path) {
                Ok(aside) => aside,
                Err(error) => {
                    refuse(&error);
                    continue;
                }
            };
            asides.extend(aside.parent().map(Path::to_owned));
            match file.rest(&top, &aside) {
                Err(error) => refuse(&error),
                Ok(rest) => rests.extend(rest.map(|(found, bytes)| (path.to_owned(), aside, found, bytes))),
            }
        }
        let replaced = todo.iter().filter(|(_, _, now)| now.is_some()).map(|(path, ..)| path.as_path());
        let open = written(&top, replaced).map_err(|error| vec![error.to_string()])?;
        problems.extend(open.iter().map(|(path, who)| in_use(path, who)));
        let draft = Self { at, top, facts: facts.clone(), todo, rests, asides };
        problems.extend(draft.obstacles());
        if problems.is_empty() { Ok(draft) } else { Err(problems) }
    }

    /// Returns what is in the way of what is removed and put back. Blocks.
    fn obstacles(&self) -> Vec<String> {
        let mut problems = Vec::new();
        let restored: Vec<&FileState> =
            self.todo.iter().filter_map(|(_, file, _)| file.old.as_ref()).collect();
        for (path, file, _) in &self.todo {
            // What was moved here is as old as it was there, and goes back.
            let is_moved = || file.new.as_ref().is_some_and(|state| restored.contains(&state));
            if file.old.is_none() && !is_moved() && !is_younger(&self.at, path, self.facts.began) {
                problems.push(format!("{}: it is older than the command", path.display()));
            }
        }
        let removed = self.todo.iter().filter(|(_, file, _)| file.old.is_none());
        let removed = removed.map(|(path, ..)| path.as_path()).collect();
        let new = self.facts.files().filter(|(_, file)| file.old.is_none());
        let made = new.flat_map(|(path, _)| path.ancestors().skip(1)).collect();
        let room = UndoRoom { top: &self.at, began: self.facts.began, removed, made };
        for (path, ..) in self.todo.iter().filter(|(_, file, _)| file.old.is_some()) {
            if !room.is_for(path) {
                problems.push(format!("{}: something else is in its place, or above it", path.display()));
            }
        }
        problems
    }

    /// Lists the contents of one side of what is to be done.
    fn ids(&self, side: impl Fn(&UndoFile) -> &Option<FileState>) -> BTreeSet<String> {
        let kept = |(_, file, _): &(_, UndoFile, _)| match side(file) {
            Some(FileState::Kept { id, .. }) => Some(id.clone()),
            Some(FileState::Unread(_)) | None => None,
        };
        self.todo.iter().filter_map(kept).collect()
    }

    /// Plans the steps with what files held, by its id.
    fn plan(self, held: &BTreeMap<String, Vec<u8>>) -> Result<UndoPlan, Vec<String>> {
        let failed = |error: std::io::Error| vec![error.to_string()];
        let mut rests = Vec::new();
        for (path, aside, found, bytes) in self.rests {
            // What was cut off while it was written is the beginning of what is put back.
            let is_begun = |rest: &[u8]| held.values().any(|whole| whole.starts_with(rest));
            if bytes.as_ref().is_some_and(|rest| !rest.is_empty() && !is_begun(rest)) {
                return Err(vec![format!("{}: an undo that was cut off has left it there", aside.display())]);
            }
            rests.push((path, aside, found));
        }
        let step = |(path, file, found): (PathBuf, UndoFile, Option<CurrentFile>)| {
            let to = match &file.old {
                Some(FileState::Kept { mode, id }) => {
                    let bytes = held.get(id).cloned().unwrap_or_default();
                    let permissions = usual(&file.old, file.old_permissions).unwrap_or(0o644);
                    match mode == "120000" {
                        true => UndoTarget::Link(bytes),
                        false => UndoTarget::File { bytes, permissions },
                    }
                }
                _ => UndoTarget::Gone,
            };
            Ok(UndoStep { aside: aside(&self.top, &path).map_err(failed)?, path, found, to })
        };
        let mut steps = self.todo.into_iter().map(step).collect::<Result<Vec<UndoStep>, Vec<String>>>()?;
        // What is removed makes room for what stood in its place; the deepest first.
        steps
            .sort_by_key(|step| (!matches!(step.to, UndoTarget::Gone), std::cmp::Reverse(step.path.clone())));
        let paths = self.facts.files().map(|(path, _)| path.to_owned()).collect();
        let (at, top, began, asides) = (self.at, self.top, self.facts.began, self.asides);
        Ok(UndoPlan { at, top, began, steps, rests, paths, asides })
    }
}

impl UndoFile {
    /// Returns what an undo that was cut off has left of it, and the contents of that unless they are known. Blocks.
    fn rest(
        &self,
        top: &HeldFolder,
        aside: &Path,
    ) -> std::io::Result<Option<(CurrentFile, Option<Vec<u8>>)>> {
        let Some(rest) = CurrentFile::read(top, aside)? else { return Ok(None) };
        let is_known = [&self.old, &self.new].into_iter().flatten().any(|state| rest.holds(state));
        let bytes = if is_known { None } else { Some(rest.bytes(top, aside)?) };
        Ok(Some((rest, bytes)))
    }
}

/// Says that somebody writes to a file.
pub(super) fn in_use(path: &Path, who: &str) -> String {
    format!("{}: {who} has it open for writing, or mapped", path.display())
}

/// Tells whether a file is what it was in a snapshot.
fn is_as(state: &Option<FileState>, permissions: Option<u32>, now: Option<&CurrentFile>) -> bool {
    match (state, now) {
        (None, None) => true,
        // Git does not notice every change of permissions.
        (Some(was), Some(now)) => {
            *was == now.state && now.permissions.is_none_or(|own| Some(own) == usual(state, permissions))
        }
        _ => false,
    }
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
        let is_removed = |path: &PathBuf| self.removed.contains(path.as_path()) || self.empties(path);
        // An empty one may be what an undo that was cut off has left, or anybody's.
        let is_ours = !paths.is_empty() || self.made.contains(folder);
        is_ours && paths.iter().all(is_removed) && is_younger(self.top, folder, self.began)
    }
}

/// Reads what files held, by its id, and makes sure that what is removed is kept.
async fn contents(
    git: &PrivateGit,
    old: &BTreeSet<String>,
    new: &BTreeSet<String>,
    by: Instant,
) -> Result<BTreeMap<String, Vec<u8>>, Vec<String>> {
    let failed = |error: GitFailure| vec![error.to_string()];
    let lines = |ids: &mut dyn Iterator<Item = &String>| ids.map(|id| format!("{id}\n")).collect::<String>();
    let asked = lines(&mut old.iter().chain(new));
    let listed = git.run(&["cat-file", "--batch-check"], asked.as_bytes(), by).await.map_err(failed)?;
    let listed = String::from_utf8(listed).unwrap_or_default();
    let bytes = |line: &str| line.split_once(" blob ").and_then(|(_, bytes)| bytes.parse::<usize>().ok());
    let sizes: Vec<Option<usize>> = listed.lines().map(bytes).collect();
    if sizes.len() != old.len() + new.len() || sizes.iter().any(Option::is_none) {
        return Err(vec!["what a file held before or after it is no longer kept".to_owned()]);
    }
    let sizes: Vec<usize> = sizes.into_iter().flatten().take(old.len()).collect();
    let total = sizes.iter().sum::<usize>();
    if total > MOST_BYTES {
        return Err(vec![format!("the files held {} MiB: more than is undone", total >> 20)]);
    }
    let asked = lines(&mut old.iter());
    let answer = git.run(&["cat-file", "--batch"], asked.as_bytes(), by).await.map_err(failed)?;
    let (mut rest, mut held) = (&answer[..], BTreeMap::new());
    for (id, bytes) in old.iter().zip(sizes) {
        let torn = || vec![GitFailure::Answer.to_string()];
        let begin = memchr::memchr(b'\n', rest).ok_or_else(torn)? + 1;
        let whole = rest.get(begin..begin + bytes).ok_or_else(torn)?;
        // Some of it may come from the repository, where anybody can have written it.
        if blob_id(bytes as u64, whole).ok().as_ref() != Some(id) {
            return Err(vec!["what a file held before or after it is no longer kept".to_owned()]);
        }
        held.insert(id.clone(), whole.to_vec());
        rest = rest.get(begin + bytes + 1..).unwrap_or_default();
    }
    Ok(held)
}
