//! The commands that are being started: git rests meanwhile, so that none of them waits for a processor or a disk that a
//! look at the files keeps busy.

use tokio::runtime::Handle;
use tokio::sync::watch;

/// How many commands are being started.
#[derive(Debug, Clone, Default)]
pub struct ComingStarts(watch::Sender<usize>);

/// A command that is being started, as long as this is kept.
#[derive(Debug)]
pub struct ComingStart(ComingStarts);

impl ComingStarts {
    /// Notes that a command is being started.
    #[must_use]
    pub fn begin(&self) -> ComingStart {
        self.0.send_modify(|count| *count += 1);
        ComingStart(self.clone())
    }

    /// Waits until none is being started, on a thread for what blocks.
    pub(super) fn pass(&self) {
        if *self.0.borrow() > 0 {
            Handle::current().block_on(self.until(false));
        }
    }

    /// Waits until none is being started, or until one is.
    pub(super) async fn until(&self, is_any: bool) {
        // The sender is this one.
        let _ = self.0.subscribe().wait_for(|count| (*count > 0) == is_any).await;
    }
}

impl Drop for ComingStart {
    fn drop(&mut self) {
        self.0.0.send_modify(|count| *count -= 1);
    }
}
