//! Watches for runtimes in other working trees of the same repository: the commands of an agent that works in one beside the
//! workspace go there.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use super::RunningRuntime;
use super::running::arrivals;
use crate::ledger::RepositoryFiles;
use crate::paths::Locks;

/// Calls `announce` with the working tree of each such runtime, once, those that run already included. Ends at once if the
/// workspace is not the top of a repository.
pub async fn follow_siblings(locks: Locks, workspace: PathBuf, announce: impl Fn(&Path)) {
    let top = workspace.clone();
    let own = tokio::task::spawn_blocking(move || RepositoryFiles::find(&top)).await;
    let Ok(Some(own)) = own else { return };
    let mut told = HashSet::from([workspace]);
    let mut arrivals = arrivals(&locks);
    loop {
        let (locks, own) = (locks.clone(), own.clone());
        let look = tokio::task::spawn_blocking(move || trees(&locks, &own));
        for tree in look.await.unwrap_or_default() {
            if told.insert(tree.clone()) {
                announce(&tree);
            }
        }
        arrivals.wait_for_change().await;
    }
}

/// Returns the working trees of a repository that have a runtime. Blocks.
fn trees(locks: &Locks, repository: &RepositoryFiles) -> Vec<PathBuf> {
    let is_of_it = |tree: &PathBuf| {
        RepositoryFiles::find(tree).is_some_and(|other| other.is_of_same_repository(repository))
    };
    let all = RunningRuntime::list(locks).into_iter().filter_map(|running| running.workspace().cloned());
    all.filter(is_of_it).collect()
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::sync_channel;

    use super::*;
    use crate::link::lock::WorkspaceLock;
    use crate::paths::Places;

    #[tokio::test]
    async fn a_runtime_in_another_tree_of_the_repository_is_announced_once_and_no_other_is() {
        let temp = tempfile::tempdir().expect("temp dir");
        let write = |path: &str, text: &str| {
            let path = temp.path().join(path);
            std::fs::create_dir_all(path.parent().expect("a folder")).expect("made");
            std::fs::write(path, text).expect("written");
        };
        write("main/.git/HEAD", "ref: refs/heads/main\n");
        write("main/.git/worktrees/fix/HEAD", "ref: refs/heads/fix\n");
        write("main/.git/worktrees/fix/commondir", "../..\n");
        write("fix/.git", "gitdir: ../main/.git/worktrees/fix\n");
        write("alien/.git/HEAD", "ref: refs/heads/main\n");
        let [main, fix, alien] = ["main", "fix", "alien"].map(|name| {
            Places::beneath(&temp.path().join(name), &temp.path().join("state"), None).expect("places")
        });
        let _held = [WorkspaceLock::take(&main).expect("takes"), WorkspaceLock::take(&alien).expect("takes")];
        let (announce, announced) = sync_channel(9);
        let told = move |tree: &Path| announce.send(tree.to_owned()).expect("heard");
        let following = tokio::spawn(follow_siblings(main.locks(), main.workspace.clone(), told));
        let lock = WorkspaceLock::take(&fix).expect("takes");
        let first = tokio::task::spawn_blocking(move || (announced.recv().expect("announced"), announced));
        let (first, announced) = first.await.expect("joined");
        assert_eq!(first, fix.workspace);
        drop(lock);
        let _again = WorkspaceLock::take(&fix).expect("takes");
        let plain = temp.path().join("state");
        follow_siblings(main.locks(), plain, |_| panic!("no repository")).await;
        assert!(announced.try_recv().is_err(), "said once");
        following.abort();
    }
}
