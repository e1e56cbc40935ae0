//! Undo of what differs since one command began: checked as a whole, and refused as a whole.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use tokio::time::Instant;

use super::current_file::{CurrentFile, blob_id, find_writers};
use super::difference::{FileDifference, FileState, Found};
use super::program::{GitFailure, PrivateGit};
use super::rights::FileRights;
use super::snapshot::TreeSnapshot;
use super::undo_plan::{UndoPlan, UndoStep, UndoTarget, aside, is_younger};
use super::undo_room::{UndoRoom, ban, shortage};
use crate::envelope::units::size;
use crate::files::{HeldFolder, path_text};

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
    files: Vec<(OsString, Sides<UndoFile>)>,
    /// The folders above the files.
    folders: Vec<(OsString, Sides<FileRights>)>,
}

/// What was there before a command, and after it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Sides<T> {
    pub(super) old: Option<T>,
    pub(super) new: Option<T>,
}

/// A file that differs, on one side.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct UndoFile {
    state: FileState,
    pub(super) rights: FileRights,
}

impl<T> Sides<T> {
    fn swap(self) -> Self {
        Self { old: self.new, new: self.old }
    }
}

impl UndoFacts {
    /// Puts together what an undo of a command needs that began then.
    #[must_use]
    pub fn of(began: Timestamp, found: &Found, before: &TreeSnapshot, after: &TreeSnapshot) -> Self {
        let is_rules = |path: &PathBuf| path.file_name() == Some(std::ffi::OsStr::new(".gitignore"));
        let has_other_rules = after.is_without_new || found.keys().any(is_rules);
        let side = |path: &Path, state: &Option<FileState>, of: &TreeSnapshot| {
            state.clone().map(|state| UndoFile { rights: of.rights.of_file(path, &state), state })
        };
        let file = |(path, file): (&PathBuf, &FileDifference)| {
            let (old, new) = (side(path, &file.old, before), side(path, &file.new, after));
            (path.clone().into_os_string(), Sides { old, new })
        };
        let above: BTreeSet<&Path> = found.keys().flat_map(|path| path.ancestors().skip(1)).collect();
        let folder = |path: &Path| {
            let [old, new] = [before, after].map(|of| of.rights.of_folder(path).cloned());
            (path.as_os_str().to_owned(), Sides { old, new })
        };
        let (files, folders) = (found.iter().map(file).collect(), above.into_iter().map(folder).collect());
        Self { began, has_other_rules, files, folders }
    }

    /// Returns what it takes to bring back what an undo of it has taken.
    #[must_use]
    pub fn reverse(self) -> Self {
        let files = self.files.into_iter().map(|(path, file)| (path, file.swap())).collect();
        let folders = self.folders.into_iter().map(|(path, folder)| (path, folder.swap())).collect();
        Self { files, folders, ..self }
    }

    fn files(&self) -> impl Iterator<Item = (&Path, &Sides<UndoFile>)> {
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
    todo: Vec<(PathBuf, Sides<UndoFile>, Option<CurrentFile>)>,
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
                |why: &dyn std::fmt::Display| problems.push(format!("{}: {why}", path_text(path)));
            let is_unread = |file: &UndoFile| matches!(file.state, FileState::Unread(_));
            if file.sides().any(is_unread) {
                refuse(&"no copy of it is kept");
                continue;
            }
            let now = CurrentFile::read(&top, path);
            // A link above it may be one that the command has made, or removed.
            let is_below = path.ancestors().skip(1).any(|above| listed.contains(above));
            match if is_below { Ok(now.unwrap_or_default()) } else { now } {
                Err(error) => refuse(&error),
                Ok(now) if is_as(file.old.as_ref(), now.as_ref()) => {}
                Ok(now) if !is_as(file.new.as_ref(), now.as_ref()) => {
                    refuse(&"it is no longer what the command left");
                }
                Ok(Some(now)) if now.names > 1 => {
                    refuse(&format!("it has {} names, and the others would stay as they are", now.names));
                }
                Ok(_) if file.sides().any(|side| side.rights.attributes.is_none()) => {
                    refuse(&"its extended attributes are not kept");
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
        let open = find_writers(&top, replaced).map_err(|error| vec![error.to_string()])?;
        problems.extend(open.iter().map(|(path, who)| in_use(path, who)));
        let draft = Self { at, top, facts: facts.clone(), todo, rests, asides };
        problems.extend(draft.obstacles());
        if problems.is_empty() { Ok(draft) } else { Err(problems) }
    }

    /// Returns what is in the way of what is removed and put back. Blocks.
    fn obstacles(&self) -> Vec<String> {
        let asides = self.asides.iter().filter(|_| !self.todo.is_empty());
        let banned = asides.filter_map(|aside| Some((aside, ban(&self.top, aside, false, None)?)));
        let mut problems: Vec<String> =
            banned.map(|(aside, why)| format!("{}: {why}", path_text(aside))).collect();
        let restored: Vec<&FileState> =
            self.todo.iter().filter_map(|(_, file, _)| Some(&file.old.as_ref()?.state)).collect();
        for (path, file, now) in &self.todo {
            let rights = file.old.as_ref().map(|old| &old.rights);
            if let Some(why) = ban(&self.top, path, now.is_some(), rights) {
                problems.push(format!("{}: {why}", path_text(path)));
            }
            // What was moved here is as old as it was there, and goes back.
            let is_moved = || file.new.as_ref().is_some_and(|new| restored.contains(&&new.state));
            if file.old.is_none() && !is_moved() && !is_younger(&self.at, path, self.facts.began) {
                problems.push(format!("{}: it is older than the command", path_text(path)));
            }
        }
        let removed = self.todo.iter().filter(|(_, file, _)| file.old.is_none());
        let removed = removed.map(|(path, ..)| path.as_path()).collect();
        let new = self.facts.files().filter(|(_, file)| file.old.is_none());
        let made = new.flat_map(|(path, _)| path.ancestors().skip(1)).collect();
        let room = UndoRoom { top: &self.at, began: self.facts.began, removed, made };
        for (path, ..) in self.todo.iter().filter(|(_, file, _)| file.old.is_some()) {
            if !room.is_for(path) {
                problems.push(format!("{}: something else is in its place, or above it", path_text(path)));
            }
        }
        problems
    }

    /// Lists the contents of one side of what is to be done.
    fn ids(&self, side: impl Fn(&Sides<UndoFile>) -> &Option<UndoFile>) -> BTreeSet<String> {
        let kept = |(_, file, _): &(_, Sides<UndoFile>, _)| match &side(file).as_ref()?.state {
            FileState::Kept { id, .. } => Some(id.clone()),
            FileState::Unread(_) => None,
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
                return Err(vec![format!(
                    "{}: an undo that was cut off has left it there",
                    path_text(&aside)
                )]);
            }
            rests.push((path, aside, found));
        }
        let step = |(path, file, found): (PathBuf, Sides<UndoFile>, Option<CurrentFile>)| {
            let to = match file.old {
                Some(UndoFile { state: FileState::Kept { mode, id }, rights }) => {
                    let bytes = held.get(&id).cloned().unwrap_or_default();
                    match mode == "120000" {
                        true => UndoTarget::Link(bytes, rights),
                        false => UndoTarget::File(bytes, rights),
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
        let short = shortage(&self.top, &steps);
        if !short.is_empty() {
            return Err(short);
        }
        let paths = self.facts.files().map(|(path, _)| path.to_owned()).collect();
        let folders = self.facts.folders.into_iter();
        let folders = folders.filter_map(|(path, folder)| Some((path.into(), folder.old?))).collect();
        let (at, top, began, asides) = (self.at, self.top, self.facts.began, self.asides);
        Ok(UndoPlan { at, top, began, steps, rests, paths, folders, asides })
    }
}

impl Sides<UndoFile> {
    fn sides(&self) -> impl Iterator<Item = &UndoFile> {
        [&self.old, &self.new].into_iter().flatten()
    }

    /// Returns what an undo that was cut off has left of it, and the contents of that unless they are known. Blocks.
    fn rest(
        &self,
        top: &HeldFolder,
        aside: &Path,
    ) -> std::io::Result<Option<(CurrentFile, Option<Vec<u8>>)>> {
        let Some(rest) = CurrentFile::read(top, aside)? else { return Ok(None) };
        let is_known = self.sides().any(|side| rest.holds(&side.state));
        let bytes = if is_known { None } else { Some(rest.bytes(top, aside)?) };
        Ok(Some((rest, bytes)))
    }
}

/// Says that somebody writes to a file.
pub(super) fn in_use(path: &Path, who: &str) -> String {
    format!("{}: {who} has it open for writing, or mapped", path_text(path))
}

/// Tells whether a file is what it was in a snapshot.
fn is_as(was: Option<&UndoFile>, now: Option<&CurrentFile>) -> bool {
    match (was, now) {
        (None, None) => true,
        // Git does not notice every change of rights.
        (Some(was), Some(now)) => was.state == now.state && was.rights == now.rights,
        _ => false,
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
        return Err(vec![format!("the files held {}: more than is undone", size(total as u64))]);
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
