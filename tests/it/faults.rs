//! Faults that commands bring with them: the rows of `docs/reliability.md` that no other file tests by number.

use std::process::Stdio;
use std::time::Duration;

use pilothouse::envelope::Actor;
use pilothouse::model::{ExecRequest, RejectionReason, Stop, TaskStatus, TypedInput};
use pilothouse::runtime::OutputStream;
use pilothouse::terminal::{Size, Terminal};
use serde_json::json;

use crate::runtime::{Bench, agent};
use crate::support::{Agent, Home, program, skip, wait_until};

/// Rounds of a race.
const ROUNDS: usize = 30;

fn in_bash(bench: &Bench, cmd: &str) -> ExecRequest {
    ExecRequest { shell: Some("/bin/bash".into()), ..bench.request(cmd) }
}

#[tokio::test]
async fn f06_a_process_substitution_loses_no_output_and_delays_nothing() {
    let bench = Bench::start();
    let task = bench.completed(in_bash(&bench, "exec > >(sleep .3; tee kept); echo through; exit 3")).await;
    assert_eq!(task.ended.clone().expect("ended").exit_status, Some(3));
    assert_eq!(bench.text(&task.id, OutputStream::Stdout).await, "through\n");
    // A process that keeps running holds the pipe: it is part of the command until its time is up, then named and ended.
    let holds = "exec > >(tee held; sleep 300); until [ -e held ]; do sleep .01; done; echo through";
    let limit = Some(Duration::from_secs(1));
    let task = bench.completed(ExecRequest { timeout: limit, ..in_bash(&bench, holds) }).await;
    assert_eq!(task.status, TaskStatus::Completed);
    assert!(!task.ended.clone().expect("ended").leftovers.is_empty());
    assert_eq!(bench.text(&task.id, OutputStream::Stdout).await, "through\n");
    bench.runtime.shutdown().await;
}

/// What the kernel keeps at most of what a program has not read from its terminal, in bytes.
const KERNEL_INPUT: usize = 2 * (64 << 10);

/// Asks so many questions before it reads any answer, and returns how many answers there were.
async fn answered(bench: &Bench, questions: usize) -> usize {
    let folder = tempfile::tempdir().expect("a folder");
    let reads = folder.path().join("reads");
    let asks = format!(
        r#"stty raw -echo
        yes "$(printf '\033[6n')" | head -n {questions}
        printf flooded
        until [ -e {} ]; do sleep .02; done
        IFS= read -r -d Q answers
        printf 'answers=%d.' "$(printf %s "$answers" | tr -dc R | wc -c)""#,
        reads.display()
    );
    let request = ExecRequest { tty: true, accepts_input: true, ..in_bash(bench, &asks) };
    let id = bench.promoted(request).await;
    let beside = bench.completed(bench.request("printf beside")).await;
    assert_eq!(bench.text(&beside.id, OutputStream::Stdout).await, "beside");
    // Once the end is on its screen, whatever came before it was answered.
    let flooded = async {
        let shown = || bench.runtime.screen_text(&id).map(|(text, _)| text);
        while !shown().is_some_and(|text| text.contains("flooded")) {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(crate::support::PATIENCE, flooded).await.expect("it has asked");
    bench.runtime.input(&agent(), &id, TypedInput::Text("Q".into())).await.expect("typed");
    std::fs::write(reads, "").expect("written");
    let text = bench.shows(&id, "answers=").await;
    assert_eq!(bench.end(&id).await.status, TaskStatus::Completed);
    let text = if text.ends_with('.') { text } else { bench.text(&id, OutputStream::Merged).await };
    let answers = text.split("answers=").nth(1).and_then(|rest| rest.trim_end_matches('.').parse().ok());
    answers.expect("a number")
}

#[tokio::test]
async fn f35_a_flood_of_terminal_queries_gets_a_bounded_number_of_answers() {
    let bench = Bench::start();
    let answers = answered(&bench, 50_000).await;
    let most = (Terminal::MAX_REPLIES + KERNEL_INPUT) / "\x1b[1;1R".len();
    assert!((64..=most).contains(&answers), "{answers} of at most {most}");
    bench.runtime.shutdown().await;
}

#[tokio::test]
async fn f35_questions_asked_at_once_are_all_answered() {
    let bench = Bench::start();
    for questions in [64, 500] {
        assert_eq!(answered(&bench, questions).await, questions);
    }
    bench.runtime.shutdown().await;
}

#[tokio::test]
async fn f40_stops_that_race_an_exit_make_one_end() {
    let bench = Bench::start();
    for _ in 0..ROUNDS {
        let id = bench.promoted(bench.request("exit 0")).await;
        let agent = agent();
        let (first, second) = tokio::join!(
            bench.runtime.stop(&agent, &id, Stop::default()),
            bench.runtime.stop(&Actor::Operator, &id, Stop { force: true, signal: None }),
        );
        let told = [first.expect("told").effect, second.expect("told").effect];
        let ended = bench.end(&id).await;
        assert!(matches!(ended.status, TaskStatus::Completed | TaskStatus::Cancelled), "{told:?} {ended:?}");
        // Once a task has ended, nothing changes how it ended.
        bench.runtime.stop(&agent, &id, Stop { force: true, signal: None }).await.expect("told");
        let later = bench.runtime.task(&id).expect("the task");
        assert_eq!((later.status, &later.ended), (ended.status, &ended.ended));
    }
    bench.runtime.shutdown().await;
}

#[tokio::test]
async fn f41_input_and_a_resize_that_race_an_exit_are_taken_or_refused() {
    let bench = Bench::start();
    let size = Size::nearest(100, 30);
    for _ in 0..ROUNDS {
        let request = ExecRequest { tty: true, accepts_input: true, ..bench.request("read x") };
        let id = bench.promoted(request).await;
        let agent = agent();
        let (line, resized, late) = tokio::join!(
            bench.runtime.input(&agent, &id, TypedInput::Text("\r".into())),
            bench.runtime.input(&agent, &id, TypedInput::Resize(size)),
            bench.runtime.input(&agent, &id, TypedInput::Text("\r".into())),
        );
        assert!(line.expect("told").accepted);
        for told in [resized.expect("told"), late.expect("told")] {
            let reason = told.rejection.as_ref().map(|rejection| rejection.reason);
            let is_clear = told.accepted || reason == Some(RejectionReason::TaskNotRunning);
            assert!(is_clear, "{told:?}");
        }
        assert_eq!(bench.end(&id).await.status, TaskStatus::Completed);
    }
    bench.runtime.shutdown().await;
}

/// The result of a command in a login shell that reads this start file.
fn login(start_file: &str, timeout_ms: u64) -> serde_json::Value {
    let home = Home::new();
    std::fs::write(home.workspace().join("../.bash_profile"), start_file).expect("written");
    let agent = Agent::here(&home, None);
    let asked = json!({
        "cmd": "echo wanted", "shell": "/bin/bash", "login": true,
        "yield_time_ms": 20_000, "timeout_ms": timeout_ms,
    });
    let answer = agent.call("ExecCommand", &asked);
    agent.leave();
    answer.envelope
}

#[test]
fn f42_a_start_file_that_prints_junk_is_seen_and_the_command_runs() {
    let result =
        login("echo junk; echo more >&2; printf '\\033[2J\\033]0;title\\007'", 20_000)["result"].clone();
    let out = result["stdout_preview"].as_str().expect("stdout");
    assert!(out.starts_with("junk") && out.trim_end().ends_with("wanted"), "{result}");
    assert_eq!(
        (&result["exit_status"], &result["stderr_preview"]),
        (&json!(0), &json!("more\n")),
        "{result}"
    );
}

#[test]
fn f42_a_start_file_that_hangs_counts_in_the_time_limit() {
    let result = login("echo begun; sleep 300", 5_000)["result"].clone();
    assert_eq!((&result["timed_out"], &result["exit_status"]), (&json!(true), &json!(124)), "{result}");
    assert_eq!(result["stdout_preview"].as_str().map(str::trim_end), Some("begun"), "{result}");
}

#[test]
fn f42_a_start_file_that_ends_the_shell_is_no_exit_of_the_command() {
    for (start_file, printed) in
        [("exec sh -c 'echo instead; exit 9'", "instead\n"), ("exit 0", ""), ("exec cat", "")]
    {
        let answer = login(start_file, 20_000);
        assert_eq!(answer["error"]["kind"], "execution_failed", "{answer}");
        let message = answer["error"]["message"].as_str().expect("a message");
        assert!(message.contains("The login profile ended the shell before the command"), "{message}");
        assert_eq!(answer["error"]["details"]["output"].as_str().unwrap_or_default(), printed, "{answer}");
    }
}

/// Returns a command that runs `then` (with the program as `$0`) with its state folder on a file system of this
/// size; it exits with 99 if mounting is not permitted.
fn on_a_small_disk(home: &Home, size: &str, then: &str) -> std::process::Command {
    std::fs::create_dir_all(home.workspace().join("../state")).expect("a folder");
    let script =
        format!("mount -t tmpfs -o size={size},mode=700 tmpfs \"$XDG_STATE_HOME\" || exit 99; {then}");
    let mut command = std::process::Command::new("unshare");
    command.args(["--mount", "sh", "-c", &script]).arg(program());
    home.settle(&mut command);
    command
}

/// The state folder is on a file system of 300 MB that is filled and freed: running tasks continue, nothing new
/// starts, and then everything works again.
#[test]
fn f20_a_full_disk_refuses_new_commands_until_there_is_room() {
    if !rustix::process::geteuid().is_root() {
        return skip("only root mounts a small file system");
    }
    let home = Home::new();
    let mut served = on_a_small_disk(&home, "300m", "exec \"$0\" serve");
    let mut served = served.stderr(Stdio::piped()).spawn().expect("starts");
    let socket = home.places().operator_socket();
    let mut refused = false;
    wait_until("the runtime listens", || {
        refused = served.try_wait().expect("asked").is_some();
        refused || std::os::unix::net::UnixStream::connect(&socket).is_ok()
    });
    if refused {
        return skip("nothing may be mounted here");
    }
    let agent = Agent::connect(&home, &[]);
    let fills = "while read -r what; do case $what in \
        fill) dd if=/dev/zero of=\"$XDG_STATE_HOME/filler\" bs=1M 2>/dev/null; echo filled;; \
        free) rm \"$XDG_STATE_HOME/filler\"; echo freed;; esac; done";
    let asked = json!({"cmd": fills, "login": false, "accepts_input": true, "yield_time_ms": 250});
    let task = agent.call("ExecCommand", &asked).task();
    let tell = |word: &str| agent.call("TaskInput", &json!({"task_id": task, "input": format!("{word}\n")}));
    assert_eq!(tell("fill").result("/accepted_input"), true);
    let run = || agent.call("ExecCommand", &json!({"cmd": "echo ran", "yield_time_ms": 20_000}));
    let mut last = None;
    wait_until("a command is refused", || {
        let answer = run();
        let is_refused = answer.envelope["status"] == "error";
        last = is_refused.then_some(answer);
        is_refused
    });
    assert_eq!(last.expect("an answer").envelope["error"]["kind"], "low_disk_space");
    let read = agent.call("TaskOutput", &json!({"task_id": task, "block": false}));
    assert_eq!(read.result("/task/status"), "running", "{}", read.envelope);
    // Running tasks can be typed into all the same.
    tell("free");
    wait_until("there is room again", || run().envelope["status"] == "success");
    agent.leave();
    home.stop(&mut served);
}

/// No runtime starts if there is no room for its record: anything that needs one is told so, at once.
#[test]
fn f20_a_state_folder_without_room_starts_no_runtime_and_says_why() {
    if !rustix::process::geteuid().is_root() {
        return skip("only root mounts a small file system");
    }
    let home = Home::new();
    for line in ["command run true", "command run --private true", "task list --private"] {
        let fill = "dd if=/dev/zero of=\"$XDG_STATE_HOME/filler\" bs=1k 2>/dev/null";
        let mut command = on_a_small_disk(&home, "64k", &format!("{fill}; exec \"$0\" {line}"));
        let ran = command.output().expect("runs");
        if ran.status.code() == Some(99) {
            return skip("nothing may be mounted here");
        }
        let answer: serde_json::Value = serde_json::from_slice(&ran.stdout).expect("an answer");
        assert_eq!(answer["error"]["code"], "LOW_DISK_SPACE", "{line}: {answer}");
        assert_eq!(ran.status.code(), Some(12), "{line}");
    }
}
