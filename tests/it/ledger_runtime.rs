//! The ledger of a runtime: each command has its list, whatever git does meanwhile.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::time::Duration;

use tempfile::TempDir;

use pilothouse::config::{LedgerMode, Limits};
use pilothouse::envelope::{Actor, TaskId};
use pilothouse::model::{ChangesReport, Subject, TaskView, TreeChanges};
use pilothouse::runtime::{Handle, Options};

use crate::ledger::{git, has_git};
use crate::runtime::Bench;
use crate::support::{PATIENCE, options, wait_until, write_program};

/// Starts a runtime that has a ledger.
pub(crate) fn watched() -> Bench {
    Bench::limited(Limits { ledger: LedgerMode::Auto, ..Limits::default() })
}

/// Starts a runtime in this folder for which this script is git.
pub(crate) fn with_git(dir: TempDir, script: &str) -> Bench {
    with_git_and(dir, script, |_| {})
}

/// Like [`with_git`], with options that `set` has changed.
fn with_git_and(dir: TempDir, script: &str, set: impl FnOnce(&mut Options)) -> Bench {
    let bin = dir.path().join("bin");
    fs::create_dir(&bin).expect("a folder");
    write_program(&bin.join("git"), &format!("#!/bin/sh\n{script}\n"));
    let path = std::env::join_paths([&*bin, Path::new("/usr/bin"), Path::new("/bin")]);
    let mut options = options(dir.path(), Limits { ledger: LedgerMode::Auto, ..Limits::default() });
    options.environment = vec![("PATH".into(), path.expect("a path"))];
    set(&mut options);
    Bench { runtime: Handle::start(options).expect("runtime"), dir }
}

/// Returns the line of a script that runs the git which is installed.
pub(crate) fn real_git() -> String {
    format!("exec '{}' \"$@\"", which::which("git").expect("git").display())
}

pub(crate) async fn changes(bench: &Bench, id: &TaskId) -> TreeChanges {
    let mut snapshots = bench.runtime.snapshot();
    let known = snapshots.wait_for(|snapshot| {
        snapshot.tasks.iter().any(|task: &std::sync::Arc<TaskView>| task.id == *id && task.changes.is_some())
    });
    let known = tokio::time::timeout(PATIENCE, known).await.expect("in time").expect("a snapshot").clone();
    let task = known.tasks.iter().find(|task| task.id == *id).expect("the task");
    task.changes.clone().expect("changes")
}

/// Waits until a file was written longer ago than times of files are exact to.
fn wait_until_old(path: &Path) {
    wait_until("it was written long enough ago", || {
        let written = fs::metadata(path).and_then(|facts| facts.modified()).expect("a time");
        written.elapsed().is_ok_and(|age| age > Duration::from_millis(40))
    });
}

#[tokio::test(flavor = "multi_thread")]
async fn each_command_has_a_list_and_files_written_in_between_are_on_none() {
    if !has_git() {
        return;
    }
    let bench = watched();
    let work = bench.dir.path().join("work");
    // The first command waits until the tree has been read for the first time, but not for long.
    let first = bench.completed(bench.request("echo zero > zero; rm zero")).await;
    let told = changes(&bench, &first.id).await;
    assert_eq!(told.total(), 0, "{told:?}");
    let second = bench.completed(bench.request("echo one > a; echo two > b")).await;
    let told = changes(&bench, &second.id).await;
    assert_eq!((told.added, told.modified, told.deleted), (2, 0, 0), "{told:?}");
    fs::write(work.join("c"), "by an editor\n").expect("written");
    wait_until_old(&work.join("c"));
    let third = bench.completed(bench.request("echo more >> a; rm b")).await;
    let told = changes(&bench, &third.id).await;
    assert_eq!((told.added, told.modified, told.deleted), (0, 1, 1), "{told:?}");
    assert!(told.shared_with.is_empty());
    let report = bench.runtime.changes(Subject::Task(third.id.clone())).await.expect("a report");
    let lines: Vec<(String, bool)> = report.files.iter().map(|file| (file.path.clone(), file.is)).collect();
    assert_eq!(lines, [("a".to_owned(), true), ("b".to_owned(), false)]);
    assert_eq!(report.files[0].after.as_deref(), Some("one\nmore\n"));
    assert_eq!(report.files[1].before.as_deref(), Some("two\n"));
    let Actor::Agent(label) = third.started_by.clone() else { panic!("an agent") };
    let ChangesReport { changes: all, .. } =
        bench.runtime.changes(Subject::Agent(label)).await.expect("a report");
    assert_eq!((all.added, all.modified, all.deleted), (2, 0, 0), "{all:?}");
    bench.runtime.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn recordings_inside_the_workspace_move_nothing() {
    if !has_git() {
        return;
    }
    let dir = tempfile::tempdir().expect("temp dir");
    let asked = dir.path().join("asked");
    let bench = with_git_and(dir, &format!("echo x >> {}\n{}", asked.display(), real_git()), |options| {
        options.recordings = options.workspace.join("state/recordings");
    });
    let asked = || fs::metadata(&asked).expect("asked before").len();
    for cmd in ["echo x > a", "true"] {
        let task = bench.completed(bench.request(cmd)).await;
        changes(&bench, &task.id).await;
    }
    let before = asked();
    let task = bench.completed(bench.request("true")).await;
    assert_eq!(changes(&bench, &task.id).await.total(), 0);
    assert_eq!(asked(), before, "git was run, though only the record has moved");
    bench.runtime.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn commands_that_overlap_share_their_changes() {
    if !has_git() {
        return;
    }
    let bench = watched();
    let (go, done) = (bench.dir.path().join("go"), bench.dir.path().join("done"));
    let wait =
        format!("until [ -e {} ]; do sleep 0.01; done; echo x > slow; : > {}", go.display(), done.display());
    let slow = bench.promoted(bench.request(&wait)).await;
    let quick = bench.completed(bench.request("echo x > quick")).await;
    assert_eq!(changes(&bench, &quick.id).await.shared_with, std::slice::from_ref(&slow));
    fs::write(&go, "").expect("written");
    assert_eq!(changes(&bench, &slow).await.shared_with, std::slice::from_ref(&quick.id));
    bench.runtime.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_ledger_that_is_off_says_why_and_keeps_nothing() {
    let bench = Bench::limited(Limits { ledger: LedgerMode::Off, ..Limits::default() });
    let task = bench.completed(bench.request("echo x > a")).await;
    let why = bench.runtime.changes(Subject::Task(task.id.clone())).await.expect_err("off");
    assert!(why.contains("off"), "{why}");
    let folder = task.folder.parent().and_then(Path::parent).expect("the recording").join("ledger");
    assert!(!folder.exists());
    bench.runtime.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_ledger_is_for_this_user_only() {
    if !has_git() {
        return;
    }
    let bench = watched();
    let task = bench.completed(bench.request("echo private > a")).await;
    changes(&bench, &task.id).await;
    let folder = task.folder.parent().and_then(Path::parent).expect("the recording").join("ledger");
    let mut open = vec![folder];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(&folder).expect("a folder").flatten() {
            let facts = entry.metadata().expect("facts");
            let mode = facts.permissions().mode();
            assert_eq!(mode & 0o077, 0, "{}: {mode:o}", entry.path().display());
            open.extend(facts.is_dir().then(|| entry.path()));
        }
    }
    bench.runtime.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_git_that_hangs_delays_no_command_and_ends_with_the_runtime() {
    let dir = tempfile::tempdir().expect("temp dir");
    let work = dir.path().canonicalize().expect("a folder").join("work");
    fs::create_dir(&work).expect("a folder");
    let begun = dir.path().join("begun");
    let bench = with_git(dir, &format!("echo $$ >> '{}'\nexec sleep 1000", begun.display()));
    for n in 0..5 {
        let task = bench.completed(bench.request(&format!("echo x > f{n}"))).await;
        assert!(task.changes.is_none() && work.join(format!("f{n}")).exists());
    }
    wait_until("git was started", || begun.exists());
    bench.runtime.shutdown().await;
    let pid = fs::read_to_string(&begun).expect("a process").lines().next().expect("a line").to_owned();
    wait_until("git has ended", || !Path::new("/proc").join(&pid).exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn with_auto_a_ledger_that_is_slow_goes_off_and_says_how_many_files_there_are() {
    if !has_git() {
        return;
    }
    let dir = tempfile::tempdir().expect("temp dir");
    fs::create_dir(dir.path().join("work")).expect("a folder");
    // What counts is the time that it takes of a processor.
    let bench = with_git(dir, &format!("i=0; while [ $i -lt 80000 ]; do i=$((i+1)); done\n{}", real_git()));
    let mut runs = Vec::new();
    // The first is read while the tree is; each further one needs a snapshot that is too slow.
    for n in 0..4 {
        runs.push(bench.completed(bench.request(&format!("echo x > f{n}"))).await);
        if n < 2 {
            changes(&bench, &runs[n].id).await;
        }
    }
    let mut snapshots = bench.runtime.snapshot();
    let is_told = snapshots.wait_for(|snapshot| {
        snapshot
            .notices
            .iter()
            .any(|notice| notice.text.contains("the ledger is off from now on: a snapshot of"))
    });
    tokio::time::timeout(PATIENCE, is_told).await.expect("in time").expect("a snapshot");
    let why = bench.runtime.changes(Subject::Task(runs[1].id.clone())).await.expect_err("off");
    assert!(why.contains("files takes more than 150 ms of a processor"), "{why}");
    bench.runtime.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn changes_before_a_failed_look_are_found_by_the_next_look() {
    if !has_git() {
        return;
    }
    let dir = tempfile::tempdir().expect("temp dir");
    let fails = dir.path().join("fails");
    let script = format!("if [ -e '{0}' ]; then : > '{0} now'; exit 1; fi\n{1}", fails.display(), real_git());
    let failed = dir.path().join("fails now");
    let bench = with_git(dir, &script);
    let first = bench.completed(bench.request("true")).await;
    changes(&bench, &first.id).await;
    fs::write(&fails, "").expect("written");
    let unseen = bench.completed(bench.request("echo one > a")).await;
    wait_until("a look fails", || failed.exists());
    fs::remove_file(&fails).expect("removed");
    wait_until_old(&bench.dir.path().join("work/a"));
    let seen = bench.completed(bench.request("echo two > b")).await;
    let told = changes(&bench, &seen.id).await;
    assert_eq!((told.added, told.total()), (1, 1), "{told:?}");
    let Actor::Agent(label) = first.started_by.clone() else { panic!("an agent") };
    let all = bench.runtime.changes(Subject::Agent(label)).await.expect("a report").changes;
    assert_eq!((all.added, all.total()), (2, 2), "what {} wrote is found: {all:?}", unseen.id);
    bench.runtime.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn files_that_are_no_longer_ignored_are_watched_from_then_on() {
    if !has_git() {
        return;
    }
    let bench = watched();
    let work = bench.dir.path().join("work");
    fs::create_dir(work.join("out")).expect("a folder");
    fs::write(work.join("out/old"), "1\n").expect("written");
    fs::write(work.join(".gitignore"), "out/\n").expect("written");
    let mut last = bench.completed(bench.request("echo x > out/ignored")).await;
    assert_eq!(changes(&bench, &last.id).await.total(), 0);
    last = bench.completed(bench.request(": > .gitignore")).await;
    let told = changes(&bench, &last.id).await;
    assert!(told.incomplete.is_some_and(|why| why.contains("ignore rules have changed")));
    // What had been ignored is read when it is written, and not before: so it is new to the ledger.
    last = bench.completed(bench.request("echo y > out/new; echo y >> out/old")).await;
    let told = changes(&bench, &last.id).await;
    assert_eq!((told.added, told.modified, told.deleted), (2, 0, 0), "{told:?}");
    last = bench.completed(bench.request("echo z >> out/old")).await;
    let told = changes(&bench, &last.id).await;
    assert_eq!((told.added, told.modified, told.deleted), (0, 1, 0), "{told:?}");
    bench.runtime.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_ignored_file_that_becomes_tracked_is_read_and_watched() {
    if !has_git() {
        return;
    }
    let bench = watched();
    let work = bench.dir.path().join("work");
    git(&work, &["init", "-q"]);
    fs::create_dir(work.join("out")).expect("a folder");
    fs::write(work.join("out/a"), "1\n").expect("written");
    fs::write(work.join(".gitignore"), "out/\n").expect("written");
    let first = bench.completed(bench.request("echo 2 > out/a")).await;
    assert_eq!(changes(&bench, &first.id).await.total(), 0);
    git(&work, &["add", "-f", "out/a"]);
    wait_until_old(&work.join("out/a"));
    let next = bench.completed(bench.request("echo x > out/ignored")).await;
    assert_eq!(changes(&bench, &next.id).await.total(), 0);
    for (cmd, expected) in
        [("echo 3 > out/a", (0, 1, 0)), ("rm out/a", (0, 0, 1)), ("echo 4 > out/a", (1, 0, 0))]
    {
        let task = bench.completed(bench.request(cmd)).await;
        let told = changes(&bench, &task.id).await;
        assert_eq!((told.added, told.modified, told.deleted), expected, "{cmd}: {told:?}");
    }
    bench.runtime.shutdown().await;
}
