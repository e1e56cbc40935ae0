//! How much the runtime's memory grows, whatever a command prints.

use serde_json::json;

use crate::e2e_flood::{ended, memory};
use crate::support::{Agent, Home};

/// The maximum growth for one kind of output.
const GROWTH_KIB: u64 = 64 << 10;

/// Kinds of output, each with a command that prints about this many bytes.
fn corpus(bytes: u64) -> [(&'static str, String); 6] {
    let run = |byte: &str, bytes: u64| format!("head -c {bytes} /dev/zero | tr '\\0' '{byte}'");
    let half = bytes / 2;
    [
        ("nested brackets", format!("{}; {}", run("[", half), run("]", half))),
        ("one line", run("x", bytes)),
        ("tiny lines", format!("yes '' | head -c {bytes}")),
        ("invalid UTF-8", run(r"\377", bytes)),
        ("wide characters", format!("yes '漢字かな交じり文' | tr -d '\\n' | head -c {bytes}")),
        (
            "combining characters",
            format!(
                "printf e; yes \"$(printf '\\314\\201\\342\\203\\235')\" | tr -d '\\n' | head -c {bytes}"
            ),
        ),
    ]
}

/// Runs a command to its end, then reads it in every way that an agent can; returns how many KiB the runtime grew by.
fn grown(home: &Home, agent: &Agent, cmd: &str, tty: bool) -> u64 {
    let before = memory(home, "VmRSS:");
    // From here on the peak belongs to this output.
    std::fs::write(format!("/proc/{}/clear_refs", home.runtime_pid()), "5").expect("the peak is reset");
    let input = json!({"cmd": cmd, "tty": tty, "yield_time_ms": 0, "max_output_tokens": 64_000});
    let task = agent.call("ExecCommand", &input).task();
    let _ = ended(agent, &task);
    for view in ["auto", "transcript"] {
        let asked = json!({"task_id": task, "view": view, "max_output_tokens": 64_000});
        assert_eq!(*agent.call("TaskOutput", &asked).result("/retrieval_status"), "success");
    }
    memory(home, "VmHWM:").saturating_sub(before)
}

fn all(bytes: u64) {
    let home = Home::new();
    let agent = Agent::connect(&home, &[]);
    // The first command pays one-time costs that later ones do not.
    let _ = agent.call("ExecCommand", &json!({"cmd": "seq 200000"}));
    let _ = grown(&home, &agent, "seq 200000", true);
    for (what, cmd) in corpus(bytes) {
        for tty in [false, true] {
            let grown = grown(&home, &agent, &cmd, tty);
            eprintln!("{what}, {bytes} bytes, {}: {grown} KiB", if tty { "terminal" } else { "pipe" });
            assert!(grown <= GROWTH_KIB, "{what} (tty {tty}) takes {grown} KiB");
        }
    }
    agent.leave();
}

#[test]
fn hostile_output_takes_a_bounded_part_of_memory() {
    all(1 << 20);
}

#[test]
#[ignore = "minutes; .ci/long runs it"]
fn long_hostile_output_takes_a_bounded_part_of_memory() {
    all(1 << 20);
    all(64 << 20);
    let home = Home::new();
    let agent = Agent::connect(&home, &[]);
    let _ = agent.call("ExecCommand", &json!({"cmd": "seq 200000"}));
    let _ = grown(&home, &agent, "seq 200000", true);
    for (what, cmd) in [
        (
            "120 kB of nested brackets",
            "head -c 60000 /dev/zero | tr '\\0' '['; head -c 60000 /dev/zero | tr '\\0' ']'",
        ),
        ("a million tiny lines", "yes y | head -n 1000000"),
        ("one line of 1 GB", "head -c 1000000000 /dev/zero | tr '\\0' x"),
    ] {
        for tty in [false, true] {
            let grown = grown(&home, &agent, cmd, tty);
            eprintln!("{what}, {}: {grown} KiB", if tty { "terminal" } else { "pipe" });
            assert!(grown <= GROWTH_KIB, "{what} (tty {tty}) takes {grown} KiB");
        }
    }
    agent.leave();
}
