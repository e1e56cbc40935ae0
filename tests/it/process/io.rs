//! The streams of a command: pipes, the terminal, and that no output is lost.

use std::time::Duration;

use pilothouse::model::{Exit, Leftovers, Signal};
use pilothouse::process::{HostEvent, SignalScope, Stdio};
use pilothouse::terminal::Size;

use super::{Bench, Output, PIPES, pty};
use crate::support::wait_until;

#[tokio::test]
async fn standard_input_is_dev_null_unless_asked_for() {
    let outcome = Bench::new().run("readlink /proc/$$/fd/0; cat", PIPES).await;
    assert_eq!((outcome.stdout.as_str(), outcome.exit), ("/dev/null\n", Exit::Code(0)));
}

#[tokio::test]
async fn standard_input_stays_open_when_asked_for_and_ends_with_our_end() {
    let bench = Bench::new();
    let mut task = bench.start("read a; echo got $a; cat; echo end", Stdio::Pipes { stdin: true }).await;
    task.type_in("one\n");
    task.read_until("got one\n").await;
    task.type_in("two\n");
    task.read_until("two\n").await;
    drop(task.stdin.take());
    assert_eq!(task.outcome().await.stdout, "end\n");
}

#[tokio::test]
async fn a_terminal_is_the_controlling_one_with_the_asked_size() {
    let cmd =
        "test -t 0 && test -t 1 && test -t 2 && stty size < /dev/tty && tty && stty -a | grep -o '.iutf8'";
    let outcome = Bench::new().run(cmd, pty()).await;
    let lines: Vec<&str> = outcome.stdout.lines().collect();
    let [size, name, utf8] = lines[..] else { panic!("{:?}", outcome.stdout) };
    assert_eq!((size, utf8), ("31 93", " iutf8"));
    assert!(name.starts_with("/dev/pts/"), "{name}");
}

#[tokio::test]
async fn a_terminal_beside_the_streams_is_the_controlling_one_and_changes_none_of_them() {
    let bench = Bench::new();
    let cmd = "readlink /proc/$$/fd/0; test -t 1 || test -t 2 || echo pipes; stty size </dev/tty; \
               printf 'Password: ' >/dev/tty; stty -echo </dev/tty; read secret </dev/tty; stty echo </dev/tty; echo ${#secret}";
    let task = bench.start_beside(cmd).await;
    let side = task.side.clone().expect("a terminal beside it");
    let mut dialogue = Output::of(side.duplicate().expect("reader"));
    let mut said = String::new();
    while !said.contains("Password: ") {
        said += &dialogue.pieces.recv().await.expect("a prompt");
    }
    wait_until("the echo is off", || side.input_mode().is_ok_and(|mode| !mode.echo && mode.canonical));
    let writer = side.duplicate().expect("writer");
    assert_eq!(rustix::io::write(&writer, b"hunter2\n"), Ok(8));
    let outcome = task.outcome().await;
    assert_eq!(
        (outcome.stdout.as_str(), outcome.stderr.as_str(), outcome.exit),
        ("/dev/null\npipes\n31 93\n7\n", "", Exit::Code(0))
    );
    assert_eq!(said, "Password: ", "nothing was echoed");
}

#[tokio::test]
async fn the_end_of_a_shell_with_a_terminal_beside_it_hangs_up_on_nothing_it_leaves() {
    let bench = Bench::new();
    let file = bench.path().join("goes-on");
    let cmd = format!("(while test ! -e {0}; do sleep 0.01; done; echo still here) & exit 3", file.display());
    let mut task = bench.start_beside(&cmd).await;
    assert_eq!(task.exit().await, Exit::Code(3));
    std::fs::write(&file, "").expect("written");
    task.read_until("still here").await;
    task.host.finish(Leftovers::Keep, false);
    while !matches!(task.event().await, HostEvent::Ended { .. }) {}
}

#[tokio::test]
async fn a_signal_reaches_the_group_of_a_command_with_a_terminal_beside_it() {
    let cmd = "trap 'echo hit; exit 5' INT; echo ready; while :; do sleep 0.01; done";
    let mut task = Bench::new().start_beside(cmd).await;
    task.read_until("ready").await;
    task.host.signal(Signal::INT, SignalScope::Foreground);
    task.read_until("hit").await;
    assert_eq!(task.outcome().await.exit, Exit::Code(5));
}

#[tokio::test]
async fn a_resize_is_seen_by_the_command() {
    let bench = Bench::new();
    let cmd = "trap 'stty size; exit 0' WINCH; echo ready; while :; do sleep 0.01; done";
    let mut task = bench.start(cmd, pty()).await;
    task.read_until("ready").await;
    task.pty().resize(Size::nearest(77, 22)).expect("resizes");
    task.read_until("22 77").await;
    assert_eq!(task.pty().size().expect("size"), Size::nearest(77, 22));
    assert_eq!(task.outcome().await.exit, Exit::Code(0));
}

#[tokio::test]
async fn the_input_mode_tells_what_the_command_waits_for() {
    let bench = Bench::new();
    let mut task = bench.start("stty -echo; echo ready; read secret; stty raw; echo raw; cat", pty()).await;
    task.read_until("ready").await;
    let mode = task.pty().input_mode().expect("mode");
    assert!(!mode.echo && mode.canonical && mode.eof == Some(4));
    task.type_in("secret\n");
    let seen = task.read_until("raw").await;
    assert!(!seen.contains("secret"));
    assert!(!task.pty().input_mode().expect("mode").canonical);
    task.host.end(Duration::from_secs(5));
    task.outcome().await;
}

#[tokio::test]
async fn a_signal_goes_to_the_foreground_group_of_the_terminal() {
    let bench = Bench::new();
    let mut command = bench.command("set -m; sh -c 'trap \"echo hit; exit 5\" INT; echo ready; while :; do sleep 0.01; done'; echo code $?", pty());
    command.shell = "/bin/bash".into();
    let mut task = super::Task::of(bench.spawner.spawn(command).await.expect("starts"));
    task.read_until("ready").await;
    assert_ne!(task.pty().foreground_group(), Some(task.pid), "job control made a group of its own");
    task.host.signal(Signal::INT, SignalScope::Foreground);
    task.read_until("code 5").await;
    assert_eq!(task.outcome().await.exit, Exit::Code(0));
}

#[tokio::test]
async fn a_signal_to_the_group_spares_other_sessions_and_one_to_the_tree_does_not() {
    let bench = Bench::new();
    let catcher =
        |name: &str| format!("trap 'echo {name}; exit 0' USR1; :> {name}; while :; do sleep 0.01; done");
    let wait_for_other = "while ! test -e other; do sleep 0.01; done; echo ready";
    let cmd = format!("setsid -f sh -c \"{}\"; {wait_for_other}; {}", catcher("other"), catcher("own"));
    let mut task = bench.start(&cmd, PIPES).await;
    task.read_until("ready").await;
    wait_until("both catch the signal", || bench.path().join("own").exists());
    task.host.signal(Signal::USR1, SignalScope::Group);
    assert_eq!(task.exit().await, Exit::Code(0));
    assert_eq!(task.read_until("own").await, "own\n");
    task.host.signal(Signal::USR1, SignalScope::Tree);
    task.read_until("other").await;
    task.finish(Leftovers::End).await;
}

#[tokio::test]
async fn output_written_before_the_exit_is_never_lost() {
    let bench = Bench::new();
    for run in 0..50 {
        for (stdio, end) in [(PIPES, "END\n"), (pty(), "END\r\n")] {
            let outcome = bench.run("seq 2000; printf 'END\\n'", stdio).await;
            assert_eq!(outcome.stdout.lines().count(), 2001, "run {run} {stdio:?}");
            assert!(outcome.stdout.ends_with(end), "run {run} {stdio:?}");
        }
    }
}

#[tokio::test]
async fn output_left_unread_until_after_the_end_is_still_there() {
    let bench = Bench::new();
    for stdio in [PIPES, pty()] {
        let mut task = bench.start("seq 300", stdio).await;
        task.exit().await;
        task.finish(Leftovers::End).await;
        assert_eq!(task.stdout.all().await.lines().count(), 300, "{stdio:?}");
    }
}
