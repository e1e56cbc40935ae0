//! `command run --raw --exit-code=child`: a wrapper or a hook sees exactly what the command wrote and how it ended.

use std::process::{Output, Stdio};

use rustix::process::{Pid, Signal, kill_process};

use crate::support::{Home, Tag, wait_until};

fn ran(home: &Home, args: &[&str]) -> (Option<i32>, Vec<u8>, Vec<u8>) {
    let Output { status, stdout, stderr } = home.run(&[&["command", "run", "--private"], args].concat());
    (status.code(), stdout, stderr)
}

#[test]
fn bytes_and_exit_code_are_those_of_the_command() {
    let home = Home::new();
    let both = ["--raw", "--exit-code=child"];
    let as_is = |cmd: &str| ran(&home, &[&both[..], &[cmd]].concat());
    assert_eq!(as_is("true"), (Some(0), Vec::new(), Vec::new()));
    let odd = r"printf 'a\000\377\r\033[31mno end'; printf 'err\n' >&2; exit 7";
    assert_eq!(as_is(odd), (Some(7), b"a\0\xff\r\x1b[31mno end".to_vec(), b"err\n".to_vec()));
    assert_eq!(as_is("kill -TERM $$").0, Some(143));
    assert_eq!(as_is("kill -KILL $$").0, Some(137));
    let (code, stdout, _) = as_is("head -c 3000000 /dev/zero | tr '\\0' x");
    assert_eq!((code, stdout.len()), (Some(0), 3_000_000));
}

#[test]
fn each_of_the_flags_raw_and_exit_code_works_alone() {
    let home = Home::new();
    let (code, stdout, _) = ran(&home, &["--exit-code=child", "echo hi; exit 3"]);
    let answer: serde_json::Value = serde_json::from_slice(&stdout).expect("an answer");
    assert_eq!((code, &answer["meta"]["exit_code"]), (Some(3), &serde_json::json!(79)));
    assert_eq!(ran(&home, &["--raw", "echo hi; exit 3"]), (Some(79), b"hi\n".to_vec(), Vec::new()));
    let told = ran(&home, &["--raw", "--exit-code=child", "touch made", "--dry-run"]);
    assert_eq!(told.0, Some(0));
    assert!(!home.workspace().join("made").exists());
}

#[test]
fn a_long_command_is_waited_for() {
    let home = Home::new();
    let long =
        ["--raw", "--exit-code=child", "--yield-time-ms", "250", "echo one; sleep 1; echo two; exit 4"];
    assert_eq!(ran(&home, &long), (Some(4), b"one\ntwo\n".to_vec(), Vec::new()));
    let late = |timeout| {
        let flags = ["--raw", "--exit-code=child", "--yield-time-ms", "250", "--timeout", timeout];
        ran(&home, &[&flags[..], &["echo one; sleep 60"]].concat())
    };
    // The time counts from the start of the program: on a slow machine the first is over before anything is printed, or
    // before the command is a task.
    let mut tries = ["1s", "5s", "20s"].into_iter().map(late);
    let found = tries.find(|(_, stdout, stderr)| !stdout.is_empty() && !stderr.is_empty());
    let (code, stdout, stderr) = found.expect("one with time enough");
    assert_eq!((code, stdout), (Some(124), b"one\n".to_vec()));
    assert!(String::from_utf8_lossy(&stderr).contains("no answer within"), "{stderr:?}");
    let own = ["--raw", "--exit-code=child", "--timeout-ms", "500", "echo one; sleep 60"];
    assert_eq!(ran(&home, &own).0, Some(124));
}

#[test]
fn a_command_that_was_not_run_has_an_exit_code_of_its_own() {
    let home = Home::new();
    let (code, stdout, stderr) = ran(&home, &["--raw", "--exit-code=child", "--workdir", "/nowhere", "true"]);
    assert_eq!((code, stdout.len()), (Some(125), 0));
    assert!(!stderr.is_empty());
}

#[test]
fn a_signal_ends_the_command_and_is_its_end() {
    for yields in ["250", "30000"] {
        let home = Home::new();
        let tag = Tag::new();
        let cmd = format!("echo begun; sleep {}", tag.0);
        let child = home
            .command(&[
                "command",
                "run",
                "--private",
                "--raw",
                "--exit-code=child",
                "--yield-time-ms",
                yields,
                &cmd,
            ])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("starts");
        tag.asleep();
        kill_process(Pid::from_child(&child), Signal::TERM).expect("signalled");
        let output = child.wait_with_output().expect("ends");
        assert_eq!((output.status.code(), &*output.stdout), (Some(143), &b"begun\n"[..]), "{output:?}");
        wait_until("the command is gone", || tag.holders().is_empty());
    }
}
