//! A short command run by an agent, from its MCP call to the receipt, compared with a plain shell: one after the
//! other, twenty at once, and one after a pause.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::bound::{Bound, make_files};
use super::house::House;
use super::report::{self, Target, median, ms, percentile};

const RUNS: usize = 200;
/// Concurrent calls.
const AT_ONCE: usize = 20;
const ROUNDS: usize = 20;
/// The same number of commands in a plain shell.
const TOGETHER: &str = "i=0; while [ $i -lt 20 ]; do /bin/sh -c true & i=$((i+1)); done; wait";
/// Nothing needed for a start is released during a pause, so a longer one gives the same figures.
const PAUSE: Duration = Duration::from_secs(10);
const PAUSES: usize = 5;

pub(crate) fn run() {
    report::head("ExecCommand `true`, from an agent's call to its receipt");
    let house = House::open();
    let mut agent = Agent::connect(&house);
    let mut bound = Bound::within(&house.folder());
    let (mut plain, mut least, mut whole) = (Vec::new(), Vec::new(), Vec::new());
    let mut files = Vec::new();
    for run in 0..RUNS {
        plain.push(timed(|| shell("true")));
        least.push(timed(|| bound.start("/bin/sh", 1)));
        files.push(timed(|| make_files(&house.folder(), &run.to_string())));
        whole.push(timed(|| agent.exec_true(1)));
    }
    report::line("sh -c true, median", median(&plain), "ms", Target::None);
    report::line("bound: the same row synced, then a shell, median", median(&least), "ms", Target::None);
    report::line("making a folder with three files, median", median(&files), "ms", Target::None);
    report::line("ExecCommand, median", median(&whole), "ms", Target::None);
    report::line("ExecCommand, p99", percentile(&whole, 99), "ms", Target::AtMost(12.0));
    report::line("ExecCommand / sh", median(&whole) / median(&plain), "x", Target::AtMost(3.0));
    report::line("bound / sh", median(&least) / median(&plain), "x", Target::None);
    let (mut plain, mut whole) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        plain.push(timed(|| shell(TOGETHER)));
        whole.push(timed(|| agent.exec_true(AT_ONCE)));
    }
    report::line("sh starting 20 at once, median", median(&plain), "ms", Target::None);
    report::line("20 calls at once, median", median(&whole), "ms", Target::None);
    report::line("20 at once / sh", median(&whole) / median(&plain), "x", Target::AtMost(4.0));
    let (mut plain, mut least, mut whole) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..PAUSES {
        std::thread::sleep(PAUSE);
        plain.push(timed(|| shell("true")));
        std::thread::sleep(PAUSE);
        least.push(timed(|| bound.start("/bin/sh", 1)));
        std::thread::sleep(PAUSE);
        whole.push(timed(|| agent.exec_true(1)));
    }
    report::line("sh after a pause of 10 s, median", median(&plain), "ms", Target::None);
    report::line("bound after a pause, median", median(&least), "ms", Target::None);
    report::line("ExecCommand after a pause, median", median(&whole), "ms", Target::None);
    report::line("after a pause / sh", median(&whole) / median(&plain), "x", Target::AtMost(4.0));
    report::line("bound after a pause / sh", median(&least) / median(&plain), "x", Target::None);
}

fn shell(script: &str) {
    let status = Command::new("/bin/sh").args(["-c", script]).status().expect("run a shell");
    assert!(status.success());
}

fn timed(work: impl FnOnce()) -> f64 {
    let started = Instant::now();
    work();
    ms(started.elapsed())
}

/// A client of `pilothouse mcp`.
pub(crate) struct Agent {
    shim: Child,
    requests: ChildStdin,
    answers: BufReader<ChildStdout>,
    last: u64,
}

impl Agent {
    pub(crate) fn connect(house: &House) -> Self {
        let mut command = house.command();
        command.arg("mcp").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut shim = command.spawn().expect("start the shim");
        let requests = shim.stdin.take().expect("a pipe");
        let answers = BufReader::new(shim.stdout.take().expect("a pipe"));
        let mut agent = Self { shim, requests, answers, last: 0 };
        let who = json!({ "name": "bench", "version": "1" });
        agent.call(
            "initialize",
            json!({
                "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": who,
            }),
        );
        agent.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        agent
    }

    /// Runs `true` `count` times at once.
    fn exec_true(&mut self, count: usize) {
        let params = json!({ "name": "ExecCommand", "arguments": { "cmd": "true", "login": false } });
        for _ in 0..count {
            self.ask("tools/call", &params);
        }
        (0..count).for_each(|_| drop(self.answer()));
    }

    /// Sends a request and waits for the answer.
    pub(crate) fn call(&mut self, method: &str, params: Value) -> Value {
        self.ask(method, &params);
        let answer = self.answer();
        assert_eq!(answer.get("id").and_then(Value::as_u64), Some(self.last), "{answer}");
        answer
    }

    fn ask(&mut self, method: &str, params: &Value) {
        self.last += 1;
        self.send(&json!({ "jsonrpc": "2.0", "id": self.last, "method": method, "params": params }));
    }

    /// Waits for the next answer to a request.
    fn answer(&mut self) -> Value {
        loop {
            let mut line = String::new();
            let length = self.answers.read_line(&mut line).expect("read an answer");
            assert!(length > 0, "the shim has ended");
            let answer: Value = serde_json::from_str(&line).expect("JSON");
            if answer.get("id").is_some() {
                assert!(answer.get("error").is_none(), "{answer}");
                return answer;
            }
        }
    }

    fn send(&mut self, message: &Value) {
        writeln!(self.requests, "{message}").expect("send a request");
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        // It may have exited by itself.
        let _ = self.shim.kill();
        let _ = self.shim.wait();
    }
}
