//! What several integration tests share: waiting for facts, the built program, throw-away folders.
#![expect(dead_code, reason = "each part of the suite uses its own share")]

use std::path::PathBuf;
use std::time::Duration;

/// The program under test.
pub(crate) fn program() -> PathBuf {
    PathBuf::from(env!("CARGO_BIN_EXE_pilothouse"))
}

/// Waits until `fact` holds, at most 20 s; panics with `what` otherwise.
#[expect(clippy::disallowed_methods, reason = "the one place that polls")]
#[track_caller]
pub(crate) fn wait_until(what: &str, mut fact: impl FnMut() -> bool) {
    let started = std::time::Instant::now();
    while !fact() {
        assert!(started.elapsed() < Duration::from_secs(20), "waited 20 s for: {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}
