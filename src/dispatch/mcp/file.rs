//! Other programs' files: read only if they are regular files of this user, and replaced atomically.

use std::fs::{self, Permissions};
use std::io::{self, Write as _};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use crate::dispatch::code::Code;
use crate::dispatch::response::Failure;
use crate::files::{self, OWN};

/// The maximum size of a file to change, in bytes.
const MAX_BYTES: u64 = 16 << 20;
/// The suffix of a backup's file name.
const BACKUP: &str = "before-pilothouse";

/// Reads a file; `None` if it does not exist.
///
/// # Errors
/// When it is a symlink, not a regular file, not this user's, too large, not text, or cannot be read.
pub(in crate::dispatch) fn read(path: &Path) -> Result<Option<String>, Failure> {
    let refused = |what: &str| {
        Failure::new(Code::Precondition, format!("{} {what}; nothing was changed.", path.display()))
            .with("file", path.display().to_string())
    };
    let facts = match fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(refused(&format!("cannot be read ({error})"))),
        Ok(facts) => facts,
    };
    if facts.is_symlink() {
        let to = fs::canonicalize(path).map(|to| format!(" to {}", to.display())).unwrap_or_default();
        return Err(refused(&format!("is a link{to}")).fix("change the file that it leads to by hand"));
    }
    if !facts.is_file() {
        return Err(refused("is not a regular file"));
    }
    if facts.uid() != rustix::process::geteuid().as_raw() {
        return Err(refused("belongs to another user"));
    }
    if facts.len() > MAX_BYTES {
        return Err(refused("is too large"));
    }
    let text = files::read_text(path, OWN, MAX_BYTES);
    text.map(Some).map_err(|error| refused(&format!("cannot be read ({error})")))
}

/// Replaces a file, keeping its mode, or creates it with `mode`; it must still contain what was read.
///
/// # Errors
/// When it has changed since, or cannot be written; it is then left as it was.
pub(in crate::dispatch) fn write(
    path: &Path,
    was: Option<&str>,
    text: &str,
    mode: u32,
) -> Result<(), Failure> {
    check_unchanged(path, was)?;
    let mode = fs::metadata(path).map_or(mode, |facts| facts.mode() & 0o7777);
    files::replace(path, |file| {
        file.write_all(text.as_bytes())?;
        file.set_permissions(Permissions::from_mode(mode))?;
        file.sync_all()
    })
    .map_err(|error| io_failure("write", path, &error))
}

fn check_unchanged(path: &Path, was: Option<&str>) -> Result<(), Failure> {
    if read(path)?.as_deref() == was {
        return Ok(());
    }
    let message = format!("{} was changed in the meantime; it was left as it is.", path.display());
    Err(Failure::running(Code::Precondition, message).again(""))
}

/// Copies a file to one beside it, under an unused name.
///
/// # Errors
/// When the copy cannot be written.
pub(super) fn back_up(path: &Path, text: &str) -> Result<PathBuf, Failure> {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let names =
        std::iter::once(format!("{name}.{BACKUP}")).chain((2..100).map(|n| format!("{name}.{BACKUP}.{n}")));
    for beside in names.map(|name| path.with_file_name(name)) {
        match files::create_new(&beside)
            .and_then(|mut file| file.write_all(text.as_bytes()).and(file.sync_all()))
        {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(io_failure("write", &beside, &error)),
            Ok(()) => return Ok(beside),
        }
    }
    Err(io_failure("write", path, &io::ErrorKind::AlreadyExists.into()))
}

/// Creates the missing folders above a file; returns the topmost one created.
///
/// # Errors
/// When one cannot be created.
pub(super) fn make_folders(path: &Path) -> Result<Option<PathBuf>, Failure> {
    let Some(folder) = path.parent() else { return Ok(None) };
    let missing = folder.ancestors().take_while(|folder| !folder.exists()).last().map(Path::to_owned);
    fs::create_dir_all(folder).map_err(|error| io_failure("create", folder, &error))?;
    Ok(missing)
}

/// Removes a file, and the empty folders above it up to the topmost one created for it; it must still contain what was
/// read.
///
/// # Errors
/// When it has changed since, or cannot be removed.
pub(super) fn remove(path: &Path, was: Option<&str>, created_folder: Option<&Path>) -> Result<(), Failure> {
    check_unchanged(path, was)?;
    fs::remove_file(path).map_err(|error| io_failure("remove", path, &error))?;
    let Some(created_folder) = created_folder else { return Ok(()) };
    for folder in path.ancestors().skip(1).take_while(|folder| folder.starts_with(created_folder)) {
        // A folder that contains something else by now is kept.
        if fs::remove_dir(folder).is_err() {
            break;
        }
    }
    Ok(())
}

fn io_failure(verb: &str, path: &Path, error: &io::Error) -> Failure {
    Failure::running(Code::InternalError, format!("{verb} {}: {error}", path.display()))
}
