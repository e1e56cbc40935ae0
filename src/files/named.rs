//! Opens files that somebody else may have named or put there: a client, a workspace, a record. Whatever is in a
//! file's place, opening it takes no time, has no effect, and leads to a regular file or to an error.

use std::fs::File;
use std::io::{self, Read as _};
use std::os::fd::{AsFd, AsRawFd as _};
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, FileType, Mode, OFlags, ResolveFlags, fstat, openat, openat2};
use rustix::io::Errno;

use super::private;

/// How often a path is resolved again that is being changed meanwhile.
const ATTEMPTS: usize = 16;

/// The symbolic links that a path may lead through.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Links {
    /// All of them: for files that a person has chosen, such as settings kept in a folder of dotfiles.
    Followed,
    /// All of them above the file, and in its own place one that leads no further than its own folder and those below
    /// it: for files that a client or a workspace names.
    Within,
    /// None among this many last parts of the path: for files of our own, at this depth below a folder of ours.
    NoneIn(usize),
}

/// A file of our own, directly in a folder of ours.
pub const OWN: Links = Links::NoneIn(1);

/// What a file is opened for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileAccess {
    /// To be read.
    Read,
    /// To be appended to.
    Append,
    /// To be read and overwritten.
    Change,
}

impl FileAccess {
    fn flags(self) -> OFlags {
        match self {
            Self::Read => OFlags::RDONLY,
            Self::Append => OFlags::WRONLY | OFlags::APPEND,
            Self::Change => OFlags::RDWR,
        }
    }
}

/// Opens a regular file.
///
/// # Errors
/// If it cannot be opened, is something else, or is reached through a link that `links` does not allow.
pub fn open(path: &Path, links: Links, access: FileAccess) -> io::Result<File> {
    let found = match (links, path.file_name()) {
        (Links::Followed, _) | (_, None) => openat(CWD, path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty())?,
        (Links::Within, Some(name)) => {
            let folder = open_folder(parent(path, 1))?;
            beneath(&folder, Path::new(name), ResolveFlags::empty())?
        }
        (Links::NoneIn(depth), Some(_)) => {
            let root = parent(path, depth);
            let folder = open_folder(root)?;
            let inside = path.strip_prefix(root).unwrap_or(path);
            beneath(&folder, inside, ResolveFlags::NO_SYMLINKS)?
        }
    };
    regular(found, access)
}

/// Opens a regular file of our own, or creates it with mode 0600.
///
/// # Errors
/// As [`open`].
pub fn open_or_create(path: &Path, access: FileAccess) -> io::Result<File> {
    for _ in 0..ATTEMPTS {
        match open(path, OWN, access) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            opened => return opened,
        }
        let mut options = private();
        match access {
            FileAccess::Append => options.append(true),
            FileAccess::Read | FileAccess::Change => options.read(true).write(true),
        };
        match options.create_new(true).open(path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            created => return created,
        }
    }
    Err(io::ErrorKind::AlreadyExists.into())
}

/// Reads a regular file of at most `most` bytes.
///
/// # Errors
/// As [`open`], and if it is longer.
pub fn read(path: &Path, links: Links, most: u64) -> io::Result<Vec<u8>> {
    read_whole(&open(path, links, FileAccess::Read)?, most)
}

/// Reads a regular file of at most `most` bytes as text.
///
/// # Errors
/// As [`read`], and if it is not UTF-8.
pub fn read_text(path: &Path, links: Links, most: u64) -> io::Result<String> {
    String::from_utf8(read(path, links, most)?)
        .map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
}

/// Reads an open file to its end, if it has at most `most` bytes.
///
/// # Errors
/// If it is longer or cannot be read.
pub fn read_whole(file: &File, most: u64) -> io::Result<Vec<u8>> {
    let length = file.metadata()?.len();
    let mut bytes = Vec::new();
    if length <= most {
        bytes.reserve_exact(usize::try_from(length).unwrap_or_default());
        file.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
    }
    if length > most || bytes.len() as u64 > most {
        let text = format!("it is longer than the {most} bytes that are read");
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, text));
    }
    Ok(bytes)
}

/// Returns what is left of a path without its last parts; `.` if that is nothing.
fn parent(path: &Path, parts: usize) -> &Path {
    let left = path.ancestors().nth(parts).or(path.ancestors().last()).unwrap_or(path);
    if left.as_os_str().is_empty() { Path::new(".") } else { left }
}

pub(super) fn open_folder(path: &Path) -> io::Result<std::os::fd::OwnedFd> {
    Ok(openat(CWD, path, OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?)
}

/// Opens a folder that is held by its path alone once more, so that it can be locked.
pub(super) fn reopen(folder: impl AsFd) -> io::Result<std::os::fd::OwnedFd> {
    Ok(openat(folder, ".", OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?)
}

/// Finds what is at a path inside a folder without opening it: nothing is entered that is not inside.
pub(super) fn beneath(
    folder: impl AsFd,
    path: &Path,
    further: ResolveFlags,
) -> io::Result<std::os::fd::OwnedFd> {
    let path: PathBuf = path.components().filter(|part| *part != std::path::Component::CurDir).collect();
    let path = if path.as_os_str().is_empty() { Path::new(".") } else { &path };
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS | further;
    for _ in 0..ATTEMPTS {
        match openat2(&folder, path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty(), resolve) {
            // Somebody is renaming a folder on the way.
            Err(Errno::AGAIN) => {}
            Err(Errno::XDEV) => return Err(io::Error::other("it is a link that leads out of its folder")),
            Err(Errno::LOOP) => {
                return Err(io::Error::other("a link is in its place, or in that of a folder above it"));
            }
            found => return Ok(found?),
        }
    }
    Err(io::ErrorKind::ResourceBusy.into())
}

/// Opens what was found, if it is a regular file. Nothing else is ever opened: opening a device may already do something.
fn regular(found: std::os::fd::OwnedFd, access: FileAccess) -> io::Result<File> {
    match FileType::from_raw_mode(fstat(&found)?.st_mode) {
        FileType::RegularFile => {}
        FileType::Directory => return Err(io::Error::new(io::ErrorKind::IsADirectory, "it is a folder")),
        _ => return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file")),
    }
    let own = format!("/proc/self/fd/{}", found.as_raw_fd());
    // Another program's lease on it would make us wait.
    let flags = access.flags() | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    Ok(openat(CWD, own, flags, Mode::empty())?.into())
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use proptest::prelude::*;
    use rustix::fs::mknodat;

    use super::*;

    /// What may be in a file's place.
    #[derive(Debug, Clone, Copy)]
    enum Thing {
        File,
        Nothing,
        Folder,
        Fifo,
        Socket,
        LinkOut,
        LinkWithin,
        LinkToDevice,
        LinkToItself,
        LinkToFifo,
        Huge,
    }

    const THINGS: [Thing; 11] = [
        Thing::File,
        Thing::Nothing,
        Thing::Folder,
        Thing::Fifo,
        Thing::Socket,
        Thing::LinkOut,
        Thing::LinkWithin,
        Thing::LinkToDevice,
        Thing::LinkToItself,
        Thing::LinkToFifo,
        Thing::Huge,
    ];

    fn put(thing: Thing, path: &Path, outside: &Path) {
        let fifo =
            |path: &Path| mknodat(CWD, path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).expect("a FIFO");
        let link = |to: &Path| symlink(to, path).expect("a link");
        match thing {
            Thing::File => fs::write(path, "inside").expect("written"),
            Thing::Nothing => {}
            Thing::Folder => fs::create_dir(path).expect("made"),
            Thing::Fifo => fifo(path),
            Thing::Socket => drop(std::os::unix::net::UnixListener::bind(path).expect("a socket")),
            Thing::LinkOut => link(outside),
            Thing::LinkWithin => {
                fs::write(path.with_file_name("target"), "inside").expect("written");
                link(Path::new("target"));
            }
            Thing::LinkToDevice => link(Path::new("/dev/zero")),
            Thing::LinkToItself => link(path),
            Thing::LinkToFifo => {
                fifo(&path.with_file_name("pipe"));
                link(Path::new("pipe"));
            }
            Thing::Huge => File::create(path).and_then(|file| file.set_len(8 << 30)).expect("a sparse file"),
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(200))]
        /// Each call returns, whatever is there, and nothing outside is read or written.
        #[test]
        fn f47_reading_a_named_path_gives_a_small_regular_file_or_an_error(
            thing in prop::sample::select(&THINGS),
            links in prop::sample::select(&[Links::Followed, Links::Within, OWN, Links::NoneIn(2)]),
            access in prop::sample::select(&[FileAccess::Read, FileAccess::Append, FileAccess::Change]),
        ) {
            let temp = tempfile::tempdir().expect("temp dir");
            let (folder, outside) = (temp.path().join("folder"), temp.path().join("outside"));
            fs::create_dir(&folder).expect("made");
            fs::write(&outside, "outside").expect("written");
            let path = folder.join("file");
            put(thing, &path, &outside);
            let read = read(&path, links, 1 << 20);
            let is_open = open(&path, links, access).is_ok();
            let created = open_or_create(&path, access);
            match thing {
                Thing::File => prop_assert_eq!(read.expect("read"), b"inside"),
                Thing::LinkWithin if !matches!(links, Links::NoneIn(_)) => {
                    prop_assert_eq!(read.expect("read"), b"inside");
                }
                Thing::LinkOut if links == Links::Followed => prop_assert_eq!(read.expect("read"), b"outside"),
                Thing::Huge => prop_assert!(read.is_err() && is_open),
                _ => prop_assert!(read.is_err() && !is_open, "{read:?}"),
            }
            prop_assert_eq!(created.is_ok(), matches!(thing, Thing::File | Thing::Nothing | Thing::Huge));
            if let Ok(file) = created {
                prop_assert!(file.metadata().expect("facts").is_file());
            }
            prop_assert_eq!(fs::read(&outside).expect("there"), b"outside");
        }
    }

    #[test]
    fn a_folder_above_that_is_a_link_is_refused_as_deep_as_is_asked() {
        let temp = tempfile::tempdir().expect("temp dir");
        let there = temp.path().join("there");
        fs::create_dir_all(there.join("tasks/one")).expect("made");
        fs::write(there.join("tasks/one/log"), "x").expect("written");
        let recording = temp.path().join("recording");
        fs::create_dir(&recording).expect("made");
        symlink(there.join("tasks"), recording.join("tasks")).expect("a link");
        let log = recording.join("tasks/one/log");
        assert_eq!(read(&log, OWN, 9).expect("read"), b"x");
        assert_eq!(read(&log, Links::NoneIn(2), 9).expect("read"), b"x");
        assert!(read(&log, Links::NoneIn(3), 9).is_err());
        assert_eq!(read(&there.join("tasks/one/log"), Links::NoneIn(3), 9).expect("read"), b"x");
        assert_eq!(read(&there.join("tasks/one/log"), Links::NoneIn(99), 9).expect("read"), b"x");
    }
}
