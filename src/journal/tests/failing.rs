//! Every call that can fail does fail: no acknowledged row is lost, and nothing panics.

use super::*;

#[tokio::test]
async fn a_row_that_the_disk_refuses_waits_and_is_written_later() {
    let stage = Stage::new();
    let disk = FailingDisk::nth(DiskCall::Write, 4, 1, DiskFault::Short);
    let journal = stage.on(disk, Bounds::default()).expect("journal");
    journal.append(&row(1, 10), Durability::Written).await.expect("append");
    journal.append(&row(2, 10), Durability::Written).await.expect("append");
    let refused = journal.append(&row(3, 10), Durability::Synced).await;
    assert!(matches!(refused, Err(JournalError::Append(_))), "{refused:?}");
    let health = journal.health();
    assert!(health.degraded.is_some_and(|why| why.is_full && why.held == 1), "told before it is answered");
    journal.note(&row(4, 10), Durability::Written).expect("note");
    journal.close();
    assert_eq!(stage.read(), (vec![1, 2, 3, 4], Vec::new()));
}

/// Writes `rows` rows with all durabilities, some of them large; returns the acknowledged ones.
async fn write_all(journal: &Journal, rows: u64) -> Vec<u64> {
    let mut acknowledged = Vec::new();
    for n in 1..=rows {
        let durability = [Durability::Synced, Durability::Written, Durability::Late][n as usize % 3];
        let filling = if n % 7 == 0 { 3_000 } else { 400 };
        if journal.append(&row(n, filling), durability).await.is_ok() {
            acknowledged.push(n);
        }
    }
    acknowledged
}

/// Makes `count` calls from the k-th on fail, for every k; returns how many k there were.
async fn fail_each(call: DiskCall, way: DiskFault, count: usize) -> usize {
    const BOUNDS: Bounds = Bounds { line: 2_048, segment: 6_000, journal: 1 << 20 };
    for k in 1.. {
        let stage = Stage::new();
        let disk = FailingDisk::nth(call, k, count, way);
        let what = format!("{call:?} {way:?} from {k}, {count} times");
        let acknowledged = match stage.on(disk.clone(), BOUNDS) {
            Ok(journal) => {
                let acknowledged = write_all(&journal, 30).await;
                journal.close();
                acknowledged
            }
            Err(_) => Vec::new(),
        };
        let (said, problems) = stage.read();
        assert!(problems.iter().all(|problem| problem.kind == ProblemKind::Torn), "{what}: {problems:?}");
        assert!(said.is_sorted(), "{what}: {said:?}");
        let lost: Vec<&u64> = acknowledged.iter().filter(|n| !said.contains(n)).collect();
        assert!(lost.is_empty(), "{what}: {lost:?} were acknowledged");
        if fs::exists(stage.path().join("head.json")).expect("asked") {
            stage.repair();
            let (again, problems) = stage.read();
            assert_eq!((again, problems), (said, Vec::new()), "{what}");
        }
        if disk.call_count() < k {
            return k - 1;
        }
    }
    unreachable!("the loop ends when no call is left to fail")
}

#[tokio::test]
async fn f21_whichever_call_fails_no_acknowledged_row_is_lost() {
    for (call, way) in [
        (DiskCall::Open, DiskFault::Full),
        (DiskCall::Write, DiskFault::Full),
        (DiskCall::Write, DiskFault::Broken),
        (DiskCall::Write, DiskFault::Short),
        (DiskCall::Overwrite, DiskFault::Broken),
        (DiskCall::Sync, DiskFault::Broken),
        (DiskCall::Rename, DiskFault::Broken),
    ] {
        for count in [1, 2, 1_000] {
            let made = fail_each(call, way, count).await;
            assert!(made > 0, "{call:?} was never made");
        }
    }
}

/// A disk on which a write is cut short and the partial line cannot be truncated.
#[derive(Clone, Debug)]
struct Stuck(FailingDisk);

#[tokio::test]
async fn a_torn_line_that_cannot_be_cut_is_superseded_by_the_next_segment() {
    for k in 2..12 {
        let stage = Stage::new();
        let disk = Stuck(FailingDisk::nth(DiskCall::Write, k, 1, DiskFault::Short));
        let journal = stage.on(disk, Bounds::default()).expect("journal");
        let acknowledged = write_all(&journal, 10).await;
        journal.close();
        let (said, problems) = stage.read();
        assert!(problems.is_empty(), "from {k}: {problems:?}");
        assert!(acknowledged.iter().all(|n| said.contains(n)), "from {k}: {acknowledged:?} {said:?}");
        assert!(verify(stage.path()).expect("verifies").is_whole(), "from {k}");
    }
}

impl Disk for Stuck {
    fn create(&self, path: &Path) -> std::io::Result<fs::File> {
        self.0.create(path)
    }
    fn open(&self, path: &Path) -> std::io::Result<fs::File> {
        self.0.open(path)
    }
    fn open_over(&self, path: &Path) -> std::io::Result<fs::File> {
        self.0.open_over(path)
    }
    fn write(&self, file: &fs::File, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.write(file, bytes)
    }
    fn overwrite(&self, file: &fs::File, bytes: &[u8]) -> std::io::Result<()> {
        self.0.overwrite(file, bytes)
    }
    fn sync(&self, file: &fs::File) -> std::io::Result<()> {
        self.0.sync(file)
    }
    fn truncate(&self, _file: &fs::File, _length: u64) -> std::io::Result<()> {
        Err(std::io::Error::from_raw_os_error(libc::EIO))
    }
    fn rename(&self, from: &Path, to: &Path) -> std::io::Result<()> {
        self.0.rename(from, to)
    }
    fn sync_folder(&self, folder: &Path) -> std::io::Result<()> {
        self.0.sync_folder(folder)
    }
    fn remove(&self, path: &Path) -> std::io::Result<()> {
        self.0.remove(path)
    }
}

#[tokio::test]
async fn a_repair_that_fails_anywhere_can_be_done_again() {
    for call in [DiskCall::Open, DiskCall::Write, DiskCall::Sync, DiskCall::Rename, DiskCall::Truncate] {
        for k in 1.. {
            let stage = filled(4, 10).await;
            let mut bytes = fs::read(stage.segment(1)).expect("bytes");
            bytes.truncate(bytes.len() - 5);
            put(stage.segment(1), &bytes).expect("writes");
            let disk = FailingDisk::nth(call, k, 1, DiskFault::Broken);
            if let Ok((journal, _)) = repair_with(Box::new(disk.clone()), stage.path(), Clock::start()) {
                journal.close();
            }
            stage.repair();
            assert_eq!(stage.read(), (vec![1, 2, 3], Vec::new()), "{call:?} {k}");
            if disk.call_count() < k {
                break;
            }
        }
    }
}
