//! The corpora of the fuzz targets, run through the targets' functions (`.ci/long fuzz` looks for more inputs).

use std::path::{Path, PathBuf};

#[path = "../fuzz/targets.rs"]
mod targets;

/// Runs each file of a corpus, whole and truncated at several places.
#[track_caller]
fn replay(name: &str, run: impl Fn(&[u8])) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fuzz/corpus").join(name);
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(&folder).expect("a corpus").flatten().map(|entry| entry.path()).collect();
    files.sort();
    assert!(files.len() >= 3, "{name}: {} files", files.len());
    for file in files {
        let bytes = std::fs::read(&file).expect("readable");
        eprintln!("{}", file.display());
        run(&bytes);
        (1..8).for_each(|part| run(&bytes[..bytes.len() * part / 8]));
    }
}

#[test]
fn what_a_task_prints() {
    replay("pane", targets::pane);
}

#[test]
fn what_comes_over_the_sockets() {
    replay("frames", targets::frames);
}

#[test]
fn what_a_client_of_the_protocol_says() {
    replay("mcp", targets::mcp);
}

#[test]
fn recordings() {
    let folder = tempfile::tempdir().expect("temp dir");
    replay("recording", |bytes| targets::recording(folder.path(), bytes));
}

#[test]
fn what_a_terminal_sends() {
    replay("keys", targets::keys);
}

#[test]
fn settings_keymaps_and_themes() {
    replay("settings", targets::settings);
}

#[test]
fn lines_of_a_stream_of_commands() {
    replay("exec", targets::exec);
}
