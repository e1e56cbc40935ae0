//! Senders that die at any moment, also stopped, with what they were told unread: the kernel then resets their connections
//! instead of closing them. What an idempotency key stands for is done once, and a program ends in order.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::process::{Child, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use rustix::process::Signal;
use serde_json::json;

use crate::shell_killed::{Random, let_pass};
use crate::support::{Home, Tag, exec_by, exec_command, send, state, wait_until};

/// Upper limits of the random delays: from before the sender connects to after it was told that its call has begun.
const MOMENTS_MS: [u64; 4] = [2, 20, 150, 400];
/// Senders at once.
const BESIDE: usize = 4;

/// What a repeat showed of the first request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum First {
    /// It had not begun: the repeat ran.
    NotBegun,
    /// It ended by itself, and the repeat got its answer.
    Done,
    /// It had begun and was ended, and the repeat says so.
    Ended,
    /// The same, before its first word.
    EndedAtOnce,
}

fn start_sender(home: &Home, line: &str) -> Child {
    let mut sender = exec_command(home, &[]);
    sender.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut sender = sender.spawn().expect("starts");
    sender.stdin.take().expect("piped").write_all(line.as_bytes()).expect("taken");
    sender
}

fn stop(pid: u32) {
    send(pid, Signal::STOP);
    wait_until("it is stopped or over", || matches!(state(pid), Some('T' | 'Z') | None));
}

/// Kills a sender at a moment that depends on the seed, repeats its line, and tells what the repeat shows.
pub(crate) fn kill_a_sender(home: &Home, seed: u64) -> Result<(First, bool), String> {
    let mut random = Random(seed);
    let (log, go) =
        (home.workspace().join(format!("log-{seed}")), home.workspace().join(format!("go-{seed}")));
    let cmd = format!("echo done >> log-{seed}; until [ -e go-{seed} ]; do sleep 0.02; done");
    let line = json!({
        "_cmd": "command.run", "_opts": {"idempotency-key": format!("k{seed}")}, "cmd": cmd,
        "yield_time_ms": 30_000,
    })
    .to_string();
    let mut sender = start_sender(home, &line);
    if random.below(3) > 0 {
        wait_until("it has begun", || log.exists());
    }
    let latest_ms = MOMENTS_MS[usize::try_from(random.below(4)).expect("small")];
    let is_stopped = random.below(2) == 0;
    if is_stopped {
        let_pass(Duration::from_micros(random.below(latest_ms * 1_000)));
        stop(sender.id());
    }
    let_pass(Duration::from_micros(random.below(latest_ms * 1_000)));
    sender.kill().expect("killed");
    sender.wait().expect("reaped");
    std::fs::write(&go, "").expect("written");
    let again = exec_by(&mut exec_command(home, &[]), &line);
    let lines = std::fs::read_to_string(&log).unwrap_or_default().lines().count();
    [log, go].iter().for_each(|file| drop(std::fs::remove_file(file)));
    let answer = again.of(1);
    let is_repeated = answer["meta"]["effect"] == "noop";
    let first = match (again.codes()[0], is_repeated, lines) {
        ("ok", false, 1) => First::NotBegun,
        ("ok", true, 1) => First::Done,
        ("CANCELLED", true, 0 | 1) if answer["error"]["side_effects"] == "partial" => {
            if lines == 1 {
                First::Ended
            } else {
                First::EndedAtOnce
            }
        }
        _ => return Err(format!("seed {seed}: {lines} lines, {answer}")),
    };
    Ok((first, is_stopped))
}

/// Kills this many senders; fails if a command ran twice, or was neither run nor said to have begun.
fn kill_senders(rounds: u64) {
    let home = Home::new();
    let mut served = home.serve();
    let (next, seen) = (AtomicU64::new(0), Mutex::new((BTreeMap::new(), Vec::new())));
    std::thread::scope(|scope| {
        for _ in 0..BESIDE {
            scope.spawn(|| {
                loop {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed >= rounds {
                        return;
                    }
                    let shown = kill_a_sender(&home, seed);
                    let mut seen = seen.lock().expect("no panic");
                    match shown {
                        Ok(shown) => *seen.0.entry(shown).or_insert(0_u64) += 1,
                        Err(why) => seen.1.push(why),
                    }
                }
            });
        }
    });
    let (shown, wrong) = seen.into_inner().expect("no panic");
    eprintln!(
        "{rounds} senders killed (what a repeat showed, stopped before): {shown:?}, {} wrong",
        wrong.len()
    );
    assert!(wrong.is_empty(), "{} of {rounds}:\n{}", wrong.len(), wrong.join("\n"));
    for stopped in [false, true] {
        assert!(shown.contains_key(&(First::Ended, stopped)), "none was killed in the middle: {shown:?}");
    }
    home.stop(&mut served);
}

#[test]
fn f62_a_key_holds_whenever_its_sender_is_killed() {
    kill_senders(60);
}

#[test]
#[ignore = "minutes; .ci/long runs it"]
fn long_f62_a_key_holds_whenever_its_sender_is_killed() {
    let asked = std::env::var("PILOTHOUSE_ROUNDS").ok().and_then(|text| text.parse().ok());
    kill_senders(asked.unwrap_or(1_000));
}

#[test]
fn f62_a_program_ends_in_order_though_its_script_was_stopped_and_killed() {
    let home = Home::new();
    let mut served = home.serve();
    let tag = Tag::new();
    let first = "touch begun; until [ -e on ]; do sleep 0.02; done";
    let program = format!("exec \"{first}\"\nexec \"sleep {}\"\n", tag.0);
    std::fs::write(home.workspace().join("p.prose"), program).expect("written");
    let mut script = home.command(&["run", "--plain", "p.prose"]);
    let mut script = script.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("starts");
    wait_until("the first command runs", || home.workspace().join("begun").exists());
    // From here on it reads nothing of what it is told.
    stop(script.id());
    std::fs::write(home.workspace().join("on"), "").expect("written");
    tag.asleep();
    script.kill().expect("killed");
    script.wait().expect("reaped");
    wait_until("the command is gone", || tag.holders().is_empty());
    let runs = || std::fs::read_dir(home.workspace().join(".prose/runs")).expect("runs").flatten();
    let states = || runs().filter_map(|run| std::fs::read_to_string(run.path().join("state.md")).ok());
    wait_until("its end is on record", || states().any(|state| state.contains("interrupted")));
    home.stop(&mut served);
}
