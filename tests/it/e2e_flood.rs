//! Output of any size: what is kept, what is counted, what is shown of it, and what it costs.
#![expect(clippy::disallowed_methods, reason = "the long form measures time")]

use std::time::Instant;

use serde_json::{Value, json};

use crate::support::{Agent, Answer, Console, Home, Tag, wait_until};

/// The maximum kept of a stream: the first 64 MiB and the last 1 MiB.
const KEPT: u64 = 65 << 20;
/// The maximum growth of the runtime's memory.
const GROWTH_KIB: u64 = 32 << 10;

/// The number of bytes that `seq numbers` prints.
fn length(numbers: u64) -> u64 {
    let mut total = 0;
    let (mut from, mut digits) = (1, 1);
    while from <= numbers {
        let upto = (from * 10 - 1).min(numbers);
        total += (upto - from + 1) * (digits + 1);
        (from, digits) = (from * 10, digits + 1);
    }
    total
}

/// A field of the runtime's `/proc` status, in KiB.
pub(crate) fn memory(home: &Home, field: &str) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", home.runtime_pid())).expect("a status");
    let line = status.lines().find_map(|line| line.strip_prefix(field)).expect("a field");
    line.trim_matches(|c: char| !c.is_ascii_digit()).parse().expect("a number")
}

/// What is reported about a stream, whether the command ended within its call or as a task.
struct Told {
    preview: String,
    kept: u64,
    dropped: u64,
}

impl Told {
    fn of(holder: &Value, names: [&str; 2]) -> Self {
        let [preview, artifact] = names;
        let at = holder[artifact].as_u64().and_then(|at| usize::try_from(at).ok()).expect("an artifact");
        let path = holder["artifacts"][at]["path"].as_str().expect("a path");
        Self {
            preview: holder[preview].as_str().expect("a preview").to_owned(),
            kept: std::fs::metadata(path).expect("the file").len(),
            dropped: holder["dropped_bytes"].as_u64().unwrap_or(0),
        }
    }
}

/// Waits for a task, however long it takes.
pub(crate) fn ended(agent: &Agent, task: &str) -> Answer {
    loop {
        let read = agent.call("TaskOutput", &json!({"task_id": task, "timeout_ms": 45_000}));
        if *read.result("/retrieval_status") == "success" {
            return read;
        }
    }
}

/// Runs `seq numbers`, and compares what is reported and kept with what it printed. Returns how many KiB the
/// runtime grew by, and whether the command ended within its call.
fn count_to(home: &Home, agent: &Agent, numbers: u64, wait_ms: u64) -> (u64, bool) {
    let before = memory(home, "VmRSS:");
    // From here on the peak belongs to this stream.
    std::fs::write(format!("/proc/{}/clear_refs", home.runtime_pid()), "5").expect("the peak is reset");
    let input = json!({"cmd": format!("seq {numbers}"), "login": false, "yield_time_ms": wait_ms});
    let ran = agent.call("ExecCommand", &input);
    let is_within = *ran.result("/disposition") == "completed";
    let told = if is_within {
        Told::of(ran.result(""), ["stdout_preview", "stdout_artifact"])
    } else {
        let read = ended(agent, &ran.task());
        let status = agent.call("TaskStatus", &json!({"task_id": ran.task()}));
        let output = status.result("/task/output").clone();
        let total = length(numbers);
        assert_eq!(output, json!({"bytes": total, "lines": numbers, "dropped_bytes": total - KEPT}));
        Told::of(read.result("/task"), ["output_preview", "output_artifact"])
    };
    assert_eq!((told.kept, told.dropped), (KEPT, length(numbers) - KEPT));
    assert!(told.preview.starts_with("1\n2\n3\n4\n"), "{}", &told.preview[..80]);
    let end = format!("\n{}\n{}\n", numbers - 1, numbers);
    assert!(told.preview.ends_with(&end), "{}", &told.preview[told.preview.len() - 80..]);
    let marker = told.preview.lines().find(|line| line.starts_with("[output truncated: ")).expect("a marker");
    let counts: Vec<u64> = marker
        .split(|c: char| !c.is_ascii_digit())
        .filter_map(|number| number.parse().ok())
        .take(2)
        .collect();
    let shown = told.preview.lines().filter(|line| line.bytes().all(|byte| byte.is_ascii_digit())).count();
    assert_eq!(counts.iter().sum::<u64>(), shown as u64, "{marker}");
    let grown = memory(home, "VmHWM:").saturating_sub(before);
    assert!(grown < GROWTH_KIB, "the runtime grew by {grown} KiB over {} bytes", length(numbers));
    (grown, is_within)
}

fn settled() -> (Home, Agent) {
    let home = Home::new();
    let agent = Agent::connect(&home, &[]);
    // The first command pays one-time costs that later ones do not.
    let _ = agent.call("ExecCommand", &json!({"cmd": "seq 200000", "login": false}));
    (home, agent)
}

#[test]
fn the_length_of_a_counted_stream_is_computed_exactly() {
    assert_eq!([length(1), length(9), length(10), length(1_000)], [2, 18, 21, 3_893]);
}

#[test]
fn f12_a_stream_beyond_the_caps_is_counted_exactly_and_shown_truly() {
    let (home, agent) = settled();
    let _ = count_to(&home, &agent, 11_000_000, 0);
    agent.leave();
}

#[test]
#[ignore = "minutes; .ci/long runs it"]
fn long_f12_ten_gigabytes_pass_through_a_call_and_through_a_task() {
    let numbers = 1_010_112_000;
    assert!(length(numbers) >= 10_000_000_000);
    let (home, agent) = settled();
    for (how, numbers, wait_ms) in [
        ("1 GB in a call", 112_000_000, 30_000),
        ("10 GB in a call", numbers, 30_000),
        ("10 GB as a task", numbers, 0),
    ] {
        let started = Instant::now();
        let (grown, is_within) = count_to(&home, &agent, numbers, wait_ms);
        let spent = started.elapsed().as_secs_f64();
        let rate = length(numbers) as f64 / spent / 1e6;
        let end = if is_within { "complete within the call" } else { "promoted" };
        eprintln!(
            "{how}: {} bytes in {spent:.0} s ({rate:.0} MB/s), {end}; the runtime grew by {grown} KiB",
            length(numbers)
        );
    }
    agent.leave();
}

/// `count` commands print endlessly: all make progress, all are listed, each can be stopped, and nothing of them is left.
fn floods(count: usize) {
    let home = Home::new();
    let tag = Tag::new();
    let agent = Agent::connect(&home, &[]);
    let start =
        || agent.call("ExecCommand", &json!({"cmd": format!("yes {}", tag.0), "yield_time_ms": 0})).task();
    let tasks: Vec<String> = (0..count).map(|_| start()).collect();
    let bytes = |task: &String| {
        let status = agent.call("TaskStatus", &json!({"task_id": task}));
        assert_eq!(*status.result("/task/status"), "running");
        status.result("/task/output/bytes").as_u64().expect("a number")
    };
    let before: Vec<u64> = tasks.iter().map(bytes).collect();
    for (task, before) in tasks.iter().zip(before) {
        wait_until("each of them gets on", || bytes(task) > before);
    }
    let list = agent.call("TaskList", &json!({"limit": 100}));
    assert_eq!((list.result("/total"), list.result("/returned")), (&json!(count), &json!(count.min(100))));
    let other = agent.call("ExecCommand", &json!({"cmd": "echo beside them"}));
    assert_eq!(*other.result("/stdout_preview"), "beside them\n");
    for task in &tasks {
        let stopped = agent.call("TaskStop", &json!({"task_id": task, "force": true}));
        assert!(*stopped.result("/effect") != "noop", "{}", stopped.envelope);
        assert_eq!(*ended(&agent, task).result("/task/status"), "cancelled");
    }
    assert_eq!(*agent.call("TaskList", &json!({})).result("/total"), 0);
    assert_eq!(tag.holders(), Vec::<u32>::new());
    agent.leave();
}

#[test]
fn f11_commands_that_print_without_end_leave_the_runtime_answering() {
    floods(16);
}

#[test]
#[ignore = "minutes; .ci/long runs it"]
fn long_f11_two_hundred_commands_that_print_without_end_leave_the_runtime_answering() {
    floods(200);
}

/// One line of `bytes` bytes passes through the visible pane.
fn endless_line(bytes: u64) {
    let home = Home::new();
    home.fifo("go");
    let console = Console::open(&home, &[], (100, 30));
    console.shows("no agent yet");
    let agent = Agent::connect(&home, &[]);
    let task =
        agent.task(&format!("head -c {bytes} /dev/zero | tr '\\0' x; echo; echo go-$((1+1)); read on < go"));
    console.shows("xxxxxxxx");
    console.keys(b"?");
    console.shows("HELP");
    console.keys(b"\x1b");
    console.shows("OBSERVE");
    // However long it takes.
    let printed = loop {
        let _ =
            agent.call("TaskOutput", &json!({"task_id": task, "timeout_ms": 1_000, "max_output_tokens": 1}));
        let status = agent.call("TaskStatus", &json!({"task_id": task}));
        assert_eq!(*status.result("/task/status"), "running");
        let printed = status.result("/task/output/bytes").as_u64().expect("a number");
        if printed > bytes + 5 {
            break printed;
        }
    };
    assert!(printed < bytes + 100, "{printed}");
    console.shows("go-2");
    std::fs::write(home.workspace().join("go"), "on\n").expect("goes on");
    let read = ended(&agent, &task);
    let preview = read.result("/task/output_preview").as_str().expect("a preview");
    assert!(preview.starts_with("xxxx") && preview.trim_end().ends_with("go-2"), "{preview}");
    agent.leave();
}

#[test]
fn f13_one_endless_line_leaves_the_console_alive() {
    endless_line(4_000_000);
}

#[test]
#[ignore = "minutes; .ci/long runs it"]
fn long_f13_one_line_of_100_mb_leaves_the_console_alive() {
    endless_line(100_000_000);
}
