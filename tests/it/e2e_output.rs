//! Nothing that a command wrote is lost when it exits.

use serde_json::json;

use crate::support::{Agent, Home};

/// Runs `seq 20000` this many times, in all four ways that an agent may run it.
fn count_to_twenty_thousand(runs: usize) {
    let home = Home::new();
    let agent = Agent::connect(&home, &[]);
    for run in 0..runs {
        for tty in [false, true] {
            // Alternately within its call and as a task: promotion must not lose anything either.
            let wait = if run % 2 == 0 { 30_000 } else { 0 };
            let input = json!({"cmd": "seq 20000", "tty": tty, "yield_time_ms": wait, "login": false});
            let ran = agent.call("ExecCommand", &input);
            if ran.result("/disposition") == "completed" {
                let artifact = ran.result("/stdout_artifact").as_u64().expect("an artifact");
                ends_well(
                    ran.result("/stdout_preview"),
                    ran.result(&format!("/artifacts/{artifact}/path")),
                    tty,
                );
            } else {
                let read = agent.call("TaskOutput", &json!({"task_id": ran.task()}));
                assert_eq!(read.result("/retrieval_status"), "success");
                let artifact = read.result("/task/output_artifact").as_u64().expect("an artifact");
                let path = read.result(&format!("/task/artifacts/{artifact}/path"));
                ends_well(read.result("/task/output_preview"), path, tty);
            }
        }
    }
}

/// Asserts that the last line is in the transcript and every line in the artifact.
fn ends_well(preview: &serde_json::Value, artifact: &serde_json::Value, tty: bool) {
    let preview = preview.as_str().expect("a preview");
    assert!(preview.starts_with("1\n2\n3\n") && preview.ends_with("\n19999\n20000\n"), "{preview}");
    let kept = std::fs::read_to_string(artifact.as_str().expect("a path")).expect("readable");
    let ending = if tty { "\r\n" } else { "\n" };
    let whole: String = (1..=20_000).map(|number| format!("{number}{ending}")).collect();
    assert!(kept == whole, "{} bytes of {} kept, tty {tty}", kept.len(), whole.len());
}

#[test]
fn the_last_line_is_in_transcript_and_artifact() {
    count_to_twenty_thousand(20);
}

#[test]
#[ignore = "minutes; .ci/long runs it"]
fn long_the_last_line_is_in_transcript_and_artifact_500_times() {
    count_to_twenty_thousand(500);
    eprintln!("seq 20000: 500 runs each on pipe and terminal, every line kept");
}

/// While the kernel still moves the last output through a terminal that nobody has open any more, a read of it can fail as
/// if that were its end: so one command in seventy lost its last line, on a machine with two processors.
#[test]
fn a_line_that_a_command_prints_right_before_its_end_is_kept() {
    let home = Home::new();
    let agent = Agent::connect(&home, &[]);
    for _ in 0..150 {
        let task = agent.task("read -r line; echo \"got $line\"");
        agent.call("TaskInput", &json!({"task_id": task, "input": "x\n"}));
        let answer = agent.call("TaskOutput", &json!({"task_id": task, "timeout_ms": 30_000}));
        assert!(answer.receipt.contains("got x"), "{}", answer.receipt);
    }
    agent.leave();
}
