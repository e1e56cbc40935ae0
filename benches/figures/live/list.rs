//! A call that runs nothing, from an agent's request to its answer: with no history, and with 10,000 commands that
//! have ended.

use std::process::Stdio;
use std::time::Instant;

use serde_json::json;

use super::house::House;
use super::report::{self, Target, median, ms, percentile};
use super::spawn::Agent;

const ENDED: usize = 10_000;
/// Streams that run these commands in parallel.
const STREAMS: usize = 4;
const RUNS: usize = 1_000;

pub(crate) fn run() {
    report::head("TaskList, with nothing behind it and with 10,000 ended commands");
    let (fresh, old) = (House::open(), House::open());
    fill(&old);
    let (mut before, mut after) = (Agent::connect(&fresh), Agent::connect(&old));
    for scope in ["active", "all"] {
        let list = json!({ "name": "TaskList", "arguments": { "scope": scope } });
        let (mut empty, mut full) = (Vec::new(), Vec::new());
        for _ in 0..RUNS {
            for (agent, taken) in [(&mut before, &mut empty), (&mut after, &mut full)] {
                let started = Instant::now();
                agent.call("tools/call", list.clone());
                taken.push(ms(started.elapsed()));
            }
        }
        report::line(&format!("{scope}: nothing behind it, median"), median(&empty), "ms", Target::None);
        report::line(&format!("{scope}: 10,000 ended, median"), median(&full), "ms", Target::AtMost(0.3));
        report::line(&format!("{scope}: 10,000 ended, p99"), percentile(&full, 99), "ms", Target::None);
        let ratio = median(&full) / median(&empty);
        report::line(&format!("{scope}: 10,000 ended / nothing"), ratio, "x", Target::AtMost(1.1));
    }
}

/// Runs commands that end at once.
fn fill(house: &House) {
    let plan = house.path("plan.jsonl");
    let line = "{\"_cmd\":\"command.run\",\"cmd\":\"true\",\"login\":false}\n";
    std::fs::write(&plan, line.repeat(ENDED / STREAMS)).expect("write the plan");
    let streams: Vec<_> = (0..STREAMS)
        .map(|_| {
            let mut exec = house.command();
            exec.args(["exec", "--input-file"]).arg(&plan);
            exec.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
            exec.spawn().expect("start a stream")
        })
        .collect();
    for mut stream in streams {
        assert!(stream.wait().expect("it ends").success(), "a stream failed");
    }
}
