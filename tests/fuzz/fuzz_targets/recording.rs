#![no_main]
use std::path::PathBuf;
use std::sync::LazyLock;

#[path = "../targets.rs"]
#[allow(dead_code)]
mod targets;

/// One folder per fuzzing process, rewritten for each input.
static FOLDER: LazyLock<PathBuf> = LazyLock::new(|| {
    let folder = std::env::temp_dir().join(format!("pilothouse-fuzz-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    folder
});

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| targets::recording(&FOLDER, bytes));
