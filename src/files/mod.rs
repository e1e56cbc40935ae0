//! Private folders and files (only this user can access them), atomic file replacement, and files that others may have
//! named or put there.

mod held;
mod known;
mod named;

use std::ffi::OsString;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, openat2};
use sha2::{Digest as _, Sha256};

pub use held::HeldFolder;
pub use known::KnownTree;
pub use named::{FileAccess, Links, OWN, open, open_or_create, read, read_text, read_whole};

/// Creates a folder and its missing parents, each with mode 0700. Existing folders are left as they are.
///
/// # Errors
/// When one of them cannot be created; where a link leads nowhere, the error names it.
pub fn create_folder(path: &Path) -> io::Result<()> {
    let created = DirBuilder::new().recursive(true).mode(0o700).create(path);
    created.map_err(|error| match path.ancestors().find(|part| part.is_symlink() && !part.exists()) {
        Some(link) => {
            io::Error::new(error.kind(), format!("{} is a link that leads nowhere", link.display()))
        }
        None => error,
    })
}

/// Returns a path as text: what is no UTF-8 or cannot be seen is escaped, as in `a\xff`.
pub fn path_text(path: &Path) -> String {
    let mut text = String::new();
    for chunk in path.as_os_str().as_bytes().utf8_chunks() {
        let seen = chunk.valid().escape_debug().to_string();
        text.push_str(&seen.replace("\\'", "'").replace("\\\"", "\""));
        text.extend(chunk.invalid().iter().map(|byte| format!("\\x{byte:02x}")));
    }
    text
}

/// Returns the SHA-256 of a text or file, in hex.
pub fn digest(bytes: impl AsRef<[u8]>) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Returns the SHA-256 of several parts, in hex. Each is hashed after its length, so that no two lists of parts have the
/// same encoding.
pub fn digest_of_parts<P: AsRef<[u8]>>(parts: impl IntoIterator<Item = P>) -> String {
    let mut encoded = Vec::new();
    for part in parts {
        let part = part.as_ref();
        encoded.extend((part.len() as u64).to_be_bytes());
        encoded.extend(part);
    }
    digest(encoded)
}

/// Returns open options that create a file with mode 0600.
pub fn private() -> OpenOptions {
    let mut options = File::options();
    options.mode(0o600);
    options
}

/// Creates a file with mode 0600 for writing. Follows no symlink and never opens an existing file.
///
/// # Errors
/// When it exists or cannot be created.
pub fn create_new(path: &Path) -> io::Result<File> {
    private().write(true).create_new(true).open(path)
}

/// Opens a directory that can be entered, from the kernel's cache of paths: unlike any other access to a file system, it
/// never waits for one.
///
/// # Errors
/// If the path is not in the cache, or leads to something else, or through a symbolic link where `within` forbids that.
pub fn open_cached(directory: &Path, within: ResolveFlags) -> io::Result<OwnedFd> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let resolve = ResolveFlags::CACHED | ResolveFlags::NO_MAGICLINKS | within;
    // The last component makes the kernel check that the directory can be entered.
    Ok(openat2(CWD, directory.join("."), flags, Mode::empty(), resolve)?)
}

/// Syncs a folder's entries to disk.
///
/// # Errors
/// If it cannot be opened or synced.
pub fn sync_folder(folder: &Path) -> io::Result<()> {
    opened_folder(folder)?.sync_all()
}

/// Syncs everything on the file system of a folder.
///
/// # Errors
/// If it cannot be opened or synced.
pub fn sync_file_system(folder: &Path) -> io::Result<()> {
    Ok(rustix::fs::syncfs(opened_folder(folder)?)?)
}

fn opened_folder(folder: &Path) -> io::Result<File> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    Ok(rustix::fs::open(folder, flags, Mode::empty())?.into())
}

/// The longest part of a file's name that the name of its replacement repeats, in bytes.
const NAME_BYTES: usize = 100;

/// Returns a path beside a file, for what is to replace it: nobody can have put anything there in advance.
pub fn beside(path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or_default().as_bytes();
    let mut random = [0; 8];
    // A name that is taken is refused when it is created.
    let _ = rustix::rand::getrandom(&mut random, rustix::rand::GetRandomFlags::empty());
    let end = format!(".{:016x}", u64::from_ne_bytes(random));
    let name = [b".", name.get(..NAME_BYTES).unwrap_or(name), end.as_bytes()].concat();
    path.with_file_name(OsString::from_vec(name))
}

/// Replaces a file atomically: `write` fills a new file beside it, which is then renamed over it. If a symbolic link is
/// in its place, the link is replaced.
///
/// # Errors
/// When the new file cannot be written; the old one is then left untouched.
pub fn replace(path: &Path, write: impl FnOnce(&mut File) -> io::Result<()>) -> io::Result<()> {
    let beside = beside(path);
    let mut file = create_new(&beside)?;
    let written = write(&mut file).and_then(|()| fs::rename(&beside, path));
    if written.is_err() {
        // A partly written file is useless.
        let _ = fs::remove_file(&beside);
    }
    written
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn a_path_is_shown_with_all_of_its_bytes() {
        let path = |bytes: &[u8]| path_text(Path::new(std::ffi::OsStr::from_bytes(bytes)));
        assert_eq!(path("d/Grüße 'a' \"b\"".as_bytes()), "d/Grüße 'a' \"b\"");
        assert_eq!(path(b"a\xff\xc3b\x1b[1m\n\\"), "a\\xff\\xc3b\\u{1b}[1m\\n\\\\");
        assert_eq!(path("a\u{202e}b".as_bytes()), "a\\u{202e}b");
    }

    #[test]
    fn created_folders_and_files_are_private_to_this_user() {
        let temp = tempfile::tempdir().expect("temp dir");
        let mode = |path: &Path| path.metadata().expect("there").permissions().mode() & 0o777;
        let folder = temp.path().join("a/b");
        create_folder(&folder).expect("created");
        create_folder(&folder).expect("already there");
        let link = temp.path().join("link");
        std::os::unix::fs::symlink(temp.path().join("gone"), &link).expect("a link");
        let error = create_folder(&link.join("a")).expect_err("nowhere");
        assert_eq!(error.to_string(), format!("{} is a link that leads nowhere", link.display()));
        assert_eq!((mode(&folder), mode(&temp.path().join("a"))), (0o700, 0o700));
        let file = folder.join("file");
        create_new(&file).expect("created");
        assert_eq!(mode(&file), 0o600);
        assert_eq!(create_new(&file).expect_err("exists").kind(), io::ErrorKind::AlreadyExists);
    }

    #[test]
    fn a_file_is_replaced_whole_or_not_at_all() {
        let temp = tempfile::tempdir().expect("temp dir");
        let path = temp.path().join("file");
        replace(&path, |file| file.write_all(b"first")).expect("written");
        let torn = replace(&path, |file| {
            file.write_all(b"sec")?;
            Err(io::ErrorKind::StorageFull.into())
        });
        assert_eq!(torn.expect_err("torn").kind(), io::ErrorKind::StorageFull);
        assert_eq!(fs::read(&path).expect("there"), b"first");
        assert_eq!(fs::read_dir(temp.path()).expect("a folder").count(), 1);
    }
    #[test]
    fn f46_nothing_is_written_through_links_planted_beside_a_file() {
        let temp = tempfile::tempdir().expect("temp dir");
        let outside = temp.path().join("outside");
        fs::write(&outside, "outside").expect("written");
        let folder = temp.path().join("folder");
        create_folder(&folder).expect("created");
        let path = folder.join("file");
        std::os::unix::fs::symlink(&outside, &path).expect("a link in its place");
        let pids: std::collections::BTreeSet<u32> = (1..3_000).chain([std::process::id()]).collect();
        for pid in pids {
            std::os::unix::fs::symlink(&outside, folder.join(format!(".file.{pid}"))).expect("a link");
        }
        replace(&path, |file| file.write_all(b"new")).expect("written");
        assert_eq!(fs::read(&outside).expect("there"), b"outside");
        assert_eq!(fs::read(&path).expect("there"), b"new");
        assert!(path.symlink_metadata().expect("there").is_file());
        let long = folder.join("x".repeat(255));
        replace(&long, |file| file.write_all(b"new")).expect("a name may be as long as any");
    }
}
