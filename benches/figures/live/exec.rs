//! A stream of commands in one process, compared with one process per command.

use std::io::{BufRead, BufReader};
use std::process::Stdio;
use std::time::Instant;

use super::house::program;
use super::report::{self, Target, median};
use crate::folder::Folder;

/// Lines of the stream.
const LINES: usize = 12_000;
/// Processes in the comparison: enough for a median.
const PROCESSES: usize = 200;
const RUNS: usize = 5;

pub(crate) fn run() {
    report::head("exec: 12,000 `version` lines against one process a command");
    let dir = Folder::make();
    let plan = dir.path().join("plan.jsonl");
    std::fs::write(&plan, "{\"_cmd\":\"version\"}\n".repeat(LINES)).expect("write the plan");
    let command = |args: &[&str]| {
        let mut command = program(dir.path());
        command.args(args).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        command
    };
    let (mut alone, mut streamed) = (Vec::new(), Vec::new());
    for _ in 0..RUNS {
        let started = Instant::now();
        for _ in 0..PROCESSES / RUNS {
            assert!(command(&["version"]).output().expect("run it").status.success());
        }
        alone.push(started.elapsed().as_secs_f64() / (PROCESSES / RUNS) as f64);
        let started = Instant::now();
        let mut child = command(&["exec", "--input-file", "plan.jsonl"]).spawn().expect("start it");
        let answers = BufReader::new(child.stdout.take().expect("piped")).lines().count();
        assert!(child.wait().expect("ends").success() && answers == LINES);
        streamed.push(started.elapsed().as_secs_f64() / LINES as f64);
    }
    report::line("one process, one command, median", median(&alone) * 1e3, "ms", Target::None);
    report::line("one line of a stream, median", median(&streamed) * 1e6, "us", Target::None);
    let ratio = median(&alone) / median(&streamed);
    report::line("lines in the time of one process", ratio, "x", Target::AtLeast(100.0));
}
