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
fn the_fuzz_corpus_of_task_output_passes() {
    replay("pane", targets::pane);
}

#[test]
fn the_fuzz_corpus_of_frames_passes() {
    replay("frames", targets::frames);
}

#[test]
fn the_fuzz_corpus_of_mcp_passes() {
    replay("mcp", targets::mcp);
}

#[test]
fn the_fuzz_corpus_of_recordings_passes() {
    let folder = tempfile::tempdir().expect("temp dir");
    replay("recording", |bytes| targets::recording(folder.path(), bytes));
}

#[test]
fn the_fuzz_corpus_of_terminal_input_passes() {
    replay("keys", targets::keys);
}

#[test]
fn the_fuzz_corpus_of_settings_keymaps_and_themes_passes() {
    replay("settings", targets::settings);
}

#[test]
fn the_fuzz_corpus_of_exec_lines_passes() {
    replay("exec", targets::exec);
}
