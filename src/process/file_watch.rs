//! Watches files for changes: the settings, or another folder. If the system does not support this, no change is ever
//! reported.

use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use rustix::fs::inotify::{CreateFlags, WatchFlags, add_watch, init};
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

use super::sys;

/// A watch on files and folders.
pub struct FileWatch {
    events: Option<AsyncFd<OwnedFd>>,
    places: Vec<PathBuf>,
    flags: WatchFlags,
}

impl FileWatch {
    /// Watches files and folders that are replaced, or written in one go; what does not exist yet is noticed if the
    /// folder above it is watched too.
    pub fn over(places: Vec<PathBuf>) -> Self {
        Self::start(places, REPLACED)
    }

    /// Watches an existing folder, and writes to its files.
    pub fn folder(folder: &Path) -> Self {
        Self::start(vec![folder.to_owned()], REPLACED | WatchFlags::MODIFY)
    }

    /// Watches existing files that are opened, as each start of a program does.
    pub fn at_opening(files: Vec<PathBuf>) -> Self {
        Self::start(files, WatchFlags::OPEN)
    }

    fn start(places: Vec<PathBuf>, flags: WatchFlags) -> Self {
        let events = init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK).map_err(io::Error::from);
        let events = events.and_then(|events| sys::watch(events, Interest::READABLE));
        if let Err(error) = &events {
            tracing::warn!(%error, ?places, "changes of files are not seen");
        }
        let watch = Self { events: events.ok(), places, flags };
        watch.look();
        watch
    }

    fn look(&self) {
        let Some(events) = &self.events else { return };
        for place in &self.places {
            // If it does not exist yet, the watch on the folder above notices when it is created.
            let _ = add_watch(events.get_ref(), place, self.flags);
        }
    }

    /// Waits for a change.
    pub async fn wait_for_change(&mut self) {
        let mut news = [0; 4_096];
        while let Some(events) = &self.events {
            let Ok(mut ready) = events.readable().await else { break };
            // The events' contents are ignored: the files themselves show what has changed.
            let mut has_changed = false;
            while rustix::io::read(events.get_ref(), &mut news).is_ok_and(|read| read > 0) {
                has_changed = true;
            }
            ready.clear_ready();
            if has_changed {
                // If an editor has replaced a file, the new one has to be watched.
                return self.look();
            }
        }
        std::future::pending().await
    }
}

/// The events of files that are replaced, or written in one go.
const REPLACED: WatchFlags = WatchFlags::CLOSE_WRITE
    .union(WatchFlags::CREATE)
    .union(WatchFlags::DELETE)
    .union(WatchFlags::MOVED_FROM)
    .union(WatchFlags::MOVED_TO)
    .union(WatchFlags::ATTRIB);

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_file_that_is_made_and_then_replaced_is_seen() {
        let dir = tempfile::tempdir().expect("a folder");
        let file = dir.path().join("settings");
        let mut watch = FileWatch::over(vec![dir.path().to_owned(), file.clone()]);
        for text in ["one", "two"] {
            std::fs::write(dir.path().join("new"), text).expect("written");
            std::fs::rename(dir.path().join("new"), &file).expect("replaced");
            watch.wait_for_change().await;
        }
    }
}
