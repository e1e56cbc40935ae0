//! The watch over the tree of a ledger, where the kernel gives one.

use std::collections::BTreeSet;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tokio::io::Interest;
use tokio::io::unix::AsyncFd;
use tokio::time::Instant;

use crate::ledger::{GitFailure, PrivateGit, SnapshotBounds, TrackedFiles, TreeWatch, paths};
use crate::process;

/// The watch over a tree.
#[derive(Debug)]
pub(super) struct WatchedTree {
    /// Why there is none, in a clause.
    watch: Result<TreeWatch, String>,
    /// It can be read when something has moved.
    readiness: Option<AsyncFd<Arc<OwnedFd>>>,
}

impl WatchedTree {
    /// Watches the tree, if the kernel lets us.
    pub(super) async fn over(git: &PrivateGit, bounds: &SnapshotBounds, by: Instant) -> Self {
        let watch = TreeWatch::of(git.top()).map_err(|error| format!("files are not watched: {error}"));
        let descriptor = watch.as_ref().ok().map(TreeWatch::descriptor);
        let readiness = descriptor.and_then(|descriptor| process::watch(descriptor, Interest::READABLE).ok());
        let mut tree = Self { watch, readiness };
        // All folders are new.
        tree.follow(git, bounds, by).await;
        tree
    }

    /// Tells whether anything has moved since the last snapshot was begun, or may have.
    pub(super) fn has_moved(&mut self) -> bool {
        self.watch.as_mut().map_or(true, TreeWatch::has_moved)
    }

    /// Returns the descriptor that can be read when something has moved.
    pub(super) fn readiness(&self) -> Option<&AsyncFd<Arc<OwnedFd>>> {
        self.readiness.as_ref()
    }

    /// Tells whether there is a watch.
    pub(super) fn is_there(&self) -> bool {
        self.watch.is_ok()
    }

    /// Notes that anything may have moved.
    pub(super) fn doubt(&mut self) {
        if let Ok(watch) = &mut self.watch {
            watch.doubt();
        }
    }

    /// Returns why it was not known that nothing had moved, in a clause.
    pub(super) fn excuse(&self) -> String {
        match &self.watch {
            Ok(watch) if watch.is_partial() => "not all folders are watched".to_owned(),
            Ok(_) => "files were changing as it began".to_owned(),
            Err(why) => why.clone(),
        }
    }

    /// Returns what alone has moved so far, if that is known, and watches new folders.
    pub(super) async fn follow(
        &mut self,
        git: &PrivateGit,
        bounds: &SnapshotBounds,
        by: Instant,
    ) -> Option<BTreeSet<PathBuf>> {
        let watch = self.watch.as_mut().ok()?;
        let (moved, new) = (watch.take_moved(), watch.take_new());
        if new.is_empty() {
            return moved;
        }
        let lost = || Err("files are not watched: new folders could not be looked at".to_owned());
        let mut watch = std::mem::replace(&mut self.watch, lost()).ok()?;
        if let Ok(ignored) = unwatched_paths(git, bounds, by).await {
            let follow = move || {
                watch.follow(new, &ignored);
                watch
            };
            self.watch = tokio::task::spawn_blocking(follow).await.or_else(|_| lost());
        }
        moved
    }
}

/// Lists the folders and files that git ignores, without what is in them, and the folder that is in no snapshot: the
/// recordings in it move with every command.
async fn unwatched_paths(
    git: &PrivateGit,
    bounds: &SnapshotBounds,
    by: Instant,
) -> Result<BTreeSet<PathBuf>, GitFailure> {
    let args = ["ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--directory"];
    // What is tracked in an ignored folder is watched.
    let mut unwatched = match bounds.tracked.is_empty() {
        true => paths(&git.run(&args, &[], by).await?),
        false => TrackedFiles::list_by_copy(git, &args, by).await?,
    };
    unwatched.extend(bounds.without.strip_prefix(git.top()).map(Path::to_owned));
    Ok(unwatched)
}
