//! The difference between two snapshots, and what the files in it held.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use tokio::time::Instant;

use super::program::{GitFailure, PrivateGit};
use super::snapshot::{TreeSnapshot, path};
use crate::files::{self, HeldFolder};
use crate::model::{ChangedFile, ChangesReport, TreeChanges};

/// The most files of a report.
const MOST_FILES: usize = 2_000;
/// The most bytes of a file whose text is in a report.
const MOST_TEXT: usize = 64 << 10;
/// The most bytes of all texts in a report.
const MOST_TEXTS: usize = 1 << 20;

/// What a file is in a snapshot.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FileState {
    /// It was read.
    Kept {
        /// Git's mode, as `100644`.
        mode: String,
        /// The id of its contents.
        id: String,
    },
    /// Only a digest of it is known.
    Unread(String),
}

impl FileState {
    /// Tells whether it was a link.
    pub(super) fn is_link(&self) -> bool {
        matches!(self, Self::Kept { mode, .. } if mode == "120000")
    }
}

/// A path that differs.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FileDifference {
    /// What was there.
    pub old: Option<FileState>,
    /// What is there now.
    pub new: Option<FileState>,
}

/// All paths that differ.
pub type Found = BTreeMap<PathBuf, FileDifference>;

/// Returns what differs between two snapshots.
///
/// # Errors
/// If git fails.
pub async fn difference(
    git: &PrivateGit,
    old: &TreeSnapshot,
    new: &TreeSnapshot,
    by: Instant,
) -> Result<Found, GitFailure> {
    let mut found = Found::new();
    if old.tree != new.tree {
        found = trees(git, &old.tree, &new.tree, by).await?;
    }
    let paths = old.unread.keys().chain(new.unread.keys());
    for path in paths.filter(|path| old.unread.get(*path) != new.unread.get(*path)) {
        let entry = found.entry(path.clone()).or_default();
        let state = |digest: &String| FileState::Unread(digest.clone());
        entry.old = old.unread.get(path).map(state).or(entry.old.take());
        entry.new = new.unread.get(path).map(state).or(entry.new.take());
    }
    Ok(found)
}

/// Returns what differs between two trees or commits of git.
async fn trees(git: &PrivateGit, old: &str, new: &str, by: Instant) -> Result<Found, GitFailure> {
    let args = ["diff-tree", "-r", "-z", "--raw", "--no-renames", "--no-abbrev", old, new, "--"];
    raw(&git.run(&args, &[], by).await?).ok_or(GitFailure::Answer)
}

/// Reads `:100644 100644 OLD NEW M`, NUL, path, NUL, and so on.
fn raw(bytes: &[u8]) -> Option<Found> {
    let mut found = Found::new();
    let mut parts = bytes.split(|byte| *byte == 0);
    while let Some(facts) = parts.next().filter(|facts| !facts.is_empty()) {
        let facts = std::str::from_utf8(facts.strip_prefix(b":")?).ok()?;
        let path = path(parts.next()?);
        let words: Vec<&str> = facts.split(' ').collect();
        let [old_mode, new_mode, old_id, new_id, _] = words[..] else { return None };
        let state = |mode: &str, id: &str| {
            (mode != "000000").then(|| FileState::Kept { mode: mode.to_owned(), id: id.to_owned() })
        };
        found.insert(path, FileDifference { old: state(old_mode, old_id), new: state(new_mode, new_id) });
    }
    Some(found)
}

/// Returns those of the paths that had become what they are before a moment: their change is none of a command that began
/// then. Blocks.
#[must_use]
pub fn between(top: &Path, found: Found, began: Timestamp) -> Found {
    let Ok(top) = HeldFolder::open(top) else { return Found::new() };
    let is_older = |path: &PathBuf| {
        let name = Path::new(path.file_name()?);
        let there = top.folder(path.parent()?).and_then(|folder| folder.facts(name));
        // What is gone has left its trace in the folder that it was in, if that is still there.
        let gone = || path.ancestors().skip(1).find_map(|above| top.folder(above).ok()?.own_facts().ok());
        let facts = there.ok().or_else(gone)?;
        let nanos = i32::try_from(facts.st_ctime_nsec).ok()?;
        let seconds = i64::try_from(i128::from(facts.st_ctime)).ok()?;
        Some(Timestamp::new(seconds, nanos).ok()? < began)
    };
    found.into_iter().filter(|(path, _)| is_older(path) == Some(true)).collect()
}

/// Counts files; of these, those that are as in the commit that git has moved to.
///
/// # Errors
/// If git fails.
pub async fn count(
    git: &PrivateGit,
    found: &Found,
    moved: Option<(&str, &str)>,
    by: Instant,
) -> Result<TreeChanges, GitFailure> {
    let mut changes = TreeChanges::default();
    for file in found.values() {
        match (&file.old, &file.new) {
            (None, _) => changes.added += 1,
            (Some(_), Some(_)) => changes.modified += 1,
            (Some(_), None) => changes.deleted += 1,
        }
    }
    if let Some((from, to)) = moved.filter(|_| !found.is_empty()) {
        let moved = trees(git, from, to, by).await?;
        let is_by_git = |(path, file): &(&PathBuf, &FileDifference)| {
            moved.get(*path).is_some_and(|moved| moved.new == file.new)
        };
        changes.by_git = found.iter().filter(is_by_git).count() as u64;
    }
    Ok(changes)
}

/// Reports on files, with their texts, from what git keeps.
///
/// # Errors
/// If git fails.
pub async fn report(
    git: &PrivateGit,
    found: &Found,
    changes: TreeChanges,
    by: Instant,
) -> Result<ChangesReport, GitFailure> {
    let shown = || found.iter().take(MOST_FILES);
    let ids =
        shown().flat_map(|(_, file)| [&file.old, &file.new]).flatten().filter_map(|state| match state {
            FileState::Kept { mode, id } if mode != "160000" => Some(id.as_str()),
            FileState::Kept { .. } | FileState::Unread(_) => None,
        });
    let ids: Vec<&str> = ids.collect();
    let texts = texts(git, &ids, by).await?;
    let files = shown().map(|(path, file)| changed_file(path, file, &texts)).collect();
    Ok(ChangesReport { changes, files, left_out: found.len().saturating_sub(MOST_FILES) as u64 })
}

/// Why contents are not shown, or their text.
type KnownText = Result<String, String>;

fn changed_file(path: &Path, file: &FileDifference, texts: &BTreeMap<String, KnownText>) -> ChangedFile {
    let mut notes: Vec<String> = Vec::new();
    let mut text = |state: &Option<FileState>| match state {
        None => None,
        Some(FileState::Unread(_)) => {
            notes.push("it looks like a secret, is larger than 50 MB, or has a name that git refuses: only a digest is kept".to_owned());
            None
        }
        Some(FileState::Kept { id, .. }) => match texts.get(id) {
            Some(Ok(text)) => Some(text.clone()),
            Some(Err(why)) => {
                notes.push(why.clone());
                None
            }
            None => None,
        },
    };
    let (before, after) = (text(&file.old), text(&file.new));
    if let (Some(FileState::Kept { mode: old, .. }), Some(FileState::Kept { mode: new, .. })) =
        (&file.old, &file.new)
        && old != new
    {
        notes.push(format!("mode {old} -> {new}"));
    }
    notes.dedup();
    let note = (!notes.is_empty()).then(|| notes.join("; "));
    let path = files::path_text(path);
    ChangedFile { path, was: file.old.is_some(), is: file.new.is_some(), before, after, note }
}

/// Returns the contents of blobs as text, within the bounds of a report.
async fn texts(
    git: &PrivateGit,
    ids: &[&str],
    by: Instant,
) -> Result<BTreeMap<String, KnownText>, GitFailure> {
    let asked = |ids: &[&str]| ids.iter().map(|id| format!("{id}\n")).collect::<String>();
    let listed = git.run(&["cat-file", "--batch-check"], asked(ids).as_bytes(), by).await?;
    let listed = String::from_utf8(listed).map_err(|_| GitFailure::Answer)?;
    let (mut known, mut wanted, mut total) = (BTreeMap::new(), Vec::new(), 0);
    for (id, line) in ids.iter().zip(listed.lines()) {
        let bytes = line.rsplit(' ').next().and_then(|bytes| bytes.parse::<usize>().ok());
        match bytes {
            None => drop(known.insert((*id).to_owned(), Err("what it held is no longer there".to_owned()))),
            Some(bytes) if bytes > MOST_TEXT || total + bytes > MOST_TEXTS => {
                known.insert((*id).to_owned(), Err(format!("{bytes} bytes: too much to show here")));
            }
            Some(bytes) => {
                total += bytes;
                wanted.push((*id, bytes));
            }
        }
    }
    let ids: Vec<&str> = wanted.iter().map(|(id, _)| *id).collect();
    let contents = git.run(&["cat-file", "--batch"], asked(&ids).as_bytes(), by).await?;
    let mut rest = &contents[..];
    for (id, bytes) in wanted {
        let begin = memchr::memchr(b'\n', rest).ok_or(GitFailure::Answer)? + 1;
        let held = rest.get(begin..begin + bytes).ok_or(GitFailure::Answer)?;
        rest = rest.get(begin + bytes + 1..).unwrap_or_default();
        let text = match std::str::from_utf8(held) {
            Ok(text) if !text.contains('\0') => Ok(text.to_owned()),
            _ => Err(format!("{bytes} bytes that are no text")),
        };
        known.insert(id.to_owned(), text);
    }
    Ok(known)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_files_that_git_lists_are_read_whatever_their_names() {
        let id = "1".repeat(40);
        let none = "0".repeat(40);
        let listed = format!(":000000 100644 {none} {id} A\0a b\nc\0:100644 000000 {id} {none} D\0-x\0");
        let found = raw(listed.as_bytes()).expect("read");
        let kept = FileState::Kept { mode: "100644".into(), id };
        let added = FileDifference { old: None, new: Some(kept.clone()) };
        let deleted = FileDifference { old: Some(kept), new: None };
        assert_eq!(found, Found::from([("a b\nc".into(), added), ("-x".into(), deleted)]));
        assert_eq!(raw(b":100644\0x\0"), None);
        assert_eq!(raw(b""), Some(Found::new()));
    }
}
