//! Commands that follow each other at once, and the first one of a runtime: each is covered, alone or together with others, or
//! said not to be.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use pilothouse::envelope::{Actor, TaskId};
use pilothouse::model::{Subject, TaskView, TreeChanges, UndoReport, UndoRequest};

use crate::ledger::has_git;
use crate::ledger_runtime::{changes, real_git, watched, with_git};
use crate::runtime::Bench;
use crate::support::PATIENCE;

async fn undo(bench: &Bench, task: &TaskId, is_dry: bool) -> Result<UndoReport, String> {
    let request = UndoRequest { task: task.clone(), is_redo: false, is_dry };
    bench.runtime.undo(&request, &Actor::Operator).await
}

/// Waits until the entries of all tasks are final: each is as large as the group that it names.
async fn entries(bench: &Bench, tasks: &[TaskId]) -> Vec<TreeChanges> {
    let mut snapshots = bench.runtime.snapshot();
    let of = |all: &[Arc<TaskView>], id: &TaskId| all.iter().find(|task| task.id == *id)?.changes.clone();
    let all = snapshots.wait_for(|snapshot| {
        tasks.iter().all(|id| {
            let Some(entry) = of(&snapshot.tasks, id) else { return false };
            let is_same = |other: &TaskId| {
                of(&snapshot.tasks, other).is_some_and(|other| other.together == entry.together)
            };
            entry.together.iter().all(is_same)
        })
    });
    let all = tokio::time::timeout(PATIENCE, all).await.expect("in time").expect("a snapshot").clone();
    tasks.iter().map(|id| of(&all.tasks, id).expect("an entry")).collect()
}

fn names(work: &Path) -> BTreeSet<String> {
    let entries = fs::read_dir(work).expect("listed").flatten();
    entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn commands_that_follow_each_other_at_once_are_one_entry_and_undone_together() {
    if !has_git() {
        return;
    }
    let dir = tempfile::tempdir().expect("temp dir");
    let work = dir.path().join("work");
    fs::create_dir(&work).expect("a folder");
    fs::write(work.join("there"), "before").expect("written");
    // A look takes longer than a command.
    let bench = with_git(dir, &format!("sleep 0.05\n{}", real_git()));
    changes(&bench, &bench.completed(bench.request("true")).await.id).await;
    let mut tasks = Vec::new();
    for n in 0..8 {
        tasks.push(
            bench.completed(bench.request(&format!("echo {n} > f{n}; echo {n} >> there"))).await.id.clone(),
        );
    }
    let entries = entries(&bench, &tasks).await;
    assert!(entries.iter().any(|entry| entry.together.len() > 1), "{entries:?}");
    for (task, entry) in tasks.iter().zip(&entries) {
        assert!(entry.total() > 1, "{task}: {entry:?}");
        assert!(entry.together.is_empty() || entry.together.contains(task), "{task}: {entry:?}");
        let members = entry.together.len().max(1) as u64;
        assert_eq!((entry.added, entry.modified), (members, 1), "{task}: {entry:?}");
    }
    let grouped = tasks.iter().zip(&entries).find(|(_, entry)| !entry.together.is_empty());
    let (task, entry) = grouped.expect("a group");
    let shown = bench.runtime.changes(Subject::Task(task.clone())).await.expect("a report").changes;
    assert_eq!((&shown.together, shown.total()), (&entry.together, entry.total()));
    // The last first: each entry is exactly taken back.
    for (task, entry) in tasks.iter().zip(&entries).rev() {
        let report = undo(&bench, task, false).await.expect("a report");
        assert!(report.refused.is_empty(), "{task}: {:?}", report.refused);
        assert_eq!(report.together, entry.together, "{task}");
    }
    assert_eq!(names(&work), BTreeSet::from(["there".to_owned()]));
    assert_eq!(fs::read_to_string(work.join("there")).expect("read"), "before");
    let last = bench.runtime.snapshot().borrow().clone();
    let is_undone = |id: &TaskId| {
        last.tasks.iter().any(|task| task.id == *id && task.changes.as_ref().is_some_and(|it| it.undone))
    };
    assert!(tasks.iter().all(is_undone), "{:?}", last.tasks);
    bench.runtime.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_changes_of_the_first_command_are_covered_or_reported_as_incomplete() {
    if !has_git() {
        return;
    }
    let bench = watched();
    let task = bench.completed(bench.request("echo new > n")).await.id.clone();
    let told = changes(&bench, &task).await;
    let is_possible = undo(&bench, &task, true).await.is_ok_and(|report| report.refused.is_empty());
    // On a slow machine it begins before the tree has been read.
    let is_exact = told.added == 1 && told.incomplete.is_none();
    assert!(is_exact || told.incomplete.is_some(), "{told:?}");
    assert_eq!(is_possible, is_exact, "{told:?}");
    bench.runtime.shutdown().await;

    let dir = tempfile::tempdir().expect("temp dir");
    fs::create_dir(dir.path().join("work")).expect("a folder");
    let bench = with_git(dir, &format!("sleep 0.3\n{}", real_git()));
    let task = bench.completed(bench.request("echo new > n")).await.id.clone();
    let told = changes(&bench, &task).await;
    assert!(told.is_unknown() && told.to_string() == "not known", "{told:?}");
    bench.runtime.shutdown().await;
}
