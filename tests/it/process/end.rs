//! How a command ends: by itself, when told to, with leftovers; and what is recorded.

use std::os::unix::fs::PermissionsExt as _;
use std::time::Duration;

use pilothouse::model::{Exit, Leftovers, Signal};
use pilothouse::process::{EndReason, ExitRecord, HostEvent, Stdio};
use tokio::time::timeout;

use super::{Bench, PATIENCE, PIPES, pty};
use crate::support::{Tag, wait_until};

const LONG: Duration = Duration::from_secs(300);

#[tokio::test]
async fn a_background_process_neither_delays_the_exit_nor_outlives_the_finish() {
    let bench = Bench::new();
    let tag = Tag::new();
    let mut task = bench.start(&format!("(sleep {}) & printf done", tag.0), PIPES).await;
    assert_eq!(task.exit().await, Exit::Code(0));
    task.read_until("done").await;
    tag.asleep();
    assert_eq!(tag.holders().len(), 1, "it lives on while the runtime drains");
    let (leftovers, survivors) = task.finish(Leftovers::End).await;
    assert_eq!((leftovers, survivors), (vec!["sleep".to_owned()], vec![]));
    assert!(tag.holders().is_empty());
}

#[tokio::test]
async fn kept_processes_live_on_until_they_end_or_are_ended() {
    let bench = Bench::new();
    let tag = Tag::new();
    let mut task = bench.start(&format!("sleep {} & :", tag.0), PIPES).await;
    task.exit().await;
    tag.asleep();
    task.host.finish(Leftovers::Keep, false);
    assert!(task.leftovers().await.contains(&"sleep".to_owned()));
    assert_eq!(tag.holders().len(), 1);
    task.host.end(LONG);
    assert_eq!(task.survivors().await, Vec::<String>::new());
    assert!(tag.holders().is_empty());
}

#[tokio::test]
async fn a_kept_process_that_ends_by_itself_ends_the_task() {
    let bench = Bench::new();
    let mut task = bench.start("exec 3< /dev/null; (sleep 0.2; echo late) & :", PIPES).await;
    task.exit().await;
    assert_eq!(task.finish(Leftovers::Keep).await.1, Vec::<String>::new());
    assert_eq!(task.stdout.all().await, "late\n");
}

/// Commands whose shell exits while something still works on their data: what they must have done in the end.
const AT_WORK: [(&str, &str); 9] = [
    ("seq 3 > >(sleep 0.3; cat > f); true", "1\n2\n3\n"),
    ("seq 200000 -1 1 > >(sort -n | tail -1 > f); true", "200000\n"),
    ("seq 3 | tee >(sleep 0.3; tail -1 > f) >(sleep 0.2; head -1 > g) | cat > h; true", "3\n"),
    ("seq 3 > >(cat | (sleep 0.3; cat) | (sleep 0.1; tac) > f); true", "3\n2\n1\n"),
    (
        "{ while read -u 5 x; do sleep 0.1; echo $x >> f; done; } 5< <(seq 3) & until [ -s f ]; do sleep 0.01; done",
        "1\n2\n3\n",
    ),
    ("mkfifo p; (sleep 0.3; cat > f) < p & seq 3 > p", "1\n2\n3\n"),
    ("coproc { read x; sleep 0.3; echo $x > f; }; echo hi >&${COPROC[1]}", "hi\n"),
    (
        "seq 3 > >(exec > /dev/null 2>&1; cat > x; exec <&-; i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done; \
         echo $i > f); true",
        "100000\n",
    ),
    ("(i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done; echo $i > f) & true", "100000\n"),
];

#[tokio::test]
async fn f56_a_process_that_works_on_the_commands_own_data_is_waited_for() {
    for (cmd, expected) in AT_WORK {
        let bench = Bench::new();
        let mut task = bench.start_bash(cmd).await;
        assert_eq!(task.exit().await, Exit::Code(0), "{cmd}");
        let (_, leftovers) = task.work_off(Leftovers::End).await;
        assert_eq!((leftovers, task.survivors().await), (vec![], vec![]), "{cmd}");
        let written = std::fs::read_to_string(bench.path().join("f")).expect("the file");
        assert_eq!(written, expected, "{cmd}");
    }
}

/// Commands that leave a server behind, which holds the tag on its command line.
const SERVERS: [(&str, &str); 6] = [
    ("sleep TAG & true", "a server"),
    ("sleep TAG > log 2>&1 & true", "one that prints elsewhere"),
    ("(sleep TAG | tee log) & true", "one with a logger"),
    ("exec > >(tee log > /dev/null) 2>&1; sleep TAG & true", "one behind the logger of the whole command"),
    ("mkfifo p; sleep TAG <> p & true", "one that wakes itself through a pipe"),
    ("mkfifo p; cat < p & (exec sleep TAG 3> p) & true", "one with a worker"),
];

#[tokio::test]
async fn f56_servers_their_workers_and_loggers_are_ended() {
    for (cmd, what) in SERVERS {
        let bench = Bench::new();
        let tag = Tag::new();
        let mut task = bench.start_bash(&cmd.replace("TAG", &tag.0)).await;
        assert_eq!(task.exit().await, Exit::Code(0), "{what}");
        tag.asleep();
        let (_, leftovers) = task.work_off(Leftovers::End).await;
        assert!(!leftovers.is_empty(), "{what}");
        assert_eq!(task.survivors().await, Vec::<String>::new(), "{what}");
        assert!(tag.holders().is_empty(), "{what}");
    }
}

#[tokio::test]
async fn f56_a_wait_for_the_command_is_over_when_its_time_is() {
    let bench = Bench::new();
    let tag = Tag::new();
    let mut task = bench.start_bash(&format!("seq 3 > >(sleep {}; cat > f); true", tag.0)).await;
    task.exit().await;
    tag.asleep();
    task.host.finish(Leftovers::End, true);
    match task.event().await {
        HostEvent::AtWork { names } => assert!(names.contains(&"sleep".to_owned()), "{names:?}"),
        other => panic!("{other:?} instead of what is at work"),
    }
    let (leftovers, survivors) = task.finish(Leftovers::End).await;
    assert!(leftovers.contains(&"sleep".to_owned()), "{leftovers:?}");
    assert!(survivors.is_empty() && tag.holders().is_empty());
}

#[tokio::test]
async fn an_end_asks_first_and_lets_a_command_clean_up() {
    let bench = Bench::new();
    let cmd = "trap 'echo bye; exit 7' TERM; echo ready; while :; do sleep 0.01; done";
    let mut task = bench.start(cmd, PIPES).await;
    task.read_until("ready").await;
    task.host.end(LONG);
    let outcome = task.outcome().await;
    assert_eq!((outcome.exit, outcome.stdout.as_str()), (Exit::Code(7), "bye\n"));
}

#[tokio::test]
async fn a_shell_on_a_terminal_that_ignores_term_gets_the_hangup() {
    let bench = Bench::new();
    let mut command = bench.command("trap '' TERM; echo ready; while :; do sleep 0.01; done", pty());
    command.shell = "/bin/bash".into();
    let mut task = super::Task::of(bench.spawner.spawn(command).await.expect("starts"));
    task.read_until("ready").await;
    task.host.end(LONG);
    assert_eq!(task.outcome().await.exit, Exit::Signal(Signal::HUP));
}

#[tokio::test]
async fn f09_a_stopped_command_hears_that_it_shall_end() {
    let bench = Bench::new();
    let mut task = bench.start("trap 'exit 4' TERM; echo ready; kill -STOP $$; echo woken", PIPES).await;
    task.read_until("ready").await;
    let state = || std::fs::read_to_string(format!("/proc/{}/stat", task.pid)).unwrap_or_default();
    wait_until("the command is stopped", || state().contains(") T "));
    task.host.end(LONG);
    assert_eq!(task.outcome().await.exit, Exit::Code(4));
}

#[tokio::test]
async fn f08_a_command_that_ignores_the_request_to_end_is_killed_after_the_grace() {
    let bench = Bench::new();
    let mut task = bench.start("trap '' TERM HUP INT; echo ready; while :; do sleep 0.01; done", PIPES).await;
    task.read_until("ready").await;
    task.host.end(Duration::from_millis(50));
    assert_eq!(task.outcome().await.exit, Exit::Signal(Signal::KILL));
}

#[tokio::test]
async fn a_second_end_shortens_the_first() {
    let bench = Bench::new();
    let mut task = bench.start("trap '' TERM; echo ready; while :; do sleep 0.01; done", PIPES).await;
    task.read_until("ready").await;
    task.host.end(LONG);
    task.host.end(Duration::ZERO);
    assert_eq!(task.outcome().await.exit, Exit::Signal(Signal::KILL));
}

#[tokio::test]
async fn the_end_is_on_record_before_it_is_reported() {
    let bench = Bench::new();
    let tag = Tag::new();
    let mut task = bench.start(&format!("sleep {} & exit 3", tag.0), PIPES).await;
    task.exit().await;
    tag.asleep();
    assert_eq!(ExitRecord::read(&bench.path()).expect("reads"), None);
    task.finish(Leftovers::End).await;
    let record = ExitRecord::read(&bench.path()).expect("reads").expect("a record");
    assert_eq!((record.pid, record.exit, record.reason), (task.pid, Some(Exit::Code(3)), EndReason::Exited));
    assert_eq!((record.leftovers, record.survivors), (vec!["sleep".to_owned()], vec![]));
    assert!(record.start > 0 && record.started_at <= record.ended_at);
    assert!(record.exited_at.is_some_and(|exited| exited <= record.ended_at));
    let mode = bench.path().join("exit.json").metadata().expect("metadata").permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[tokio::test]
async fn an_ordered_end_says_so_on_record() {
    let bench = Bench::new();
    let mut task = bench.start("echo ready; exec sleep 300", PIPES).await;
    task.read_until("ready").await;
    task.host.end(LONG);
    assert_eq!(task.outcome().await.exit, Exit::Signal(Signal::TERM));
    let record = ExitRecord::read(&bench.path()).expect("reads").expect("a record");
    assert_eq!(record.reason, EndReason::Ordered);
}

#[tokio::test]
async fn f20_a_folder_that_is_gone_costs_the_record_and_nothing_else() {
    let bench = Bench::new();
    let mut task = bench.start("echo ready; cat", Stdio::Pipes { stdin: true }).await;
    task.read_until("ready").await;
    std::fs::remove_dir_all(bench.path()).expect("removes");
    drop(task.stdin.take());
    assert_eq!(task.outcome().await.exit, Exit::Code(0));
}

#[tokio::test]
async fn a_command_nobody_listens_to_is_ended() {
    let bench = Bench::new();
    let tag = Tag::new();
    let mut task = bench.start(&format!("echo ready; sleep {}", tag.0), PIPES).await;
    task.read_until("ready").await;
    drop(task);
    timeout(PATIENCE, bench.spawner.drain()).await.expect("drained in time");
    assert!(tag.holders().is_empty());
    let record = ExitRecord::read(&bench.path()).expect("reads").expect("a record");
    assert_eq!(record.reason, EndReason::RuntimeGone);
}

#[tokio::test]
async fn the_host_exits_after_its_last_message() {
    let bench = Bench::new();
    let mut task = bench.start("true", PIPES).await;
    task.exit().await;
    task.finish(Leftovers::End).await;
    timeout(PATIENCE, bench.spawner.drain()).await.expect("drained in time");
    assert_eq!(task.events.recv().await, None);
    // Orders to a host that is gone have no effect, and do no harm.
    task.host.end(Duration::ZERO);
    task.host.finish(Leftovers::End, false);
    let again = bench.run("echo again", PIPES).await;
    assert_eq!(again.stdout, "again\n", "a drained spawner still spawns");
}

#[tokio::test]
async fn f40_an_end_races_an_exit_without_confusion() {
    let bench = Bench::new();
    for _ in 0..30 {
        let mut task = bench.start("exit 0", PIPES).await;
        task.host.end(LONG);
        task.host.end(Duration::ZERO);
        assert!(matches!(task.event().await, HostEvent::Exited(_)));
        assert_eq!(task.finish(Leftovers::End).await, (vec![], vec![]));
    }
}
