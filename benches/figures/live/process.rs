//! What a process of this program costs beyond one that does nothing, and how soon an agent's shim answers.

use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};
use std::time::Instant;

use super::house::{House, environment};
use super::report::{self, Target, median, ms, percentile};

const RUNS: usize = 300;
const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"bench","version":"1"}}}"#;

pub(crate) fn run() {
    report::head("one process a command, beyond /bin/true in the same run");
    let house = House::open();
    let kinds: [(&str, &[&str], Target); 4] = [
        ("version", &["version"], Target::AtMost(2.0)),
        ("task list", &["task", "list"], Target::AtMost(2.0)),
        ("command run true", &["command", "run", "true"], Target::None),
        ("task list --help", &["task", "list", "--help"], Target::None),
    ];
    let mut nothing = Vec::new();
    let mut taken: Vec<Vec<f64>> = kinds.iter().map(|_| Vec::new()).collect();
    let mut ready = Vec::new();
    for _ in 0..RUNS {
        let mut idle = Command::new("/bin/true");
        idle.current_dir(house.path("")).env_clear().envs(environment(&house.path("")));
        nothing.push(timed(idle));
        for ((_, args, _), taken) in kinds.iter().zip(&mut taken) {
            let mut command = house.command();
            command.args(*args);
            taken.push(timed(command));
        }
        ready.push(initialized(house.command()));
    }
    let floor = median(&nothing);
    report::line("/bin/true, median", floor, "ms", Target::None);
    for ((name, _, target), taken) in kinds.iter().zip(&taken) {
        report::line(&format!("{name}, median"), median(taken), "ms", Target::None);
        report::line(&format!("{name}, beyond /bin/true"), median(taken) - floor, "ms", *target);
    }
    report::line(
        "shim, start to its answer to initialize, median",
        median(&ready),
        "ms",
        Target::AtMost(10.0),
    );
    report::line("the same, p95", percentile(&ready, 95), "ms", Target::None);
}

/// Runs a command to completion and times it.
fn timed(mut command: Command) -> f64 {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let started = Instant::now();
    let output = command.output().expect("run it");
    let taken = ms(started.elapsed());
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stdout));
    taken
}

/// Starts a shim and waits until it has answered the first request.
fn initialized(mut command: Command) -> f64 {
    command.arg("mcp").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let started = Instant::now();
    let mut shim = command.spawn().expect("start the shim");
    let mut requests = shim.stdin.take().expect("a pipe");
    let mut answers = BufReader::new(shim.stdout.take().expect("a pipe"));
    writeln!(requests, "{INITIALIZE}").expect("send a request");
    let mut line = String::new();
    answers.read_line(&mut line).expect("read an answer");
    let taken = ms(started.elapsed());
    assert!(line.contains("serverInfo"), "{line}");
    drop(requests);
    shim.wait().expect("it ends");
    taken
}
