//! How much a runtime grows, whatever the texts that it is shown make of their values.

use std::process::{Command, Stdio};

use serde_json::json;

use crate::e2e_flood::memory;
use crate::support::{Agent, Home, program, wait_until};

#[path = "../../crates/consequence/tests/growth/lines.rs"]
mod lines;

/// The maximum growth.
const GROWTH_KIB: u64 = 8 << 10;

#[test]
fn a_runtime_does_not_grow_whatever_a_text_makes_of_its_values() {
    let home = Home::new();
    home.configure("config.toml", "[[approvals]]\nconsequence = \"remote\"\n");
    let mut serve = Command::new("sh");
    home.settle(&mut serve);
    serve.args(["-c", "ulimit -v 2000000; exec \"$0\" serve"]).arg(program()).stderr(Stdio::null());
    let mut served = serve.spawn().expect("serve starts");
    let socket = home.places().operator_socket();
    wait_until("the runtime listens", || std::os::unix::net::UnixStream::connect(&socket).is_ok());
    let agent = Agent::connect(&home, &[]);
    // What it would cost is computed before it runs; whether it does nothing is known only to who runs it.
    let show = |line: &str| {
        let cmd = format!("[ -n \"$(uname --no-such-option)\" ] && {{ {line}\n}}");
        let _ = agent.call("ExecCommand", &json!({"cmd": cmd, "yield_time_ms": 60_000}));
    };
    (0..20).for_each(|_| show("echo"));
    let before = memory(&home, "VmRSS:");
    let count = std::env::var("PILOTHOUSE_LINES").ok().and_then(|count| count.parse().ok()).unwrap_or(60);
    (0..count).for_each(|seed| show(&lines::line(seed)));
    let grown = memory(&home, "VmHWM:").saturating_sub(before);
    assert!(grown < GROWTH_KIB, "{count} lines take {grown} KiB");
    agent.leave();
    home.stop(&mut served);
}
