//! Twelve short commands as one batch, from an agent's call to its receipt, compared with a shell that runs the
//! same twelve in a loop, and with twelve calls.

use std::process::Command;
use std::time::Instant;

use serde_json::{Value, json};

use super::bound::Bound;
use super::house::House;
use super::report::{self, Target, median, ms, percentile};
use super::spawn::Agent;

const RUNS: usize = 40;
const ITEMS: usize = 12;
const LOOP: &str = "i=0; while [ $i -lt 12 ]; do /bin/sh -c true; i=$((i+1)); done";

pub(crate) fn run() {
    report::head("ExecCommandBatch of 12 x `true`, from an agent's call to its receipt");
    let house = House::open();
    let mut agent = Agent::connect(&house);
    let item = json!({ "cmd": "true", "login": false });
    let batch = json!({ "items": vec![item.clone(); ITEMS] });
    let mut bound = Bound::within(&house.folder());
    let (mut plain, mut least, mut whole, mut single) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for _ in 0..RUNS {
        plain.push(timed(|| {
            let status = Command::new("/bin/sh").args(["-c", LOOP]).status().expect("run a shell");
            assert!(status.success());
        }));
        least.push(timed(|| bound.start("/bin/sh", ITEMS)));
        whole.push(timed(|| {
            let answer = call(&mut agent, "ExecCommandBatch", &batch);
            assert!(answer.to_string().contains("ExecCommandBatch completed 12/12 items"), "{answer}");
        }));
        single.push(timed(|| {
            for _ in 0..ITEMS {
                call(&mut agent, "ExecCommand", &item);
            }
        }));
    }
    report::line("sh in a loop, median", median(&plain), "ms", Target::None);
    report::line("bound: 12 x a row synced, then a shell, median", median(&least), "ms", Target::None);
    report::line("batch, median", median(&whole), "ms", Target::None);
    report::line("batch, p95", percentile(&whole, 95), "ms", Target::None);
    report::line("12 calls of ExecCommand, median", median(&single), "ms", Target::None);
    report::line("batch / sh", median(&whole) / median(&plain), "x", Target::AtMost(1.8));
    report::line("bound / sh", median(&least) / median(&plain), "x", Target::None);
    report::line("12 calls / batch", median(&single) / median(&whole), "x", Target::None);
}

fn call(agent: &mut Agent, tool: &str, arguments: &Value) -> Value {
    agent.call("tools/call", json!({ "name": tool, "arguments": arguments }))
}

fn timed(work: impl FnOnce()) -> f64 {
    let started = Instant::now();
    work();
    ms(started.elapsed())
}
