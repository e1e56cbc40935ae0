//! The stream of `pilothouse exec`: where lines come from, where answers go, and how it ends.

use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, WaitIdOptions, kill_process, waitid};
use serde_json::{Value, json};

use crate::support::{Home, Tag, exec, exec_by, exec_command, exec_ran, exec_with, wait_until};

const VERSION: &str = r#"{"_cmd":"version"}"#;
const CAP: usize = 65_536;

/// One line of exactly this many bytes.
fn padded(bytes: usize) -> String {
    format!("{VERSION}{}", " ".repeat(bytes - VERSION.len()))
}

#[test]
fn a_stream_without_a_line_says_so() {
    for input in ["", "   ", "\n\n \n"] {
        let ran = exec(&Home::new(), &[], input);
        assert_eq!((ran.code, ran.codes()), (Some(2), vec!["EMPTY_STREAM"]), "{input:?}");
    }
}

#[test]
fn a_terminal_is_no_stream() {
    let home = Home::new();
    let flags = rustix::pty::OpenptFlags::RDWR | rustix::pty::OpenptFlags::NOCTTY;
    let master = rustix::pty::openpt(flags).expect("a terminal");
    rustix::pty::grantpt(&master).expect("granted");
    rustix::pty::unlockpt(&master).expect("unlocked");
    let slave = rustix::pty::ioctl_tiocgptpeer(&master, flags).expect("its other side");
    let output = exec_command(&home, &[]).stdin(Stdio::from(slave)).output().expect("ends");
    let ran = exec_ran(output);
    assert_eq!((ran.code, ran.codes()), (Some(2), vec!["STDIN_IS_TTY"]));
    assert_eq!(ran.stderr.lines().count(), 1, "{}", ran.stderr);
}

#[test]
fn standard_input_is_drained_up_to_its_cap() {
    let home = Home::new();
    assert_eq!(exec(&home, &[], padded(CAP)).code, Some(0));
    let ran = exec(&home, &[], padded(CAP + 1));
    assert_eq!((ran.code, ran.codes()), (Some(2), vec!["STDIN_TOO_LARGE"]));
    assert_eq!(ran.lines[0]["error"]["context"]["limit_bytes"], CAP);
    assert_eq!(ran.stderr.lines().count(), 1, "{}", ran.stderr);
    let touches = format!("{}\n", json!({"_cmd": "command.run", "cmd": "touch made"})).repeat(2_000);
    for args in [&[][..], &["--input-file", "-"]] {
        let ran = exec(&home, args, &touches);
        assert_eq!((ran.code, ran.codes()), (Some(2), vec!["STDIN_TOO_LARGE"]));
    }
    assert!(!home.workspace().join("made").exists());
}

#[test]
fn the_cap_is_a_variable_and_a_number() {
    let home = Home::new();
    let capped = |cap: &str| exec_with(&home, &[("PILOTHOUSE_MAX_STDIN_BYTES", cap)], &[], padded(100));
    assert_eq!(capped("100").code, Some(0));
    assert_eq!(capped("99").codes(), ["STDIN_TOO_LARGE"]);
    let lots = capped("lots");
    assert_eq!((lots.code, lots.codes()), (Some(2), vec!["ARG_ERROR"]));
    assert_eq!(lots.lines[0]["error"]["context"]["source"], "PILOTHOUSE_MAX_STDIN_BYTES");
}

#[test]
fn a_file_has_no_cap_and_one_that_cannot_be_read_is_named() {
    let home = Home::new();
    let line = format!("{}\n", padded(2_000));
    let count = (10 << 20) / line.len();
    let plan = home.path("plan.jsonl");
    std::fs::write(&plan, line.repeat(count)).expect("written");
    let ran = exec(&home, &["--input-file", &plan], "");
    assert_eq!((ran.code, ran.lines.len()), (Some(0), count));
    for missing in ["/no", "."] {
        let ran = exec(&home, &["--input-file", missing], "");
        assert_eq!((ran.code, ran.codes()), (Some(2), vec!["INPUT_FILE_UNREADABLE"]), "{missing}");
    }
}

/// Runs exec with its answers in a file and returns the page faults of the child processes it waited for: 0 if it
/// started none.
fn faults_of_children(home: &Home, plan: &str) -> u64 {
    std::fs::write(home.workspace().join("plan.jsonl"), plan).expect("written");
    let answers = File::create(home.workspace().join("answers.jsonl")).expect("a file");
    let mut child = exec_command(home, &["--input-file", "plan.jsonl"])
        .stdout(answers)
        .stderr(Stdio::null())
        .spawn()
        .expect("starts");
    let pid = Pid::from_child(&child);
    waitid(rustix::process::WaitId::Pid(pid), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT).expect("ends");
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", child.id())).expect("a zombie's figures");
    assert!(child.wait().expect("reaped").success());
    let (_, rest) = stat.rsplit_once(')').expect("a name");
    rest.split_ascii_whitespace()
        .nth(8)
        .and_then(|field| field.parse().ok())
        .expect("minor faults of children")
}

#[test]
fn twelve_thousand_lines_start_no_process() {
    let home = Home::new();
    assert_eq!(faults_of_children(&home, &format!("{VERSION}\n").repeat(12_000)), 0);
    let answers = std::fs::read_to_string(home.workspace().join("answers.jsonl")).expect("answers");
    assert_eq!(answers.lines().count(), 12_000);
    // The measurement does see a process if there is one.
    assert!(faults_of_children(&home, &"{\"_cmd\":\"command.run\",\"cmd\":\"true\"}\n".repeat(5)) > 0);
}

#[test]
fn a_caller_may_write_everything_before_it_reads() {
    let home = Home::new();
    let mut command = exec_command(&home, &[]);
    command.env("PILOTHOUSE_MAX_STDIN_BYTES", "1000000");
    // All input is written before any answer is read: 240 kB, then 12,000 answers.
    let ran = exec_by(&mut command, format!("{VERSION}\n").repeat(12_000));
    assert_eq!((ran.code, ran.lines.len()), (Some(0), 12_000));
    assert_eq!(ran.lines[11_999]["meta"]["_line"], 12_000);
}

/// Starts a stream that reads a named pipe; returns it and the pipe's write end.
fn reads_a_fifo(home: &Home) -> (Child, File) {
    let path = home.fifo("lines");
    let child = exec_command(home, &["--input-file", "lines"])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("starts");
    (child, OpenOptions::new().write(true).open(&path).expect("its writer"))
}

#[test]
fn a_fifo_is_answered_line_by_line() {
    let home = Home::new();
    let (mut child, mut lines) = reads_a_fifo(&home);
    let mut answers = BufReader::new(child.stdout.take().expect("piped")).lines();
    for number in 1..=3 {
        writeln!(lines, "{VERSION}").expect("written");
        let answer: Value =
            serde_json::from_str(&answers.next().expect("an answer").expect("read")).expect("JSON");
        assert_eq!(answer["meta"]["_line"], number);
    }
    drop(lines);
    assert!(child.wait().expect("ends").success());
    assert!(answers.next().is_none());
}

fn signal(child: &Child, signal: Signal) {
    kill_process(Pid::from_child(child), signal).expect("signalled");
}

fn cancelled(serve: bool, by: Signal, code: i32) {
    let home = Home::new();
    let mut served = serve.then(|| home.serve());
    let tag = Tag::new();
    let plan = format!(
        "{VERSION}\n{}\n{VERSION}\n",
        json!({"_cmd": "command.run", "cmd": format!("echo begun; sleep {}", tag.0), "yield_time_ms": 30_000})
    );
    std::fs::write(home.workspace().join("plan.jsonl"), plan).expect("written");
    let child = exec_command(&home, &["--input-file", "plan.jsonl"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("starts");
    tag.asleep();
    signal(&child, by);
    let ran = exec_ran(child.wait_with_output().expect("ends"));
    assert_eq!((ran.code, ran.codes()), (Some(code), vec!["ok", "CANCELLED"]), "{}", ran.stderr);
    assert_eq!(ran.of(2)["meta"]["exit_code"], code);
    let error = &ran.of(2)["error"];
    assert_eq!((&error["retryable"], &error["side_effects"]), (&json!(false), &json!("partial")));
    let data = &ran.of(2)["data"];
    assert_eq!((&data["stdout_preview"], &data["partial"]), (&json!("begun\n"), &json!(true)));
    assert!(data.get("disposition").is_none(), "it did not complete: {data}");
    assert!(ran.of(2)["meta"]["call"].is_u64());
    wait_until("the command is gone", || tag.holders().is_empty());
    if let Some(served) = &mut served {
        home.stop(served);
    }
}

#[test]
fn a_signal_ends_the_line_in_flight_and_its_command() {
    cancelled(false, Signal::TERM, 143);
    cancelled(false, Signal::INT, 130);
}

#[test]
fn a_signal_ends_a_line_in_the_workspaces_runtime_too() {
    cancelled(true, Signal::TERM, 143);
}

#[test]
fn a_key_holds_when_whoever_used_it_was_killed() {
    let home = Home::new();
    let mut served = home.serve();
    let tag = Tag::new();
    let cmd = format!("echo done >> log; sleep {}", tag.0);
    let once = json!({"_cmd": "command.run", "_opts": {"idempotency-key": "k"}, "cmd": cmd, "yield_time_ms": 30_000});
    std::fs::write(home.workspace().join("plan.jsonl"), once.to_string()).expect("written");
    let mut child = exec_command(&home, &["--input-file", "plan.jsonl"]).spawn().expect("starts");
    tag.asleep();
    child.kill().expect("killed");
    child.wait().expect("ends");
    wait_until("the command is gone", || tag.holders().is_empty());
    let again = exec(&home, &[], once.to_string());
    assert_eq!((again.codes(), &again.of(1)["meta"]["effect"]), (vec!["CANCELLED"], &json!("noop")));
    assert_eq!(again.of(1)["error"]["side_effects"], "partial");
    assert_eq!(std::fs::read_to_string(home.workspace().join("log")).expect("a log"), "done\n");
    home.stop(&mut served);
}

#[test]
fn a_runtime_that_is_killed_leaves_no_line_that_may_simply_be_repeated() {
    let home = Home::new();
    let mut served = home.serve();
    let tag = Tag::new();
    let cmd = json!({"_cmd": "command.run", "cmd": format!("sleep {}", tag.0), "yield_time_ms": 30_000});
    std::fs::write(home.workspace().join("plan.jsonl"), cmd.to_string()).expect("written");
    let child = exec_command(&home, &["--input-file", "plan.jsonl"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("starts");
    tag.asleep();
    let list = json!({"_cmd": "task.list"}).to_string();
    wait_until("the number of a call of this age is told", || {
        exec(&home, &[], &list).of(1)["data"]["tasks"][0]["quiet_ms"].as_u64() > Some(1_000)
    });
    let runtime = Pid::from_raw(home.runtime_pid()).expect("a pid");
    kill_process(runtime, Signal::KILL).expect("killed");
    let ran = exec_ran(child.wait_with_output().expect("ends"));
    assert_eq!(ran.codes(), ["UNAVAILABLE"]);
    let error = &ran.of(1)["error"];
    assert_eq!((&error["retryable"], &error["side_effects"]), (&json!(false), &json!("partial")));
    assert!(ran.of(1)["meta"]["call"].is_u64());
    served.wait().expect("ends");
}

#[test]
fn a_signal_between_two_lines_is_answered_as_well() {
    let home = Home::new();
    let (mut child, mut lines) = reads_a_fifo(&home);
    writeln!(lines, "{VERSION}").expect("written");
    let mut answers = BufReader::new(child.stdout.take().expect("piped"));
    let mut first = String::new();
    answers.read_line(&mut first).expect("read");
    signal(&child, Signal::TERM);
    let mut rest = String::new();
    answers.read_to_string(&mut rest).expect("read");
    let last: Value = serde_json::from_str(&rest).expect("one more line");
    assert_eq!(last["error"]["code"], "CANCELLED");
    assert_eq!(child.wait().expect("ends").code(), Some(143));
    drop(lines);
}

#[test]
fn a_closed_pipe_ends_the_stream_silently_and_no_further_line_runs() {
    let home = Home::new();
    let touch = |name: &str| json!({"_cmd": "command.run", "cmd": format!("touch {name}")}).to_string();
    let plan = format!("{VERSION}\n{}\n{}\n", touch("first"), touch("second"));
    std::fs::write(home.workspace().join("plan.jsonl"), plan).expect("written");
    let (reader, writer) = std::io::pipe().expect("a pipe");
    drop(reader);
    let output = exec_command(&home, &["--input-file", "plan.jsonl"])
        .stdout(writer)
        .stderr(Stdio::piped())
        .output()
        .expect("ends");
    assert_eq!(output.status.code(), Some(141));
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    assert!(!home.workspace().join("second").exists());
}

#[test]
fn no_command_reads_the_stream() {
    let read = format!("{}\n", json!({"_cmd": "command.run", "cmd": "cat"}));
    let ran = exec_by(&mut exec_command(&Home::new(), &[]), read + VERSION);
    assert_eq!((ran.code, ran.lines.len()), (Some(0), 2));
    assert_eq!(ran.of(1)["data"]["stdout_preview"], Value::Null);
}

#[test]
fn tasks_of_a_private_stream_end_with_it_and_are_named() {
    let home = Home::new();
    let tag = Tag::new();
    let cmd = format!("sleep {}", tag.0);
    let plan = json!({"_cmd": "command.run", "cmd": cmd, "yield_time_ms": 0}).to_string();
    let ran = exec_by(&mut exec_command(&home, &["--private"]), plan);
    let task = ran.of(1)["data"]["task_handle"]["task_id"].as_str().expect("a task");
    assert!(ran.stderr.contains(task) && ran.stderr.contains("ends with this command"), "{}", ran.stderr);
    wait_until("the task is gone", || tag.holders().is_empty());
}

#[test]
fn lines_run_in_the_runtime_of_the_workspace_and_keys_hold_across_streams() {
    let home = Home::new();
    home.serve_here();
    let once = json!({
        "_cmd": "command.run", "_opts": {"idempotency_key": "start"}, "cmd": "sleep 60", "yield_time_ms": 0,
    });
    let first = exec(&home, &[], once.to_string());
    let second = exec(&home, &[], format!("{once}\n{}", json!({"_cmd": "task.list"})));
    assert_eq!(first.of(1)["data"], second.of(1)["data"]);
    assert_eq!(second.of(1)["meta"]["effect"], "noop");
    assert_eq!((&second.of(2)["data"]["total"], second.stderr.as_str()), (&json!(1), ""));
    let task = first.of(1)["data"]["task_handle"]["task_id"].clone();
    let told = exec(&home, &["--dry-run"], json!({"_cmd": "task.stop", "task_id": task}).to_string());
    assert_eq!(told.of(1)["data"]["effect"], "would_stop");
    assert_eq!(told.of(1)["data"]["task"]["status"], "running");
}

#[test]
fn an_empty_stream_is_answered_at_once() {
    let home = Home::new();
    let started = std::time::SystemTime::now();
    // `Home` gives the program /dev/null as standard input.
    let ran = exec_ran(home.run(&["exec"]));
    let took = started.elapsed().expect("a clock");
    assert_eq!((ran.code, ran.codes()), (Some(2), vec!["EMPTY_STREAM"]));
    // It starts no runtime and waits for nothing, but starting a program alone may take seconds on a busy machine.
    assert!(took < Duration::from_secs(8), "{took:?}");
}
