//! Masking in a real runtime: reports about a command hide its secrets, while what runs and what it prints is
//! unchanged.

use pilothouse::envelope::Actor;
use pilothouse::model::Decision;
use pilothouse::runtime::Handle;
use pilothouse::tools::{CallAnswer, Caller, call};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use serde_json::{Value, json};

use crate::support::{must_be_an_envelope, start_runtime};

const SECRET: &str = "hunter2-a1b2c3";

struct Bench {
    runtime: Handle,
    caller: Caller,
    _dir: tempfile::TempDir,
}

impl Bench {
    fn start() -> Self {
        let dir = tempfile::tempdir().expect("temp dir");
        let (runtime, cwd) = start_runtime(dir.path());
        Self { runtime, caller: Caller::new(Actor::Agent("claude".into()), cwd), _dir: dir }
    }

    async fn call(&self, tool: &str, input: Value) -> CallAnswer {
        let answer = call(&self.runtime, &self.caller, tool, input).await;
        must_be_an_envelope(&answer.envelope.to_value());
        answer
    }

    async fn exec(&self, cmd: &str, yield_time_ms: u64) -> CallAnswer {
        let input = json!({"cmd": cmd, "shell": "/bin/sh", "login": false, "yield_time_ms": yield_time_ms});
        self.call("ExecCommand", input).await
    }

    fn result(answer: &CallAnswer) -> &Value {
        answer.envelope.result().unwrap_or_else(|| panic!("failed: {}", answer.receipt))
    }

    /// Everything in the recording's files, once all of it is on disk.
    async fn recorded(self) -> String {
        let recording = self.runtime.snapshot().borrow().recording.clone();
        self.runtime.shutdown().await;
        let files = std::fs::read_dir(recording).expect("a recording").flatten();
        let files = files.filter(|file| file.path().is_file());
        files
            .map(|file| String::from_utf8_lossy(&std::fs::read(file.path()).expect("readable")).into_owned())
            .collect()
    }
}

#[tokio::test]
async fn a_secret_runs_and_is_told_nowhere() {
    let bench = Bench::start();
    // The command proves that it has the secret by printing only its length.
    let cmd = format!(
        "export API_TOKEN={SECRET}; set -- --password '{SECRET}'; printf '%s.%s' ${{#API_TOKEN}} ${{#2}}"
    );
    let answer = bench.exec(&cmd, 30_000).await;
    assert_eq!(Bench::result(&answer)["stdout_preview"], format!("{0}.{0}", SECRET.len()));

    let waiting = bench.exec(&format!("TOKEN={SECRET}; sleep 100"), 0).await;
    let id = Bench::result(&waiting)["task_handle"]["task_id"].clone();
    let status = bench.call("TaskStatus", json!({ "task_id": id })).await;
    let told = "TOKEN=[masked]; sleep 100";
    assert_eq!(Bench::result(&status)["task"]["command"]["cmd"], told);
    assert!(status.receipt.contains(told), "{}", status.receipt);
    let list = bench.call("TaskList", json!({})).await;
    assert_eq!(Bench::result(&list)["tasks"][0]["cmd"], told);
    let asked = bench.runtime.call(waiting.seq).await.expect("on record");
    assert_eq!(asked.input["cmd"], told);
    // The task itself keeps the original command: the operator may run it again.
    let id = id.as_str().expect("an id").parse().expect("an id");
    assert_eq!(bench.runtime.task(&id).expect("the task").cmd, format!("TOKEN={SECRET}; sleep 100"));
    let typed = json!({ "task_id": id, "input": format!("export API_TOKEN={SECRET}\n") });
    let typed = bench.call("TaskInput", typed).await;
    let asked = bench.runtime.call(typed.seq).await.expect("on record");
    assert_eq!(asked.input["input"], "export API_TOKEN=[masked]\n");
    bench.call("TaskStop", json!({ "task_id": id, "force": true })).await;

    let recorded = bench.recorded().await;
    assert!(
        recorded.contains("API_TOKEN=[masked]") && recorded.contains("--password [masked]"),
        "{recorded}"
    );
    assert!(!recorded.contains(SECRET), "{recorded}");
}

#[tokio::test]
async fn secrets_in_names_and_notes_of_a_person_are_masked() {
    let bench = Bench::start();
    bench.runtime.pause(true, None).await;
    let held = bench.exec("true", 250).await;
    let id = Bench::result(&held)["task_handle"]["task_id"].as_str().expect("an id").parse().expect("an id");
    bench.runtime.rename(&id, Some(format!("deploy --token {SECRET}"))).await;
    let mut snapshots = bench.runtime.snapshot();
    let named = |name: &str| name == "deploy --token [masked]";
    let is_named = snapshots.wait_for(|snapshot| {
        snapshot.tasks.iter().any(|task| task.name.as_deref().is_some_and(named))
            && !snapshot.gate.held.is_empty()
    });
    let held = is_named.await.expect("lives").gate.held[0].clone();
    let note = format!("say PASSWORD={SECRET} differently");
    bench.runtime.decide(held.shown_call(None), Decision::Deny { note }, None).await.expect("decided");
    let denied = bench.call("TaskOutput", json!({ "task_id": id })).await;
    assert!(denied.receipt.contains("PASSWORD=[masked] differently"), "{}", denied.receipt);
    let recorded = bench.recorded().await;
    assert!(recorded.contains("deploy --token [masked]") && !recorded.contains(SECRET), "{recorded}");
}

/// The commands of `src/envelope/mask/tests/properties.rs`, on their way through a runtime: none of them is executed.
#[tokio::test]
async fn no_kind_of_command_shows_its_secret_in_a_record_a_receipt_or_a_snapshot() {
    let bench = Bench::start();
    let kinds = include_str!("../corpus/commands_with_secrets.jsonl").lines();
    let kinds: Vec<String> = kinds.map(|line| serde_json::from_str(line).expect("a string")).collect();
    assert!(kinds.len() >= 60, "{}", kinds.len());
    let mut told = String::new();
    for kinds in kinds.chunks(12) {
        let cmd = |kind: &String| format!("exit 0; {}", kind.replace('@', SECRET).replace('%', "@"));
        let items: Vec<_> = kinds.iter().map(|kind| json!({"cmd": cmd(kind), "shell": "bash"})).collect();
        let batch = bench.call("ExecCommandBatch", json!({ "items": items })).await;
        assert_eq!(Bench::result(&batch)["completed_count"], json!(kinds.len()), "{}", batch.receipt);
        let single = bench.call("ExecCommand", json!({"cmd": cmd(&kinds[0]), "shell": "bash"})).await;
        for answer in [batch, single] {
            told.push_str(&answer.receipt);
            told.push_str(&answer.envelope.to_value().to_string());
        }
    }
    let listed = bench.call("TaskList", json!({"scope": "all"})).await;
    let snapshot = serde_json::to_string(&bench.runtime.snapshot().borrow().tasks).expect("JSON");
    for text in
        [told, listed.receipt.to_string(), listed.envelope.to_value().to_string(), bench.recorded().await]
    {
        assert!(text.contains("[masked]") && !text.contains(SECRET), "{text}");
    }
    // A console has the commands themselves, to run them again, and masks what it draws.
    assert!(snapshot.contains(SECRET));
}

#[test]
fn masking_leaves_execution_and_output_untouched() {
    let tokio = tokio::runtime::Runtime::new().expect("a runtime");
    let bench = tokio.block_on(async { Bench::start() });
    let mut runner = TestRunner::new(Config { cases: 24, failure_persistence: None, ..Config::default() });
    let part = prop_oneof![
        Just("API_TOKEN="),
        Just("--password "),
        Just("https://me:pw@host/"),
        Just("Authorization: "),
        Just("9fceb02d0ae598e95dc970b74767f19372d61af8"),
        Just("secret"),
        Just(" "),
        Just("\n"),
        Just("a=b"),
    ];
    let text = prop::collection::vec(part, 1..12).prop_map(|parts| format!("x{}x", parts.concat()));
    let outcome = runner.run(&text, |text| {
        let answer = tokio.block_on(bench.exec(&format!("printf '%s' '{text}'"), 30_000));
        prop_assert_eq!(&Bench::result(&answer)["stdout_preview"], &json!(text));
        prop_assert_eq!(&answer.receipt, &format!("Process exited with code 0\n\nstdout:\n{text}"));
        Ok(())
    });
    tokio.block_on(bench.runtime.shutdown());
    outcome.expect("holds");
}
