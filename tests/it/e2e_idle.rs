//! What a runtime does while its commands do nothing.

use serde_json::json;

use crate::support::{Agent, Family, Home, wait_until};

/// Processor time that a process's I/O threads have spent on its commands, in clock ticks.
fn pump_ticks(pid: u32) -> u64 {
    let threads = std::fs::read_dir(format!("/proc/{pid}/task")).expect("threads").flatten();
    let of = |stat: String| {
        let (name, fields) = stat.rsplit_once(')')?;
        let fields: Vec<&str> = fields.split_ascii_whitespace().collect();
        let ticks = fields.get(11)?.parse::<u64>().ok()? + fields.get(12)?.parse::<u64>().ok()?;
        name.ends_with("(pump").then_some(ticks)
    };
    threads.filter_map(|thread| of(std::fs::read_to_string(thread.path().join("stat")).ok()?)).sum()
}

#[test]
fn a_command_that_lets_go_of_its_input_or_its_terminal_costs_nothing() {
    let home = Home::new();
    let mut served = home.serve();
    let agent = Agent::connect(&home, &[]);
    let piped = "exec 0<&-; touch piped; exec sleep 1000";
    let on_terminal = "exec </dev/null >/dev/null 2>&1; touch detached; exec sleep 1000";
    for input in [
        json!({"cmd": piped, "accepts_input": true, "yield_time_ms": 0}),
        json!({"cmd": on_terminal, "tty": true, "yield_time_ms": 0}),
    ] {
        agent.call("ExecCommand", &input);
    }
    let exists = |name: &str| home.workspace().join(name).exists();
    wait_until("both have let go", || exists("piped") && exists("detached"));
    let runtime = Family::of(served.id()).program;
    let before = pump_ticks(runtime);
    // The clock alone decides how long this takes: one fully used core would count 100 ticks.
    agent.call("ExecCommand", &json!({"cmd": "sleep 1", "yield_time_ms": 20_000}));
    let spent = pump_ticks(runtime) - before;
    assert!(spent < 30, "{spent} ticks in a second in which nothing happened");
    agent.leave();
    home.stop(&mut served);
}
