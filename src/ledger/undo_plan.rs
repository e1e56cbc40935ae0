//! An undo that was checked: all of it is made ready, then put in place, then looked at once more; until then, all of it
//! can go back. Blocks.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write as _};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use rustix::fs::{AtFlags, CWD, FileType, RenameFlags, StatxFlags, renameat_with, statx};

use super::current_file::{CurrentFile, find_writers, place};
use super::rights::FileRights;
use super::undo::in_use;
use crate::files::{self, HeldFolder, path_text};

/// The folder at the top of a tree, or of a mount in it, in which files wait while an undo is under way.
const ASIDE: &str = ".pilothouse-undo";

/// What is to be done to one file.
#[derive(Debug)]
pub(super) struct UndoStep {
    pub(super) path: PathBuf,
    /// Where its successor is made, or it waits to be removed.
    pub(super) aside: PathBuf,
    /// What is there now, as long as nobody touches it.
    pub(super) found: Option<CurrentFile>,
    pub(super) to: UndoTarget,
}

/// What becomes of a file.
#[derive(Debug)]
pub(super) enum UndoTarget {
    Gone,
    /// A file with these contents.
    File(Vec<u8>, FileRights),
    /// A link to there.
    Link(Vec<u8>, FileRights),
}

/// How far an undo has come. Whoever kills it at any of these can plan it and do it again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum UndoMoment {
    /// What an undo that was cut off has left of a file is gone.
    Cleared,
    /// What is to be put in a file's place was begun.
    Begun,
    /// It is whole, and on the disk.
    Made,
    /// The folders are gone that the command had made for a file.
    FoldersRemoved,
    /// The folders are there that a file was in.
    FoldersMade,
    /// A file is in its place, and what was there is aside; or what is to be removed is.
    Exchanged,
    /// What was there is gone.
    Removed,
}

/// Why an undo was not done.
#[derive(Debug, thiserror::Error)]
pub enum UndoFailure {
    /// All is as it was before.
    #[error("{0}")]
    Refused(String),
    /// Something is not.
    #[error("{0}")]
    CutOff(String),
}

/// What was done so far, to go back by.
enum DoneStep {
    /// A file was made aside.
    Made(PathBuf, Box<CurrentFile>),
    Renamed(PathBuf, PathBuf, RenameFlags),
    FolderMade(PathBuf),
    /// A folder with these rights was removed.
    FolderRemoved(PathBuf, FileRights),
}

/// An undo that was checked and may be done.
#[derive(Debug)]
pub struct UndoPlan {
    /// The top of the tree, by its path and held.
    pub(super) at: PathBuf,
    pub(super) top: HeldFolder,
    pub(super) began: Timestamp,
    pub(super) steps: Vec<UndoStep>,
    /// What an undo that was cut off has left: of which file, where, and what it is.
    pub(super) rests: Vec<(PathBuf, PathBuf, CurrentFile)>,
    /// All paths, also of files that are already as they were.
    pub(super) paths: Vec<PathBuf>,
    /// The folders above files that are put back.
    pub(super) folders: BTreeMap<PathBuf, FileRights>,
    /// The folders in which files wait.
    pub(super) asides: BTreeSet<PathBuf>,
}

impl UndoPlan {
    /// Returns what is to be done, a line for each file.
    #[must_use]
    pub fn lines(&self) -> Vec<String> {
        let line = |step: &UndoStep| match step.to {
            UndoTarget::Gone => format!("remove {}", path_text(&step.path)),
            UndoTarget::File(..) | UndoTarget::Link(..) => format!("put back {}", path_text(&step.path)),
        };
        self.steps.iter().map(line).collect()
    }

    /// Tells whether no undo that was cut off has left anything.
    #[must_use]
    pub fn is_clean(&self) -> bool {
        self.asides.iter().all(|folder| self.top.folder(folder).is_err())
    }

    /// Does it, and tells how far it has `come` with each file. If it is killed, it can be planned and done again. Blocks.
    ///
    /// # Errors
    /// If a file was touched since it was checked, or cannot be written: then all goes back.
    pub fn carry_out(self, come: &mut dyn FnMut(&Path, UndoMoment)) -> Result<usize, UndoFailure> {
        let mut done = Vec::new();
        let forward = self.put_in_place(&mut done, come);
        let ended = match forward {
            Ok(()) => self.remove_what_was_there(come).map_err(UndoFailure::CutOff),
            Err(why) => Err(match self.go_back(done) {
                left if left.is_empty() => UndoFailure::Refused(why),
                left => UndoFailure::CutOff([vec![why], left].concat().join("\n")),
            }),
        };
        for folder in &self.asides {
            if let Ok((above, name)) = place(&self.top, folder) {
                // Something is left in it that nobody knows.
                let _ = above.remove_folder(name);
            }
        }
        ended.map(|()| self.steps.len())
    }

    /// Does all that can go back.
    fn put_in_place(
        &self,
        done: &mut Vec<DoneStep>,
        come: &mut dyn FnMut(&Path, UndoMoment),
    ) -> Result<(), String> {
        for folder in &self.asides {
            self.make_aside(folder).map_err(path_error(folder))?;
        }
        for (path, aside, found) in &self.rests {
            self.discard(aside, found)?;
            come(path, UndoMoment::Cleared);
        }
        let (gone, back): (Vec<&UndoStep>, Vec<&UndoStep>) =
            self.steps.iter().partition(|step| matches!(step.to, UndoTarget::Gone));
        for step in &back {
            let made =
                self.make(step, &mut |moment| come(&step.path, moment)).map_err(path_error(&step.path))?;
            done.push(DoneStep::Made(step.aside.clone(), Box::new(made)));
        }
        for step in gone {
            self.rename(done, (&step.path, &step.aside), RenameFlags::NOREPLACE)
                .map_err(path_error(&step.path))?;
            come(&step.path, UndoMoment::Exchanged);
        }
        // Also those above a file that an undo had removed when it was cut off.
        for path in &self.paths {
            self.remove_new_folders(done, path);
            come(path, UndoMoment::FoldersRemoved);
        }
        for step in back {
            self.make_folders(done, &step.path).map_err(path_error(&step.path))?;
            come(&step.path, UndoMoment::FoldersMade);
            let flags = if step.found.is_some() { RenameFlags::EXCHANGE } else { RenameFlags::NOREPLACE };
            self.rename(done, (&step.aside, &step.path), flags).map_err(path_error(&step.path))?;
            come(&step.path, UndoMoment::Exchanged);
        }
        // From here on, nobody can open by its name what was there.
        let replaced = || self.steps.iter().filter_map(|step| Some((step, step.found.as_ref()?)));
        let open = find_writers(&self.top, replaced().map(|(step, _)| step.aside.as_path()));
        let open = open.map_err(|error| error.to_string())?;
        for (step, found) in replaced() {
            if let Some(who) = open.get(&step.aside) {
                return Err(in_use(&step.path, who));
            }
            if CurrentFile::read(&self.top, &step.aside).map_err(path_error(&step.path))?.as_ref()
                != Some(found)
            {
                return Err(format!("{}: it was changed meanwhile", path_text(&step.path)));
            }
        }
        Ok(())
    }

    /// Removes what files were replaced with others, or are to be gone.
    fn remove_what_was_there(&self, come: &mut dyn FnMut(&Path, UndoMoment)) -> Result<(), String> {
        for step in self.steps.iter().filter(|step| step.found.is_some()) {
            let (folder, name) = place(&self.top, &step.aside).map_err(path_error(&step.aside))?;
            folder.remove_file(name).map_err(path_error(&step.aside))?;
            come(&step.path, UndoMoment::Removed);
        }
        Ok(())
    }

    /// Goes back, the last step first; returns what could not be put back as it was.
    fn go_back(&self, done: Vec<DoneStep>) -> Vec<String> {
        let back = |step| match step {
            DoneStep::Made(aside, made) => self.discard(&aside, &made).err(),
            DoneStep::Renamed(from, to, flags) => {
                self.rename(&mut Vec::new(), (&to, &from), flags).map_err(path_error(&from)).err()
            }
            DoneStep::FolderMade(path) => {
                let removed = place(&self.top, &path).and_then(|(above, name)| above.remove_folder(name));
                removed.map_err(path_error(&path)).err()
            }
            DoneStep::FolderRemoved(path, rights) => {
                self.make_folder(&path, Some(&rights)).map_err(path_error(&path)).err()
            }
        };
        done.into_iter().rev().filter_map(back).collect()
    }

    /// Removes a file that waits, unless somebody has written to it.
    fn discard(&self, aside: &Path, known: &CurrentFile) -> Result<(), String> {
        let open = find_writers(&self.top, [aside].into_iter()).map_err(path_error(aside))?;
        if let Some(who) = open.get(aside) {
            return Err(in_use(aside, who));
        }
        if CurrentFile::read(&self.top, aside).map_err(path_error(aside))?.as_ref() != Some(known) {
            return Err(format!("{}: somebody has written to it", path_text(aside)));
        }
        let (folder, name) = place(&self.top, aside).map_err(path_error(aside))?;
        folder.remove_file(name).map_err(path_error(aside))
    }

    /// Makes the folder in which files wait, or makes sure that it is a private one.
    fn make_aside(&self, path: &Path) -> io::Result<()> {
        let (above, name) = place(&self.top, path)?;
        match std::fs::DirBuilder::new().mode(0o700).create(above.path(name)) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            made => made?,
        }
        let facts = self.top.folder(path)?.own_facts()?;
        match above.is_own(&facts) && facts.st_mode & 0o077 == 0 {
            true => Ok(()),
            false => Err(io::Error::other("somebody else has put it there")),
        }
    }

    /// Makes what is to be put in a file's place. What is half made is removed.
    fn make(&self, step: &UndoStep, come: &mut dyn FnMut(UndoMoment)) -> io::Result<CurrentFile> {
        let (folder, name) = place(&self.top, &step.aside)?;
        let path = folder.path(name);
        let written = match &step.to {
            UndoTarget::Gone => return Err(io::ErrorKind::InvalidInput.into()),
            UndoTarget::Link(target, rights) => {
                rustix::fs::symlink(std::ffi::OsStr::from_bytes(target), &path)?;
                rights.give(&path)
            }
            UndoTarget::File(bytes, rights) => {
                let mut file = files::create_new(&path)?;
                come(UndoMoment::Begun);
                let written = file.write_all(bytes).and_then(|()| rights.give(&path));
                written.and_then(|()| file.sync_all())
            }
        };
        let made = written.and_then(|()| CurrentFile::read(&self.top, &step.aside));
        match made.and_then(|made| made.ok_or_else(|| io::ErrorKind::NotFound.into())) {
            Ok(made) => {
                come(UndoMoment::Made);
                Ok(made)
            }
            Err(error) => {
                // The first failure is the one to be told.
                let _ = folder.remove_file(name);
                Err(error)
            }
        }
    }

    fn rename(
        &self,
        done: &mut Vec<DoneStep>,
        (from, to): (&Path, &Path),
        flags: RenameFlags,
    ) -> io::Result<()> {
        let ((old, own), (new, name)) = (place(&self.top, from)?, place(&self.top, to)?);
        renameat_with(CWD, old.path(own), CWD, new.path(name), flags)?;
        done.push(DoneStep::Renamed(from.to_owned(), to.to_owned(), flags));
        Ok(())
    }

    /// Creates the folders that a file was in.
    fn make_folders(&self, done: &mut Vec<DoneStep>, path: &Path) -> io::Result<()> {
        let above: Vec<&Path> =
            path.ancestors().skip(1).filter(|above| !above.as_os_str().is_empty()).collect();
        for folder in above.into_iter().rev().filter(|folder| self.top.folder(folder).is_err()) {
            self.make_folder(folder, self.folders.get(folder))?;
            done.push(DoneStep::FolderMade(folder.to_owned()));
        }
        Ok(())
    }

    /// Makes a folder aside, with these rights, and puts it in its place. Without any, it is a private one.
    fn make_folder(&self, path: &Path, rights: Option<&FileRights>) -> io::Result<()> {
        // Not where a file of the same name waits.
        let waits = aside(&self.top, &path.join(""))?;
        let ((above, own), (folder, name)) = (place(&self.top, &waits)?, place(&self.top, path)?);
        let made = above.path(own);
        // An undo that was cut off may have left it.
        let _ = above.remove_folder(own);
        std::fs::DirBuilder::new().mode(0o700).create(&made)?;
        let given = rights.map_or(Ok(()), |rights| rights.give(&made));
        let put = |()| Ok(renameat_with(CWD, &made, CWD, folder.path(name), RenameFlags::NOREPLACE)?);
        let placed = given.and_then(put);
        if placed.is_err() {
            // The first failure is the one to be told.
            let _ = above.remove_folder(own);
        }
        placed
    }

    /// Removes the folders above a removed file that the command has made, as far as they are empty.
    fn remove_new_folders(&self, done: &mut Vec<DoneStep>, path: &Path) {
        for folder in path.ancestors().skip(1).filter(|above| !above.as_os_str().is_empty()) {
            let Ok((above, name)) = place(&self.top, folder) else { continue };
            let Ok(facts) = above.facts(name) else { continue };
            let rights = FileRights::read(&above.path(name), &facts);
            if !is_younger(&self.at, folder, self.began) || above.remove_folder(name).is_err() {
                return;
            }
            done.push(DoneStep::FolderRemoved(folder.to_owned(), rights));
        }
    }
}

/// Says of which path an error is.
fn path_error(path: &Path) -> impl Fn(io::Error) -> String {
    move |error| format!("{}: {error}", path_text(path))
}

/// Returns where a file waits, or its successor, while an undo is under way: at the top of the tree, or of the mount that the
/// file is in.
pub(super) fn aside(top: &HeldFolder, path: &Path) -> io::Result<PathBuf> {
    let mount = |folder: &Path| {
        let held = top.folder(folder).ok()?;
        let flags = StatxFlags::BASIC_STATS | StatxFlags::MNT_ID;
        let facts = statx(CWD, held.path(Path::new(".")), AtFlags::empty(), flags).ok()?;
        Some((facts.stx_mnt_id, facts.stx_dev_major, facts.stx_dev_minor))
    };
    let mut mounts = path.ancestors().skip(1).filter_map(|above| Some((above, mount(above)?)));
    let (lowest, own) = mounts.next().ok_or(io::ErrorKind::NotFound)?;
    let folder = mounts.take_while(|(_, mount)| *mount == own).last().map_or(lowest, |(above, _)| above);
    let digest = files::digest(path.as_os_str().as_bytes());
    Ok(folder.join(ASIDE).join(digest.get(..16).unwrap_or(&digest)))
}

/// Tells whether a file was born, and last changed, after a moment. Blocks.
pub(super) fn is_younger(top: &Path, path: &Path, began: Timestamp) -> bool {
    let flags = rustix::fs::AtFlags::SYMLINK_NOFOLLOW;
    let Ok(facts) = statx(CWD, top.join(path), flags, StatxFlags::BTIME | StatxFlags::CTIME) else {
        return false;
    };
    let is_after = |seconds: i64, nanos: u32| {
        i32::try_from(nanos).is_ok_and(|nanos| Timestamp::new(seconds, nanos).is_ok_and(|at| at >= began))
    };
    let has_birth = facts.stx_mask & StatxFlags::BTIME.bits() != 0;
    let (birth, change) = (facts.stx_btime, facts.stx_ctime);
    let is_folder = FileType::from_raw_mode(facts.stx_mode.into()) == FileType::Directory;
    // Whatever is made in a folder changes it: only its birth says that it is new.
    (has_birth || !is_folder)
        && (!has_birth || is_after(birth.tv_sec, birth.tv_nsec))
        && is_after(change.tv_sec, change.tv_nsec)
}
