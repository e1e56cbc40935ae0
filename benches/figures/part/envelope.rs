//! What an answer costs: from a megabyte of output to the receipt, as ratios to checking the same megabyte for
//! UTF-8 in the same run.

use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;

use pilothouse::envelope::preview::StreamText;
use pilothouse::envelope::{Actor, Envelope, compact, mask};
use pilothouse::model::{OutputView, TaskEnd, TaskStatus, TaskView};
use pilothouse::terminal::{ByteOrigin, Size, clean};
use pilothouse::tools::{StreamPreview, exec_command, render};

use crate::report::{self, Target};

const OUTPUT: usize = 1 << 20;
const RUNS: usize = 15;
/// Budgets in characters: the default and the largest.
const BUDGETS: [usize; 2] = [32_000, 256_000];

pub(crate) fn run() {
    let log: String = (0..)
        .map(line)
        .scan(0, |length, line| {
            *length += line.len();
            (*length <= OUTPUT).then_some(line)
        })
        .collect();
    let list: Vec<_> =
        (0..OUTPUT / 24).map(|n| serde_json::json!({ "index": n, "ok": n % 3 == 0 })).collect();
    let json = serde_json::to_string(&list).unwrap_or_default();
    for (name, text) in [("log", &log), ("one JSON document", &json)] {
        let check = median(|| black_box(std::str::from_utf8(black_box(text.as_bytes()))).is_ok());
        report::head(&format!("a result of 1 MiB, {name}: multiples of its UTF-8 check"));
        report::line("UTF-8 check", check * 1e6, "us", Target::None);
        row("clean (bytes to text)", check, || {
            clean(black_box(text.as_bytes()), ByteOrigin::Pipe, Size::default()).is_empty()
        });
        row("mask", check, || mask(black_box(text)).is_empty());
        for budget in BUDGETS {
            let envelope = answer(text, budget);
            row(&format!("project, {budget} chars"), check, || answer(black_box(text), budget).is_error());
            row(&format!("render, {budget} chars"), check, || render(black_box(&envelope)).is_empty());
            row(&format!("project + render, {budget} chars"), check, || {
                render(&answer(black_box(text), budget)).is_empty()
            });
            row(&format!("compact {budget} to 4000"), check, || {
                compact(black_box(&envelope), 4_000).is_error()
            });
        }
    }
}

fn row(what: &str, check: f64, work: impl FnMut() -> bool) {
    report::line(what, median(work) / check, "x", Target::None);
}

fn median(mut work: impl FnMut() -> bool) -> f64 {
    let mut times: Vec<f64> = (0..RUNS)
        .map(|_| {
            let started = Instant::now();
            let _ = black_box(work());
            started.elapsed().as_secs_f64()
        })
        .collect();
    times.sort_by(f64::total_cmp);
    times[RUNS / 2]
}

fn line(n: usize) -> String {
    format!("2026-11-22T12:00:{:02}Z INFO worker {n}: request finished, 200 in {} ms\n", n % 60, n % 97)
}

fn answer(stdout: &str, budget: usize) -> Envelope {
    let (task, empty) = (task(), StreamText::Whole(String::new()));
    let (stdout, stderr) =
        StreamPreview::pair(&StreamText::Whole(stdout.to_owned()), &empty, &task.id, budget);
    exec_command::project(&exec_command::CommandDetails::Ended { task: Arc::new(task), stdout, stderr })
}

pub(super) fn task() -> TaskView {
    let now = jiff::Timestamp::UNIX_EPOCH;
    TaskView {
        id: "task_4k2m9x7a".parse().expect("an id"),
        number: 1,
        status: TaskStatus::Completed,
        cmd: "make".into(),
        cmd_chars: None,
        description: None,
        name: None,
        workdir: "/w".into(),
        shell: "/bin/sh".into(),
        login: false,
        tty: false,
        size: Size::default(),
        size_asked: false,
        accepts_input: false,
        side_terminal: false,
        started_by: Actor::Cli,
        call: 1,
        from_task: None,
        item: None,
        promoted: false,
        held: None,
        queued: None,
        timeout_ms: None,
        lease: None,
        waiting: None,
        listening: Vec::new(),
        created_at: now,
        started_at: Some(now),
        updated_at: now,
        stop: None,
        ended: Some(TaskEnd {
            at: now,
            ran_ms: None,
            signalled_by: None,
            exit_status: Some(0),
            signal: None,
            timed_out: false,
            error: None,
            leftovers: Vec::new(),
            survivors: Vec::new(),
            taken_port: None,
        }),
        ceiling: None,
        peak_memory: None,
        changes: None,
        output: OutputView::default(),
        pid: None,
        folder: "/r".into(),
        events: Vec::new(),
        earlier_events: 0,
        place: None,
    }
}
