//! What each fuzz target does with its bytes. `cargo fuzz` and the suite (`tests/it/fuzz_corpus.rs`) both run this.
//! A panic is a finding, and so is a violated invariant.

use std::path::Path;
use std::time::Duration;

use pilothouse::config::{LoadedSettings, Source};
use pilothouse::console::keys::decode::KeyDecoder;
use pilothouse::console::keys::keymap::Keymap;
use pilothouse::console::theme::ThemeFile;
use pilothouse::runtime::past;
use pilothouse::terminal::host_terminal::{self, HostTerminal};
use pilothouse::terminal::{ByteOrigin, Contents, Size, Terminal, clean, is_contained};

/// Output of a task. The first two bytes are the size; a byte of 255 stands for a resize.
pub(crate) fn pane(bytes: &[u8]) {
    let [cols, rows, text @ ..] = bytes else { return };
    let size = |cols: u8, rows: u8| Size::nearest(u16::from(cols), u16::from(rows % 80));
    let (mut whole, mut pieces) = (Terminal::new(size(*cols, *rows), ByteOrigin::Tty), None);
    for (at, piece) in text.split(|byte| *byte == 255).enumerate() {
        if at > 0 {
            let (cols, rows) = (piece.first().copied().unwrap_or(1), piece.last().copied().unwrap_or(1));
            whole.resize(size(cols, rows));
        }
        let fed = whole.feed(piece);
        assert!(!fed.reset, "the emulator panicked");
        assert!(fed.replies.len() <= Terminal::MAX_REPLIES);
        pieces = Some(piece);
    }
    assert!(!is_contained());
    let shown = whole.screen_text();
    assert!(
        !shown.contains(|c: char| c.is_control() && c != '\n'),
        "a control character is shown: {shown:?}"
    );
    // A screen sent to a console is drawn there exactly as here.
    let contents = Contents::of(&whole);
    for (at, row) in (0..).zip(&contents.rows) {
        for (column, cell) in row.cells() {
            assert_eq!(cell, whole.cell(at, column));
        }
    }
    assert_eq!(contents.text(), shown);
    for origin in [ByteOrigin::Tty, ByteOrigin::Pipe] {
        let text = clean(pieces.unwrap_or_default(), origin, whole.size());
        assert!(!text.contains('\u{1b}'), "{text:?}");
    }
}

/// What arrives on the sockets: hellos, and frames of agents, scripts and consoles.
pub(crate) fn frames(bytes: &[u8]) {
    pilothouse::fuzz::frames(bytes);
}

/// Lines of an MCP client, and of the runtime's answers.
pub(crate) fn mcp(bytes: &[u8]) {
    pilothouse::fuzz::mcp(bytes);
}

/// A line of `pilothouse exec`.
pub(crate) fn exec(bytes: &[u8]) {
    pilothouse::fuzz::exec_line(bytes);
}

/// A recording: its journal, and after a NUL byte each its `head.json` and `meta.json`. `folder` is empty or
/// contains an earlier one.
pub(crate) fn recording(folder: &Path, bytes: &[u8]) {
    let mut parts = bytes.splitn(3, |byte| *byte == 0);
    for name in ["journal-0001.jsonl", "head.json", "meta.json"] {
        let text = parts.next().unwrap_or_default();
        std::fs::write(folder.join(name), text).expect("written");
    }
    let report = pilothouse::journal::verify(folder).expect("a folder that can be listed");
    let recording = past::read(folder).expect("a folder that can be listed");
    assert_eq!(report.is_whole(), report.problems.is_empty());
    drop(recording);
}

/// Input from a terminal: it decodes to the same keys wherever it is split.
pub(crate) fn keys(bytes: &[u8]) {
    for is_asked in [false, true] {
        let decoder = || {
            let mut decoder = KeyDecoder::default();
            decoder.is_asked = is_asked;
            decoder
        };
        let mut whole = decoder();
        let mut at_once = whole.feed(Duration::ZERO, bytes);
        at_once.extend(whole.time_out(Duration::MAX));
        let mut cut = decoder();
        let mut one_by_one: Vec<_> =
            bytes.iter().flat_map(|byte| cut.feed(Duration::ZERO, &[*byte])).collect();
        one_by_one.extend(cut.time_out(Duration::MAX));
        assert_eq!(at_once, one_by_one);
    }
    let mut found = HostTerminal::default();
    for body in bytes.split(|byte| *byte == 0x1b) {
        if let Some(answer) = host_terminal::parse_osc(body) {
            let _ = found.record(answer);
        }
    }
    let _ = (found.is_light(), found.whole_palette());
}

/// The same text as settings, as a keymap and as a theme.
pub(crate) fn settings(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let source = Source { name: "fuzz.toml".to_owned(), text: text.into_owned() };
    let lines = source.text.lines().count() + 1;
    let loaded = LoadedSettings::of(Some(&source), Path::new("fuzz.toml"));
    let keymap = Keymap::of("vim", Some(&source));
    let theme = ThemeFile::built_in().over(&source);
    for faults in [loaded.err(), keymap.err(), theme.err()].into_iter().flatten() {
        for fault in faults.0 {
            let _ = fault.to_string();
            assert!(fault.line.is_none_or(|line| (1..=lines).contains(&line)), "{fault:?} lies outside");
        }
    }
}
