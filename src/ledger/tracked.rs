//! The files that a repository tracks although its rules ignore them: git lists them neither as others nor as its own.

use std::collections::BTreeSet;
use std::io::{self, Write as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::PathBuf;
use std::sync::Arc;

use tokio::time::Instant;

use super::program::{GitFailure, PrivateGit};
use super::repository::RepositoryFiles;
use super::snapshot::paths;
use crate::files;

/// The file in the private folder with a copy of the repository's index.
const COPY: &str = "tracked";

/// By what it is noticed that the index is another one: its inode, size, and time of change.
type IndexStamp = Option<(u64, u64, i64, i64)>;

/// Files that a repository tracks although its rules ignore them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TrackedFiles {
    /// Their paths; none where git cannot list them.
    pub paths: Arc<BTreeSet<PathBuf>>,
    stamp: IndexStamp,
}

impl TrackedFiles {
    /// Lists them by a copy of the index, unless git has not answered by then.
    pub async fn list(git: &PrivateGit, repository: Option<&RepositoryFiles>, by: Instant) -> Self {
        // Before it is read: it is only read once more than needed.
        let stamp = repository.and_then(stamp);
        let (Some(repository), true) = (repository.cloned(), stamp.is_some()) else { return Self::default() };
        let copy = git.folder().join(COPY);
        let write = move || {
            let (index, _) = repository.index().ok_or(io::ErrorKind::NotFound)?;
            files::replace(&copy, |file| file.write_all(&index))
        };
        let written = tokio::task::spawn_blocking(write).await.map_err(io::Error::other).flatten();
        let args = ["ls-files", "-z", "--cached", "--ignored", "--exclude-standard"];
        let paths = match written {
            Ok(()) => Self::list_by_copy(git, &args, by).await,
            Err(error) => Err(error.into()),
        };
        if let Err(error) = &paths {
            tracing::warn!(%error, "files that are tracked although ignored are not known");
        }
        Self { paths: paths.unwrap_or_default().into(), stamp }
    }

    /// Lists files by that copy.
    ///
    /// # Errors
    /// If git fails or has not answered by then.
    pub async fn list_by_copy(
        git: &PrivateGit,
        args: &[&str],
        by: Instant,
    ) -> Result<BTreeSet<PathBuf>, GitFailure> {
        Ok(paths(&git.run_on(&git.folder().join(COPY), args, &[], by).await?))
    }

    /// Tells whether the index is still the one that was read.
    #[must_use]
    pub fn are_current(&self, repository: Option<&RepositoryFiles>) -> bool {
        self.stamp == repository.and_then(stamp)
    }
}

fn stamp(repository: &RepositoryFiles) -> IndexStamp {
    let facts = repository.own.join("index").metadata().ok()?;
    Some((facts.ino(), facts.size(), facts.ctime(), facts.ctime_nsec()))
}
