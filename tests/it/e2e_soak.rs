//! A runtime under mixed load for long: it holds no more and answers no later than it did.

use std::process::Command;
use std::time::Duration;

use pilothouse::clock::Clock;
use serde_json::json;

use crate::e2e_flood::memory;
use crate::exec_killed::kill_a_sender;
use crate::shell_door::Door;
use crate::support::{Agent, Console, wait_until_or};

/// What a runtime holds in memory of ended tasks and calls is full after so many turns.
const FULL: usize = 130;
/// The calls that are compared with each other.
const COMPARED: usize = 100;
/// How much larger the runtime may be at the end, in KiB.
const GROWTH_KIB: u64 = 8 << 10;

/// What the runtime's process has.
#[derive(Debug, Clone, Copy)]
struct Held {
    memory_kib: u64,
    threads: u64,
    descriptors: u64,
}

impl Held {
    fn by(door: &Door) -> Self {
        let process = format!("/proc/{}", door.home.runtime_pid());
        let count =
            |what: &str| std::fs::read_dir(format!("{process}/{what}")).expect("there").count() as u64;
        Self { memory_kib: memory(&door.home, "VmRSS:"), threads: count("task"), descriptors: count("fd") }
    }

    /// The least of each: what is held for a moment is not counted.
    fn least(held: &[Self]) -> Self {
        let least = |of: fn(&Self) -> u64| held.iter().map(of).min().expect("one");
        Self {
            memory_kib: least(|held| held.memory_kib),
            threads: least(|held| held.threads),
            descriptors: least(|held| held.descriptors),
        }
    }
}

/// How long a call of `true` took, and `sh -c true` right after it.
type Times = (Duration, Duration);

/// One of each kind of command, by an agent, an agent's own shell and scripts, one of which is killed.
fn turn(door: &Door, agent: &Agent, number: u64) -> Times {
    let clock = Clock::start();
    agent.call("ExecCommand", &json!({"cmd": "true"}));
    let called = clock.now().mono;
    assert!(Command::new("sh").args(["-c", "true"]).status().expect("sh runs").success());
    let times = (called, clock.now().mono - called);
    agent.call("ExecCommand", &json!({"cmd": "seq 3000; echo wrong >&2; exit 3"}));
    agent.call(
        "ExecCommandBatch",
        &json!({"items": [{"cmd": "echo a > a"}, {"cmd": "false"}, {"cmd": "rm a"}]}),
    );
    let asks = agent.task("read -r line; echo \"got $line\"");
    agent.call("TaskInput", &json!({"task_id": asks, "input": "x\n"}));
    let told = agent.call("TaskOutput", &json!({"task_id": asks, "timeout_ms": 30_000}));
    assert!(told.receipt.contains("got x"), "{}", told.receipt);
    let floods = json!({"cmd": "yes | head -c 2000000; sleep 600", "yield_time_ms": 0});
    let floods = agent.call("ExecCommand", &floods).task();
    agent.call("TaskOutput", &json!({"task_id": floods, "block": false}));
    agent.call("TaskStop", &json!({"task_id": floods}));
    let own = door.of_claude("one", "echo own").output().expect("runs");
    assert_eq!(own.stdout, b"own\n");
    kill_a_sender(&door.home, number).expect("once");
    times
}

fn median(times: &[Times], of: fn(&Times) -> Duration) -> f64 {
    let mut times: Vec<Duration> = times.iter().map(of).collect();
    times.sort();
    times[times.len() / 2].as_secs_f64() * 1_000.0
}

/// Runs turns until what is held is full, and then for as long as `goes_on` says. Returns the ratio of the last calls to the
/// first, as many of `sh` in the same time.
fn soak(full: usize, mut goes_on: impl FnMut(usize) -> bool) -> f64 {
    let (door, mut served) = Door::served();
    let console = Console::open(&door.home, &[], (100, 30));
    console.shows("tasks");
    let agent = Agent::connect(&door.home, &[]);
    let (mut times, mut held) = (Vec::new(), Vec::new());
    for number in 0.. {
        let took = turn(&door, &agent, number as u64);
        if number >= full {
            times.push(took);
            held.push(Held::by(&door));
            if !goes_on(times.len()) {
                break;
            }
        }
    }
    let part = (times.len() / 4).clamp(1, COMPARED);
    let [first, last] = [&held[..part], &held[held.len() - part..]].map(Held::least);
    let [begin, end] = [&times[..part], &times[times.len() - part..]];
    let [calls, plain] =
        [|times: &Times| times.0, |times: &Times| times.1].map(|of| (median(begin, of), median(end, of)));
    let ratio = (calls.1 / calls.0) / (plain.1 / plain.0);
    eprintln!(
        "{} turns after {full}: first {first:?}, last {last:?}; a call {:.1} ms, then {:.1} ms; sh {:.1} ms, then {:.1} ms: {ratio:.2} x",
        times.len(),
        calls.0,
        calls.1,
        plain.0,
        plain.1,
    );
    let is_no_more = |held: Held| held.threads <= first.threads && held.descriptors <= first.descriptors;
    // What happens to be under way in the last turns ends, and so do threads that only a burst of them needed.
    wait_until_or(
        || format!("no more than {first:?}: {:?}", Held::by(&door)),
        || is_no_more(Held::by(&door)),
    );
    assert!(full < FULL || last.memory_kib <= first.memory_kib + GROWTH_KIB, "{first:?} {last:?}");
    agent.leave();
    drop(console);
    door.home.stop(&mut served);
    ratio
}

#[test]
fn mixed_load_leaves_no_thread_and_no_descriptor_behind() {
    soak(3, |turns| turns < 8);
}

/// For 30 minutes, or as many as PILOTHOUSE_MINUTES says.
#[test]
#[ignore = "half an hour; .ci/long runs it"]
fn long_mixed_load_for_half_an_hour_makes_nothing_larger_or_slower() {
    let asked = std::env::var("PILOTHOUSE_MINUTES").ok().and_then(|text| text.parse().ok());
    let clock = Clock::start();
    let time = Duration::from_secs(60 * asked.unwrap_or(30));
    let ratio = soak(FULL, |turns| turns < 2 * COMPARED || clock.now().mono < time);
    assert!(ratio <= 1.2, "{ratio:.2} x");
}
