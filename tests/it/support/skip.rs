//! What tests note about themselves: that they cannot run on this machine, and that they start the program. The test
//! harness cannot skip a test at run time: such a test is counted as passed in its summary. So we print a list after it,
//! with each skipped test and the reason.

use std::collections::BTreeSet;
use std::fs::OpenOptions;
use std::io::Write;
use std::path::Path;
use std::sync::{Mutex, Once};

static SKIPPED: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
static STARTING: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
static AT_THE_END: Once = Once::new();

/// Records that the running test is skipped, and why. The caller must return.
///
/// Skipped tests are listed when all tests have ended: on standard error, and in `target/tmp/skipped-tests`, which
/// `.ci/run` prints again at its end.
#[track_caller]
pub(crate) fn skip(reason: &str) {
    let name = test_name();
    SKIPPED.lock().expect("skipped").insert(format!("{name}: {reason}"));
    AT_THE_END.call_once(list_at_exit);
}

/// Records that the running test starts the program; `.ci/run` prints how many do (`target/tmp/tests-that-start-it`).
#[track_caller]
pub(crate) fn note_start() {
    STARTING.lock().expect("starting").insert(test_name());
    AT_THE_END.call_once(list_at_exit);
}

/// A test's thread has the test's name, except when tests run one at a time.
#[track_caller]
fn test_name() -> String {
    match std::thread::current().name() {
        Some(name) if name.contains("::") => name.to_owned(),
        _ => std::panic::Location::caller().to_string(),
    }
}

/// Adds lines to a file in the folder for what tests leave.
fn add_lines(name: &str, lines: &str) {
    let folder = std::env::var_os("CARGO_TARGET_TMPDIR").unwrap_or(env!("CARGO_TARGET_TMPDIR").into());
    let file = Path::new(&folder).join(name);
    if let Ok(mut file) = OpenOptions::new().create(true).append(true).open(file) {
        let _ = file.write_all(lines.as_bytes());
    }
}

#[expect(unsafe_code, reason = "the one way to be called after the test library has said its last line")]
fn list_at_exit() {
    extern "C" fn list() {
        if let Ok(starting) = STARTING.lock() {
            add_lines(
                "tests-that-start-it",
                &starting.iter().map(|name| format!("{name}\n")).collect::<String>(),
            );
        }
        let Ok(skipped) = SKIPPED.lock() else { return };
        if skipped.is_empty() {
            return;
        }
        let lines: String = skipped.iter().map(|line| format!("    {line}\n")).collect();
        let count = skipped.len();
        let _ = writeln!(
            std::io::stderr(),
            "skipped: {count}, counted as passed above though they did not run:\n{lines}"
        );
        add_lines("skipped-tests", &lines);
    }
    // SAFETY: `list` is a function of this program and does not unwind: it ignores errors.
    let kept = unsafe { libc::atexit(list) };
    assert_eq!(kept, 0, "a handler of the end");
}
