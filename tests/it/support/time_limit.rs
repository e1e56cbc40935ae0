//! Every test has an end: a test that has taken too long loses the programs that it waits for, and so fails.

use std::path::Path;
use std::sync::{Condvar, Mutex};
use std::time::{Duration, Instant};

use rustix::process::Signal;

use super::send;

/// How long a test may take. None takes a tenth of that, even on a slow machine.
const LIMIT: Duration = Duration::from_secs(600);
/// How long a test may continue without its programs; then all tests are aborted.
const GRACE: Duration = Duration::from_secs(60);

/// Ends the programs of a test that takes too long, until it is dropped.
pub(crate) struct TimeLimit(std::sync::Arc<(Mutex<bool>, Condvar)>);

impl TimeLimit {
    /// Begins to count for the running test. Its programs are those with `folder` in their environment.
    ///
    /// Tests that are called by `.ci/long` (`--ignored`) have no limit.
    #[expect(clippy::disallowed_methods, reason = "the limit is in real time")]
    pub(crate) fn begin(folder: &Path) -> Self {
        let over = std::sync::Arc::new((Mutex::new(false), Condvar::new()));
        if !std::env::args().any(|arg| arg.ends_with("ignored")) {
            let (over, folder) = (std::sync::Arc::clone(&over), folder.to_owned());
            let name = std::thread::current().name().unwrap_or_default().to_owned();
            let started = Instant::now();
            std::thread::spawn(move || watch(&over, started, &name, &folder));
        }
        Self(over)
    }
}

impl Drop for TimeLimit {
    fn drop(&mut self) {
        *self.0.0.lock().expect("over") = true;
        self.0.1.notify_all();
    }
}

fn watch((over, changed): &(Mutex<bool>, Condvar), started: Instant, name: &str, folder: &Path) {
    let is_over_after = |limit: Duration| {
        let guard = over.lock().expect("over");
        let left = limit.saturating_sub(started.elapsed());
        *changed.wait_timeout_while(guard, left, |over| !*over).expect("over").0
    };
    if is_over_after(LIMIT) {
        return;
    }
    eprintln!("{name} has not ended within {} s: its programs are killed", LIMIT.as_secs());
    programs(folder).into_iter().for_each(|pid| send(pid, Signal::KILL));
    if !is_over_after(LIMIT + GRACE) {
        eprintln!("{name} has not ended without its programs either: the tests are aborted");
        std::process::abort();
    }
}

/// The processes that have the path of a folder in their environment.
fn programs(folder: &Path) -> Vec<u32> {
    let named = folder.as_os_str().as_encoded_bytes();
    let pids = std::fs::read_dir("/proc").expect("/proc").flatten();
    let pids = pids.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let has_it = |pid: &u32| {
        let environment = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        *pid != std::process::id() && memchr::memmem::find(&environment, named).is_some()
    };
    pids.filter(has_it).collect()
}
