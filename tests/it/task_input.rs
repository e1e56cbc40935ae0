//! Input that nobody can read, or that is not read: what the answers to an agent say of it.

use std::path::PathBuf;

use pilothouse::envelope::{Actor, TaskId};
use pilothouse::model::{Error, TypedInput};
use pilothouse::runtime::Handle;
use pilothouse::terminal::KeyPress;
use pilothouse::tools::{CallAnswer, Caller, call};
use serde_json::{Value, json};

use crate::support::{must_be_an_envelope, skip, start_runtime};

/// A runtime in a throw-away workspace.
struct Bench {
    runtime: Handle,
    workspace: PathBuf,
    _dir: tempfile::TempDir,
}

impl Bench {
    fn start() -> Self {
        let dir = tempfile::tempdir().expect("temp dir");
        let (runtime, workspace) = start_runtime(dir.path());
        Self { runtime, workspace, _dir: dir }
    }

    async fn call(&self, tool: &str, input: Value) -> CallAnswer {
        let caller = Caller::new(Actor::Agent("claude".into()), self.workspace.clone());
        let answer = call(&self.runtime, &caller, tool, input).await;
        must_be_an_envelope(&answer.envelope.to_value());
        answer
    }

    /// Starts a command of /bin/sh as a task that takes input; returns its id.
    async fn task(&self, cmd: &str, tty: bool) -> String {
        let more = if tty { "tty" } else { "accepts_input" };
        let input = json!({"cmd": cmd, "shell": "/bin/sh", "login": false, "yield_time_ms": 0, more: true});
        let answer = self.call("ExecCommand", input).await;
        result(&answer)["task_handle"]["task_id"].as_str().expect("an id").to_owned()
    }

    async fn type_in(&self, task: &str, text: &str) -> CallAnswer {
        self.call("TaskInput", json!({"task_id": task, "input": text})).await
    }

    /// Waits until a task has printed this.
    async fn shows(&self, task: &str, text: &str) {
        let (mut seen, mut since) = (String::new(), json!("c0"));
        while !seen.contains(text) {
            let read = self.call("TaskOutput", json!({"task_id": task, "since": since})).await;
            let task = &result(&read)["task"];
            assert_eq!(task["status"], "running", "{}", read.receipt);
            seen.push_str(task["output_preview"].as_str().unwrap_or_default());
            since = task["next_cursor"].clone();
        }
    }

    /// Stops a task and returns the answer that tells how it ended.
    async fn stop(&self, task: &str) -> CallAnswer {
        self.call("TaskStop", json!({"task_id": task, "force": true})).await;
        self.call("TaskOutput", json!({"task_id": task})).await
    }

    /// Makes a gate that a command waits at with `read x < gate`.
    fn gate(&self) {
        let made = std::process::Command::new("mkfifo").arg(self.workspace.join("gate")).status();
        assert!(made.expect("mkfifo").success());
    }

    fn open_gate(&self) {
        std::fs::write(self.workspace.join("gate"), "\n").expect("opened");
    }
}

fn result(answer: &CallAnswer) -> &Value {
    answer.envelope.result().unwrap_or_else(|| panic!("failed: {}", answer.receipt))
}

fn rejection(answer: &CallAnswer) -> String {
    let result = result(answer);
    assert_eq!(result["accepted_input"], false, "{}", answer.receipt);
    result["rejection"]["reason"].as_str().expect("a reason").to_owned()
}

fn id(task: &str) -> TaskId {
    task.parse().expect("an id")
}

/// A command that asks for a password as most programs do: it throws away what was typed before. After the gate.
const ASKS: &str = "read x < gate; exec python3 -c 'import getpass; print(len(getpass.getpass()))'";

fn has_python() -> bool {
    let is_there = std::process::Command::new("python3").arg("--version").output().is_ok();
    if !is_there {
        skip("there is no python3");
    }
    is_there
}

#[tokio::test]
async fn input_after_its_end_is_refused_and_what_lay_before_it_is_told_at_the_end() {
    let bench = Bench::start();
    let task = bench.task("sleep 300", false).await;
    bench.type_in(&task, "hello\n").await;
    let ended = bench.call("TaskInput", json!({"task_id": task, "eof": true})).await;
    assert!(ended.receipt.contains("accepted; 6 bytes not read yet"), "{}", ended.receipt);
    let late = bench.type_in(&task, "more\n").await;
    assert_eq!(rejection(&late), "input_closed");
    assert!(late.receipt.contains("ended with `eof`"), "{}", late.receipt);
    let again = bench.call("TaskInput", json!({"task_id": task, "eof": true})).await;
    assert_eq!(rejection(&again), "input_closed");
    let end = bench.stop(&task).await;
    let lost = &result(&end)["task"]["lost_input"];
    assert_eq!(lost, &json!({"bytes": 6, "cause": "never_read"}));
    assert!(end.receipt.contains("Input never read: 6 bytes."), "{}", end.receipt);
    bench.runtime.shutdown().await;
}

#[tokio::test]
async fn input_to_a_program_that_has_closed_its_standard_input_is_refused() {
    let bench = Bench::start();
    let task = bench.task("exec <&-; echo closed; exec sleep 300", false).await;
    bench.shows(&task, "closed").await;
    let refused = bench.type_in(&task, "hello\n").await;
    assert_eq!(rejection(&refused), "input_closed");
    assert!(refused.receipt.contains("No process has its standard input open"), "{}", refused.receipt);
    bench.runtime.shutdown().await;
}

#[tokio::test]
async fn what_a_program_has_not_read_is_said_when_it_is_sent_and_at_the_end_also_of_one_that_is_stopped() {
    let bench = Bench::start();
    for cmd in ["exec sleep 300", "kill -STOP $$; exec sleep 300"] {
        let task = bench.task(cmd, false).await;
        let sent = bench.type_in(&task, &"x".repeat(500_000)).await;
        assert_eq!(result(&sent)["unread_bytes"], 500_000);
        assert!(sent.receipt.contains("accepted; 500,000 bytes not read yet"), "{}", sent.receipt);
        assert_eq!(
            sent.envelope.summary_text(),
            format!("input to {task} accepted; 500,000 bytes not read yet")
        );
        let end = bench.stop(&task).await;
        assert!(end.receipt.contains("Input never read: 500,000 bytes."), "{}", end.receipt);
    }
    let task = bench.task("head -c 400000 > /dev/null; exec sleep 300", false).await;
    let (mut sent, mut text) = (bench.type_in(&task, &"x".repeat(500_000)).await, String::new());
    while !sent.receipt.contains(&text) || text.is_empty() {
        sent = bench.type_in(&task, "y").await;
        let bytes = result(&sent)["unread_bytes"].as_u64().expect("a count");
        text = format!("accepted; {},{:03} bytes not read yet", bytes / 1000, bytes % 1000);
        assert!(bytes < 500_000 && bytes > 90_000, "{}", sent.receipt);
    }
    let read = bench.task("read line; exec sleep 300", false).await;
    let sent = bench.type_in(&read, "hello\n").await;
    assert!(sent.receipt.starts_with(&format!("Input delivered to {read} (6 bytes)")), "{}", sent.receipt);
    bench.runtime.shutdown().await;
}

#[tokio::test]
async fn a_line_without_an_end_is_said_to_be_out_of_reach_of_a_program_that_reads_lines() {
    let bench = Bench::start();
    let task = bench.task("printf 'name? '; read name; echo \"hello $name\"; exec sleep 300", true).await;
    bench.shows(&task, "name?").await;
    let open = bench.type_in(&task, "bob").await;
    assert_eq!((&result(&open)["unread_bytes"], &result(&open)["has_open_line"]), (&json!(3), &json!(true)));
    assert!(open.receipt.contains("the last line of the input has no end yet"), "{}", open.receipt);
    let whole = bench.type_in(&task, "\n").await;
    assert!(result(&whole).get("has_open_line").is_none(), "{}", whole.receipt);
    bench.shows(&task, "hello bob").await;
    let raw = bench.task("stty raw; printf 'key? '; head -c 1; exec sleep 300", true).await;
    bench.shows(&raw, "key?").await;
    let key = bench.type_in(&raw, "y").await;
    assert!(key.receipt.starts_with("Input delivered"), "{}", key.receipt);
    bench.runtime.shutdown().await;
}

#[tokio::test]
async fn f51_a_line_too_long_for_a_terminal_is_refused_also_in_two_inputs_and_from_keys() {
    let bench = Bench::start();
    let task = bench.task("cat > lines", true).await;
    bench.type_in(&task, "short\n").await;
    assert!(bench.type_in(&task, &"x".repeat(3_000)).await.envelope.result().is_some());
    let refused = bench.type_in(&task, &"x".repeat(3_001)).await.envelope.to_value();
    assert_eq!(refused["error"]["kind"], "input_line_too_long");
    assert_eq!(refused["error"]["details"], json!({"line_bytes": 6_001, "limit_bytes": 4_095}));
    assert!(refused["error"]["message"].as_str().expect("text").contains("sent of it before"), "{refused}");
    let keys = vec![KeyPress::parse("x").expect("a key"); 1_096];
    let typed = bench.runtime.input(&Actor::Operator, &id(&task), TypedInput::Keys(keys.clone())).await;
    assert!(matches!(typed, Err(Error::InputLineTooLong { length: 4_096, is_begun: true, .. })), "{typed:?}");
    let fits = TypedInput::Keys(keys[1..].to_vec());
    bench.runtime.input(&Actor::Operator, &id(&task), fits).await.expect("it fits");
    let enter = TypedInput::Raw(b"\rafter\r\x04".to_vec());
    bench.runtime.input(&Actor::Operator, &id(&task), enter).await.expect("the line ends");
    bench.call("TaskOutput", json!({"task_id": task})).await;
    let lines = std::fs::read_to_string(bench.workspace.join("lines")).expect("lines");
    assert_eq!(lines, format!("short\n{}\nafter\n", "x".repeat(4_095)));
    bench.runtime.shutdown().await;
}

#[tokio::test]
async fn a_line_begins_anew_for_a_program_that_has_read_it_key_by_key() {
    let bench = Bench::start();
    bench.gate();
    let task = bench
        .task("stty raw; echo raw; head -c 3000 > /dev/null; stty -raw; echo lines; exec sleep 300", true);
    let task = task.await;
    bench.shows(&task, "raw").await;
    bench.type_in(&task, &"x".repeat(3_000)).await;
    bench.shows(&task, "lines").await;
    assert!(bench.type_in(&task, &"x".repeat(3_000)).await.envelope.result().is_some());
    let between = bench.task(
        "read x < gate; stty raw; head -c 3000 > /dev/null; stty -raw; echo lines; exec sleep 300",
        true,
    );
    let between = between.await;
    bench.type_in(&between, &"x".repeat(3_000)).await;
    bench.open_gate();
    bench.shows(&between, "lines").await;
    let next = bench.type_in(&between, &"x".repeat(3_000)).await;
    assert!(next.envelope.result().is_some(), "{}", next.receipt);
    bench.runtime.shutdown().await;
}

#[tokio::test]
async fn what_a_program_throws_away_of_what_was_typed_ahead_is_said_in_the_next_answer() {
    let bench = Bench::start();
    if !has_python() {
        return;
    }
    bench.gate();
    for text in ["secret", "hunter\n"] {
        let task = bench.task(ASKS, true).await;
        bench.type_in(&task, text).await;
        bench.open_gate();
        bench.shows(&task, "Password:").await;
        let lost = format!("thrown away by the program: {} bytes.", text.len());
        let status = bench.call("TaskStatus", json!({"task_id": task})).await;
        assert!(status.receipt.contains(&lost), "{}", status.receipt);
        let next = bench.type_in(&task, "right\n").await;
        assert!(next.receipt.contains(&lost), "{}", next.receipt);
        assert!(next.receipt.contains(&format!("Earlier input {lost}")), "{}", next.receipt);
        assert_eq!(result(&next)["task"]["lost_input"], json!({"bytes": text.len(), "cause": "thrown_away"}));
        let end = bench.call("TaskOutput", json!({"task_id": task})).await;
        let output = result(&end)["task"]["output_preview"].as_str().expect("output");
        assert!(output.trim_end().ends_with('5'), "{output:?}");
    }
    bench.runtime.shutdown().await;
}

#[tokio::test]
async fn a_program_that_has_read_what_was_typed_throws_nothing_away_nor_does_a_signal_character() {
    let bench = Bench::start();
    if !has_python() {
        return;
    }
    bench.gate();
    let asks = "exec python3 -c 'import getpass; input(\"name? \"); print(len(getpass.getpass()))'";
    let task = bench.task(asks, true).await;
    bench.shows(&task, "name?").await;
    bench.type_in(&task, "bob\n").await;
    bench.shows(&task, "Password:").await;
    let status = bench.call("TaskStatus", json!({"task_id": task})).await;
    assert!(result(&status)["task"].get("lost_input").is_none(), "{}", status.receipt);
    let shell = bench.task("trap 'echo caught' INT; while :; do read x < gate; done", true).await;
    bench.type_in(&shell, "typed\n").await;
    bench.call("TaskInput", json!({"task_id": shell, "keys": ["C-c"]})).await;
    bench.shows(&shell, "caught").await;
    let status = bench.call("TaskStatus", json!({"task_id": shell})).await;
    assert!(result(&status)["task"].get("lost_input").is_none(), "{}", status.receipt);
    bench.runtime.shutdown().await;
}

#[tokio::test]
async fn a_terminal_answers_a_program_that_prepares_to_read_and_nobody_else() {
    let bench = Bench::start();
    let log = bench.task(r"printf '\033[6n\033[c\033[>0q'; sleep 1.5; echo over; sleep 60", true).await;
    let asks = bench
        .task(
            r"printf '\033[6n'; sleep 0.1; stty raw -echo; dd bs=1 count=6 2>/dev/null | od -An -c; echo read; sleep 60",
            true,
        )
        .await;
    bench.shows(&asks, "read").await;
    bench.shows(&log, "over").await;
    let read = |task: String| {
        bench.call("TaskOutput", json!({"task_id": task, "block": false, "view": "transcript"}))
    };
    let (log, asks) = (read(log).await.receipt, read(asks).await.receipt);
    assert!(asks.contains("033   [   1   ;   1   R"), "{asks}");
    assert!(log.contains("over") && !log.contains('['), "{log}");
}

#[tokio::test]
async fn what_an_agent_types_at_a_hidden_prompt_is_in_no_file() {
    let bench = Bench::start();
    let ask = "stty -echo; printf 'Password: '; read x; echo got ${#x}; read y; echo and ${#y}; read z; exec sleep 300";
    let task = bench.task(ask, true).await;
    bench.shows(&task, "Password:").await;
    bench.type_in(&task, "correct-horse\n").await;
    bench.shows(&task, "got 13").await;
    let keys: Vec<String> = "correct-horse".chars().map(String::from).chain(["Enter".to_owned()]).collect();
    bench.call("TaskInput", json!({"task_id": task, "keys": keys})).await;
    bench.shows(&task, "and 13").await;
    bench.call("TaskInput", json!({"id": task, "chars": "correct-horse"})).await;
    bench.runtime.shutdown().await;
    let (mut folders, mut seen) = (vec![bench._dir.path().to_owned()], String::new());
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("a folder") {
            let entry = entry.expect("an entry");
            match entry.file_type().expect("a type") {
                kind if kind.is_dir() => folders.push(entry.path()),
                kind if kind.is_file() => {
                    let text =
                        String::from_utf8_lossy(&std::fs::read(entry.path()).expect("read")).into_owned();
                    // The command is no secret; it has no word of the password.
                    assert!(
                        !text.contains("correct-horse") && !text.contains(r#""c","o","r""#),
                        "{:?}",
                        entry.path()
                    );
                    seen.push_str(&text);
                }
                _ => {}
            }
        }
    }
    for length in [
        r#"{"bytes":14,"recorded":false}"#,
        r#"{"keys":14,"recorded":false}"#,
        r#"{"bytes":13,"recorded":false}"#,
    ] {
        assert!(seen.contains(length), "{length}");
    }
}

#[tokio::test]
async fn the_answer_says_what_a_command_waits_for_and_comes_early_when_nobody_else_will_answer() {
    let bench = Bench::start();
    let asks = json!({"cmd": "printf 'name? '; read x; echo hello $x; sleep 300", "shell": "/bin/sh", "login": false,
        "tty": true, "yield_time_ms": 30_000});
    // The shell reads its terminal until it gets a line: the call would take 30 s.
    let answer = bench.call("ExecCommand", asks).await;
    let result = result(&answer);
    assert_eq!(
        (&result["waiting"]["kind"], &result["waiting"]["question"]),
        (&json!("line"), &json!("name?"))
    );
    assert!(result["waiting"]["for_ms"].as_u64().is_some_and(|ms| ms < 20_000), "{}", answer.receipt);
    assert!(answer.receipt.contains(" (reading the terminal): `name?`."), "{}", answer.receipt);
    let task = result["task_handle"]["task_id"].as_str().expect("an id").to_owned();
    let read = bench.call("TaskOutput", json!({"task_id": task, "timeout_ms": 45_000})).await;
    assert_eq!(self::result(&read)["retrieval_status"], "not_ready", "{}", read.receipt);
    // Whoever knows that it waits, waits for what comes of it.
    let again = bench.call("TaskOutput", json!({"task_id": task, "timeout_ms": 300})).await;
    assert_eq!(self::result(&again)["retrieval_status"], "timeout", "{}", again.receipt);
    // CR LF ends one line, and keys follow the text.
    let typed = json!({"task_id": task, "input": "bo", "keys": ["b", "Enter"]});
    bench.call("TaskInput", typed).await;
    bench.shows(&task, "hello bob").await;
    let two = bench.task("read x; read y; echo \"<$x><$y>\"; sleep 300", true).await;
    bench.type_in(&two, "one\r\n").await;
    bench.type_in(&two, "two\r\n").await;
    bench.shows(&two, "<one><two>").await;

    let hidden = bench.task("stty -echo; printf 'Password: '; read x; sleep 300", true).await;
    let read = bench.call("TaskOutput", json!({"task_id": hidden, "timeout_ms": 45_000})).await;
    assert!(read.receipt.contains(": `Password:`. The operator types it."), "{}", read.receipt);
    assert!(!read.receipt.contains("TaskInput"), "{}", read.receipt);
    assert!(read.receipt.contains("no console is open to answer it"), "{}", read.receipt);
    bench.runtime.shutdown().await;
}
