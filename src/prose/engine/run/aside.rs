//! Work with files, kept off the threads on which the runtime answers everybody.

use crate::prose::engine::record::error::RunError;

/// Does work with files that a client or a workspace names on a thread of its own: a file system may take any time.
///
/// # Errors
/// As the work.
pub(super) async fn aside<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, RunError> + Send + 'static,
) -> Result<T, RunError> {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => done,
        Err(failed) if failed.is_panic() => std::panic::resume_unwind(failed.into_panic()),
        // The whole process is ending.
        Err(_) => std::future::pending().await,
    }
}
