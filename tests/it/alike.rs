//! What `l` on the card of an agent's prompt lets pass unasked: calls of programs in the table of `docs/agents.md`, which
//! start nothing and lose nothing whatever arguments follow.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use pilothouse::consequence::rule_words::{ALIKE, Prefix, quote};
use pilothouse_consequence::{ConsequenceRequest, FileStat, GitFiles, GitRefs, Look, Unseen, compute};
use proptest::prelude::*;

/// A view of no files at all.
struct EmptyLook;

impl Look for EmptyLook {
    fn stat(&self, _: &Path) -> Result<Option<FileStat>, Unseen> {
        Ok(None)
    }

    fn list(&self, _: &Path, _: &mut dyn FnMut(&OsStr) -> bool) -> Result<(), Unseen> {
        Ok(())
    }

    fn read_link(&self, _: &Path) -> Option<PathBuf> {
        None
    }

    fn has_time(&self) -> bool {
        true
    }

    fn git_files(&self, _: &Path) -> Option<GitFiles> {
        None
    }

    fn git_refs(&self, _: &Path) -> Option<GitRefs> {
        None
    }

    fn git_count(&self, _: &Path, _: &[String], _: &[String]) -> Option<u64> {
        None
    }
}

fn consequence(line: &str) -> pilothouse_consequence::Consequence {
    let request = ConsequenceRequest {
        text: line.to_owned(),
        environment: Some(BTreeMap::new()),
        folder: "/w".into(),
        workspace: "/w".into(),
        home: "/home/ana".into(),
        shell: "bash".into(),
        is_login: false,
    };
    compute(&request, &EmptyLook)
}

#[test]
fn the_table_in_the_docs_is_the_one_that_holds_each_row_with_its_reason() {
    let page =
        fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/agents.md")).expect("a page");
    let after = page.split("| first word | why").nth(1).expect("the table");
    let rows = after.lines().skip(2).take_while(|line| line.starts_with('|'));
    let rows = rows.map(|row| row.trim_matches('|').split_once('|').expect("two columns"));
    let rows: Vec<(&str, &str)> = rows.map(|(word, why)| (word.trim(), why.trim())).collect();
    let words: Vec<String> = ALIKE.iter().map(|word| format!("`{word}`")).collect();
    let named = rows.iter().flat_map(|(words, _)| words.split(", ").map(str::to_owned)).collect();
    let sorted = |mut all: Vec<String>| {
        all.sort();
        all
    };
    assert_eq!(sorted(named), sorted(words));
    assert!(rows.iter().all(|(_, why)| why.len() > 20), "{rows:?}");
}

/// Pieces of lines: words, and everything that makes a line more than one command.
fn piece() -> impl Strategy<Value = String> {
    const MORE: [&str; 22] = [
        ";",
        "&",
        "&&",
        "|",
        "||",
        "|&",
        "\n",
        "$(touch x)",
        "`touch x`",
        "$X",
        "> x",
        "<x",
        "(",
        ")",
        "{",
        "}",
        "!",
        "'",
        "\"",
        "\\",
        "#",
        "*",
    ];
    const WORDS: [&str; 12] =
        ["touch", "x", "-o", "--output=x", "rm", "sh", "-c", "A=1", "time", "exec", "eval", "'touch x'"];
    prop_oneof![
        4 => prop::sample::select(ALIKE.to_vec()).prop_map(str::to_owned),
        2 => prop::sample::select(WORDS.to_vec()).prop_map(str::to_owned),
        2 => prop::sample::select(MORE.to_vec()).prop_map(str::to_owned),
    ]
}

/// A folder of programs that only note that they were started, in a file beside it.
fn noting_programs(at: &Path) -> PathBuf {
    use std::os::unix::fs::PermissionsExt as _;
    let programs = at.join("programs");
    fs::create_dir(&programs).expect("a folder");
    for name in ALIKE.iter().copied().chain(["touch", "rm", "sh", "time", "x"]) {
        let file = programs.join(name);
        let note = format!("#!/bin/sh\necho {name} >> '{}/started'\n", at.display());
        fs::write(&file, note).expect("written");
        fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).expect("executable");
    }
    programs
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn a_program_of_the_table_costs_nothing_whatever_arguments_follow(
        program in prop::sample::select(ALIKE.to_vec()),
        arguments in prop::collection::vec("(-{0,2}[a-zA-Z]{1,8}=?)?[ -~]{0,12}", 0..5),
    ) {
        let words: Vec<String> = arguments.iter().map(|word| quote(word)).collect();
        let line = format!("{program} {}", words.join(" "));
        let cost = consequence(&line);
        prop_assert!(cost.facts.is_empty(), "{line}: {:?}", cost.sentences());
        let is_plain = arguments.iter().all(|word| !word.starts_with('-'));
        // The parser fails on a few quoted words (`''\''$$'`): then the answer is that it is not known.
        let is_unread = cost.sentences().iter().all(|said| said.ends_with("it cannot be read as a shell would"));
        prop_assert!(!is_plain || cost.unknown.is_empty() || is_unread, "{line}: {:?}", cost.sentences());
    }

    /// Of a line that is like others, bash starts the program of the table and nothing else, and it leaves no file behind.
    #[test]
    fn bash_starts_only_the_program_of_the_table_in_an_alike_line(
        pieces in prop::collection::vec(piece(), 1..6),
        gaps in prop::collection::vec(prop::sample::select(vec!["", " ", " ", " ", "\t"]), 6),
    ) {
        let line: String = pieces.iter().zip(&gaps).map(|(piece, gap)| format!("{piece}{gap}")).collect();
        let Some(alike) = Prefix::of_alike(&line) else { return Ok(()) };
        let folder = tempfile::tempdir().expect("a folder");
        let programs = noting_programs(folder.path());
        let work = folder.path().join("work");
        fs::create_dir(&work).expect("a folder");
        let mut bash = Command::new("/bin/bash");
        bash.args(["-c", &line]).current_dir(&work).env_clear().env("PATH", &programs);
        bash.output().expect("bash runs");
        let started = fs::read_to_string(folder.path().join("started")).unwrap_or_default();
        let started: Vec<&str> = started.lines().collect();
        prop_assert!(started.len() <= 1 && started.iter().all(|one| *one == alike.text()), "{line:?}: {started:?}");
        prop_assert_eq!(fs::read_dir(&work).expect("a folder").count(), 0, "{:?}", line);
    }
}

#[test]
fn every_program_of_the_table_is_known_to_the_interpreter() {
    for program in ALIKE {
        assert_eq!(consequence(&format!("{program} a b")).sentences(), ["no cost computed"], "{program}");
    }
}
