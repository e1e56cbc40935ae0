//! Tells when a file changes: of settings, or in another folder. Where the system has no such watch, nothing is ever said.

use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use rustix::fs::inotify::{CreateFlags, WatchFlags, add_watch, init};
use tokio::sync::mpsc;

use super::{FILE, KEYS_FILE, THEMES_FOLDER};

/// A watch on a folder.
pub struct Watch {
    changes: mpsc::Receiver<()>,
    /// Kept open where there is no watch: then nothing ever comes.
    _open: mpsc::Sender<()>,
}

impl Watch {
    /// Watches the folder and its files, and the folder above it in case there is none yet. The thread ends
    /// with the process: a blocking read cannot be called back.
    pub fn new(config: Option<&Path>) -> Self {
        let own = config.map(|config| ["", FILE, KEYS_FILE, THEMES_FOLDER].map(|name| config.join(name)));
        let above = config.and_then(Path::parent).map(Path::to_owned);
        Self::on("settings", above.into_iter().chain(own.into_iter().flatten()).collect(), REPLACED)
    }

    /// Watches a folder that is there, and what is written into its files. The thread ends with the process.
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
                // What happened is read from the files; here only that something did.
                while rustix::io::read(&events, &mut news).is_ok_and(|read| read > 0) {
                    // A file that an editor has replaced is another file.
                    look(&events, &places, flags);
                    if told.is_closed() {
                        return;
                    }
                    // One that was not taken yet says the same.
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
    pub async fn changed(&mut self) {
        if self.changes.recv().await.is_none() {
            std::future::pending().await
        }
    }
}

/// What happens to files that are replaced, or written in one go.
const REPLACED: WatchFlags = WatchFlags::CLOSE_WRITE
    .union(WatchFlags::CREATE)
    .union(WatchFlags::DELETE)
    .union(WatchFlags::MOVED_FROM)
    .union(WatchFlags::MOVED_TO)
    .union(WatchFlags::ATTRIB);

fn look(events: &OwnedFd, places: &[PathBuf], flags: WatchFlags) {
    for place in places {
        // What is not there is seen to come by the watch on the folder above.
        let _ = add_watch(events, place, flags);
    }
}
