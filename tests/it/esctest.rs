//! esctest2, the test suite for terminals, in the terminal of a task. It is not part of this project: a variable names the
//! folder of a copy.

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::json;

use crate::support::{Agent, Home, skip};

/// Names the folder that has `esctest/esctest.py` in it.
const FOLDER: &str = "PILOTHOUSE_ESCTEST";
/// How many of its tests pass at least.
const LEAST: usize = 275;

/// The tests that the log reports as failed or passed.
fn results(log: &str) -> (BTreeSet<String>, BTreeSet<String>) {
    let (mut failed, mut passed, mut running) = (BTreeSet::new(), BTreeSet::new(), None);
    for line in log.lines() {
        if let Some((_, name)) = line.split_once("Run test: ") {
            running = Some(name.trim().to_owned());
        } else if line.contains("*** TEST ") {
            failed.extend(running.take());
        } else if line.contains("Passed.") {
            passed.extend(running.take());
        }
    }
    (failed, passed)
}

#[test]
#[ignore = "minutes, and needs a copy of esctest2; .ci/long runs it"]
fn long_esctest2_passes_in_a_pane() {
    let Some(folder) = std::env::var_os(FOLDER) else {
        return skip("PILOTHOUSE_ESCTEST names no folder");
    };
    let program = Path::new(&folder).join("esctest/esctest.py");
    assert!(program.exists(), "there is no {}", program.display());
    let home = Home::new();
    let log = home.workspace().join("esctest.log");
    let agent = Agent::connect_first(&home, &[]);
    let cmd = format!(
        "python3 '{}' --expected-terminal xterm --max-vt-level 4 --timeout 0.5 --no-print-logs --logfile '{}'",
        program.display(),
        log.display()
    );
    let started = json!({"cmd": cmd, "tty": true, "cols": 80, "rows": 25, "yield_time_ms": 0});
    let task = agent.call("ExecCommand", &started).task();
    crate::e2e_flood::ended(&agent, &task);
    agent.leave();
    let (failed, passed) = results(&std::fs::read_to_string(&log).expect("its log"));
    let names: Vec<&str> = failed.iter().map(String::as_str).collect();
    eprintln!("{} pass, {} fail:\n{}", passed.len(), failed.len(), names.join("\n"));
    assert!(passed.len() >= LEAST, "only {} pass", passed.len());
}
