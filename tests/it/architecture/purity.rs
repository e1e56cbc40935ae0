//! Pure modules: their results depend only on their arguments. No files, no clock, no tasks, no threads.

use super::sources;

/// The modules that `docs/architecture.md` calls pure, as path prefixes below `src`.
const PURE: [&str; 16] = [
    "agents/",
    "consequence/",
    "model/",
    "envelope/",
    "terminal/",
    "runtime/supervisor/",
    "runtime/question/machine.rs",
    "runtime/question/permissions.rs",
    "prose/syntax/",
    "prose/engine/vm/",
    "console/app/",
    "console/features/",
    "console/keys/",
    "console/plain/",
    "console/state/",
    "console/widgets/",
];

/// What a pure module must not name.
const EFFECTS: [&str; 14] = [
    "std::fs",
    "fs::",
    "File::",
    "std::net",
    "std::process",
    "std::thread",
    "thread::",
    "std::env",
    "rustix::",
    "libc::",
    "tokio::",
    "Instant::now",
    "SystemTime::now",
    "Timestamp::now",
];

/// Exceptions, and why: a path prefix and what it may name.
const ALLOWED: [(&str, &str); 3] = [
    // The interpreter of a program waits for its branches and effects, without a runtime of its own.
    ("prose/engine/vm/", "tokio::"),
    // New ids are random.
    ("envelope/ids.rs", "rustix::"),
    // The names of the system's error numbers.
    ("model/error.rs", "rustix::"),
];

#[test]
fn pure_rooms_have_no_effects() {
    let mut wrong = Vec::new();
    for (file, code) in sources() {
        if !PURE.iter().any(|room| file.starts_with(room)) || file.contains("tests") {
            continue;
        }
        let code: Vec<&str> = code.lines().filter(|line| !line.trim_start().starts_with("//")).collect();
        for effect in EFFECTS {
            let names = |line: &&str| {
                line.match_indices(effect)
                    .any(|(at, _)| !line[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_'))
            };
            let allowed = ALLOWED.iter().any(|(room, way)| file.starts_with(room) && *way == effect);
            if code.iter().any(names) && !allowed {
                wrong.push(format!("{file} names {effect}"));
            }
        }
    }
    for room in PURE {
        assert!(sources().keys().any(|file| file.starts_with(room)), "{room} names no file any more");
    }
    assert!(wrong.is_empty(), "effects in pure modules:\n{}", wrong.join("\n"));
}
