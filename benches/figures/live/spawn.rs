//! A short command as an agent has it run, from its call over MCP to the receipt, against a plain shell.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Instant;

use serde_json::{Value, json};

use super::house::House;
use super::report::{self, Target, median, ms, percentile};

const RUNS: usize = 200;

pub(crate) fn run() {
    report::head("ExecCommand `true`, from an agent's call to its receipt");
    let house = House::open();
    let mut agent = Agent::connect(&house);
    let (mut plain, mut whole) = (Vec::new(), Vec::new());
    for _ in 0..RUNS {
        let started = Instant::now();
        let status = Command::new("/bin/sh").args(["-c", "true"]).status().expect("run a shell");
        assert!(status.success());
        plain.push(ms(started.elapsed()));
        let started = Instant::now();
        agent.call(
            "tools/call",
            json!({ "name": "ExecCommand", "arguments": { "cmd": "true", "login": false } }),
        );
        whole.push(ms(started.elapsed()));
    }
    report::line("sh -c true, median", median(&plain), "ms", Target::None);
    report::line("ExecCommand, median", median(&whole), "ms", Target::None);
    report::line("ExecCommand, p99", percentile(&whole, 99), "ms", Target::None);
    report::line("ExecCommand / sh", median(&whole) / median(&plain), "x", Target::None);
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

    /// Asks, and waits for the answer.
    pub(crate) fn call(&mut self, method: &str, params: Value) -> Value {
        self.last += 1;
        self.send(&json!({ "jsonrpc": "2.0", "id": self.last, "method": method, "params": params }));
        loop {
            let mut line = String::new();
            let length = self.answers.read_line(&mut line).expect("read an answer");
            assert!(length > 0, "the shim has ended");
            let answer: Value = serde_json::from_str(&line).expect("JSON");
            if answer.get("id").and_then(Value::as_u64) == Some(self.last) {
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
        // It may have ended by itself.
        let _ = self.shim.kill();
        let _ = self.shim.wait();
    }
}
