//! The record of a runtime that died: nothing acknowledged is lost, every task has an end, and nothing keeps running.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;

use pilothouse::clock::Clock;
use pilothouse::envelope::{Actor, Envelope};
use pilothouse::journal::{
    self, Durability, Journal, JournalItem, JournalReader, META_VERSION, RecordingMeta,
};
use pilothouse::model::{TaskFact, TaskStatus, TaskView};
use pilothouse::runtime::past::{self, ListedRecording, Recording};
use pilothouse::tools::{self, Caller};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::support::{Agent, Answer, Console, Family, Home, Tag, program, start_runtime, state, wait_until};

fn signal(pid: u32, signal: Signal) {
    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw).expect("a pid");
    kill_process(pid, signal).expect("sent");
}

/// Stops a process, and waits until none of its threads runs any more.
fn stop(pid: u32) {
    signal(pid, Signal::STOP);
    let threads = || std::fs::read_dir(format!("/proc/{pid}/task")).expect("a process").flatten();
    let is_stopped = |thread: std::fs::DirEntry| {
        let stat = std::fs::read_to_string(thread.path().join("stat")).unwrap_or_default();
        stat.rsplit_once(") ").is_some_and(|(_, rest)| rest.starts_with('T'))
    };
    wait_until("all of it is stopped", || threads().all(is_stopped));
}

fn recordings(home: &Home) -> Vec<ListedRecording> {
    past::list(&home.places().recordings(), Some(&home.places().workspace))
}

/// Kills a runtime that this test has started, with SIGKILL.
fn kill(mut serve: Child) {
    signal(Family::of(serve.id()).program, Signal::KILL);
    serve.wait().expect("gone");
}

/// Calls a tool; retries while the shim has not yet noticed that its runtime is gone.
fn call_next(agent: &Agent, tool: &'static str, input: &Value) -> Answer {
    let mut answer = agent.call(tool, input);
    wait_until("another runtime answers", || {
        let gone = answer.envelope["error"]["kind"] == "runtime_shutting_down";
        if gone {
            answer = agent.call(tool, input);
        }
        !gone
    });
    answer
}

fn rows(recording: &Path, kind: &str) -> Vec<Value> {
    let records = JournalReader::open(recording).expect("opens").filter_map(|item| match item {
        JournalItem::Record(record) if record.header.kind == kind => Some(record),
        _ => None,
    });
    records.map(|record| record.data(recording).expect("data")).collect()
}

/// The invariants of every recording whose runtime is gone.
fn holds(recording: &Recording) {
    let report = journal::verify(&recording.folder).expect("verifies");
    // I2 and I5: the chain, and the files it names.
    assert!(report.is_whole() && report.closed && !report.live, "{report:?}");
    for task in &recording.tasks {
        let TaskView { id, status, .. } = &**task.view();
        // I4: no start without an end. I3: one end.
        assert!(status.is_terminal(), "{id} is {status:?}");
        let ends = recording
            .events
            .iter()
            .filter(|row| row.task == *id && matches!(row.event.fact, TaskFact::End { .. }))
            .count();
        assert_eq!(ends, 1, "{id}");
    }
    // I6: a receipt is derived from its envelope alone.
    for call in recording.calls.values().filter(|call| call.record.receipt.is_some()) {
        let envelope: Envelope =
            serde_json::from_value(call.record.envelope.clone().expect("an envelope")).expect("reads");
        assert_eq!(call.record.receipt.as_deref(), Some(tools::render(&envelope).as_str()));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_is_on_record_before_anybody_gets_it() {
    let dir = tempfile::tempdir().expect("temp dir");
    let (runtime, workspace) = start_runtime(dir.path());
    let recording = runtime.snapshot().borrow().recording.clone();
    let caller = Caller::new(Actor::Cli, workspace);
    for told in 1..=50 {
        tools::call(&runtime, &caller, "TaskList", json!({})).await;
        assert_eq!(rows(&recording, "answer").len(), told);
    }
    runtime.shutdown().await;
}

#[test]
fn a_killed_runtimes_tasks_are_interrupted_and_that_is_said_once() {
    let home = Home::new();
    let (serve, tag) = (home.serve(), Tag::new());
    let agent = Agent::connect(&home, &[]);
    let mut answered = 0;
    let mut call = |tool, input: Value| {
        answered += 1;
        agent.call(tool, &input)
    };
    let command = format!("echo it-runs; exec sleep {}", tag.0);
    let tasks: Vec<String> = (0..4)
        .map(|_| call("ExecCommand", json!({"cmd": command, "tty": true, "yield_time_ms": 0})).task())
        .collect();
    let done = call("ExecCommand", json!({"cmd": "echo done", "yield_time_ms": 20_000}));
    assert_eq!(done.result("/disposition"), "completed");
    for task in &tasks {
        // What the runtime has not read when it dies is lost.
        call("TaskOutput", json!({"task_id": task, "since": "c0", "timeout_ms": 20_000}));
    }
    wait_until("all run", || tag.holders().len() == tasks.len());
    kill(serve);

    let status = call_next(&agent, "TaskStatus", &json!({"task_id": tasks[0]}));
    assert_eq!(status.result("/task/status"), "interrupted", "{}", status.envelope);
    assert_eq!(status.result("/task/error/kind"), "runtime_restarted", "{}", status.envelope);
    assert!(status.receipt.contains("the runtime that ran it had died"), "{}", status.receipt);
    assert_eq!(tag.holders(), Vec::<u32>::new());
    let input = agent.call("TaskInput", &json!({"task_id": tasks[1], "input": "x\n"}));
    assert_eq!(input.result("/accepted_input"), false);
    assert_eq!(input.result("/rejection/reason"), "task_not_running");
    let output = agent.call("TaskOutput", &json!({"task_id": tasks[2]}));
    assert_eq!(output.result("/retrieval_status"), "success");
    assert_eq!(output.result("/task/output_preview"), "it-runs\n");
    let stop = agent.call("TaskStop", &json!({"task_id": tasks[3]}));
    assert_eq!(
        (stop.result("/effect"), stop.result("/task/status")),
        (&json!("noop"), &json!("interrupted"))
    );

    let console = Console::open(&home, &[], (120, 40));
    console.shows("4 tasks were interrupted");
    drop(console);
    agent.leave();
    assert!(home.run(&["serve", "--stop"]).status.success());

    let all = recordings(&home);
    assert_eq!(all.len(), 2);
    let dead = past::read(&all[0].folder).expect("reads");
    holds(&dead);
    assert_eq!(dead.closed, Some(true));
    // I1: every answered call is recorded, including its answer.
    let told = dead.calls.values().filter(|call| call.record.receipt.is_some()).count();
    assert_eq!(told, answered);
    let recoveries = rows(&all[1].folder, "recovery");
    assert_eq!(recoveries.len(), 1);
    assert_eq!(recoveries[0]["tasks"].as_array().map(Vec::len), Some(tasks.len()), "{recoveries:?}");
    holds(&past::read(&all[1].folder).expect("reads"));

    // Only once: a third runtime has nothing to report.
    let console = Console::open(&home, &[], (120, 40));
    console.shows("no agent yet");
    assert!(!console.text().contains("interrupted"), "{}", console.text());
    assert!(recordings(&home).iter().all(|listed| rows(&listed.folder, "recovery").len() <= 1));
}

#[test]
fn a_command_that_had_ended_while_its_runtime_died_keeps_its_real_exit() {
    let home = Home::new();
    let (serve, tag) = (home.serve(), Tag::new());
    let go = home.fifo("go");
    let agent = Agent::connect(&home, &[]);
    let task = agent.task(&format!(": {}; read -r word < go; exit 7", tag.0));
    wait_until("the command runs", || !tag.holders().is_empty());
    let host = parent(tag.holders()[0]);
    stop(Family::of(serve.id()).program);
    std::fs::write(&go, "go\n").expect("told");
    // The stopped runtime hears of nothing.
    let folder = recordings(&home)[0].folder.join("tasks").join(&task);
    wait_until("the host has noted how its command ended", || folder.join("exit.json").exists());
    kill(serve);
    wait_until("the host has ended with its runtime", || matches!(state(host), None | Some('Z')));
    let status = call_next(&agent, "TaskStatus", &json!({"task_id": task}));
    assert_eq!(status.result("/task/status"), "failed", "{}", status.envelope);
    assert_eq!(status.result("/task/exit_status"), 7, "{}", status.envelope);
    agent.leave();
}

/// The parent of a process.
fn parent(pid: u32) -> u32 {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).expect("a process");
    let rest = stat.rsplit_once(')').expect("a name").1;
    rest.split_ascii_whitespace().nth(1).expect("a parent").parse().expect("a pid")
}

#[test]
fn a_process_that_outlives_runtime_and_host_is_ended_by_the_next_runtime() {
    let home = Home::new();
    let (mut serve, tag) = (home.serve(), Tag::new());
    let agent = Agent::connect(&home, &[]);
    // On pipes: when a terminal goes away, its processes get a hangup.
    let input = json!({"cmd": format!("exec sleep {}", tag.0), "yield_time_ms": 0});
    let task = agent.call("ExecCommand", &input).task();
    tag.asleep();
    let host = parent(tag.holders()[0]);
    // Stop the guards first: a stopped guard cleans nothing up.
    let Family { guards, program } = Family::of(serve.id());
    stop(program);
    guards.iter().for_each(|guard| stop(*guard));
    // First the host, which would end its command without a runtime; the guards last: the kernel lets a stopped program go
    // on when they end.
    signal(host, Signal::KILL);
    signal(program, Signal::KILL);
    guards.iter().rev().for_each(|guard| signal(*guard, Signal::KILL));
    serve.wait().expect("gone");
    assert_eq!(tag.holders().len(), 1, "nobody is left to end it");
    let status = call_next(&agent, "TaskStatus", &json!({"task_id": task}));
    assert_eq!(status.result("/task/status"), "interrupted", "{}", status.envelope);
    assert_eq!(tag.holders(), Vec::<u32>::new());
    agent.leave();
    let recoveries = rows(&recordings(&home)[1].folder, "recovery");
    assert_eq!(recoveries[0]["tasks"][0]["found"], json!(["sleep"]), "{recoveries:?}");
}

#[test]
fn an_orderly_end_interrupts_tasks_and_the_next_runtime_knows_it() {
    let home = Home::new();
    let (mut serve, tag) = (home.serve(), Tag::new());
    let agent = Agent::connect(&home, &[]);
    let task = agent.task(&format!("exec sleep {}", tag.0));
    home.stop(&mut serve);
    assert_eq!(tag.holders(), Vec::<u32>::new());
    let status = call_next(&agent, "TaskStatus", &json!({"task_id": task}));
    assert_eq!(status.result("/task/status"), "interrupted");
    let all = recordings(&home);
    let recording = past::read(&all[0].folder).expect("reads");
    holds(&recording);
    assert_eq!((recording.closed, recording.tasks[0].status), (Some(false), TaskStatus::Interrupted));
    assert!(rows(&all[1].folder, "recovery").is_empty());
    agent.leave();
}

/// Set in a process that writes until it is killed: the row size and the recording's folder.
const WRITER: &str = "PILOTHOUSE_TEST_WRITER";

#[test]
#[ignore = "the part of a process that the tests below kill"]
fn a_writer_appends_rows_until_it_is_killed() {
    let Ok(told) = std::env::var(WRITER) else { return };
    let (filling, folder) = told.split_once(':').expect("size and folder");
    let filling: usize = filling.parse().expect("a size");
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    runtime.block_on(async {
        let journal = new_journal(Path::new(folder));
        for n in 1_u64.. {
            let durability = if n % 50 == 0 { Durability::Synced } else { Durability::Written };
            let row = json!({"kind": "row", "data": {"n": n, "text": "x".repeat(filling)}});
            journal.append(&row, durability).await.expect("appends");
            eprintln!("acknowledged {n}");
        }
    });
}

fn new_journal(folder: &Path) -> Journal {
    let meta = RecordingMeta {
        version: META_VERSION,
        workspace: PathBuf::from("/w"),
        pid: std::process::id(),
        start: 0,
        boot_id: String::new(),
        started_at: jiff::Timestamp::UNIX_EPOCH,
        program: "test".into(),
    };
    Journal::create(folder, &meta, Clock::start(), Arc::default()).expect("a journal")
}

/// Kills a writer once it has acknowledged `after` rows, whatever it is doing then; returns how many were
/// acknowledged in total, and whether its last row was torn.
fn kill_a_writer(filling: usize, after: u64) -> (u64, bool) {
    let dir = tempfile::tempdir().expect("temp dir");
    let mut command = Command::new(std::env::current_exe().expect("this test"));
    command.args([
        "--ignored",
        "--exact",
        "record::a_writer_appends_rows_until_it_is_killed",
        "--nocapture",
        "--test-threads=1",
    ]);
    command.env(WRITER, format!("{filling}:{}", dir.path().display()));
    let mut writer = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("the writer starts");
    let mut acknowledged = 0;
    let mut words = BufReader::new(writer.stderr.take().expect("its words"));
    let mut line = String::new();
    while words.read_line(&mut line).is_ok_and(|read| read > 0) {
        // A line cut off by the kill has no line feed and acknowledges nothing.
        if let Some(n) = line.strip_suffix('\n').and_then(|line| line.strip_prefix("acknowledged ")) {
            acknowledged = n.parse().expect("a number");
            if acknowledged == after {
                writer.kill().expect("killed");
            }
        }
        line.clear();
    }
    writer.wait().expect("gone");
    assert!(acknowledged >= after, "the writer ended by itself after {acknowledged}");
    let (journal, repaired) = journal::repair(dir.path(), Clock::start()).expect("repairs");
    journal.close();
    let report = journal::verify(dir.path()).expect("verifies");
    assert!(report.is_whole(), "{report:?}");
    let said: Vec<u64> = rows(dir.path(), "row").iter().map(|row| row["n"].as_u64().expect("n")).collect();
    assert!(said.iter().copied().eq(1..=said.len() as u64), "a gap");
    assert!(said.len() as u64 >= acknowledged, "{acknowledged} were acknowledged, {} are there", said.len());
    (acknowledged, repaired.torn.is_some())
}

#[test]
fn f24_a_killed_writer_loses_nothing_it_has_acknowledged() {
    for filling in [500, 8_000, 64_000] {
        for after in [1, 37] {
            kill_a_writer(filling, after);
        }
    }
}

#[test]
#[ignore = "minutes; .ci/long runs it"]
fn long_f24_a_thousand_killed_writers_of_each_size_lose_nothing() {
    let rounds = std::env::var("PILOTHOUSE_ROUNDS").map_or(1_000, |rounds| rounds.parse().expect("a number"));
    for filling in [500, 8_000, 64_000] {
        let (mut rows, mut torn) = (0, 0);
        for round in 0..rounds {
            // A fixed spread over the first hundred rows; the scheduler adds the rest of the randomness.
            let (acknowledged, was_torn) = kill_a_writer(filling, 1 + round * 37 % 101);
            rows += acknowledged;
            torn += u64::from(was_torn);
        }
        eprintln!(
            "{filling} bytes: {rounds} kills, {rows} rows acknowledged, 0 lost, {torn} torn ends repaired, 0 unreadable"
        );
    }
}

#[test]
fn a_recording_that_is_over_opens_read_only_with_all_it_has() {
    let home = Home::new();
    let serve = home.serve();
    let agent = Agent::connect(&home, &[]);
    let lines = agent.call("ExecCommand", &json!({"cmd": "seq 1 400", "yield_time_ms": 20_000}));
    assert_eq!(lines.result("/exit_status"), 0);
    let task = agent.task("printf 'last words'; exec sleep 300");
    let seen = agent.call("TaskOutput", &json!({"task_id": task, "since": "c0", "timeout_ms": 20_000}));
    assert_eq!(seen.result("/task/output_preview"), "last words");
    agent.leave();
    kill(serve);

    // Nobody has recovered it, but it can still be shown as it ended.
    let name = recordings(&home)[0].name.clone();
    for asked in ["latest", &name, &name[..name.len() - 1]] {
        let console = Console::open(&home, &["open", asked], (120, 40));
        console.shows("READ-ONLY RECORDING");
        console.shows("last words");
        console.keys(b"s");
        console.shows("a recording is only looked at");
        console.keys(b"o");
        console.shows("a recording is only looked at");
    }
    let mut console = Console::open(&home, &["open", "latest"], (120, 40));
    console.shows("t02");
    console.keys(b"j");
    console.asks_until(b"\r", "\n399\n400\n");
    console.keys(b"g");
    console.shows("\n1\n2\n");
    console.keys(b"3");
    console.keys(b"jj");
    console.shows("Process exited with code 0");
    console.keys(b"4");
    console.shows("ExecCommand");
    console.keys(b"q");
    assert_eq!(console.exit(), 0);
    console.is_as_it_was();
    let refused = home.run(&["open", "nonesuch"]);
    assert!(!refused.status.success());
    assert!(String::from_utf8_lossy(&refused.stderr).contains("audit list"), "{refused:?}");
}

/// Runs the program and returns its JSON answer with its exit code.
fn answer(home: &Home, args: &[&str]) -> (Value, i32) {
    let output = home.run(args);
    let value: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{output:?}"));
    (value, output.status.code().expect("a code"))
}

#[test]
fn the_commands_read_the_record_of_a_dead_runtime_and_see_what_was_changed() {
    let home = Home::new();
    let serve = home.serve();
    let agent = Agent::connect(&home, &[]);
    let done = agent.call("ExecCommand", &json!({"cmd": "echo on record", "yield_time_ms": 20_000}));
    agent.leave();
    kill(serve);

    let (listed, _) = answer(&home, &["audit", "list"]);
    assert_eq!(listed["data"]["recordings"][0]["state"], "unfinished", "{listed}");
    let (receipts, _) = answer(&home, &["receipt", "list"]);
    assert_eq!(receipts["data"]["receipts"][0]["summary"], "command exited with code 0", "{receipts}");
    let id = receipts["data"]["receipts"][0]["id"].as_str().expect("an id");
    let (shown, _) = answer(&home, &["receipt", "show", id]);
    assert_eq!(shown["data"]["receipt"], done.receipt);
    assert_eq!(shown["data"]["envelope"], done.envelope);
    assert_eq!(shown["data"]["actor"], "agent:rmcp");
    let (rows, _) = answer(&home, &["audit", "show", "latest"]);
    let kinds: Vec<&str> = rows["data"]["rows"]
        .as_array()
        .expect("rows")
        .iter()
        .filter_map(|row| row["kind"].as_str())
        .collect();
    assert!(
        kinds.starts_with(&["recording"]) && kinds.contains(&"start") && kinds.contains(&"answer"),
        "{rows}"
    );
    let (exported, _) = answer(&home, &["audit", "export", "latest", "--output", "json"]);
    assert_eq!(exported["data"]["rows"].as_array().map(Vec::len), Some(kinds.len()));
    let lines = home.run(&["audit", "export", "latest"]).stdout;
    let lines: Vec<Value> = lines
        .split_inclusive(|byte| *byte == b'\n')
        .map(|row| serde_json::from_slice(row).expect("a row"))
        .collect();
    assert_eq!(exported["data"]["rows"].as_array(), Some(&lines));
    let (verified, code) = answer(&home, &["audit", "verify", "latest"]);
    assert_eq!((&verified["data"]["whole"], code), (&json!(true), 0), "{verified}");

    let segment = recordings(&home)[0].folder.join("journal-0001.jsonl");
    let text = std::fs::read_to_string(&segment).expect("text");
    std::fs::write(&segment, text.replacen("on record", "0n record", 1)).expect("changed");
    let (verified, code) = answer(&home, &["audit", "verify", "latest"]);
    assert_eq!((&verified["error"]["code"], code), (&json!("RECORD_DAMAGED"), 1), "{verified}");
    let said = home.run(&["audit", "verify", "latest", "--output", "plain"]);
    let said = String::from_utf8_lossy(&said.stdout).into_owned();
    assert!(said.starts_with("The recording has been altered.\n"), "{said}");
    let seq = 1 + text.lines().position(|line| line.contains("on record")).expect("the row");
    assert_eq!(verified["data"]["problems"][0]["first"], seq, "{verified}");
}

#[test]
fn f20_while_the_record_cannot_be_written_no_command_starts_and_what_runs_can_be_ended() {
    let home = Home::new();
    // A file that would grow beyond this many blocks gets a write error, as on a full disk.
    let mut limited = Command::new("sh");
    limited.args(["-c", "trap '' XFSZ; ulimit -f 60; exec \"$0\" serve"]).arg(program());
    home.settle(&mut limited);
    let mut serve = limited.stderr(Stdio::null()).spawn().expect("serve starts");
    let socket = home.places().operator_socket();
    wait_until("the runtime listens", || std::os::unix::net::UnixStream::connect(&socket).is_ok());
    let agent = Agent::connect(&home, &[]);
    let tag = Tag::new();
    let task = agent.task(&format!("echo it-runs; exec sleep {}", tag.0));
    let console = Console::open(&home, &[], (120, 40));
    console.shows("it-runs");
    let mut refused = None;
    wait_until("a command is refused", || {
        let input = json!({"cmd": "true", "login": false, "yield_time_ms": 20_000});
        let answer = agent.call("ExecCommand", &input);
        refused = (answer.envelope["status"] == "error").then_some(answer);
        refused.is_some()
    });
    let refused = refused.expect("an answer");
    // A short write is treated as a full disk.
    assert_eq!(refused.envelope["error"]["kind"], "low_disk_space", "{}", refused.envelope);
    assert!(refused.receipt.contains("The record cannot be written"), "{}", refused.receipt);
    console.shows("NOT ON RECORD");
    let read = agent.call("TaskOutput", &json!({"task_id": task, "block": false}));
    assert_eq!(read.result("/task/status"), "running", "{}", read.envelope);
    let stop = agent.call("TaskStop", &json!({"task_id": task, "force": true}));
    assert_eq!(stop.result("/effect"), "cancelling");
    wait_until("it is gone", || tag.holders().is_empty());
    agent.leave();
    drop(console);
    home.stop(&mut serve);

    let dead = recordings(&home).remove(0).folder;
    let report = journal::verify(&dead).expect("verifies");
    assert!(report.is_whole() && !report.closed, "{report:?}");
    let console = Console::open(&home, &[], (120, 40));
    console.shows("the last runtime had died");
    holds(&past::read(&dead).expect("reads"));
}
