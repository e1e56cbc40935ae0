//! The journal against everything that can happen to it: truncated anywhere, a bit flipped anywhere, every call
//! failing, two writers, a reader beside the writer.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use proptest::prelude::*;
use serde_json::{Value, json};
use tokio::sync::Notify;

use super::disk::failing::{DiskCall, DiskFault, FailingDisk};
use super::repair::repair_with;
use super::*;
use crate::clock::Clock;

mod failing;
mod seal;

fn meta() -> RecordingMeta {
    RecordingMeta {
        version: META_VERSION,
        workspace: "/w".into(),
        pid: 1,
        start: 1,
        boot_id: "b".into(),
        started_at: Timestamp::UNIX_EPOCH,
        program: "test".into(),
    }
}

/// A recording in a throw-away folder.
struct Stage {
    dir: tempfile::TempDir,
}

impl Stage {
    fn new() -> Self {
        Self { dir: tempfile::tempdir().expect("temp dir") }
    }

    fn path(&self) -> &Path {
        self.dir.path()
    }

    fn journal(&self) -> Journal {
        Journal::create(self.path(), &meta(), Clock::start(), Arc::default()).expect("journal")
    }

    fn on(&self, disk: impl Disk + 'static, bounds: Bounds) -> Result<Journal, JournalError> {
        let changed = (Clock::start(), Arc::new(Notify::new()));
        Journal::create_with(Box::new(disk), self.path(), (&meta(), bounds), changed)
    }

    fn segment(&self, number: u32) -> std::path::PathBuf {
        layout::segment_path(self.path(), number)
    }

    /// The rows that can be read, in order, and the problems found.
    fn read(&self) -> (Vec<u64>, Vec<Problem>) {
        let (mut said, mut problems) = (Vec::new(), Vec::new());
        for item in JournalReader::open(self.path()).expect("opens") {
            match item {
                JournalItem::Record(record) if record.header.kind == "row" => {
                    said.push(record.data::<Value>(self.path()).expect("data")["n"].as_u64().expect("n"));
                }
                JournalItem::Record(_) => {}
                JournalItem::Problem(problem) => problems.push(problem),
            }
        }
        (said, problems)
    }

    fn repair(&self) -> RepairReport {
        // A process that another test is starting has this one's files, and with them the lock, until it executes its
        // program.
        let clock = Clock::start();
        let (journal, repaired) = loop {
            match repair_with(Box::new(unsynced()), self.path(), Clock::start()) {
                Err(JournalError::Held { .. }) if clock.now().mono < Duration::from_secs(30) => {
                    std::thread::yield_now()
                }
                repaired => break repaired.expect("repairs"),
            }
        };
        journal.close();
        repaired
    }
}

/// Writes a new file: replacing the content of an old one would make the file system wait for the disk.
fn put(path: impl AsRef<Path>, bytes: impl AsRef<[u8]>) -> std::io::Result<()> {
    let _ = fs::remove_file(&path);
    fs::write(path, bytes)
}

/// A disk on which nothing fails and nothing is synced: these tests never crash the machine.
fn unsynced() -> FailingDisk {
    FailingDisk::nth(DiskCall::Rename, usize::MAX / 2, 1, DiskFault::Full)
}

fn row(n: u64, filling: usize) -> Value {
    json!({ "kind": "row", "data": { "n": n, "text": "x".repeat(filling) } })
}

async fn filled(rows: u64, filling: usize) -> Stage {
    let stage = Stage::new();
    let journal = stage.journal();
    for n in 1..=rows {
        journal.append(&row(n, filling), Durability::Written).await.expect("append");
    }
    journal.close();
    stage
}

#[tokio::test]
async fn rows_stand_in_order_once_append_returns_and_their_chain_verifies() {
    let stage = Stage::new();
    let journal = stage.journal();
    journal.note(&row(1, 0), Durability::Late).expect("note");
    journal.append(&row(2, 0), Durability::Synced).await.expect("append");
    assert_eq!(
        ChainHead::read(stage.path()).map(|head| head.seq),
        Some(2),
        "synced with the row that asked for it"
    );
    assert_eq!(stage.read(), (vec![1, 2], Vec::new()));
    let report = verify(stage.path()).expect("verifies");
    assert!(report.is_whole() && report.live, "{report:?}");
    journal.close();
    let closed = journal.append(&row(3, 0), Durability::Written).await;
    assert!(matches!(closed, Err(JournalError::Closed)), "{closed:?}");
    for file in ["journal-0001.jsonl", "meta.json", "head.json"] {
        let mode = fs::metadata(stage.path().join(file)).expect(file).permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{file}");
    }
}

#[tokio::test]
async fn a_second_writer_is_refused_and_a_reader_beside_the_writer_is_not() {
    let stage = Stage::new();
    let journal = stage.journal();
    assert!(is_held(stage.path()));
    assert!(matches!(
        stage.on(disk::Os, Bounds::default()),
        Err(JournalError::Io { .. } | JournalError::Held { .. })
    ));
    assert!(matches!(repair(stage.path(), Clock::start()), Err(JournalError::Held { .. })));
    for n in 1..=200 {
        journal.note(&row(n, 300), Durability::Written).expect("note");
        if n % 20 == 0 {
            let report = verify(stage.path()).expect("verifies");
            assert!(report.is_whole() && report.live, "{report:?}");
        }
    }
    journal.close();
    assert!(!is_held(stage.path()));
    assert_eq!(stage.read().0, (1..=200).collect::<Vec<_>>());
}

#[tokio::test]
async fn f23_cut_at_every_byte_of_the_last_three_rows_the_rest_is_recovered_exactly() {
    let stage = filled(8, 20).await;
    let whole = fs::read(stage.segment(1)).expect("bytes");
    let ends: Vec<usize> = memchr::memchr_iter(b'\n', &whole).map(|at| at + 1).collect();
    let head = fs::read(layout::head_path(stage.path())).expect("head");
    for cut in ends[4]..whole.len() {
        put(stage.segment(1), &whole[..cut]).expect("writes");
        put(layout::head_path(stage.path()), &head).expect("writes");
        let rows = ends.iter().filter(|end| **end <= cut).count() as u64;
        let is_torn = !ends.contains(&cut);
        let report = verify(stage.path()).expect("verifies");
        let told: Vec<(u64, u64)> =
            report.problems.iter().map(|problem| (problem.first, problem.last)).collect();
        // Every missing synced row is noticed, up to the last one.
        assert_eq!((told[0].0, told[told.len() - 1].1), (rows + 1, 8), "cut at {cut}");
        let repaired = stage.repair();
        assert_eq!(repaired.torn.is_some(), is_torn, "cut at {cut}");
        let (said, problems) = stage.read();
        assert_eq!((said, problems), ((1..=rows).collect(), Vec::new()), "cut at {cut}");
        if let Some((bytes, kept)) = repaired.torn {
            assert_eq!(fs::read(kept).expect("kept").len() as u64, bytes);
        }
        let _ = fs::remove_dir_all(stage.path().join("quarantine"));
    }
}

#[tokio::test]
async fn f23_any_flipped_byte_of_a_row_is_reported_at_its_number() {
    let stage = filled(6, 10).await;
    let whole = fs::read(stage.segment(1)).expect("bytes");
    let ends: Vec<usize> = memchr::memchr_iter(b'\n', &whole).map(|at| at + 1).collect();
    for (seq, place) in [(4, ends[2]..ends[3]), (6, ends[4]..ends[5])] {
        for at in place {
            for flip in [0x01, whole[at] ^ b'\n'] {
                let mut bytes = whole.clone();
                bytes[at] ^= flip;
                if bytes == whole {
                    continue;
                }
                put(stage.segment(1), &bytes).expect("writes");
                let report = verify(stage.path()).expect("verifies");
                let first = report.problems.first().expect("noticed");
                assert_eq!(first.first, seq, "byte {at} ^ {flip:#x}: {report:?}");
            }
        }
    }
}

#[tokio::test]
async fn a_deleted_a_repeated_and_a_moved_row_are_noticed() {
    let stage = filled(5, 10).await;
    let whole = fs::read_to_string(stage.segment(1)).expect("text");
    let lines: Vec<&str> = whole.lines().collect();
    let order = |order: &[usize]| {
        let text: String = order.iter().map(|at| format!("{}\n", lines[at - 1])).collect();
        put(stage.segment(1), text).expect("writes");
        let problems = verify(stage.path()).expect("verifies").problems;
        problems.iter().map(|problem| (problem.kind, problem.first, problem.last)).collect::<Vec<_>>()
    };
    assert_eq!(order(&[1, 2, 3, 4, 5]), []);
    assert_eq!(order(&[1, 2, 4, 5]), [(ProblemKind::Missing, 3, 3)]);
    assert_eq!(order(&[3, 4, 5]), [(ProblemKind::Missing, 1, 2)]);
    assert_eq!(order(&[1, 3, 2, 4, 5])[0], (ProblemKind::Missing, 2, 2));
    assert_eq!(order(&[1, 2, 3]), [(ProblemKind::CutOff, 4, 5)]);
    for (twice, of) in [(&[1, 2, 2, 3, 4, 5][..], 2), (&[1, 2, 3, 4, 5, 3], 3), (&[1, 2, 3, 4, 5, 1], 1)] {
        assert_eq!(order(twice), [(ProblemKind::Repeated, of, of)], "{twice:?}");
    }
    // As when a segment takes over from one whose end may not have reached the disk.
    let takes_over = |rows: &[usize]| {
        let text: String = rows.iter().map(|at| format!("{}\n", lines[at - 1])).collect();
        put(stage.segment(2), text).expect("writes");
        order(&[1, 2, 3, 4])
    };
    assert_eq!(takes_over(&[3, 4, 5]), []);
    assert_eq!(takes_over(&[1, 2, 3, 4, 5]), [], "of the first nothing may have reached the disk");
    assert_eq!(takes_over(&[3, 4]), [(ProblemKind::Repeated, 4, 4), (ProblemKind::CutOff, 5, 5)]);
    assert_eq!(takes_over(&[2, 3, 5]), [(ProblemKind::Repeated, 3, 3)], "not all that may be lost");
    assert_eq!(takes_over(&[2, 4, 5]), [(ProblemKind::Repeated, 4, 4), (ProblemKind::Repeated, 2, 2)]);
}

#[tokio::test]
async fn a_bad_line_in_the_middle_is_left_alone_and_a_new_segment_goes_on() {
    let stage = filled(5, 10).await;
    let mut bytes = fs::read(stage.segment(1)).expect("bytes");
    let second = memchr::memchr(b'\n', &bytes).expect("a line") + 20;
    bytes[second] ^= 1;
    put(stage.segment(1), &bytes).expect("writes");
    let repaired = stage.repair();
    assert_eq!(repaired.sealed.as_deref(), Some("journal-0001.jsonl"));
    assert_eq!(fs::read(stage.segment(1)).expect("bytes"), bytes, "not touched");
    assert_eq!(fs::metadata(stage.segment(1)).expect("facts").permissions().mode() & 0o222, 0);
    let report = verify(stage.path()).expect("verifies");
    let told: Vec<_> = report.problems.iter().map(|problem| (problem.kind, problem.first)).collect();
    assert_eq!(told, [(ProblemKind::Changed, 2)]);
    assert_eq!(report.records, 5, "four rows and the one that tells of the repair");
}

#[tokio::test]
async fn a_recording_of_a_newer_program_is_not_touched() {
    let stage = filled(2, 10).await;
    let body = "{\"v\":2,\"new\":true";
    let line = format!("{body},\"hash\":\"{}\"}}\n", Hash::of(body.as_bytes()));
    let bytes = [fs::read(stage.segment(1)).expect("bytes"), line.into_bytes()].concat();
    put(stage.segment(1), &bytes).expect("writes");
    let refused = repair(stage.path(), Clock::start());
    assert!(matches!(refused, Err(JournalError::Version { version: 2, .. })));
    assert_eq!(fs::read(stage.segment(1)).expect("bytes"), bytes);
    assert_eq!(stage.read().0, [1, 2]);
}

#[tokio::test]
async fn a_row_too_large_for_a_line_goes_to_a_file_and_comes_back() {
    let stage = Stage::new();
    let journal = stage.journal();
    let text = "ü\n\"".repeat(200_000);
    let data = json!({ "n": 1, "a/b~": text, "c": { "d": "y".repeat(70_000) }, "e": [1, 2] });
    journal.append(&json!({ "kind": "row", "data": data }), Durability::Synced).await.expect("append");
    journal.close();
    let line = fs::metadata(stage.segment(1)).expect("facts").len();
    assert!(line < 64 << 10, "{line}");
    let records: Vec<JournalRecord> = JournalReader::open(stage.path())
        .expect("opens")
        .filter_map(|item| if let JournalItem::Record(record) = item { Some(record) } else { None })
        .collect();
    assert_eq!(records[0].data::<Value>(stage.path()).expect("data"), data);
    assert!(verify(stage.path()).expect("verifies").is_whole());
    let part = fs::read_dir(stage.path().join("parts")).expect("parts").flatten().next().expect("a part");
    put(part.path(), "\"other\"").expect("writes");
    let report = verify(stage.path()).expect("verifies");
    assert_eq!(report.problems[0].first, 1, "{report:?}");
}

#[tokio::test]
async fn segments_turn_and_the_oldest_goes_with_a_word() {
    let stage = Stage::new();
    let bounds = Bounds { line: 2_048, segment: 4_096, journal: 16_384 };
    let journal = stage.on(disk::Os, bounds).expect("journal");
    for n in 1..=100 {
        journal.append(&row(n, 500), Durability::Written).await.expect("append");
    }
    journal.close();
    let numbers = layout::segments(stage.path()).expect("lists");
    assert!(numbers[0] > 1 && numbers.len() > 2, "{numbers:?}");
    let size: u64 =
        numbers.iter().map(|number| fs::metadata(stage.segment(*number)).expect("facts").len()).sum();
    assert!(size <= bounds.journal, "{size}");
    let report = verify(stage.path()).expect("verifies");
    assert!(report.is_whole(), "{report:?}");
    // If somebody removes another segment, that is detected.
    fs::remove_file(stage.segment(numbers[0])).expect("removed");
    assert_eq!(verify(stage.path()).expect("verifies").problems[0].kind, ProblemKind::Missing);
}

#[tokio::test]
async fn values_that_were_too_large_for_a_row_count_and_go_with_it() {
    let stage = Stage::new();
    let bounds = Bounds { line: 2_048, segment: 16_384, journal: 65_536 };
    let journal = stage.on(disk::Os, bounds).expect("journal");
    for n in 1..=40 {
        journal.append(&row(n, 8_000), Durability::Written).await.expect("append");
    }
    journal.close();
    let sizes = |folder: &Path| -> u64 {
        let files = fs::read_dir(folder).expect("lists").flatten();
        files
            .map(|file| file.metadata().expect("facts"))
            .filter(|facts| facts.is_file())
            .map(|facts| facts.len())
            .sum()
    };
    let size = sizes(stage.path()) + sizes(&stage.path().join("parts"));
    assert!(size <= bounds.journal + bounds.segment, "{size}");
    let report = verify(stage.path()).expect("verifies");
    assert!(report.is_whole(), "{report:?}");
}

#[tokio::test]
async fn a_folder_a_link_or_a_fifo_in_place_of_a_segment_is_reported_as_unreadable() {
    let stage = filled(2, 10).await;
    for place in ["folder", "link", "fifo"] {
        let path = stage.segment(2);
        match place {
            "folder" => fs::create_dir(&path).expect("made"),
            "link" => std::os::unix::fs::symlink("/etc/hostname", &path).expect("made"),
            _ => rustix::fs::mknodat(
                rustix::fs::CWD,
                &path,
                rustix::fs::FileType::Fifo,
                rustix::fs::Mode::from_raw_mode(0o600),
                0,
            )
            .expect("made"),
        }
        let report = verify(stage.path()).expect("verifies");
        assert_eq!(report.problems[0].kind, ProblemKind::Unreadable, "{place}");
        if place == "folder" { fs::remove_dir(&path) } else { fs::remove_file(&path) }.expect("removed");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    /// Rows, a crash anywhere, a repair, more rows, and so on: the record is always a prefix of what was written.
    #[test]
    fn after_any_crash_the_record_is_a_prefix(lives in prop::collection::vec((1..12_usize, 0..900_usize, any::<prop::sample::Index>()), 1..4)) {
        let stage = Stage::new();
        let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
        let mut kept: Vec<u64> = Vec::new();
        let mut next = 0;
        for (life, (rows, filling, crash)) in lives.into_iter().enumerate() {
            let disk = Box::new(unsynced());
            let journal = if life == 0 {
                stage.on(unsynced(), Bounds::default()).expect("journal")
            } else {
                repair_with(disk, stage.path(), Clock::start()).expect("repairs").0
            };
            let before = fs::metadata(stage.segment(1)).expect("facts").len();
            let written: Vec<u64> = (0..rows).map(|_| { next += 1; next }).collect();
            for n in &written {
                runtime.block_on(journal.append(&row(*n, filling), Durability::Written)).expect("append");
            }
            journal.close();
            let bytes = fs::read(stage.segment(1)).expect("bytes");
            let fresh = bytes.len() - usize::try_from(before).expect("small");
            let cut = bytes.len() - fresh + crash.index(fresh + 1);
            put(stage.segment(1), &bytes[..cut]).expect("writes");
            kept.extend(written);
            let (said, _) = stage.read();
            prop_assert!(kept.starts_with(&said), "{:?} is no prefix of {:?}", said, kept);
            kept = said;
        }
        stage.repair();
        let (said, problems) = stage.read();
        prop_assert_eq!((said, problems), (kept, Vec::new()));
    }
}
