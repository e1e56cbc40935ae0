//! Finds this user's runtimes on this machine by their locks, and watches them start and end. The lock files are
//! untrusted input: only a limited number is read, each up to a size limit, and those without usable contents are
//! skipped.

use std::path::PathBuf;

use super::lock::{Holder, MOST_LOCKS, RuntimeAddress};
use super::{ClientRole, Error, Hello, OpenConnection, dial};
use crate::files;
use crate::paths::Locks;
use crate::process::FileWatch;

/// The most runtimes returned.
const MOST: usize = 256;

/// A runtime that serves a workspace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunningRuntime {
    /// The id of its workspace.
    pub id: String,
    /// Where it is reached.
    pub address: RuntimeAddress,
}

impl RunningRuntime {
    /// Returns this user's reachable runtimes on this machine, sorted by id. A runtime that is only just starting is
    /// not included. Reads files, so it must not be called on async threads.
    pub fn list(locks: &Locks) -> Vec<Self> {
        let Ok(entries) = std::fs::read_dir(&locks.folder) else { return Vec::new() };
        let mut ids: Vec<String> = entries
            .flatten()
            .filter_map(|entry| Some(locks.id(entry.file_name().to_str()?)?.to_owned()))
            .take(MOST_LOCKS)
            .collect();
        ids.sort();
        ids.into_iter().filter_map(|id| Self::of(locks, id)).take(MOST).collect()
    }

    /// Returns the runtime that serves the workspace with this id, if it is reachable. Reads files, like [`Self::list`].
    pub(super) fn of(locks: &Locks, id: String) -> Option<Self> {
        let holder = Holder::at(&locks.file(&id));
        let address = holder.address().filter(|address| locks.counts(&address.runtime))?.clone();
        Some(Self { id, address })
    }

    /// Connects to it as a script that starts nothing.
    ///
    /// # Errors
    /// If it does not answer or refuses.
    pub async fn dial(&self) -> Result<OpenConnection, Error> {
        let hello = Hello::new(ClientRole::Cli, PathBuf::from("/")).without_environment();
        dial(&self.address.runtime.join("agent.sock"), &hello).await
    }

    /// Returns the path of its operator socket.
    pub fn operator_socket(&self) -> PathBuf {
        self.address.runtime.join("operator.sock")
    }

    /// Returns its workspace, if that is a path.
    pub fn workspace(&self) -> Option<&PathBuf> {
        Some(&self.address.workspace).filter(|workspace| workspace.is_absolute())
    }
}

/// Watches for runtimes that may have started or ended: the folder of the locks, which is created if necessary.
pub(super) fn arrivals(locks: &Locks) -> FileWatch {
    if let Err(error) = files::create_folder(&locks.folder) {
        tracing::warn!(%error, folder = %locks.folder.display(), "runtimes that come are not seen");
    }
    FileWatch::folder(&locks.folder)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::link::lock::WorkspaceLock;
    use crate::paths::Places;

    fn places(root: &Path, name: &str) -> Places {
        let workspace = root.join(name);
        std::fs::create_dir_all(&workspace).expect("a workspace");
        Places::beneath(&workspace, &root.join("state"), None).expect("places")
    }

    #[test]
    fn runtimes_are_found_by_held_locks_and_other_files_are_ignored() {
        let temp = tempfile::tempdir().expect("temp dir");
        let [one, other] = ["one", "other"].map(|name| places(temp.path(), name));
        let locks = one.locks();
        assert_eq!(RunningRuntime::list(&locks), [], "no folder yet");
        let held = WorkspaceLock::take(&one).expect("takes");
        let gone = WorkspaceLock::take(&other).expect("takes");
        let found = RunningRuntime::list(&locks);
        assert_eq!(found.len(), 2);
        drop(gone);
        for (name, text) in [("junk", "x"), ("000000000000.lock", "{}"), ("00000000000g.lock", "{}")] {
            std::fs::write(locks.folder.join(name), text).expect("written");
        }
        let found = RunningRuntime::list(&locks);
        let [running] = &found[..] else { panic!("one holds its lock: {found:?}") };
        assert_eq!((&running.id, running.workspace()), (&one.id, Some(&one.workspace)));
        assert_eq!(running.operator_socket(), one.operator_socket());
        drop(held);
        assert_eq!(RunningRuntime::list(&locks), []);
    }

    #[test]
    fn f60_runtimes_of_another_profile_can_be_left_out() {
        let temp = tempfile::tempdir().expect("temp dir");
        let own = places(temp.path(), "one");
        // The same locks, but another runtime folder.
        let theirs = Places { runtime_dir: temp.path().join("elsewhere/x"), ..places(temp.path(), "other") };
        let _held = [WorkspaceLock::take(&own).expect("takes"), WorkspaceLock::take(&theirs).expect("takes")];
        assert_eq!(RunningRuntime::list(&own.locks()).len(), 2);
        let here = own.locks().only_in(own.runtime_dir.parent());
        let found = RunningRuntime::list(&here);
        assert_eq!(found.iter().map(|running| &running.id).collect::<Vec<_>>(), [&own.id]);
        assert_eq!(RunningRuntime::list(&here.only_in(None)).len(), 2);
    }

    #[test]
    fn a_held_lock_that_says_nothing_usable_is_passed_over() {
        use rustix::fs::{FlockOperation, flock};
        let temp = tempfile::tempdir().expect("temp dir");
        let own = places(temp.path(), "one");
        let locks = own.locks();
        files::create_folder(&locks.folder).expect("a folder");
        let long = format!("{{\"pid\":1,\"runtime\":\"{}\"", "x".repeat(64 << 10));
        for text in ["", "null", "{\"pid\":-1}", "\u{0}\u{1}", &long] {
            std::fs::write(&own.lock, text).expect("written");
            let file = std::fs::File::open(&own.lock).expect("opened");
            flock(&file, FlockOperation::LockExclusive).expect("locked");
            assert_eq!(RunningRuntime::list(&locks), [], "{:.20}", text);
        }
    }

    #[tokio::test]
    async fn a_runtime_that_comes_is_noticed_once_it_says_where_it_is() {
        let temp = tempfile::tempdir().expect("temp dir");
        let own = places(temp.path(), "one");
        let locks = own.locks();
        let mut arrivals = arrivals(&locks);
        let lock = WorkspaceLock::take(&own).expect("takes");
        while RunningRuntime::list(&locks).is_empty() {
            arrivals.wait_for_change().await;
        }
        drop(lock);
        while !RunningRuntime::list(&locks).is_empty() {
            arrivals.wait_for_change().await;
        }
    }
}
