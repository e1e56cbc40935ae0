//! Hostile trees: processes that ignore signals, detach, hide and stop. None survives the end of its task, its host
//! or its runtime.

use std::path::Path;
use std::process::Stdio as Streams;
use std::time::Duration;

use pilothouse::envelope::TaskId;
use pilothouse::model::Leftovers;
use pilothouse::process::{EndReason, ExitRecord, HostEvent, OrphanedTasks, Orphans};
use rustix::process::{Pid, Signal, kill_process};

use super::{Bench, PIPES, Task, pty};
use crate::support::{HOLDERS, Tag, wait_until};

fn assembled(tag: &Tag) {
    wait_until("the whole tree is there", || tag.holders().len() >= HOLDERS);
}

#[tokio::test]
async fn nothing_of_a_hostile_tree_survives_its_end() {
    for stdio in [PIPES, pty()] {
        let bench = Bench::new();
        let tag = Tag::new();
        let mut task = bench.start(&tag.hostile_tree(), stdio).await;
        assembled(&tag);
        task.host.end(Duration::from_millis(50));
        task.exit().await;
        let (_, survivors) = task.finish(Leftovers::End).await;
        assert_eq!((survivors, tag.holders()), (vec![], vec![]), "{stdio:?}");
    }
}

#[tokio::test]
async fn nothing_of_a_hostile_tree_survives_the_finish() {
    let bench = Bench::new();
    let tag = Tag::new();
    let cmd = tag.hostile_tree().replace("while :; do sleep", ": # ");
    let mut task = bench.start(&cmd, PIPES).await;
    task.exit().await;
    tag.asleep();
    let (leftovers, survivors) = task.finish(Leftovers::End).await;
    assert!(leftovers.len() >= 5 && leftovers.contains(&"sleep".to_owned()), "{leftovers:?}");
    assert_eq!((survivors, tag.holders()), (vec![], vec![]));
}

#[tokio::test]
async fn a_tree_that_keeps_growing_is_ended() {
    let bench = Bench::new();
    let tag = Tag::new();
    let grow = format!("trap '' TERM; while :; do sleep {} & sleep 0.005; done", tag.0);
    let mut task =
        bench.start(&format!("for i in 1 2 3 4; do setsid -f sh -c \"{grow}\"; done; {grow}"), PIPES).await;
    wait_until("the tree has grown", || tag.holders().len() > 40);
    task.host.end(Duration::ZERO);
    task.exit().await;
    assert_eq!(task.finish(Leftovers::End).await, (vec![], vec![]));
    assert!(tag.holders().is_empty());
}

#[tokio::test]
async fn a_tree_whose_host_is_killed_is_found_and_killed() {
    let bench = Bench::new();
    let tag = Tag::new();
    let task_id =
        TaskId::from_random(std::process::id().to_le_bytes().repeat(2).try_into().expect("8 bytes"));
    let mut command = bench.command(&tag.hostile_tree(), PIPES);
    command.env.push(("PILOTHOUSE_TASK_ID".into(), task_id.as_str().into()));
    let mut task = Task::of(bench.spawner.spawn(command).await.expect("starts"));
    assembled(&tag);
    kill_process(parent(task.pid), Signal::KILL).expect("kills the host");
    assert_eq!(task.event().await, HostEvent::Lost { survivors: Vec::new() });
    assert!(tag.holders().is_empty());
    let found = OrphanedTasks { tasks: vec![task_id], since: 0 }.end(Duration::ZERO);
    assert_eq!(found[0].names, Vec::<String>::new());
}

#[tokio::test]
async fn a_tree_whose_host_is_killed_before_its_first_message_is_killed_as_well() {
    // The command may or may not be faster than its host's first message: either way nothing is left.
    for _ in 0..20 {
        let (bench, tag) = (Bench::new(), Tag::new());
        let mut command = bench.command(&format!("kill -KILL $PPID; exec sleep {}", tag.0), PIPES);
        command.env.push(("PILOTHOUSE_TASK_ID".into(), TaskId::random().as_str().into()));
        if let Ok(running) = bench.spawner.spawn(command).await {
            assert_eq!(Task::of(running).event().await, HostEvent::Lost { survivors: Vec::new() });
        }
        assert_eq!(tag.holders(), Vec::<u32>::new());
    }
}

#[tokio::test]
async fn a_host_survives_signals_that_would_end_it() {
    let bench = Bench::new();
    let task = bench
        .start("kill -HUP $PPID; kill -TERM $PPID; kill -INT $PPID; kill -USR1 $PPID; exit 6", PIPES)
        .await;
    assert_eq!(task.outcome().await.exit, pilothouse::model::Exit::Code(6));
}

fn parent(pid: u32) -> Pid {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).expect("stat");
    let fields: Vec<&str> = stat.rsplit(')').next().expect("fields").split_whitespace().collect();
    Pid::from_raw(fields[1].parse().expect("a pid")).expect("a parent")
}

const DOOMED: &str = "PILOTHOUSE_TEST_DOOMED_RUNTIME";

/// Not a test: the process that the next test kills. It starts a hostile tree and never exits by itself.
#[tokio::test]
#[ignore = "run by when_the_runtime_is_killed_nothing_survives_and_the_end_is_on_record"]
async fn a_doomed_runtime_starts_hostile_trees() {
    let Ok(cmd) = std::env::var(DOOMED) else { return };
    let bench = Bench::new();
    let folder = std::env::current_dir().expect("a folder");
    let mut tasks = Vec::new();
    for stdio in [PIPES, pty()] {
        let mut command = bench.command(&cmd, stdio);
        command.folder = folder.join(if stdio == PIPES { "pipes" } else { "pty" });
        std::fs::create_dir(&command.folder).expect("dir");
        tasks.push(Task::of(bench.spawner.spawn(command).await.expect("starts")));
    }
    std::future::pending::<()>().await;
}

#[test]
fn when_the_runtime_is_killed_nothing_survives_and_the_end_is_on_record() {
    let bench = Bench::new();
    let tag = Tag::new();
    let mut runtime = std::process::Command::new(std::env::current_exe().expect("this test"))
        .args(["--ignored", "--exact", "process::tree::a_doomed_runtime_starts_hostile_trees"])
        .env(DOOMED, tag.hostile_tree())
        .env("TMPDIR", bench.path())
        .current_dir(bench.path())
        .stdout(Streams::null())
        .stderr(Streams::null())
        .spawn()
        .expect("starts");
    wait_until("both trees are there", || tag.holders().len() >= 2 * HOLDERS);
    runtime.kill().expect("kills the runtime");
    runtime.wait().expect("reaps it");
    wait_until("nothing survives", || tag.holders().is_empty());
    for folder in ["pipes", "pty"] {
        let read = |folder: &Path| ExitRecord::read(folder).expect("reads");
        let folder = bench.path().join(folder);
        wait_until("the end is on record", || read(&folder).is_some());
        let record = read(&folder).expect("a record");
        assert_eq!((record.reason, record.survivors), (EndReason::RuntimeGone, vec![]));
        assert!(record.exit.is_some());
    }
}

#[test]
fn a_process_that_is_older_than_the_dead_runtime_is_left_alone_whatever_it_carries() {
    let (tag, id) = (Tag::new(), TaskId::from_random([9, 9, 9, 9, 1, 2, 3, 4]));
    let mut other = std::process::Command::new("sleep");
    let mut other = other.arg(&tag.0).env("PILOTHOUSE_TASK_ID", id.as_str()).spawn().expect("starts");
    wait_until("it sleeps", || tag.holders().len() == 1);
    let none = OrphanedTasks { tasks: vec![id.clone()], since: u64::MAX }.end(Duration::ZERO);
    assert_eq!(none, [Orphans::default()]);
    assert!(other.try_wait().expect("asked").is_none(), "it lives");
    let ended = OrphanedTasks { tasks: vec![id], since: 1 }.end(Duration::ZERO);
    assert_eq!(ended[0].names, ["sleep"]);
    assert!(!other.wait().expect("reaped").success());
}

#[tokio::test]
async fn a_command_is_in_a_group_of_its_own_from_the_beginning() {
    if let Err(why) = pilothouse::process::cgroups() {
        return crate::support::skip(why);
    }
    let bench = Bench::new();
    let task_id = TaskId::from_random(*b"group-of");
    let mut command = bench.command("grep ^0:: /proc/self/cgroup", PIPES);
    command.env.push(("PILOTHOUSE_TASK_ID".into(), task_id.as_str().into()));
    let outcome = Task::of(bench.spawner.spawn(command).await.expect("starts")).outcome().await;
    let said = outcome.stdout;
    assert!(said.trim_end().ends_with(task_id.as_str()), "{said}");
}
