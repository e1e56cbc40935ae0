//! An undo that was checked: done in steps, each of which leaves a file as it was or as it is to be. Blocks.

use std::io::{self, Write as _};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use rustix::fs::{CWD, FileType, RenameFlags, Stat, StatxFlags, renameat_with, statx};

use crate::files::{self, HeldFolder};

/// The most bytes of what is left beside a file.
const MOST_BYTES: u64 = 128 << 20;

/// What is to be done to one file.
#[derive(Debug)]
pub(super) struct UndoStep {
    pub(super) path: PathBuf,
    /// What is there now, as long as nobody touches it.
    pub(super) seen: Option<SeenFile>,
    pub(super) to: UndoTarget,
}

/// What becomes of a file.
#[derive(Debug)]
pub(super) enum UndoTarget {
    Gone,
    File { bytes: Vec<u8>, permissions: u32 },
    Link(Vec<u8>),
}

/// How far an undo has come. Whoever kills it at any of these can plan it and do it again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum UndoMoment {
    /// What an undo that was cut off has left beside a file is gone.
    Cleared,
    /// The folders are there that a file was in.
    FoldersMade,
    /// What is to be put in a file's place was begun, beside it.
    Begun,
    /// It is whole, and on the disk.
    Made,
    /// It is in its place, and what was there is beside it; or what is to be removed is.
    Exchanged,
    /// What was there is gone.
    Removed,
    /// The folders are gone that the command had made for it.
    FoldersRemoved,
}

/// By what a file is known again after it was renamed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct SeenFile([i128; 6]);

impl SeenFile {
    /// Returns the permissions, where the file is no link.
    pub(super) fn permissions(self) -> Option<u32> {
        let mode = u32::try_from(self.0[4]).ok()?;
        (FileType::from_raw_mode(mode) == FileType::RegularFile).then_some(mode & 0o7777)
    }

    pub(super) fn of(facts: &Stat) -> Self {
        let time = [facts.st_mtime.into(), facts.st_mtime_nsec.into()];
        let file = [facts.st_ino.into(), facts.st_size.into(), facts.st_mode.into(), facts.st_dev.into()];
        Self([time[0], time[1], file[0], file[1], file[2], file[3]])
    }
}

/// An undo that was checked and may be done.
#[derive(Debug)]
pub struct UndoPlan {
    /// The top of the tree, by its path and held.
    pub(super) at: PathBuf,
    pub(super) top: HeldFolder,
    pub(super) began: Timestamp,
    pub(super) steps: Vec<UndoStep>,
    /// All paths, also of files that are already as they were.
    pub(super) paths: Vec<PathBuf>,
}

impl UndoPlan {
    /// Returns what is to be done, a line for each file.
    #[must_use]
    pub fn told(&self) -> Vec<String> {
        let line = |step: &UndoStep| match step.to {
            UndoTarget::Gone => format!("remove {}", step.path.display()),
            UndoTarget::File { .. } | UndoTarget::Link(_) => format!("put back {}", step.path.display()),
        };
        self.steps.iter().map(line).collect()
    }

    /// Does it, and tells how far it has `come` with each file. If it ends early, it can be planned and done again. Blocks.
    ///
    /// # Errors
    /// If a file was touched since it was checked, or cannot be written; earlier steps are done then.
    pub fn carry_out(self, come: &mut dyn FnMut(&Path, UndoMoment)) -> Result<usize, String> {
        for path in &self.paths {
            self.clear(path);
            come(path, UndoMoment::Cleared);
            // Also those above a file that an undo had removed when it was cut off.
            self.remove_new_folders(path);
        }
        for step in &self.steps {
            let done = self.step(step, &mut |moment| come(&step.path, moment));
            done.map_err(|error| format!("{}: {error}", step.path.display()))?;
        }
        Ok(self.steps.len())
    }

    /// Removes what an undo that was cut off has left beside a file.
    fn clear(&self, path: &Path) {
        let Some((folder, name)) = self.place(path).ok() else { return };
        let beside = beside(name);
        if folder.facts(&beside).is_ok_and(|facts| folder.is_own(&facts)) {
            // If it cannot be removed, the step says so.
            let _ = folder.remove_file(&beside);
        }
    }

    /// Returns the folder of a file, which no link leads to, and its name there.
    fn place<'a>(&self, path: &'a Path) -> io::Result<(HeldFolder, &'a Path)> {
        let name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?;
        Ok((self.top.folder(path.parent().unwrap_or(Path::new("")))?, Path::new(name)))
    }

    fn step(&self, step: &UndoStep, come: &mut dyn FnMut(UndoMoment)) -> io::Result<()> {
        let is_gone = matches!(step.to, UndoTarget::Gone);
        if !is_gone {
            self.make_folders(&step.path)?;
            come(UndoMoment::FoldersMade);
        }
        let (folder, name) = self.place(&step.path)?;
        let beside = beside(name);
        let (own, new) = (folder.path(name), folder.path(&beside));
        // What is exchanged can be looked at before it is gone for good.
        let flags = match (is_gone, step.seen.is_some()) {
            (false, true) => RenameFlags::EXCHANGE,
            _ => RenameFlags::NOREPLACE,
        };
        let (from, to) = if is_gone { (&own, &new) } else { (&new, &own) };
        make(&step.to, &new, come)?;
        if let Err(error) = renameat_with(CWD, from, CWD, to, flags) {
            if !is_gone {
                folder.remove_file(&beside)?;
            }
            return Err(error.into());
        }
        come(UndoMoment::Exchanged);
        if step.seen.is_none() {
            return Ok(());
        }
        if folder.facts(&beside).ok().as_ref().map(SeenFile::of) != step.seen {
            renameat_with(CWD, &new, CWD, &own, flags)?;
            if !is_gone {
                folder.remove_file(&beside)?;
            }
            return Err(io::Error::other("it was changed meanwhile"));
        }
        folder.remove_file(&beside)?;
        come(UndoMoment::Removed);
        if is_gone {
            // They may be in the place of a file that is put back.
            self.remove_new_folders(&step.path);
            come(UndoMoment::FoldersRemoved);
        }
        Ok(())
    }

    /// Creates the folders that a file was in.
    fn make_folders(&self, path: &Path) -> io::Result<()> {
        let above: Vec<&Path> =
            path.ancestors().skip(1).filter(|above| !above.as_os_str().is_empty()).collect();
        for folder in above.into_iter().rev() {
            let (held, name) = self.place(folder)?;
            match std::fs::create_dir(held.path(name)) {
                Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
                _ => {}
            }
        }
        Ok(())
    }

    /// Removes the folders above a removed file that the command has made, as far as they are empty.
    fn remove_new_folders(&self, path: &Path) {
        for folder in path.ancestors().skip(1).filter(|above| !above.as_os_str().is_empty()) {
            let Ok((held, name)) = self.place(folder) else { return };
            if !is_younger(&self.at, folder, self.began) || held.remove_folder(name).is_err() {
                return;
            }
        }
    }
}

/// Makes what is to be put in a file's place. What is half made is removed.
fn make(target: &UndoTarget, new: &Path, come: &mut dyn FnMut(UndoMoment)) -> io::Result<()> {
    match target {
        UndoTarget::Gone => return Ok(()),
        UndoTarget::Link(target) => rustix::fs::symlink(std::ffi::OsStr::from_bytes(target), new)?,
        UndoTarget::File { bytes, permissions } => {
            let mut file = files::create_new(new)?;
            come(UndoMoment::Begun);
            let permissions = std::fs::Permissions::from_mode(*permissions);
            let written = file
                .write_all(bytes)
                .and_then(|()| file.set_permissions(permissions))
                .and_then(|()| file.sync_all());
            if written.is_err() {
                std::fs::remove_file(new)?;
            }
            written?;
        }
    }
    come(UndoMoment::Made);
    Ok(())
}

/// Returns the name beside a file under which its successor is made, or the file itself waits to be removed.
pub(super) fn beside(name: &Path) -> PathBuf {
    let digest = files::digest(name.as_os_str().as_bytes());
    PathBuf::from(format!(".pilothouse-undo-{}", digest.get(..16).unwrap_or(&digest)))
}

/// Returns what an undo that was cut off has left beside a file.
pub(super) fn left_beside(top: &HeldFolder, path: &Path) -> Option<Vec<u8>> {
    let folder = top.folder(path.parent()?).ok()?;
    let beside = beside(Path::new(path.file_name()?));
    let facts = folder.facts(&beside).ok()?;
    let rest = folder.path(&beside);
    let held = match FileType::from_raw_mode(facts.st_mode) {
        FileType::Symlink => std::fs::read_link(&rest).map(|link| link.into_os_string().into_encoded_bytes()),
        _ => files::read(&rest, files::OWN, MOST_BYTES),
    };
    // What cannot be read is nothing that is known.
    Some(held.unwrap_or_else(|error| error.to_string().into_bytes()))
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
