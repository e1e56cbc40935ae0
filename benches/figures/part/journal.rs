//! What a recorded row costs, as ratios to a plain loop of the same system calls in the same run: rows per second
//! say more about the disk than about the code.

use std::fs::File;
use std::io::Write as _;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use pilothouse::clock::Clock;
use pilothouse::journal::{Durability, Journal, META_VERSION, RecordingMeta, verify};
use serde_json::{Value, json};

use crate::folder::Folder;
use crate::report::{self, Target, median};

const RUNS: usize = 5;
/// The size of a row: a call with a short command.
const FILLING: usize = 700;

pub(crate) fn run() {
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    report::head("the record: rows of 1 KiB a second, against a plain loop of the same system calls");
    for (what, rows, group, durability) in [
        ("noted, nobody waits, group sync", 20_000, 64, None),
        ("appended one by one, written", 5_000, 64, Some(Durability::Written)),
        ("appended one by one, synced", 150, 1, Some(Durability::Synced)),
    ] {
        let (mut own, mut plain) = (Vec::new(), Vec::new());
        for _ in 0..RUNS {
            own.push(runtime.block_on(journal(rows, durability)));
            plain.push(loop_of_calls(rows, group));
        }
        let (own, plain) = (median(&own), median(&plain));
        report::line(&format!("{what}: rows a second"), own, "/s", Target::None);
        report::line(&format!("{what}: record / plain loop"), own / plain, "x", Target::None);
    }
    recover(&runtime);
}

fn row(n: usize) -> Value {
    json!({"kind": "call", "data": {"seq": n, "actor": "agent:bench", "tool": "ExecCommand", "text": "x".repeat(FILLING)}})
}

/// Returns the rows per second through the journal.
async fn journal(rows: usize, durability: Option<Durability>) -> f64 {
    let dir = Folder::make();
    let journal = create(dir.path());
    let row = row(1);
    let started = Instant::now();
    for _ in 0..rows {
        match durability {
            Some(durability) => journal.append(&row, durability).await.expect("appends"),
            // Rows sent faster than the disk writes are refused: retrying makes this the writer's figure.
            None => {
                while journal.note(&row, Durability::Written).is_err() {
                    std::thread::yield_now();
                }
            }
        }
    }
    journal.close();
    rows as f64 / started.elapsed().as_secs_f64()
}

/// Returns the rows per second with `write` and, after each group, `fdatasync`.
fn loop_of_calls(rows: usize, group: usize) -> f64 {
    let dir = Folder::make();
    let mut file =
        File::options().create_new(true).append(true).open(dir.path().join("plain")).expect("a file");
    let mut line = row(1).to_string().into_bytes();
    line.extend_from_slice(&[b'x'; 300]);
    line.push(b'\n');
    let started = Instant::now();
    for n in 1..=rows {
        file.write_all(&line).expect("writes");
        if n % group == 0 {
            file.sync_data().expect("syncs");
        }
    }
    file.sync_data().expect("syncs");
    rows as f64 / started.elapsed().as_secs_f64()
}

/// Prints how long it takes to read and check a long recording.
fn recover(runtime: &tokio::runtime::Runtime) {
    let dir = Folder::make();
    let rows = 50_000;
    let journal = create(dir.path());
    let row = row(1);
    runtime.block_on(async {
        for _ in 0..rows {
            journal.append(&row, Durability::Written).await.expect("appends");
        }
    });
    journal.close();
    let started = Instant::now();
    let report = verify(dir.path()).expect("verifies");
    assert!(report.is_whole() && report.records == rows);
    let spent = started.elapsed().as_secs_f64();
    report::line("100,000 rows read and checked", spent * 1e5 / rows as f64, "s", Target::None);
}

fn create(folder: &Path) -> Journal {
    let meta = RecordingMeta {
        version: META_VERSION,
        workspace: "/".into(),
        pid: 1,
        start: 1,
        boot_id: String::new(),
        started_at: jiff::Timestamp::UNIX_EPOCH,
        program: "bench".into(),
    };
    Journal::create(folder, &meta, Clock::start(), Arc::default()).expect("a journal")
}
