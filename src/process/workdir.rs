//! The directory a command starts in: resolved beneath the execution root and kept open, so that later changes to its
//! path do not matter. A starting point, not a sandbox.

use std::borrow::Cow;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::path::{Component, Path, PathBuf};
use std::{fs, io};

use rustix::fs::{Access, AtFlags, CWD, Mode, OFlags, ResolveFlags, accessat, fstat, openat, openat2};
use rustix::io::Errno;

use crate::files;

/// A directory inside the execution root.
#[derive(Debug)]
pub struct Workdir {
    /// The directory, opened with `O_PATH`.
    pub fd: OwnedFd,
    /// Its canonical path at the time it was resolved.
    pub path: PathBuf,
}

/// Why a directory cannot be the workdir. `path` is always the requested path.
#[derive(Debug, thiserror::Error)]
pub enum WorkdirError {
    /// It is, or would be, outside the execution root.
    #[error("enter {}: it is outside {}", path.display(), root.display())]
    OutsideRoot {
        /// The requested path.
        path: PathBuf,
        /// The execution root.
        root: PathBuf,
    },
    /// There is no such directory.
    #[error("enter {}: it does not exist", path.display())]
    NotFound {
        /// The requested path.
        path: PathBuf,
    },
    /// It is not a directory.
    #[error("enter {}: it is not a directory", path.display())]
    NotDirectory {
        /// The requested path.
        path: PathBuf,
    },
    /// It cannot be entered.
    #[error("enter {}", path.display())]
    Unreadable {
        /// The requested path.
        path: PathBuf,
        /// The reason.
        source: io::Error,
    },
}

/// Finds the directory to start in: `asked`, relative to `root` or absolute, following symbolic links; otherwise
/// `base`, the caller's directory, if it is inside `root`; otherwise `root`.
///
/// # Errors
/// If the directory does not exist, cannot be entered, or is outside `root`.
pub fn resolve(root: &Path, base: &Path, asked: Option<&str>) -> Result<Workdir, WorkdirError> {
    resolve_cached(root, base, asked).map_or_else(|| resolve_fully(root, base, asked), Ok)
}

fn resolve_fully(root: &Path, base: &Path, asked: Option<&str>) -> Result<Workdir, WorkdirError> {
    let canonical_root = root.canonicalize().map_err(|error| refuse(root, root, error))?;
    let place = ExecutionRoot { root: canonical_root };
    match asked {
        Some(asked) => place.open(&place.root.join(asked)),
        None => match place.open(base) {
            Err(WorkdirError::OutsideRoot { .. }) => place.open(&place.root),
            other => other,
        },
    }
}

/// Does the same without waiting for a file system, and in a third of the system calls, for the usual case: a directory
/// that the kernel has in its cache of paths, that can be entered, and that is inside `root`. Everything else is left to
/// [`resolve`].
pub fn resolve_cached(root: &Path, base: &Path, asked: Option<&str>) -> Option<Workdir> {
    find_cached(root, base, asked).ok().flatten()
}

fn find_cached(root: &Path, base: &Path, asked: Option<&str>) -> io::Result<Option<Workdir>> {
    let place = asked.map_or_else(|| Cow::Borrowed(base), |asked| Cow::Owned(root.join(asked)));
    let found = open_cached(&place)?;
    let is_inside = *place == *root || found.path.starts_with(open_cached(root)?.path);
    // A directory that was deleted meanwhile may still be opened by its path.
    let is_there = fstat(&found.fd)?.st_nlink > 0;
    Ok((is_inside && is_there).then_some(found))
}

fn open_cached(path: &Path) -> io::Result<Workdir> {
    if is_canonical_without_links(path)
        && let Ok(fd) = files::open_cached(path, ResolveFlags::NO_SYMLINKS)
    {
        return Ok(Workdir { fd, path: path.components().collect() });
    }
    let fd = files::open_cached(path, ResolveFlags::empty())?;
    // The path of what was opened, so that it does not matter whether the path is changed meanwhile.
    let path = fs::read_link(format!("/proc/self/fd/{}", fd.as_raw_fd()))?;
    Ok(Workdir { fd, path })
}

/// Tells whether a path is canonical unless a symbolic link is in it.
fn is_canonical_without_links(path: &Path) -> bool {
    let is_name = |part: Component<'_>| matches!(part, Component::RootDir | Component::Normal(_));
    path.is_absolute() && path.components().all(is_name)
}

struct ExecutionRoot {
    root: PathBuf,
}

impl ExecutionRoot {
    fn open(&self, asked: &Path) -> Result<Workdir, WorkdirError> {
        let path = asked.canonicalize().map_err(|error| self.missing(asked, error))?;
        let beneath = match path.strip_prefix(&self.root) {
            Ok(beneath) if beneath.as_os_str().is_empty() => Path::new("."),
            Ok(beneath) => beneath,
            Err(_) => return Err(self.outside(asked)),
        };
        let fd = self.open_beneath(beneath).map_err(|error| refuse(asked, &self.root, error))?;
        Ok(Workdir { fd, path })
    }

    /// Opens a path without symbolic links. If there is one now, the path was changed after it was resolved.
    fn open_beneath(&self, path: &Path) -> io::Result<OwnedFd> {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let root = openat(CWD, &self.root, flags, Mode::empty())?;
        let within = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS | ResolveFlags::NO_SYMLINKS;
        let fd = openat2(root, path, flags, Mode::empty(), within)?;
        accessat(&fd, ".", Access::EXEC_OK, AtFlags::EACCESS)?;
        Ok(fd)
    }

    /// Returns the error for a path that does not resolve: outside the root if the part of it that exists is.
    fn missing(&self, asked: &Path, error: io::Error) -> WorkdirError {
        let existing = asked.ancestors().find_map(|ancestor| ancestor.canonicalize().ok());
        if existing.is_some_and(|existing| !existing.starts_with(&self.root)) {
            return self.outside(asked);
        }
        refuse(asked, &self.root, error)
    }

    fn outside(&self, asked: &Path) -> WorkdirError {
        WorkdirError::OutsideRoot { path: asked.to_owned(), root: self.root.clone() }
    }
}

fn refuse(asked: &Path, root: &Path, error: io::Error) -> WorkdirError {
    let path = asked.to_owned();
    match Errno::from_io_error(&error) {
        Some(Errno::XDEV) => WorkdirError::OutsideRoot { path, root: root.to_owned() },
        Some(Errno::NOTDIR) => WorkdirError::NotDirectory { path },
        Some(Errno::NOENT | Errno::NAMETOOLONG) => WorkdirError::NotFound { path },
        // The path contains a NUL.
        None if error.kind() == io::ErrorKind::InvalidInput => WorkdirError::NotFound { path },
        _ => WorkdirError::Unreadable { path, source: error },
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    /// `root/` with `src/deep/` and a file, beside `root-evil/` and `outside/`.
    struct Folders {
        _keep: tempfile::TempDir,
        all: PathBuf,
        root: PathBuf,
    }

    impl Folders {
        fn new() -> Self {
            let keep = tempfile::tempdir().expect("temp dir");
            let all = keep.path().canonicalize().expect("canonical");
            let root = all.join("root");
            for dir in ["root/src/deep", "root-evil", "outside"] {
                std::fs::create_dir_all(all.join(dir)).expect("dir");
            }
            std::fs::write(root.join("file"), "").expect("file");
            Self { _keep: keep, all, root }
        }

        fn ask(&self, asked: &str) -> Result<PathBuf, WorkdirError> {
            self.resolve(&self.root, Some(asked))
        }

        fn base(&self, base: &Path) -> Result<PathBuf, WorkdirError> {
            self.resolve(base, None)
        }

        /// Resolves in both ways: what the cache answers is what is there.
        fn resolve(&self, base: &Path, asked: Option<&str>) -> Result<PathBuf, WorkdirError> {
            let fully = resolve_fully(&self.root, base, asked).map(|workdir| workdir.path);
            if let Some(cached) = resolve_cached(&self.root, base, asked) {
                assert_eq!(Some(&cached.path), fully.as_ref().ok(), "{asked:?} from {}", base.display());
            }
            fully
        }
    }

    #[test]
    fn a_path_is_relative_to_the_root_or_absolute_inside_it() {
        let folders = Folders::new();
        let deep = folders.root.join("src/deep");
        for asked in ["src/deep", "./src//deep/", "src/../src/deep", deep.to_str().expect("UTF-8")] {
            assert_eq!(folders.ask(asked).expect(asked), deep, "{asked}");
        }
        for asked in ["", ".", "src/.."] {
            assert_eq!(folders.ask(asked).expect(asked), folders.root, "{asked}");
        }
    }

    #[test]
    fn a_directory_used_before_is_found_in_the_cache_and_only_if_it_can_be_entered() {
        let folders = Folders::new();
        symlink(folders.root.join("src"), folders.root.join("link")).expect("link");
        let cached =
            |asked: Option<&str>| resolve_cached(&folders.root, &folders.root, asked).map(|found| found.path);
        // The kernel may leave any path to the full way: while somebody renames a folder, for instance, whichever it is.
        let found = |asked: Option<&str>| {
            (0..1_000_000).find_map(|_| folders.resolve(&folders.root, asked).ok().and(cached(asked)))
        };
        let deep = folders.root.join("src/deep");
        assert_eq!(folders.ask("src/deep").expect("resolves"), deep);
        // The cache does not follow a link whose time of access has to be written (relatime): not a new one that was
        // last followed before the clock had ticked.
        assert_eq!(found(Some("link/deep")), Some(deep));
        assert_eq!(found(None), Some(folders.root.clone()));
        assert_eq!((cached(Some("file")), cached(Some("nowhere")), cached(Some(".."))), (None, None, None));
        std::fs::remove_dir(folders.root.join("src/deep")).expect("removed");
        assert_eq!(cached(Some("src/deep")), None);
    }

    #[test]
    fn a_workdir_outside_the_root_is_refused_even_if_it_does_not_exist() {
        let folders = Folders::new();
        symlink(folders.all.join("outside"), folders.root.join("out")).expect("link");
        let evil = folders.all.join("root-evil");
        for asked in
            ["..", "../outside", "../nowhere", "/", "/no/such", "out", "src/../../outside", "out/nothing"]
        {
            assert!(matches!(folders.ask(asked), Err(WorkdirError::OutsideRoot { .. })), "{asked}");
        }
        let asked = evil.to_str().expect("UTF-8");
        assert!(matches!(folders.ask(asked), Err(WorkdirError::OutsideRoot { .. })));
    }

    #[test]
    fn a_link_that_ends_inside_is_followed() {
        let folders = Folders::new();
        symlink(folders.root.join("src"), folders.root.join("link")).expect("link");
        assert_eq!(folders.ask("link/deep").expect("resolves"), folders.root.join("src/deep"));
    }

    #[test]
    fn a_missing_workdir_a_file_and_an_unreadable_link_are_different_errors() {
        let folders = Folders::new();
        let long = "x".repeat(5000);
        for asked in ["nowhere", "~", "a\0b", long.as_str()] {
            assert!(matches!(folders.ask(asked), Err(WorkdirError::NotFound { .. })), "{asked}");
        }
        for asked in ["file", "file/deeper"] {
            assert!(matches!(folders.ask(asked), Err(WorkdirError::NotDirectory { .. })), "{asked}");
        }
        symlink(folders.root.join("loop"), folders.root.join("loop")).expect("link");
        assert!(matches!(folders.ask("loop"), Err(WorkdirError::Unreadable { .. })));
    }

    #[test]
    fn the_default_workdir_is_the_callers_directory_if_inside_the_root_else_the_root() {
        let folders = Folders::new();
        let deep = folders.root.join("src/deep");
        assert_eq!(folders.base(&deep).expect("inside"), deep);
        assert_eq!(folders.base(&folders.all.join("outside")).expect("outside"), folders.root);
    }

    #[test]
    fn a_deleted_directory_is_an_error_and_never_another_place() {
        let folders = Folders::new();
        let deep = folders.root.join("src/deep");
        std::fs::remove_dir(&deep).expect("remove");
        assert!(matches!(folders.base(&deep), Err(WorkdirError::NotFound { .. })));
        std::fs::remove_dir_all(&folders.root).expect("remove");
        assert!(matches!(folders.base(&deep), Err(WorkdirError::NotFound { .. })));
    }

    #[test]
    fn f16_a_path_swapped_for_a_link_after_it_was_resolved_is_refused() {
        let folders = Folders::new();
        let place = ExecutionRoot { root: folders.root.clone() };
        std::fs::rename(folders.root.join("src"), folders.root.join("moved")).expect("rename");
        symlink(folders.all.join("outside"), folders.root.join("src")).expect("link");
        assert!(place.open_beneath(Path::new("src")).is_err());
        assert!(place.open_beneath(Path::new("../outside")).is_err());
    }

    #[test]
    fn f16_a_path_that_is_swapped_all_the_time_never_leads_outside() {
        let folders = Folders::new();
        let (path, away) = (folders.root.join("src"), folders.root.join("away"));
        let is_over = std::sync::atomic::AtomicBool::new(false);
        let order = std::sync::atomic::Ordering::Relaxed;
        let (mut inside, mut refused) = (0, 0);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !is_over.load(order) {
                    std::fs::rename(&path, &away).expect("moved away");
                    symlink(folders.all.join("outside"), &path).expect("link");
                    std::fs::remove_file(&path).expect("removed");
                    std::fs::rename(&away, &path).expect("moved back");
                }
            });
            // Until both outcomes have occurred, and for at least this many attempts.
            while inside + refused < 10_000 || inside == 0 || refused == 0 {
                match resolve(&folders.root, &folders.root, Some("src")) {
                    Ok(workdir) => {
                        let link = format!("/proc/self/fd/{}", std::os::fd::AsRawFd::as_raw_fd(&workdir.fd));
                        let opened = std::fs::read_link(link).expect("an open directory");
                        assert!(opened.starts_with(&folders.root), "{}", opened.display());
                        inside += 1;
                    }
                    Err(_) => refused += 1,
                }
            }
            is_over.store(true, order);
        });
    }
}
