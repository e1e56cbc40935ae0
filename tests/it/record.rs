//! The record of a runtime that died: nothing acknowledged is lost, every task has an end, nothing runs on.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;

use pilothouse::clock::Clock;
use pilothouse::envelope::Envelope;
use pilothouse::journal::{self, Durability, Item, Journal, META_VERSION, Meta, Reader};
use pilothouse::runtime::past::{self, Listed, Story};
use pilothouse::runtime::{TaskStatus, TaskView};
use pilothouse::tools;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::support::{Agent, Console, Home, Tag, wait_until};

fn signal(pid: u32, signal: Signal) {
    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw).expect("a pid");
    kill_process(pid, signal).expect("sent");
}

fn recordings(home: &Home) -> Vec<Listed> {
    past::list(&home.places().recordings(), Some(&home.places().workspace))
}

/// Kills a runtime this test has started, as nothing else could.
fn kill(mut serve: Child) {
    signal(serve.id(), Signal::KILL);
    serve.wait().expect("gone");
}

fn rows(recording: &Path, kind: &str) -> Vec<Value> {
    let records = Reader::open(recording).expect("opens").filter_map(|item| match item {
        Item::Record(record) if record.header.kind == kind => Some(record),
        _ => None,
    });
    records.map(|record| record.data(recording).expect("data")).collect()
}

/// What must hold of every recording whose runtime is gone.
fn holds(story: &Story) {
    let report = journal::verify(&story.recording).expect("verifies");
    // I2 and I5: the chain, and the files it names.
    assert!(report.is_whole() && report.closed && !report.live, "{report:?}");
    for TaskView { id, status, .. } in &story.tasks {
        // I4: no start without an end. I3: one end.
        assert!(status.is_terminal(), "{id} is {status:?}");
        let ends = story.events.iter().filter(|row| row.task == *id && row.event.what == "end").count();
        assert_eq!(ends, 1, "{id}");
    }
    // I6: a receipt follows from its envelope alone.
    for call in story.calls.values().filter(|call| call.record.receipt.is_some()) {
        let envelope: Envelope =
            serde_json::from_value(call.record.envelope.clone().expect("an envelope")).expect("reads");
        assert_eq!(call.record.receipt.as_deref(), Some(tools::render(&envelope).as_str()));
    }
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
    wait_until("all run", || tag.holders().len() == tasks.len());
    kill(serve);

    let status = agent.call("TaskStatus", &json!({"task_id": tasks[0]}));
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
    // I1: what was answered is on record, answer and all.
    let told = dead.calls.values().filter(|call| call.record.receipt.is_some()).count();
    assert_eq!(told, answered);
    let recoveries = rows(&all[1].folder, "recovery");
    assert_eq!(recoveries.len(), 1);
    assert_eq!(recoveries[0]["tasks"].as_array().map(Vec::len), Some(tasks.len()), "{recoveries:?}");
    holds(&past::read(&all[1].folder).expect("reads"));

    // Once: a third runtime has nothing to say.
    let console = Console::open(&home, &[], (120, 40));
    console.shows("no agent yet");
    assert!(!console.text().contains("interrupted"), "{}", console.text());
    assert!(recordings(&home).iter().all(|listed| rows(&listed.folder, "recovery").len() <= 1));
}

#[test]
fn a_command_that_had_ended_while_its_runtime_died_keeps_its_real_exit() {
    let home = Home::new();
    let (serve, tag) = (home.serve(), Tag::new());
    let go = home.workspace().join("go");
    let (pipe, mode) = (rustix::fs::FileType::Fifo, rustix::fs::Mode::from_raw_mode(0o600));
    rustix::fs::mknodat(rustix::fs::CWD, &go, pipe, mode, 0).expect("a pipe");
    let agent = Agent::connect(&home, &[]);
    let task = agent.task(&format!(": {}; read -r word < go; exit 7", tag.0));
    signal(serve.id(), Signal::STOP);
    std::fs::write(&go, "go\n").expect("told");
    wait_until("the command ends", || tag.holders().is_empty());
    kill(serve);
    let status = agent.call("TaskStatus", &json!({"task_id": task}));
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
fn what_outlives_runtime_and_host_is_ended_by_proof_of_what_it_is() {
    let home = Home::new();
    let (serve, tag) = (home.serve(), Tag::new());
    let agent = Agent::connect(&home, &[]);
    // On pipes: a terminal that is gone hangs up whoever had it.
    let input = json!({"cmd": format!("exec sleep {}", tag.0), "yield_time_ms": 0});
    let task = agent.call("ExecCommand", &input).task();
    tag.asleep();
    let host = parent(tag.holders()[0]);
    signal(serve.id(), Signal::STOP);
    signal(host, Signal::KILL);
    kill(serve);
    assert_eq!(tag.holders().len(), 1, "nobody is left to end it");
    let status = agent.call("TaskStatus", &json!({"task_id": task}));
    assert_eq!(status.result("/task/status"), "interrupted", "{}", status.envelope);
    assert_eq!(tag.holders(), Vec::<u32>::new());
    agent.leave();
    let recoveries = rows(&recordings(&home)[1].folder, "recovery");
    assert_eq!(recoveries[0]["tasks"][0]["found"], json!(["sleep"]), "{recoveries:?}");
}

#[test]
fn an_orderly_end_interrupts_too_and_the_next_runtime_knows() {
    let home = Home::new();
    let (mut serve, tag) = (home.serve(), Tag::new());
    let agent = Agent::connect(&home, &[]);
    let task = agent.task(&format!("exec sleep {}", tag.0));
    assert!(home.run(&["serve", "--stop"]).status.success());
    serve.wait().expect("gone");
    assert_eq!(tag.holders(), Vec::<u32>::new());
    let status = agent.call("TaskStatus", &json!({"task_id": task}));
    assert_eq!(status.result("/task/status"), "interrupted");
    let all = recordings(&home);
    let story = past::read(&all[0].folder).expect("reads");
    holds(&story);
    assert_eq!((story.closed, story.tasks[0].status), (Some(false), TaskStatus::Interrupted));
    assert!(rows(&all[1].folder, "recovery").is_empty());
    agent.leave();
}

/// Set in a process that writes until it is killed: the recording's folder and the size of a row.
const WRITER: &str = "PILOTHOUSE_TEST_WRITER";

#[test]
#[ignore = "the part of a process that the tests below kill"]
fn writer() {
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
    let meta = Meta {
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

/// Kills a writer once it has acknowledged so many rows, at whatever it does then; returns how many
/// were acknowledged in all, and whether its end was torn.
fn kill_a_writer(filling: usize, after: u64) -> (u64, bool) {
    let dir = tempfile::tempdir().expect("temp dir");
    let mut command = Command::new(std::env::current_exe().expect("this test"));
    command.args(["--ignored", "--exact", "record::writer", "--nocapture", "--test-threads=1"]);
    command.env(WRITER, format!("{filling}:{}", dir.path().display()));
    let mut writer = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("the writer starts");
    let mut acknowledged = 0;
    for line in BufReader::new(writer.stderr.take().expect("its words")).lines().map_while(Result::ok) {
        if let Some(n) = line.strip_prefix("acknowledged ") {
            acknowledged = n.parse().expect("a number");
            if acknowledged == after {
                writer.kill().expect("killed");
            }
        }
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
fn a_killed_writer_loses_nothing_it_has_acknowledged() {
    for filling in [500, 8_000, 64_000] {
        for after in [1, 37] {
            kill_a_writer(filling, after);
        }
    }
}

#[test]
#[ignore = "minutes; .ci/long runs it"]
fn long_a_thousand_killed_writers_of_each_size_lose_nothing() {
    let rounds = std::env::var("PILOTHOUSE_ROUNDS").map_or(1_000, |rounds| rounds.parse().expect("a number"));
    for filling in [500, 8_000, 64_000] {
        let (mut rows, mut torn) = (0, 0);
        for round in 0..rounds {
            // A fixed spread over the first hundred rows; the scheduler adds the rest of the chance.
            let (acknowledged, was_torn) = kill_a_writer(filling, 1 + round * 37 % 101);
            rows += acknowledged;
            torn += u64::from(was_torn);
        }
        eprintln!(
            "{filling} bytes: {rounds} kills, {rows} rows acknowledged, 0 lost, {torn} torn ends repaired, 0 unreadable"
        );
    }
}
