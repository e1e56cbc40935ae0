//! A write to disk that goes on while a command starts up.

use std::io;

use tokio::sync::watch;

/// A write to disk in progress. Cheap to clone.
#[derive(Debug, Clone)]
pub struct PendingWrite(watch::Receiver<Option<Result<(), String>>>);

impl PendingWrite {
    /// Starts the write on another thread.
    pub fn by(write: impl FnOnce() -> io::Result<()> + Send + 'static) -> Self {
        let (done, written) = watch::channel(None);
        tokio::task::spawn_blocking(move || {
            done.send_replace(Some(write().map_err(|error| error.to_string())))
        });
        Self(written)
    }

    /// Waits until the write is on disk.
    ///
    /// # Errors
    /// If it failed or was given up.
    pub async fn on_disk(&self) -> Result<(), String> {
        let mut written = self.0.clone();
        match written.wait_for(Option::is_some).await {
            Ok(done) => done.clone().unwrap_or(Ok(())),
            Err(_) => Err("it was given up".to_owned()),
        }
    }
}
