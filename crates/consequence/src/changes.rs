//! The files as the line has left them so far: the view, and above it what the line has removed, made and moved.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::ffi::{OsStr, OsString};
use std::ops::Bound;
use std::path::{Component, Path, PathBuf};

use crate::look::{FileKind, FileStat, Look};

/// The most paths that are looked at.
const MOST_PATHS: u64 = 20_000;
/// The most links that one path leads through.
const MOST_LINKS: usize = 40;

/// What the line did at a path.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Change {
    Gone,
    Made(MadeFile),
}

/// Something that the line made.
#[derive(Debug, Clone, PartialEq, Eq)]
struct MadeFile {
    stat: FileStat,
    /// Where a link leads.
    target: Option<PathBuf>,
    /// Where what it holds was before the line began.
    from: Option<PathBuf>,
    /// Whether that is still there too.
    is_copy: bool,
    /// Whether it is there only if something not known is so.
    is_possible: bool,
}

/// What is at a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PlacedFile {
    /// Its path, without links.
    pub(crate) path: PathBuf,
    pub(crate) stat: FileStat,
    /// Where what it holds was before the line began; `None` if the line made it.
    pub(crate) origin: Option<PathBuf>,
}

impl PlacedFile {
    pub(crate) fn is_folder(&self) -> bool {
        self.stat.kind == FileKind::Folder
    }
}

/// What of the files could not be looked at.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Unlooked {
    /// There were more than may be looked at.
    pub(crate) is_too_many: bool,
    /// There was no time left.
    pub(crate) is_late: bool,
    /// Something could not be read.
    pub(crate) is_closed: bool,
}

/// The files as the line has left them so far.
#[derive(Clone)]
pub(crate) struct ChangedFiles<'a> {
    pub(crate) look: &'a dyn Look,
    changes: BTreeMap<PathBuf, Change>,
    /// What was there, and may be gone.
    open: BTreeSet<PathBuf>,
    looked: Cell<u64>,
    pub(crate) unlooked: Cell<Unlooked>,
}

/// Where what is seen at a path comes from.
enum Source<'a> {
    Nothing,
    Made(&'a MadeFile),
    /// The view shows it at this path, where it was before: whether it may be missing, and whether it is a copy.
    View(PathBuf, bool, bool),
}

impl<'a> ChangedFiles<'a> {
    pub(crate) fn new(look: &'a dyn Look) -> Self {
        Self {
            look,
            changes: BTreeMap::new(),
            open: BTreeSet::new(),
            looked: Cell::new(0),
            unlooked: Cell::default(),
        }
    }

    /// Tells how much the line has changed.
    pub(crate) fn len(&self) -> usize {
        self.changes.len()
    }

    /// Tells whether the line has left other files as they are in another view.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        (&self.changes, &self.open) == (&other.changes, &other.open)
    }

    /// Returns how many bytes a copy takes, about.
    pub(crate) fn bytes(&self) -> usize {
        const ENTRY: usize = 512;
        ENTRY * (self.changes.len() + self.open.len())
    }

    /// Takes over what was looked at in a copy.
    pub(crate) fn counts_of(&self, other: &Self) {
        self.looked.set(other.looked.get());
        self.unlooked.set(other.unlooked.get());
    }

    fn note(&self, what: impl FnOnce(&mut Unlooked)) {
        let mut unlooked = self.unlooked.get();
        what(&mut unlooked);
        self.unlooked.set(unlooked);
    }

    /// Counts a path that is looked at, and tells whether it may be.
    pub(crate) fn may_look(&self) -> bool {
        self.looked.set(self.looked.get() + 1);
        if self.looked.get() > MOST_PATHS {
            self.note(|unlooked| unlooked.is_too_many = true);
            return false;
        }
        self.has_time()
    }

    /// Looks at the clock; once it is too late, it stays so.
    pub(crate) fn has_time(&self) -> bool {
        if !self.unlooked.get().is_late && !self.look.has_time() {
            self.note(|unlooked| unlooked.is_late = true);
        }
        !self.unlooked.get().is_late
    }

    fn source(&self, path: &Path) -> Source<'_> {
        for above in path.ancestors() {
            match self.changes.get(above) {
                Some(Change::Gone) => return Source::Nothing,
                Some(Change::Made(made)) if above == path => return Source::Made(made),
                Some(Change::Made(MadeFile { from: Some(from), is_possible, is_copy, .. })) => {
                    let rest = path.strip_prefix(above).unwrap_or(path);
                    return Source::View(from.join(rest), *is_possible, *is_copy);
                }
                Some(Change::Made(_)) => return Source::Nothing,
                None => {}
            }
        }
        Source::View(path.to_owned(), false, false)
    }

    /// Returns what is at a path without links, except perhaps at its end.
    pub(crate) fn at(&self, path: &Path) -> Option<PlacedFile> {
        match self.source(path) {
            Source::Nothing => None,
            Source::Made(made) => {
                let origin = made.from.clone().filter(|from| !made.is_copy || !self.is_as_before(from));
                Some(PlacedFile { path: path.to_owned(), stat: made.stat, origin })
            }
            Source::View(from, _, is_copy) => {
                if !self.has_time() {
                    return None;
                }
                let stat = self.look.stat(&from).unwrap_or_else(|_| {
                    self.note(|unlooked| unlooked.is_closed = true);
                    None
                })?;
                let origin = Some(from).filter(|from| !is_copy || !self.is_as_before(from));
                Some(PlacedFile { path: path.to_owned(), stat, origin })
            }
        }
    }

    /// Tells whether the line has left what was at a path where it was.
    fn is_as_before(&self, path: &Path) -> bool {
        matches!(self.source(path), Source::View(from, ..) if from == path)
    }

    /// Tells whether what is at a path may be missing, or something else than it seems.
    pub(crate) fn is_possible(&self, path: &Path) -> bool {
        if !self.open.is_empty() && path.ancestors().any(|above| self.open.contains(above)) {
            return true;
        }
        match self.source(path) {
            Source::Nothing => false,
            Source::Made(made) => made.is_possible,
            Source::View(_, is_possible, _) => is_possible,
        }
    }

    fn target(&self, path: &Path) -> Option<PathBuf> {
        match self.source(path) {
            Source::Nothing => None,
            Source::Made(made) => made.target.clone(),
            Source::View(from, ..) => self.look.read_link(&from),
        }
    }

    /// Returns an absolute path without links; one at its end stays, unless it is to be followed. `None` if it leads in a
    /// circle.
    pub(crate) fn resolve(&self, path: &Path, follows: bool) -> Option<PathBuf> {
        let parts = |path: &Path| -> VecDeque<OsString> {
            path.components().map(|part| part.as_os_str().to_owned()).collect()
        };
        let (mut done, mut todo, mut links) = (PathBuf::from("/"), parts(path), 0);
        while let Some(part) = todo.pop_front() {
            match Path::new(&part).components().next() {
                Some(Component::Normal(name)) => {
                    let next = done.join(name);
                    let is_followed = follows || !todo.is_empty();
                    let link = is_followed
                        .then(|| self.at(&next))
                        .flatten()
                        .filter(|file| file.stat.kind == FileKind::Link)
                        .and_then(|_| self.target(&next));
                    match link {
                        Some(target) => {
                            links += 1;
                            if links > MOST_LINKS {
                                return None;
                            }
                            let mut ahead = parts(&target);
                            ahead.append(&mut todo);
                            todo = ahead;
                        }
                        None => done = next,
                    }
                }
                Some(Component::ParentDir) => {
                    done.pop();
                }
                Some(Component::RootDir) => done = PathBuf::from("/"),
                _ => {}
            }
        }
        Some(done)
    }

    /// Returns what an absolute path leads to, its last link followed or not.
    pub(crate) fn find(&self, path: &Path, follows: bool) -> Option<PlacedFile> {
        self.at(&self.resolve(path, follows)?)
    }

    /// Returns the sorted names in a folder, given without links. Only as many as may be looked at.
    pub(crate) fn names(&self, folder: &Path) -> Vec<OsString> {
        let mut names = BTreeSet::new();
        let shown = match self.source(folder) {
            Source::Nothing => return Vec::new(),
            Source::Made(made) => made.from.clone(),
            Source::View(from, ..) => Some(from),
        };
        if let Some(from) = shown {
            let listed = self.look.list(&from, &mut |name: &OsStr| {
                let may = self.may_look();
                if may {
                    names.insert(name.to_owned());
                }
                may
            });
            if listed.is_err() {
                self.note(|unlooked| unlooked.is_closed = true);
            }
        }
        for (path, change) in self.below(folder) {
            if path.parent() == Some(folder)
                && let Some(name) = path.file_name()
            {
                match change {
                    Change::Gone => names.remove(name),
                    Change::Made(_) => names.insert(name.to_owned()),
                };
            }
        }
        names.into_iter().collect()
    }

    fn below<'b>(&'b self, folder: &'b Path) -> impl Iterator<Item = (&'b PathBuf, &'b Change)> {
        let from: (Bound<&Path>, Bound<&Path>) = (Bound::Excluded(folder), Bound::Unbounded);
        self.changes.range::<Path, _>(from).take_while(move |(path, _)| path.starts_with(folder))
    }

    /// Returns everything at and below a path, what is in a folder before the folder.
    pub(crate) fn tree(&self, top: &PlacedFile) -> Vec<PlacedFile> {
        let mut found = Vec::new();
        // A folder comes up twice: to be looked into, and after all that is in it.
        let mut open = vec![(top.clone(), false)];
        while let Some((file, is_done)) = open.pop() {
            if file.is_folder() && !is_done {
                let path = file.path.clone();
                open.push((file, true));
                open.extend(
                    self.names(&path)
                        .iter()
                        .rev()
                        .filter_map(|name| Some((self.at(&path.join(name))?, false))),
                );
            } else {
                found.push(file);
            }
        }
        found
    }

    /// Removes what is at a path, and all below it.
    pub(crate) fn remove(&mut self, path: &Path) {
        self.forget(path);
        self.changes.insert(path.to_owned(), Change::Gone);
    }

    fn forget(&mut self, path: &Path) {
        self.open.retain(|open| !open.starts_with(path));
        let below: Vec<PathBuf> = self.below(path).map(|(path, _)| path.clone()).collect();
        for path in below {
            self.changes.remove(&path);
        }
    }

    /// Makes something new at a path.
    pub(crate) fn make(&mut self, path: &Path, kind: FileKind, target: Option<PathBuf>, is_possible: bool) {
        self.forget(path);
        let stat = FileStat { kind, bytes: 0 };
        self.changes.insert(
            path.to_owned(),
            Change::Made(MadeFile { stat, target, from: None, is_copy: false, is_possible }),
        );
    }

    /// Puts a copy of a file at a path.
    pub(crate) fn copy(&mut self, file: &PlacedFile, to: &Path, is_possible: bool) {
        self.place(file, to, true, is_possible);
    }

    /// Moves a file, with all below it. If that is only possible, it may stay where it is.
    pub(crate) fn rename(&mut self, file: &PlacedFile, to: &Path, is_possible: bool) {
        self.place(file, to, false, is_possible);
        if !is_possible {
            self.remove(&file.path);
        }
    }

    fn place(&mut self, file: &PlacedFile, to: &Path, is_copy: bool, is_possible: bool) {
        let moved: Vec<(PathBuf, Change)> = self
            .below(&file.path)
            .filter_map(|(path, change)| Some((to.join(path.strip_prefix(&file.path).ok()?), change.clone())))
            .collect();
        let target = (file.stat.kind == FileKind::Link).then(|| self.target(&file.path)).flatten();
        self.forget(to);
        let from = match self.source(&file.path) {
            Source::Nothing => None,
            Source::Made(made) => made.from.clone(),
            Source::View(from, ..) => Some(from),
        };
        // What was a copy stays one when it is moved.
        let is_copy = is_copy || (from.is_some() && file.origin.is_none());
        let made = MadeFile { stat: file.stat, target, from, is_copy, is_possible };
        self.changes.insert(to.to_owned(), Change::Made(made));
        self.changes.extend(moved);
    }

    /// Takes over what a branch of the line has made, now that it may have been taken or not. Returns the paths where that
    /// leaves it open what is there.
    pub(crate) fn merge(&mut self, branch: &Self) -> Vec<PathBuf> {
        self.counts_of(branch);
        let mut open = Vec::new();
        self.open.extend(branch.open.iter().cloned());
        for (path, change) in &branch.changes {
            let own = self.at(path);
            let Change::Made(made) = change else {
                // What is gone there is here, and may be gone.
                self.open.extend(own.map(|own| own.path));
                continue;
            };
            if own.as_ref().is_some_and(|own| own.origin == made.from && own.stat == made.stat) {
                continue;
            }
            if own.is_some() {
                self.open.insert(path.clone());
                open.push(path.clone());
            } else {
                let made = MadeFile { is_possible: true, ..made.clone() };
                self.changes.insert(path.clone(), Change::Made(made));
            }
        }
        open
    }
}
