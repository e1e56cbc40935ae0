//! Tells when a file of settings changes. Where the system has no such watch, nothing is ever said.

use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use rustix::fs::inotify::{CreateFlags, WatchFlags, add_watch, init};
use tokio::sync::mpsc;

use super::{FILE, KEYS_FILE, THEMES_FOLDER};

/// A watch on a folder of settings.
pub struct Watch {
    changes: mpsc::Receiver<()>,
    /// Kept open where there is no watch: then nothing ever comes.
    _open: mpsc::Sender<()>,
}

impl Watch {
    /// Watches the folder and its files, and the folder above it in case there is none yet. The thread ends
    /// with the process: a blocking read cannot be called back.
    pub fn new(config: Option<&Path>) -> Self {
        let (told, changes) = mpsc::channel(1);
        let watch = Self { changes, _open: told.clone() };
        let Some(config) = config else { return watch };
        let own = ["", FILE, KEYS_FILE, THEMES_FOLDER].map(|name| config.join(name));
        let places: Vec<PathBuf> = config.parent().map(Path::to_owned).into_iter().chain(own).collect();
        let started = init(CreateFlags::CLOEXEC).map_err(io::Error::from).and_then(|events| {
            look(&events, &places);
            std::thread::Builder::new().name("settings".into()).spawn(move || {
                let mut news = [0; 4_096];
                // What happened is read from the files; here only that something did.
                while rustix::io::read(&events, &mut news).is_ok_and(|read| read > 0) {
                    // A file that an editor has replaced is another file.
                    look(&events, &places);
                    if told.is_closed() {
                        return;
                    }
                    // One that was not taken yet says the same.
                    let _ = told.try_send(());
                }
            })
        });
        if let Err(error) = started {
            tracing::warn!(%error, "changes of settings are not seen");
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

fn look(events: &OwnedFd, places: &[PathBuf]) {
    let flags = WatchFlags::CLOSE_WRITE
        | WatchFlags::CREATE
        | WatchFlags::DELETE
        | WatchFlags::MOVED_FROM
        | WatchFlags::MOVED_TO
        | WatchFlags::ATTRIB;
    for place in places {
        // What is not there is seen to come by the watch on the folder above.
        let _ = add_watch(events, place, flags);
    }
}
