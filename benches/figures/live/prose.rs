//! A program of 1,000 commands, one after the other, compared with a shell that starts as many.

use std::process::{Command, Stdio};
use std::time::Instant;

use super::bound::Bound;
use super::house::{program, stop_runtime};
use super::report::{self, Target, median};
use crate::folder::Folder;

const COMMANDS: usize = 1_000;
const RUNS: usize = 3;

pub(crate) fn run() {
    report::head("prose: 1,000 x exec \"true\" against sh doing 1,000 x sh -c true");
    let (mut plain, mut least, mut ran) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..RUNS {
        let dir = Folder::make();
        std::fs::write(dir.path().join("p.prose"), "exec \"true\"\n".repeat(COMMANDS)).expect("write it");
        let script = format!("i=0; while [ $i -lt {COMMANDS} ]; do sh -c true; i=$((i+1)); done");
        let started = Instant::now();
        assert!(Command::new("sh").args(["-c", &script]).status().expect("run a shell").success());
        plain.push(started.elapsed().as_secs_f64());
        let mut bound = Bound::within(dir.path());
        let started = Instant::now();
        // Programs run their commands with bash.
        bound.start("/bin/bash", COMMANDS);
        least.push(started.elapsed().as_secs_f64());
        let mut command = program(dir.path());
        command.args(["run", "p.prose", "--plain"]);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let started = Instant::now();
        assert!(command.status().expect("run it").success());
        ran.push(started.elapsed().as_secs_f64());
        stop_runtime(dir.path());
    }
    report::line("sh, a command, median", median(&plain), "ms", Target::None);
    report::line("bound: a row synced, then bash, median", median(&least), "ms", Target::None);
    report::line("exec, a command, median", median(&ran), "ms", Target::None);
    report::line("exec / sh", median(&ran) / median(&plain), "x", Target::AtMost(4.0));
    report::line("bound / sh", median(&least) / median(&plain), "x", Target::None);
}
