//! Watches files for changes: the settings, or another folder. If the system does not support this, no change is ever
//! reported.

use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use rustix::fs::inotify::{CreateFlags, WatchFlags, add_watch, init};
use tokio::sync::mpsc;

use super::{FILE, KEYS_FILE, THEMES_FOLDER};

/// A watch on a folder.
pub struct ConfigWatch {
    changes: mpsc::Receiver<()>,
    /// Kept open so that, without a watch, no change is ever reported.
    _open: mpsc::Sender<()>,
}

impl ConfigWatch {
    /// Watches the config folder and its files, and the folder above it in case it does not exist yet. The thread
    /// ends with the process: a blocking read cannot be interrupted.
    pub fn new(config: Option<&Path>) -> Self {
        let own = config.map(|config| ["", FILE, KEYS_FILE, THEMES_FOLDER].map(|name| config.join(name)));
        let above = config.and_then(Path::parent).map(Path::to_owned);
        Self::on("settings", above.into_iter().chain(own.into_iter().flatten()).collect(), REPLACED)
    }

    /// Watches an existing folder, and writes to its files. The thread ends with the process.
    pub fn folder(folder: &Path) -> Self {
        Self::on("folder", vec![folder.to_owned()], REPLACED | WatchFlags::MODIFY)
    }

    fn on(name: &'static str, places: Vec<PathBuf>, flags: WatchFlags) -> Self {
        let (told, changes) = mpsc::channel(1);
        let watch = Self { changes, _open: told.clone() };
        if places.is_empty() {
            return watch;
        }
        let started = init(CreateFlags::CLOEXEC).map_err(io::Error::from).and_then(|events| {
            look(&events, &places, flags);
            std::thread::Builder::new().name(name.into()).spawn(move || {
                let mut news = [0; 4_096];
                // The events' contents are ignored: the files themselves show what has changed.
                while rustix::io::read(&events, &mut news).is_ok_and(|read| read > 0) {
                    // If an editor has replaced a file, the new one has to be watched.
                    look(&events, &places, flags);
                    if told.is_closed() {
                        return;
                    }
                    // A notification that has not been received yet covers this change too.
                    let _ = told.try_send(());
                }
            })
        });
        if let Err(error) = started {
            tracing::warn!(%error, name, "changes of files are not seen");
        }
        watch
    }

    /// Waits for a change.
    pub async fn wait_for_change(&mut self) {
        if self.changes.recv().await.is_none() {
            std::future::pending().await
        }
    }
}

/// The events of files that are replaced, or written in one go.
const REPLACED: WatchFlags = WatchFlags::CLOSE_WRITE
    .union(WatchFlags::CREATE)
    .union(WatchFlags::DELETE)
    .union(WatchFlags::MOVED_FROM)
    .union(WatchFlags::MOVED_TO)
    .union(WatchFlags::ATTRIB);

fn look(events: &OwnedFd, places: &[PathBuf], flags: WatchFlags) {
    for place in places {
        // If it does not exist yet, the watch on the folder above notices when it is created.
        let _ = add_watch(events, place, flags);
    }
}
