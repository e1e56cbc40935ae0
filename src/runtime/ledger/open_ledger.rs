//! A ledger that is open: its private folder of git, the last snapshot, and whether it stays within its bounds.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use tokio::time::Instant;

use super::still_tree::StillTree;
use super::tree_base::{TreeBase, TreeEnd};
use super::watched_tree::WatchedTree;
use crate::config::LedgerMode;
use crate::envelope::TaskId;
use crate::envelope::units::{self, Period};
use crate::ledger::{
    ComingStarts, FOLDER, FileDifference, Found, GitFailure, PrivateGit, RepositoryFiles, SnapshotBounds,
    TrackedFiles, TreeSnapshot, between, count, difference, find_git, global_ignores, take,
};
use crate::model::TreeChanges;
use crate::process::environment::Environment;

/// How long git may take for one snapshot or one answer.
const DEADLINE: Duration = Duration::from_secs(10);
/// With `ledger = "auto"`, how much processor time a snapshot may take, but for the first, and how many in a row may take
/// more.
const PACE: Duration = Duration::from_millis(150);
const MOST_SLOW: u32 = 3;
/// How many snapshots in a row may fail.
const MOST_FAILED: u32 = 3;
/// The most files and bytes of a folder without a repository.
const PLAIN: (usize, u64) = (5_000, 64 << 20);
/// The most bytes that the ledger of a runtime may take on disk.
const MOST_BYTES: u64 = 512 << 20;
/// Its size is measured after git was given so many bytes to read.
const MEASURED_AFTER: u64 = 32 << 20;
/// How long the tree must be quiet before a snapshot that no command asks for, and how many times as long as the last one took
/// is waited before the next.
const SETTLED: Duration = Duration::from_millis(100);
const REST: u32 = 20;
/// The kernel's times of files lag behind its clock by up to a tick.
const TICK: SignedDuration = SignedDuration::from_millis(10);
/// Why it is not exactly known what the tree was when a command began.
const FIRST: &str = "it began while the tree was read for the first time";

/// What a ledger is opened with.
#[derive(Debug)]
pub(in crate::runtime) struct LedgerSetup {
    pub(in crate::runtime) mode: LedgerMode,
    pub(in crate::runtime) workspace: PathBuf,
    pub(in crate::runtime) recording: PathBuf,
    /// The runtime's own environment.
    pub(in crate::runtime) environment: Environment,
    /// During these, nothing is looked at.
    pub(in crate::runtime) starts: ComingStarts,
    /// Whether nothing moves, for those who start commands.
    pub(in crate::runtime) still: StillTree,
}

/// A ledger that is open.
#[derive(Debug)]
pub(super) struct OpenLedger {
    mode: LedgerMode,
    git: PrivateGit,
    repository: Option<RepositoryFiles>,
    bounds: SnapshotBounds,
    tracked: TrackedFiles,
    last: Arc<TreeSnapshot>,
    slow: u32,
    failed: u32,
    unmeasured: u64,
    watch: WatchedTree,
    /// Whether anything has moved since the last snapshot, for those who start commands.
    still: StillTree,
    /// The number of the last snapshot.
    number: u64,
    /// When the next snapshot may be taken that no command asks for.
    rested: Instant,
}

impl OpenLedger {
    /// Opens the ledger and takes the first snapshot.
    ///
    /// # Errors
    /// Why it is off, in a clause.
    pub(super) async fn open(setup: &LedgerSetup) -> Result<Self, String> {
        let by = Instant::now() + DEADLINE;
        let top = setup.workspace.clone();
        let path = setup.environment.get("PATH").unwrap_or_default();
        let program = find_git(path, &top).ok_or("git is not installed")?;
        let home = setup.environment.get("HOME").unwrap_or_default();
        let ignores = global_ignores(&program, home, setup.environment.get("XDG_CONFIG_HOME"), by).await;
        let (folder, starts) = (setup.recording.join(FOLDER), setup.starts.clone());
        let create = move || {
            let repository = RepositoryFiles::find(&top);
            let git = PrivateGit::create(program, folder, top, repository.as_ref(), &ignores)?;
            std::io::Result::Ok((git.yielding(&starts), repository))
        };
        let created = tokio::task::spawn_blocking(create).await.map_err(|error| error.to_string())?;
        let (git, repository) = created.map_err(|error| format!("its folder: {error}"))?;
        let mut salt = [0; 16];
        // Without random bytes, digests are merely not secret.
        let _ = rustix::rand::getrandom(&mut salt, rustix::rand::GetRandomFlags::empty());
        let without = setup.recording.parent().unwrap_or(&setup.recording).to_owned();
        let plain = (repository.is_none() && setup.mode == LedgerMode::Auto).then_some(PLAIN);
        let tracked = TrackedFiles::list(&git, repository.as_ref(), by).await;
        let bounds = SnapshotBounds { without, plain, salt, tracked: tracked.paths.clone() };
        let watch = WatchedTree::over(&git, &bounds, by).await;
        let first = take(&git, None, None, &bounds, by).await.map_err(|error| error.to_string())?;
        let unmeasured = first.read_bytes;
        let last = Arc::new(first);
        let (slow, failed, rested) = (0, 0, Instant::now());
        let (mode, still, number) = (setup.mode, setup.still.clone(), 0);
        let mut open = Self {
            mode,
            git,
            repository,
            bounds,
            tracked,
            last,
            slow,
            failed,
            unmeasured,
            watch,
            still,
            number,
            rested,
        };
        open.has_moved();
        Ok(open)
    }

    /// Returns the private git.
    pub(super) fn git(&self) -> &PrivateGit {
        &self.git
    }

    /// Takes a snapshot.
    ///
    /// # Errors
    /// Why there is none, in a clause, and whether there will be no others either.
    pub(super) async fn snapshot(&mut self) -> Result<TreeEnd, (String, bool)> {
        let (begun, spent) = (Instant::now(), self.git.spent());
        let taken = self.take().await;
        let taken = match taken {
            Ok(taken) => taken,
            Err(error) => {
                self.failed += 1;
                let is_last = matches!(error, GitFailure::Late) || self.failed >= MOST_FAILED;
                return Err((error.to_string(), is_last));
            }
        };
        self.failed = 0;
        self.rested = Instant::now() + begun.elapsed() * REST;
        self.slow = if self.git.spent() - spent > PACE { self.slow + 1 } else { 0 };
        let end = TreeEnd { snapshot: taken, head: self.head().await };
        let is_other = self.tracks_others(end.snapshot.is_without_new).await || end.snapshot.is_without_new;
        if is_other || !self.watch.is_there() {
            // From now on, the new rules hold, and what is tracked now is, also for what is watched.
            self.bounds.tracked = self.tracked.paths.clone();
            let by = Instant::now() + DEADLINE;
            self.watch = WatchedTree::over(&self.git, &self.bounds, by).await;
            if is_other || self.watch.is_there() {
                self.take().await.map_err(|error| (error.to_string(), false))?;
            }
        }
        self.has_moved();
        Ok(end)
    }

    /// Returns what the tree is now. Where nothing has moved, that is the last snapshot, and git is not run.
    ///
    /// # Errors
    /// As [`OpenLedger::snapshot`].
    pub(super) async fn current(&mut self) -> Result<TreeEnd, (String, bool)> {
        if self.is_still(None).await {
            return Ok(TreeEnd { snapshot: self.last.clone(), head: self.head().await });
        }
        self.snapshot().await
    }

    /// Tells whether anything has moved since the last snapshot, or may have.
    fn has_moved(&mut self) -> bool {
        // A command that starts between an end and a beginning could not know that nothing has moved.
        if self.still.since() == Some(self.number) {
            return false;
        }
        // Until it is read what the kernel has told, nobody may take its silence for rest.
        self.still.end();
        let has_moved = self.watch.has_moved();
        if let Some(told) = self.watch.readiness().filter(|_| !has_moved) {
            self.still.begin(told.get_ref().clone(), self.number);
        }
        has_moved
    }

    /// Tells whether nothing has moved since the last snapshot, or had since the one of this number, and nothing else is tracked.
    async fn is_still(&mut self, number: Option<u64>) -> bool {
        (number == Some(self.number) || !self.has_moved()) && !self.tracks_others(false).await
    }

    /// Tells whether other ignored files are tracked than those that are read; looks again if the index or rules have changed.
    async fn tracks_others(&mut self, has_other_rules: bool) -> bool {
        if has_other_rules || !self.tracked.are_current(self.repository.as_ref()) {
            let by = Instant::now() + DEADLINE;
            self.tracked = TrackedFiles::list(&self.git, self.repository.as_ref(), by).await;
        }
        self.tracked.paths != self.bounds.tracked
    }

    async fn take(&mut self) -> Result<Arc<TreeSnapshot>, GitFailure> {
        self.still.end();
        self.number += 1;
        let by = Instant::now() + DEADLINE;
        let moved = self.watch.follow(&self.git, &self.bounds, by).await;
        let taken = take(&self.git, Some(&self.last), moved, &self.bounds, by).await;
        if taken.is_err() {
            self.watch.doubt();
        }
        let taken = Arc::new(taken?);
        self.unmeasured = self.unmeasured.saturating_add(taken.read_bytes);
        self.last = taken.clone();
        Ok(taken)
    }

    /// Waits until something has moved in the tree and it has been quiet for a moment: then a snapshot is due, so that the next
    /// command finds one that is exact.
    pub(super) async fn wait_for_change(&mut self) {
        loop {
            let Some(told) = self.watch.readiness() else { return std::future::pending().await };
            let Ok(mut ready) = told.readable().await else { return std::future::pending().await };
            tokio::time::sleep(SETTLED).await;
            ready.clear_ready();
            tokio::time::sleep_until(self.rested).await;
            if self.has_moved() {
                return;
            }
        }
    }

    /// Returns why the ledger must not go on, in a clause.
    pub(super) async fn excess(&mut self) -> Option<String> {
        if self.mode == LedgerMode::Auto && self.slow >= MOST_SLOW {
            let files = self.git.run(&["ls-files", "-z"], &[], Instant::now() + DEADLINE).await.ok()?;
            let files = memchr::memchr_iter(0, &files).count();
            let pace = Period(PACE);
            return Some(format!("a snapshot of {files} files takes more than {pace} of a processor"));
        }
        if self.unmeasured < MEASURED_AFTER {
            return None;
        }
        self.unmeasured = 0;
        let objects = self.git.folder().join("objects");
        let bytes = tokio::task::spawn_blocking(move || size(&objects)).await.ok()?;
        (bytes > MOST_BYTES).then(|| format!("it takes {} of the disk", units::size(bytes)))
    }

    async fn head(&self) -> Option<String> {
        let repository = self.repository.clone()?;
        tokio::task::spawn_blocking(move || repository.head()).await.ok().flatten()
    }

    /// Returns what the tree was when a command began at this time: the last snapshot, if nothing had moved since the one of
    /// the number `still`, as was seen before it began. Otherwise, since the command does not wait, some of what it does may
    /// be in the snapshot that is taken here.
    ///
    /// # Errors
    /// As [`OpenLedger::snapshot`].
    pub(super) async fn base(
        &mut self,
        began: Timestamp,
        is_first: bool,
        still: Option<u64>,
    ) -> Result<TreeBase, (String, bool)> {
        let before = self.last.clone();
        let since = began.checked_sub(TICK).unwrap_or(began);
        if !is_first && self.is_still(still).await {
            let (between, head) = (Arc::default(), self.head().await);
            return Ok(TreeBase { snapshot: before, between, head, is_first, quiet_at: Ok(since) });
        }
        let quiet_at = Err(if is_first { FIRST.to_owned() } else { self.watch.excuse() });
        let now = self.snapshot().await?;
        let by = Instant::now() + DEADLINE;
        let failed = |error: GitFailure| (error.to_string(), false);
        // With what is tracked, or no longer ignored, since then.
        let moved = difference(&self.git, &before, &self.last, by).await.map_err(failed)?;
        let top = self.git.top().to_owned();
        let between = tokio::task::spawn_blocking(move || between(&top, moved, since)).await;
        let between = between.map_err(|error| (error.to_string(), false))?;
        Ok(TreeBase { snapshot: before, between: between.into(), head: now.head, is_first, quiet_at })
    }

    /// Returns what differs between the beginning of a command and another time, in files and in numbers.
    ///
    /// # Errors
    /// If git fails: how.
    pub(super) async fn changes(
        &self,
        base: &TreeBase,
        end: &TreeEnd,
        shared_with: Vec<TaskId>,
    ) -> Result<(Found, TreeChanges), String> {
        let by = Instant::now() + DEADLINE;
        let failed = |error: GitFailure| error.to_string();
        let mut found = difference(&self.git, &base.snapshot, &end.snapshot, by).await.map_err(failed)?;
        for (path, earlier) in &*base.between {
            // Where nothing differs from the snapshot before, it has become again what it was there.
            let unchanged = || FileDifference { old: None, new: earlier.old.clone() };
            found.entry(path.clone()).or_insert_with(unchanged).old.clone_from(&earlier.new);
        }
        found.retain(|_, file| file.old != file.new);
        let heads = base.head.as_deref().zip(end.head.as_deref()).filter(|(from, to)| from != to);
        let counted = match count(&self.git, &found, heads, by).await {
            Err(_) if heads.is_some() => count(&self.git, &found, None, by).await,
            counted => counted,
        };
        let unreadable = end.snapshot.unreadable;
        let doubts = [
            base.is_first.then(|| FIRST.to_owned()),
            end.snapshot
                .is_without_new
                .then(|| "ignore rules have changed: new files are not listed".to_owned()),
            (unreadable > 0).then(|| format!("{unreadable} files cannot be read")),
        ];
        let doubts: Vec<String> = doubts.into_iter().flatten().collect();
        let incomplete = (!doubts.is_empty()).then(|| doubts.join("; "));
        let changes = counted.map_err(failed)?;
        Ok((found, TreeChanges { shared_with, incomplete, ..changes }))
    }
}

/// Returns the size of the files in a folder, in bytes. Blocks.
fn size(folder: &Path) -> u64 {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let of = |entry: fs::DirEntry| match entry.metadata() {
        Ok(facts) if facts.is_dir() => size(&entry.path()),
        Ok(facts) => facts.len(),
        Err(_) => 0,
    };
    entries.map(of).sum()
}
