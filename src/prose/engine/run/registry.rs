//! Resolution of programs in `use` that are not files beside the using program: found in the folders from the
//! settings, or fetched once and stored by digest (`prose.lock`), so that a locked program runs without a network and
//! never changes.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::program_file::read_text;
use crate::files::digest;
use crate::journal::replace_file;
use crate::prose::engine::record::error::RunError;
use crate::prose::engine::record::folder::{PROJECT, SharedDisk, make};
use crate::prose::syntax::ast::UsePath;

/// The lock file with the digests, in the workspace.
pub const LOCK: &str = "prose.lock";
/// The folder of fetched programs, inside the project folder.
const STORE: &str = "programs";
/// The base address of the registry.
const REGISTRY: &str = "https://p.prose.md";
/// The maximum number of locked programs.
const MOST: usize = 1_000;

/// Finds used programs.
#[derive(Debug, Default)]
pub struct Registry {
    workspace: PathBuf,
    folders: Vec<PathBuf>,
    locked: Vec<LockedProgram>,
}

/// A program by its digest.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct LockedProgram {
    url: String,
    /// The SHA-256 of its text, in hexadecimal digits.
    sha256: String,
}

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ProgramLock {
    #[serde(default)]
    program: Vec<LockedProgram>,
}

pub(super) enum FoundProgram {
    Here(PathBuf),
    /// At this address; it has not been fetched yet.
    At(String),
    /// Nowhere it could be fetched from.
    Nowhere,
}

impl Registry {
    /// Reads a workspace's lock file; `folders` are searched first.
    ///
    /// # Errors
    /// When `prose.lock` is not valid.
    pub fn read(workspace: &Path, folders: Vec<PathBuf>) -> Result<Self, RunError> {
        let path = workspace.join(LOCK);
        let broken = |reason: String| RunError::Lock { path: path.clone(), reason };
        let lock: ProgramLock = match path.exists() {
            false => ProgramLock::default(),
            true => {
                let text = read_text(&path).map_err(broken)?;
                toml::from_str(&text).map_err(|error| broken(error.to_string()))?
            }
        };
        let is_digest = |text: &str| text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        if lock.program.len() > MOST || lock.program.iter().any(|one| !is_digest(&one.sha256)) {
            return Err(broken("a digest is 64 hexadecimal digits".to_owned()));
        }
        Ok(Self { workspace: workspace.to_owned(), folders, locked: lock.program })
    }

    /// Finds a used program.
    ///
    /// # Errors
    /// When the stored copy of a fetched program has changed.
    pub(super) fn find(&self, used: &UsePath) -> Result<FoundProgram, RunError> {
        let url = match used {
            UsePath::Registry { handle, slug } => {
                let at = |folder: &PathBuf, handle: &str| folder.join(handle).join(format!("{slug}.prose"));
                let own = self
                    .folders
                    .iter()
                    .flat_map(|folder| [at(folder, handle), at(folder, &format!("@{handle}"))]);
                if let Some(here) = own.into_iter().find(|path| path.is_file()) {
                    return Ok(FoundProgram::Here(here));
                }
                format!("{REGISTRY}/@{handle}/{slug}")
            }
            UsePath::Url(url) if url.starts_with("https://") => url.clone(),
            _ => return Ok(FoundProgram::Nowhere),
        };
        let Some(locked) = self.locked.iter().find(|locked| locked.url == url) else {
            return Ok(FoundProgram::At(url));
        };
        let path = self.stored_path(&locked.sha256);
        if !path.is_file() {
            return Ok(FoundProgram::At(url));
        }
        let text = read_text(&path).map_err(|reason| RunError::Unreadable { path: path.clone(), reason })?;
        match digest(&text) == locked.sha256.to_ascii_lowercase() {
            true => Ok(FoundProgram::Here(path)),
            false => Err(RunError::Digest { url, path: self.workspace.join(LOCK) }),
        }
    }

    /// Stores a program that was fetched, and locks it.
    ///
    /// # Errors
    /// When its digest differs from the locked one, or it cannot be written.
    pub(super) fn keep(&mut self, disk: &SharedDisk, url: &str, text: &str) -> Result<(), RunError> {
        let sha256 = digest(text);
        let path = self.workspace.join(LOCK);
        match self.locked.iter().find(|locked| locked.url == url) {
            Some(locked) if locked.sha256.to_ascii_lowercase() != sha256 => {
                return Err(RunError::Digest { url: url.to_owned(), path });
            }
            Some(_) => {}
            None => self.locked.push(LockedProgram { url: url.to_owned(), sha256: sha256.clone() }),
        }
        let stored = self.stored_path(&sha256);
        let folder = make(stored.parent().unwrap_or(&stored))?;
        let name = Path::new(stored.file_name().unwrap_or_default());
        replace_file(&**disk, &folder.path(name), text.as_bytes()).map_err(RunError::io("write", &stored))?;
        let mut locked = self.locked.clone();
        locked.sort_by(|a, b| a.url.cmp(&b.url));
        let lines = toml::to_string(&ProgramLock { program: locked }).unwrap_or_default();
        let text = format!(
            "# The programs that `use` names, by digest. `pilothouse run --allow-fetch` adds to it.\n\n{lines}"
        );
        replace_file(&**disk, &path, text.as_bytes()).map_err(RunError::io("write", &path))
    }

    fn stored_path(&self, sha256: &str) -> PathBuf {
        self.workspace.join(PROJECT).join(STORE).join(format!("{}.prose", sha256.to_ascii_lowercase()))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    fn of(handle: &str, slug: &str) -> UsePath {
        UsePath::Registry { handle: handle.into(), slug: slug.into() }
    }

    #[test]
    fn a_program_in_a_folder_comes_first_and_a_locked_program_never_changes() {
        let dir = tempfile::tempdir().expect("temp dir");
        let disk: SharedDisk = Arc::new(crate::journal::Os);
        let shelf = dir.path().join("shelf");
        std::fs::create_dir_all(shelf.join("@ada")).expect("made");
        std::fs::write(shelf.join("@ada/one.prose"), "x").expect("written");
        let mut registry = Registry::read(dir.path(), vec![shelf.clone()]).expect("reads");
        assert!(
            matches!(registry.find(&of("ada", "one")), Ok(FoundProgram::Here(path)) if path.ends_with("@ada/one.prose"))
        );
        let two = of("ada", "two");
        assert!(
            matches!(registry.find(&two), Ok(FoundProgram::At(url)) if url == "https://p.prose.md/@ada/two")
        );
        registry.keep(&disk, "https://p.prose.md/@ada/two", "text").expect("kept");
        let again = Registry::read(dir.path(), Vec::new()).expect("reads");
        let Ok(FoundProgram::Here(path)) = again.find(&two) else { panic!("it is locked") };
        assert_eq!(std::fs::read_to_string(&path).expect("there"), "text");
        assert!(matches!(
            registry.keep(&disk, "https://p.prose.md/@ada/two", "other"),
            Err(RunError::Digest { .. })
        ));
        std::fs::write(&path, "other").expect("written");
        assert!(matches!(again.find(&two), Err(RunError::Digest { .. })));
        assert!(matches!(again.find(&UsePath::Url("http://x/y".into())), Ok(FoundProgram::Nowhere)));
        std::fs::write(dir.path().join(LOCK), "[[program]]\nurl = \"x\"\nsha256 = \"../../etc\"\n")
            .expect("written");
        assert!(Registry::read(dir.path(), Vec::new()).is_err());
    }
}
