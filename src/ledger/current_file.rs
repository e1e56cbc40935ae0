//! A file as it is now, looked at and read whatever the kernel has told of it, and who writes to it. Blocks.

use std::collections::BTreeMap;
use std::io::{self, Read};
use std::os::fd::AsFd as _;
use std::path::{Path, PathBuf};

use rustix::fs::{FileType, Stat};
use sha1::{Digest as _, Sha1};

use super::difference::FileState;
use super::rights::{FileRights, mode};
use crate::files::{self, FileAccess, HeldFolder, OWN};
use crate::process;

/// The most bytes of a file that is taken into memory.
const MOST_BYTES: u64 = 128 << 20;

/// By what a file is known again after it was renamed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct SeenFile([i128; 9]);

impl SeenFile {
    fn of(facts: &Stat) -> Self {
        let time = [facts.st_mtime.into(), facts.st_mtime_nsec.into(), facts.st_size.into()];
        let file = [facts.st_dev.into(), facts.st_ino.into(), facts.st_nlink.into()];
        let rights = [facts.st_mode.into(), facts.st_uid.into(), facts.st_gid.into()];
        Self([time, file, rights].concat().try_into().unwrap_or_default())
    }
}

/// A file or a link that is there now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct CurrentFile {
    seen: SeenFile,
    /// What it is, as git would name it.
    pub(super) state: FileState,
    pub(super) rights: FileRights,
    /// How many names it has.
    pub(super) names: u128,
}

impl CurrentFile {
    /// Reads what is at a path; `None` if nothing is, or a folder.
    ///
    /// # Errors
    /// If it cannot be read, changes meanwhile, is neither a file nor a link, or if a link leads to it.
    pub(super) fn read(top: &HeldFolder, path: &Path) -> io::Result<Option<Self>> {
        let (folder, name) = match place(top, path) {
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
                return Ok(None);
            }
            place => place?,
        };
        let facts = match folder.facts(name) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            facts => facts?,
        };
        let id = match FileType::from_raw_mode(facts.st_mode) {
            FileType::Directory => return Ok(None),
            FileType::Symlink => {
                let target = std::fs::read_link(folder.path(name))?.into_os_string().into_encoded_bytes();
                blob_id(target.len() as u64, &target[..])?
            }
            FileType::RegularFile => {
                let file = files::open(&folder.path(name), OWN, FileAccess::Read)?;
                blob_id(file.metadata()?.len(), file)?
            }
            _ => return Err(io::Error::other("it is neither a file nor a link")),
        };
        let (seen, rights) = (SeenFile::of(&facts), FileRights::read(&folder.path(name), &facts));
        if SeenFile::of(&folder.facts(name)?) != seen {
            return Err(io::Error::other("it is being changed"));
        }
        let state = FileState::Kept { mode: mode(&facts).to_owned(), id };
        Ok(Some(Self { seen, state, rights, names: facts.st_nlink.into() }))
    }

    /// Tells whether it holds the same as another one, whatever its mode.
    pub(super) fn holds(&self, other: &FileState) -> bool {
        let id = |state: &FileState| match state {
            FileState::Kept { id, .. } => Some(id.clone()),
            FileState::Unread(_) => None,
        };
        id(&self.state).is_some() && id(&self.state) == id(other)
    }

    /// Reads its contents, or where it leads to.
    pub(super) fn bytes(&self, top: &HeldFolder, path: &Path) -> io::Result<Vec<u8>> {
        let (folder, name) = place(top, path)?;
        match self.state.is_link() {
            false => files::read(&folder.path(name), OWN, MOST_BYTES),
            true => Ok(std::fs::read_link(folder.path(name))?.into_os_string().into_encoded_bytes()),
        }
    }
}

/// Returns the id that git gives to contents of this length.
pub(super) fn blob_id(bytes: u64, mut held: impl Read) -> io::Result<String> {
    let mut hash = Sha1::new();
    hash.update(format!("blob {bytes}\0"));
    let mut buffer = vec![0; 64 << 10];
    loop {
        match held.read(&mut buffer) {
            Ok(0) => return Ok(hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()),
            Ok(read) => hash.update(buffer.get(..read).unwrap_or_default()),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// How often those who have a file open are looked for, each time in all processes.
const LOOKS: usize = 5;

/// Says of those of the files that a process has open for writing, or mapped for it, which process that is. Where the kernel
/// gives no leases, processes of other users and of other machines are not seen.
pub(super) fn find_writers<'a>(
    top: &HeldFolder,
    paths: impl Iterator<Item = &'a Path>,
) -> io::Result<BTreeMap<PathBuf, String>> {
    let mut found = current_writers(top, paths)?;
    // A process that is being started has every file of its parent until it executes its program.
    for _ in 1..LOOKS {
        if found.is_empty() {
            break;
        }
        found = current_writers(top, found.keys().map(PathBuf::as_path))?;
    }
    Ok(found)
}

fn current_writers<'a>(
    top: &HeldFolder,
    paths: impl Iterator<Item = &'a Path>,
) -> io::Result<BTreeMap<PathBuf, String>> {
    let (mut doubtful, mut found) = (BTreeMap::new(), BTreeMap::new());
    for path in paths {
        let (folder, name) = place(top, path)?;
        let Ok(facts) = folder.facts(name) else { continue };
        if FileType::from_raw_mode(facts.st_mode) != FileType::RegularFile {
            continue;
        }
        let file = files::open(&folder.path(name), OWN, FileAccess::Read)?;
        match process::is_written(file.as_fd()) {
            Some(false) => continue,
            Some(true) => drop(found.insert(path.to_owned(), "a process".to_owned())),
            None => {}
        }
        doubtful.insert(path, (facts.st_dev, facts.st_ino));
    }
    if !doubtful.is_empty() {
        let files: Vec<(u64, u64)> = doubtful.values().copied().collect();
        let writers = process::writers(&files);
        let named = |(path, file): (&Path, _)| Some((path.to_owned(), writers.get(&file)?.clone()));
        found.extend(doubtful.into_iter().filter_map(named));
    }
    Ok(found)
}

/// Returns the folder of a path, which no link leads to, and its name there.
pub(super) fn place<'a>(top: &HeldFolder, path: &'a Path) -> io::Result<(HeldFolder, &'a Path)> {
    let name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?;
    Ok((top.folder(path.parent().unwrap_or(Path::new("")))?, Path::new(name)))
}
