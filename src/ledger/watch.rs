//! What has moved in the tree since it was last looked at, by inotify. What git ignores is not watched, nor nested
//! repositories. It says that something moved, never who moved it.

use std::collections::{BTreeSet, HashMap};
use std::ffi::OsStr;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::fs::inotify::{self, CreateFlags, ReadFlags, Reader, WatchFlags};
use rustix::io::Errno;

/// The most folders that are watched.
const MOST_FOLDERS: usize = 20_000;
/// The most events that are read at once; beyond, anything may have moved.
const MOST_EVENTS: usize = 100_000;
/// The most paths that are kept; beyond, anything may have moved.
const MOST_PATHS: usize = 200;

/// A watch over a tree.
#[derive(Debug)]
pub struct TreeWatch {
    inotify: Arc<OwnedFd>,
    top: PathBuf,
    folders: HashMap<i32, PathBuf>,
    /// New folders, to be watched unless they are ignored.
    new: BTreeSet<PathBuf>,
    /// Not all folders could be watched.
    is_partial: bool,
    /// Files and folders that have moved, if it is known which.
    moved: Option<BTreeSet<PathBuf>>,
}

impl TreeWatch {
    /// Watches a tree but for the ignored folders. Blocks.
    ///
    /// # Errors
    /// If the kernel gives no watch.
    pub fn over(top: &Path, ignored: &BTreeSet<PathBuf>) -> io::Result<Self> {
        let mut watch = Self::of(top)?;
        let whole = watch.take_new();
        watch.follow(whole, ignored);
        Ok(watch)
    }

    /// Creates a watch of a tree in which all folders are new.
    ///
    /// # Errors
    /// If the kernel gives no watch.
    pub fn of(top: &Path) -> io::Result<Self> {
        let inotify = Arc::new(inotify::init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK)?);
        let (folders, new, moved) = (HashMap::new(), BTreeSet::from([PathBuf::new()]), Some(BTreeSet::new()));
        Ok(Self { inotify, top: top.to_owned(), folders, new, is_partial: false, moved })
    }

    /// Returns the descriptor that can be read when something has moved.
    pub fn descriptor(&self) -> Arc<OwnedFd> {
        self.inotify.clone()
    }

    /// Watches a folder and those below it. Blocks.
    fn add(&mut self, folder: PathBuf, ignored: &BTreeSet<PathBuf>) {
        let flags = WatchFlags::CREATE
            | WatchFlags::DELETE
            | WatchFlags::MODIFY
            // What writes to a mapped file is told when it lets go of it.
            | WatchFlags::CLOSE_WRITE
            | WatchFlags::ATTRIB
            | WatchFlags::MOVE
            | WatchFlags::ONLYDIR
            | WatchFlags::DONT_FOLLOW;
        let mut open = vec![folder];
        while let Some(folder) = open.pop() {
            let path = self.top.join(&folder);
            let is_nested = !folder.as_os_str().is_empty() && path.join(".git").symlink_metadata().is_ok();
            if ignored.contains(&folder) || folder == Path::new(".git") || is_nested {
                continue;
            }
            if self.folders.len() >= MOST_FOLDERS {
                self.is_partial = true;
                return;
            }
            match inotify::add_watch(&self.inotify, &path, flags) {
                Ok(id) => drop(self.folders.insert(id, folder.clone())),
                Err(Errno::NOENT | Errno::NOTDIR) => continue,
                Err(_) => {
                    self.is_partial = true;
                    continue;
                }
            }
            // After it is watched: what is made from now on is told.
            let entries = std::fs::read_dir(&path).into_iter().flatten().flatten();
            let folders = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
            open.extend(folders.map(|entry| folder.join(entry.file_name())));
        }
    }

    /// Tells whether anything has moved, or may have.
    pub fn has_moved(&mut self) -> bool {
        self.read();
        self.is_partial || self.moved.as_ref().is_none_or(|moved| !moved.is_empty())
    }

    /// Tells whether not all folders could be watched, or an event was lost.
    pub fn is_partial(&self) -> bool {
        self.is_partial
    }

    /// Takes what has moved: files, and folders in which anything may have moved; `None` if that may be anywhere.
    pub fn take_moved(&mut self) -> Option<BTreeSet<PathBuf>> {
        self.read();
        let moved = self.moved.replace(BTreeSet::new());
        moved.filter(|_| !self.is_partial)
    }

    /// Notes that anything may have moved.
    pub fn doubt(&mut self) {
        self.moved = None;
    }

    /// Reads what has been told since the last time.
    fn read(&mut self) {
        let mut buffer = [const { MaybeUninit::uninit() }; 16 << 10];
        let mut reader = Reader::new(&self.inotify, &mut buffer);
        for _ in 0..MOST_EVENTS {
            let event = match reader.next() {
                Ok(event) => event,
                Err(Errno::INTR) => continue,
                // Nothing more is told.
                Err(Errno::AGAIN) => return,
                Err(_) => break,
            };
            let (flags, folder) = (event.events(), self.folders.get(&event.wd()));
            if flags.contains(ReadFlags::IGNORED) {
                self.folders.remove(&event.wd());
                continue;
            }
            self.is_partial |= flags.contains(ReadFlags::QUEUE_OVERFLOW);
            let Some((folder, name)) = folder.zip(event.file_name()) else {
                self.moved = None;
                continue;
            };
            let path = folder.join(OsStr::from_bytes(name.to_bytes()));
            if path == Path::new(".git") {
                continue;
            }
            if flags.contains(ReadFlags::ISDIR) && flags.intersects(ReadFlags::CREATE | ReadFlags::MOVED_TO) {
                self.new.insert(path.clone());
            }
            if let Some(moved) = &mut self.moved {
                moved.insert(path);
            }
            if self.moved.as_ref().is_some_and(|moved| moved.len() > MOST_PATHS) {
                self.moved = None;
            }
        }
        self.moved = None;
    }

    /// Takes the new folders, which are to be watched unless they are ignored.
    pub fn take_new(&mut self) -> BTreeSet<PathBuf> {
        std::mem::take(&mut self.new)
    }

    /// Watches these new folders and those below them, but for the ignored ones. Blocks.
    pub fn follow(&mut self, new: BTreeSet<PathBuf>, ignored: &BTreeSet<PathBuf>) {
        new.into_iter().for_each(|folder| self.add(folder, ignored));
    }
}
