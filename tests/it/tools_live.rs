//! The tools against real processes: what a caller gets for what really happens.

use std::path::PathBuf;

use pilothouse::envelope::Actor;
use pilothouse::runtime::Handle;
use pilothouse::tools::{CallAnswer, Caller, Room, call};
use serde_json::{Value, json};

use crate::support::{must_be_an_envelope, start_runtime};

/// A runtime in a throw-away workspace, and two agents that use it.
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

    fn caller(&self, actor: Actor) -> Caller {
        Caller::new(actor, self.workspace.clone())
    }

    async fn call(&self, tool: &str, input: Value) -> CallAnswer {
        self.call_as("claude", tool, input).await
    }

    async fn call_as(&self, agent: &str, tool: &str, input: Value) -> CallAnswer {
        let answer = call(&self.runtime, &self.caller(Actor::Agent(agent.into())), tool, input).await;
        must_be_an_envelope(&answer.envelope.to_value());
        answer
    }

    /// Runs a command with /bin/sh, without a profile; `more` overrides fields.
    async fn exec(&self, cmd: &str, more: Value) -> CallAnswer {
        let mut input = json!({"cmd": cmd, "shell": "/bin/sh", "login": false});
        for (name, value) in more.as_object().expect("fields") {
            input[name] = value.clone();
        }
        self.call("ExecCommand", input).await
    }

    /// Starts a command as a task; returns its id.
    async fn task(&self, cmd: &str, mut more: Value) -> String {
        more["yield_time_ms"] = json!(0);
        let answer = self.exec(cmd, more).await;
        let handle = &result(&answer)["task_handle"];
        handle["task_id"].as_str().unwrap_or_else(|| panic!("not promoted: {answer:?}")).to_owned()
    }
}

fn result(answer: &CallAnswer) -> &Value {
    answer.envelope.result().unwrap_or_else(|| panic!("failed: {}", answer.receipt))
}

fn error(answer: &CallAnswer) -> Value {
    let value = answer.envelope.to_value();
    assert_eq!(value["status"], "error", "{value}");
    value["error"].clone()
}

#[tokio::test]
async fn a_short_command_comes_back_complete() {
    let bench = Bench::start();
    let answer = bench.exec("printf shell", json!({})).await;
    assert_eq!(answer.receipt, "Process exited with code 0\n\nstdout:\nshell");
    let result = result(&answer);
    assert_eq!((&result["exit_status"], &result["stderr_preview"]), (&json!(0), &Value::Null));
    let recorded = bench.runtime.call(answer.seq).await.expect("on record");
    assert_eq!(recorded.receipt, Some(answer.receipt.into()));
}

#[tokio::test]
async fn both_streams_are_cut_to_one_budget_and_filed_exactly() {
    let bench = Bench::start();
    let (out, err) = ("o".repeat(120), "e".repeat(120));
    let answer = bench
        .exec(&format!("printf {out}; printf {err} >&2; exit 7"), json!({"max_output_tokens": 50}))
        .await;
    let result = result(&answer);
    assert_eq!((&result["exit_status"], &result["truncated"]), (&json!(7), &json!(true)));
    for (name, whole) in [("stdout", out), ("stderr", err)] {
        assert_eq!(result[format!("{name}_preview")], format!("{}[…]", &whole[..97]));
        let place = result[format!("{name}_artifact")].as_u64().expect("an index");
        let place = usize::try_from(place).expect("small");
        let path = result["artifacts"][place]["path"].as_str().expect("a path");
        assert_eq!(std::fs::read_to_string(path).expect("artifact"), whole);
    }
}

#[tokio::test]
async fn a_tasks_cut_output_is_in_its_file_to_the_byte() {
    let bench = Bench::start();
    let id = bench.task("head -c 9000 /dev/zero | tr '\\0' x", json!({})).await;
    let answer = bench.call("TaskOutput", json!({"task_id": id, "max_output_tokens": 500})).await;
    let task = &result(&answer)["task"];
    assert_eq!((&task["output_truncated"], &task["output_artifact"]), (&json!(true), &json!(0)));
    assert!(
        task["output_preview"].as_str().expect("a preview").contains("[output truncated: showing first ")
    );
    let path = task["artifacts"][0]["path"].as_str().expect("a path");
    assert_eq!(std::fs::read(path).expect("the file"), [b'x'; 9000]);
}

#[tokio::test]
async fn the_reasons_why_a_command_cannot_start_are_told_apart_and_nothing_starts() {
    let bench = Bench::start();
    let cases = [
        (json!({"workdir": "../outside"}), "execution_root_violation", "workdir"),
        (json!({"workdir": "missing"}), "workdir_not_found", "workdir"),
        (json!({"shell": "/definitely/not/a/real/shell"}), "command_spawn_failed", "shell"),
    ];
    for (more, kind, detail) in cases {
        let answer = bench.exec("touch ran", more.clone()).await;
        let error = error(&answer);
        assert_eq!((&error["kind"], &error["details"][detail]), (&json!(kind), &more[detail]), "{error}");
    }
    assert!(!bench.workspace.join("ran").exists());
}

#[tokio::test]
async fn a_long_command_becomes_a_task_and_is_not_started_again() {
    let bench = Bench::start();
    let cmd = "echo once >> starts; printf start; read line < gate; printf done";
    std::process::Command::new("mkfifo").arg(bench.workspace.join("gate")).status().expect("mkfifo");
    // Long enough for a shell to start and print on a busy machine.
    let answer = bench.exec(cmd, json!({"yield_time_ms": 5_000})).await;
    assert_eq!(result(&answer)["initial_output_preview"], "start");
    let id = result(&answer)["task_handle"]["task_id"].as_str().expect("an id").to_owned();

    std::fs::write(bench.workspace.join("gate"), "go\n").expect("open the gate");
    let answer = bench.call("TaskOutput", json!({"task_id": id})).await;
    let task = &result(&answer)["task"];
    assert_eq!((&task["status"], &task["output_preview"]), (&json!("completed"), &json!("startdone")));
    assert_eq!(std::fs::read_to_string(bench.workspace.join("starts")).expect("starts"), "once\n");
}

#[tokio::test]
async fn reading_a_running_task_waits_or_not_and_leaves_it_alone() {
    let bench = Bench::start();
    let id = bench.task("sleep 30", json!({})).await;
    for (input, status) in [
        (json!({"task_id": id, "block": false}), "not_ready"),
        (json!({"task_id": id, "timeout_ms": 50}), "timeout"),
    ] {
        let answer = bench.call("TaskOutput", input).await;
        assert_eq!(result(&answer)["retrieval_status"], status);
        assert_eq!(result(&answer)["task"]["status"], "running");
    }
}

#[tokio::test]
async fn a_cursor_reads_on_from_where_the_last_answer_ended() {
    let bench = Bench::start();
    let id = bench.task("echo one; read line; echo two; read line", json!({"accepts_input": true})).await;
    let first = bench.call("TaskOutput", json!({"task_id": id, "since": "c0"})).await;
    assert_eq!(result(&first)["task"]["output_preview"], "one\n");
    let cursor = result(&first)["task"]["next_cursor"].clone();

    let nothing = bench.call("TaskOutput", json!({"task_id": id, "since": cursor, "block": false})).await;
    assert_eq!(result(&nothing)["retrieval_status"], "not_ready");
    bench.call("TaskInput", json!({"task_id": id, "input": "\n"})).await;
    let second = bench.call("TaskOutput", json!({"task_id": id, "since": cursor})).await;
    assert_eq!(result(&second)["retrieval_status"], "success");
    assert_eq!(result(&second)["task"]["output_preview"], "two\n");

    let beyond = bench.call("TaskOutput", json!({"task_id": id, "since": "cffff"})).await;
    assert_eq!(error(&beyond)["details"]["field"], "since");
}

#[tokio::test]
async fn input_reaches_the_program_by_pipe_and_by_terminal() {
    let bench = Bench::start();
    for (more, target) in [(json!({"accepts_input": true}), "stdin"), (json!({"tty": true}), "tty")] {
        let id = bench.task("read line; printf heard:%s \"$line\"", more).await;
        let answer = bench
            .call("TaskInput", json!({"task_id": id, "input": "hello\n", "yield_time_ms": 20_000}))
            .await;
        let result = result(&answer);
        assert_eq!((&result["accepted_input"], &result["bytes_written"]), (&json!(true), &json!(6)));
        assert_eq!(result["input_target"], target);
        let whole = bench.call("TaskOutput", json!({"task_id": id})).await;
        assert!(whole.receipt.contains("heard:hello"), "{}", whole.receipt);
    }
}

#[tokio::test]
async fn input_to_a_finished_task_is_refused_and_no_error() {
    let bench = Bench::start();
    let id = bench.task("true", json!({"accepts_input": true})).await;
    bench.call("TaskOutput", json!({"task_id": id})).await;
    let answer = bench.call("TaskInput", json!({"task_id": id, "input": "x"})).await;
    let result = result(&answer);
    assert_eq!((&result["accepted_input"], &result["bytes_written"]), (&json!(false), &json!(0)));
    assert_eq!(result["rejection"]["reason"], "task_not_running");
    assert_eq!(result["task"]["status"], "completed");
}

#[tokio::test]
async fn a_stop_ends_the_task_and_later_answers_say_who_asked() {
    let bench = Bench::start();
    let id = bench.task("printf partial; trap '' TERM; sleep 30", json!({})).await;
    bench.call("TaskOutput", json!({"task_id": id, "since": "c0"})).await;
    let operator = bench.caller(Actor::Operator);
    let stop = call(&bench.runtime, &operator, "TaskStop", json!({"task_id": id, "force": true})).await;
    assert!(stop.receipt.contains("stopped by operator"), "{}", stop.receipt);

    let answer = bench.call("TaskOutput", json!({"task_id": id})).await;
    let task = &result(&answer)["task"];
    assert_eq!((&task["status"], &task["stopped_by"]), (&json!("cancelled"), &json!("operator")));
    assert_eq!(task["output_preview"], "partial");
    assert!(answer.receipt.contains("stopped by operator"), "{}", answer.receipt);
    let again = bench.call("TaskStop", json!({"task_id": id})).await;
    assert_eq!(result(&again)["effect"], "noop");
}

#[tokio::test]
async fn an_agent_reads_any_task_and_drives_only_its_own() {
    let bench = Bench::start();
    let id = bench.task("sleep 30", json!({"accepts_input": true})).await;
    let status = bench.call_as("codex", "TaskStatus", json!({"task_id": id})).await;
    assert_eq!(result(&status)["task"]["started_by"], "agent:claude");
    for (tool, input) in
        [("TaskInput", json!({"task_id": id, "input": "x"})), ("TaskStop", json!({"task_id": id}))]
    {
        let answer = bench.call_as("codex", tool, input).await;
        assert_eq!(error(&answer)["kind"], "not_task_owner");
    }
    let list = bench.call_as("codex", "TaskList", json!({})).await;
    assert_eq!(result(&list)["total"], 0);
    let list = bench.call("TaskList", json!({})).await;
    assert_eq!(result(&list)["tasks"][0]["task_id"], id.as_str());
}

#[tokio::test]
async fn an_unknown_id_or_tool_is_an_error_that_names_it() {
    let bench = Bench::start();
    for tool in ["TaskStatus", "TaskOutput", "TaskInput", "TaskStop"] {
        for id in ["task_00000000", "bash_1"] {
            let mut input = json!({"task_id": id});
            if tool == "TaskInput" {
                input["input"] = json!("x");
            }
            let error = error(&bench.call(tool, input).await);
            assert_eq!(
                (&error["kind"], &error["details"]["task_id"]),
                (&json!("task_not_found"), &json!(id))
            );
        }
    }
    let error = error(&bench.call("TaskStpo", json!({})).await);
    assert_eq!(
        (&error["kind"], &error["recovery_hint"]),
        (&json!("unknown_tool"), &json!("did you mean TaskStop?"))
    );
}

#[tokio::test]
async fn a_call_that_is_dropped_takes_its_command_with_it() {
    let bench = Bench::start();
    let caller = bench.caller(Actor::Agent("claude".into()));
    let input = json!({"cmd": "touch started; sleep 30", "shell": "/bin/sh", "login": false});
    let mut pending = Box::pin(call(&bench.runtime, &caller, "ExecCommand", input));
    let mut snapshot = bench.runtime.snapshot();
    tokio::select! {
        answer = &mut pending => panic!("it ended: {answer:?}"),
        seen = snapshot.wait_for(|now| now.tasks.iter().any(|task| task.started_at.is_some())) => {
            seen.expect("the runtime lives");
        }
    }
    drop(pending);
    let ended = snapshot.wait_for(|now| now.tasks.iter().all(|task| task.status.is_terminal()));
    tokio::time::timeout(crate::support::PATIENCE, ended).await.expect("it ends").expect("the runtime lives");
    let abandoned = snapshot
        .wait_for(|now| now.calls.first().is_some_and(|call| call.status.as_deref() == Some("abandoned")));
    let seen = tokio::time::timeout(crate::support::PATIENCE, abandoned).await.expect("it is on record");
    assert!(seen.is_ok());
}

#[tokio::test]
async fn a_receipt_never_shows_a_process_id() {
    let bench = Bench::start();
    let id = bench.task("sleep 30", json!({})).await;
    let task = bench.runtime.task(&id.parse().expect("an id")).expect("a task");
    let pid = task.pid.expect("a pid").to_string();
    for tool in ["TaskStatus", "TaskStop"] {
        let answer = bench.call(tool, json!({"task_id": id})).await;
        let words = answer.receipt.split(|c: char| !c.is_ascii_alphanumeric()).any(|word| word == pid);
        assert!(!words, "{}", answer.receipt);
        assert!(!answer.envelope.to_value().to_string().contains("\"pid\""));
    }
}

#[tokio::test]
async fn a_receipt_stays_within_the_line_and_byte_limits_of_its_client() {
    let bench = Bench::start();
    let room = Room { chars: 40_000, bytes: 48_000, lines: 1_900 };
    let caller = Caller { room, ..bench.caller(Actor::Agent("opencode".into())) };
    let fits = |answer: &CallAnswer| {
        let taken = Room::of(&answer.receipt);
        assert!(
            taken.lines <= room.lines && taken.bytes <= room.bytes && taken.chars <= room.chars,
            "{taken:?}"
        );
        assert!(taken.lines > 1_000 || taken.bytes > 40_000, "room is wasted: {taken:?}");
    };
    for cmd in ["seq 30000", "seq 30000; seq 30000 >&2", "yes ää | head -c 300000", "yes | head -n 90000"] {
        let input = json!({"cmd": cmd, "shell": "/bin/sh", "login": false, "max_output_tokens": 64_000,
            "yield_time_ms": 30_000});
        let answer = call(&bench.runtime, &caller, "ExecCommand", input).await;
        fits(&answer);
        assert_eq!(result(&answer)["truncated"], true, "{cmd}");
        assert!(answer.receipt.starts_with("Process exited with code 0"), "{}", answer.receipt);
    }
    let items: Vec<_> =
        (1..=12).map(|_| json!({"cmd": "seq 3000", "shell": "/bin/sh", "login": false})).collect();
    let answer = call(&bench.runtime, &caller, "ExecCommandBatch", json!({"items": items})).await;
    fits(&answer);
    assert_eq!(answer.receipt.matches("exit=0").count(), 12);
    let items = result(&answer)["items"].as_array().expect("items").clone();
    assert!(items.iter().all(|item| item["truncated"] == true), "{items:?}");
}

#[tokio::test]
async fn output_that_is_no_text_is_said_to_be_and_none_of_it_vanishes() {
    let bench = Bench::start();
    let stdout = async |cmd: &str| result(&bench.exec(cmd, json!({})).await)["stdout_preview"].clone();
    assert_eq!(stdout(r"printf 'a\0b'").await, "a␀b");
    let binary = stdout("head -c 3000 /dev/urandom").await;
    assert!(binary.as_str().is_some_and(|text| text.starts_with("[binary output: ")), "{binary}");
    let drawn = stdout("printf '%1920sEvery 1.0s: date%40s\r' '' ''").await;
    assert_eq!(drawn, format!("[1,920 blanks]Every 1.0s: date{}", " ".repeat(40)));
    bench.runtime.shutdown().await;
}
