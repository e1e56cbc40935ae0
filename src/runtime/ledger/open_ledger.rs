//! A ledger that is open: its private folder of git, the last snapshot, and whether it stays within its bounds.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use tokio::time::Instant;

use crate::config::LedgerMode;
use crate::envelope::TaskId;
use crate::ledger::{
    FOLDER, FileDifference, Found, GitFailure, PrivateGit, RepositoryFiles, SnapshotBounds, TreeSnapshot,
    between, count, difference, find_git, global_ignores, take,
};
use crate::model::TreeChanges;
use crate::process::environment::Environment;

/// How long git may take for one snapshot or one answer.
const DEADLINE: Duration = Duration::from_secs(10);
/// With `ledger = "auto"`, how long a snapshot may take, but for the first, and how many in a row may take longer.
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
/// The kernel's times of files lag behind its clock by up to a tick.
const TICK: SignedDuration = SignedDuration::from_millis(10);

/// What a ledger is opened with.
#[derive(Debug)]
pub(in crate::runtime) struct LedgerSetup {
    pub(in crate::runtime) mode: LedgerMode,
    pub(in crate::runtime) workspace: PathBuf,
    pub(in crate::runtime) recording: PathBuf,
    /// The runtime's own environment.
    pub(in crate::runtime) environment: Environment,
}

/// A ledger that is open.
#[derive(Debug)]
pub(super) struct OpenLedger {
    mode: LedgerMode,
    git: PrivateGit,
    repository: Option<RepositoryFiles>,
    bounds: SnapshotBounds,
    last: Arc<TreeSnapshot>,
    slow: u32,
    failed: u32,
    unmeasured: u64,
}

/// What the tree was when a command began.
#[derive(Debug, Clone)]
pub(super) struct TreeBase {
    snapshot: Arc<TreeSnapshot>,
    /// What had changed after that snapshot, before the command began.
    between: Arc<Found>,
    /// The commit that was checked out.
    head: Option<String>,
    /// Whether the tree was read for the first time after the command had begun.
    is_first: bool,
}

/// What the tree was at another time.
#[derive(Debug, Clone)]
pub(super) struct TreeEnd {
    pub(super) snapshot: Arc<TreeSnapshot>,
    head: Option<String>,
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
        let folder = setup.recording.join(FOLDER);
        let create = move || {
            let repository = RepositoryFiles::find(&top);
            let git = PrivateGit::create(program, folder, top, repository.as_ref(), &ignores)?;
            std::io::Result::Ok((git, repository))
        };
        let created = tokio::task::spawn_blocking(create).await.map_err(|error| error.to_string())?;
        let (git, repository) = created.map_err(|error| format!("its folder: {error}"))?;
        let mut salt = [0; 16];
        // Without random bytes, digests are merely not secret.
        let _ = rustix::rand::getrandom(&mut salt, rustix::rand::GetRandomFlags::empty());
        let without = setup.recording.parent().unwrap_or(&setup.recording).to_owned();
        let plain = (repository.is_none() && setup.mode == LedgerMode::Auto).then_some(PLAIN);
        let bounds = SnapshotBounds { without, plain, salt };
        let first = take(&git, None, &bounds, by).await.map_err(|error| error.to_string())?;
        let unmeasured = first.read_bytes;
        let last = Arc::new(first);
        Ok(Self { mode: setup.mode, git, repository, bounds, last, slow: 0, failed: 0, unmeasured })
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
        let begun = Instant::now();
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
        let took = begun.elapsed();
        self.slow = if took > PACE { self.slow + 1 } else { 0 };
        let end = TreeEnd { snapshot: taken, head: self.head().await };
        if end.snapshot.is_without_new {
            // From now on, the new rules hold.
            self.take().await.map_err(|error| (error.to_string(), false))?;
        }
        Ok(end)
    }

    async fn take(&mut self) -> Result<Arc<TreeSnapshot>, GitFailure> {
        let by = Instant::now() + DEADLINE;
        let taken = Arc::new(take(&self.git, Some(&self.last), &self.bounds, by).await?);
        self.unmeasured = self.unmeasured.saturating_add(taken.read_bytes);
        self.last = taken.clone();
        Ok(taken)
    }

    /// Returns why the ledger must not go on, in a clause.
    pub(super) async fn excess(&mut self) -> Option<String> {
        if self.mode == LedgerMode::Auto && self.slow >= MOST_SLOW {
            let files = self.git.run(&["ls-files", "-z"], &[], Instant::now() + DEADLINE).await.ok()?;
            let files = memchr::memchr_iter(0, &files).count();
            let pace = PACE.as_millis();
            return Some(format!("a snapshot of {files} files takes more than {pace} ms"));
        }
        if self.unmeasured < MEASURED_AFTER {
            return None;
        }
        self.unmeasured = 0;
        let objects = self.git.folder().join("objects");
        let bytes = tokio::task::spawn_blocking(move || size(&objects)).await.ok()?;
        (bytes > MOST_BYTES).then(|| format!("it takes {} MiB of the disk", bytes >> 20))
    }

    async fn head(&self) -> Option<String> {
        let repository = self.repository.clone()?;
        tokio::task::spawn_blocking(move || repository.head()).await.ok().flatten()
    }

    /// Returns what the tree was when a command began at this time. The command does not wait: some of what it does may
    /// be in the snapshot that is taken here.
    ///
    /// # Errors
    /// As [`OpenLedger::snapshot`].
    pub(super) async fn base(
        &mut self,
        began: Timestamp,
        is_first: bool,
    ) -> Result<TreeBase, (String, bool)> {
        let before = self.last.clone();
        let now = self.snapshot().await?;
        let by = Instant::now() + DEADLINE;
        let failed = |error: GitFailure| (error.to_string(), false);
        let moved = difference(&self.git, &before, &now.snapshot, by).await.map_err(failed)?;
        let top = self.git.top().to_owned();
        let began = began.checked_sub(TICK).unwrap_or(began);
        let between = tokio::task::spawn_blocking(move || between(&top, moved, began)).await;
        let between = between.map_err(|error| (error.to_string(), false))?;
        Ok(TreeBase { snapshot: before, between: between.into(), head: now.head, is_first })
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
            base.is_first.then(|| "it began while the tree was read for the first time".to_owned()),
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

impl TreeBase {
    /// Returns the id of its tree.
    pub(super) fn tree(&self) -> &str {
        &self.snapshot.tree
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
