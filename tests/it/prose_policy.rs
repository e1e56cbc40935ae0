//! Commands of a program that a person must allow first (docs/prose-rules.md#rule-35): in the console, with nobody
//! there, with an answers file, and by the settings.

use crate::prose_cases::run_folder;
use crate::support::{Console, Home, read_it};

fn write(home: &Home, name: &str, text: &str) {
    std::fs::write(home.workspace().join(name), text).expect("written");
}

fn has(home: &Home, name: &str) -> bool {
    home.workspace().join(name).exists()
}

fn said(home: &Home, args: &[&str]) -> (Option<i32>, String) {
    let output = home.call(args);
    let text = [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned());
    (output.status.code(), text.concat())
}

/// Opens the question shown in the strip, and waits until a key counts.
fn open(console: &Console, of: &str) {
    console.shows(&format!("run this command?  {of}"));
    console.keys(b"\r");
    console.shows("y approve");
    read_it();
}

/// How many seconds ago the question on the screen was asked.
fn asked(screen: &str) -> Option<u32> {
    screen.split("asked ").skip(1).find_map(|rest| rest.split_once("s ago")?.0.parse().ok())
}

#[test]
fn the_person_at_the_console_lets_each_command_run_or_not() {
    let home = Home::new();
    let tail = "the-very-end-of-it";
    let long = format!("touch one; : {} {tail}", "and so on ".repeat(40));
    write(
        &home,
        "p.prose",
        &format!(
            "let name = \"two\"\nexec \"{long}\"\n  timeout: \"4s\"\ntry:\n  exec \"touch {{name}}\"\n    on-fail: \"ignore\"\n\
             catch as e:\n  exec \"touch three\"\n"
        ),
    );
    let mut console = Console::open(&home, &["run", "p.prose", "--exec", "ask"], (100, 40));
    // Typed ahead of the dialog: this approves nothing.
    console.shows("run this command?");
    assert!(!has(&home, "one"));
    console.keys(b"\ry");
    console.shows("too early");
    console.shows(tail);
    console.shows(&home.workspace().display().to_string());
    assert!(!has(&home, "one"), "a key typed ahead has run nothing");
    // Longer than the command's timeout: waiting for the answer does not count towards it.
    console.shown_until("a longer time", |screen| asked(screen).filter(|seconds| *seconds > 4));
    console.keys(b"y");
    open(&console, "touch two");
    assert!(has(&home, "one"));
    console.keys(b"cnot this one\rn");
    open(&console, "touch three");
    assert!(!has(&home, "two"), "a no runs nothing, and on-fail makes nothing of it");
    console.keys(b"y");
    console.shows("completed");
    console.keys(b"q");
    assert_eq!(console.exit(), 0);
    assert!(has(&home, "three"));
    let journal = std::fs::read_to_string(run_folder(&home).join("journal.jsonl")).expect("a journal");
    let decided: Vec<&str> = journal.lines().filter(|row| row.contains("\"row\":\"decided\"")).collect();
    assert_eq!(decided.len(), 3, "{journal}");
    assert!(decided.iter().all(|row| row.contains("\"principal\":\"operator\"")), "{decided:?}");
    assert!(decided[1].contains("not this one"), "{decided:?}");
    let state = std::fs::read_to_string(run_folder(&home).join("state.md")).expect("a state");
    assert!(state.contains("✗ the operator did not let the command run: not this one"), "{state}");
}

#[test]
fn no_command_of_a_program_runs_with_nobody_to_ask_and_the_commands_are_listed() {
    let home = Home::new();
    write(&home, "p.prose", "exec \"touch one\"\nexec \"touch two\"\n");
    for policy in ["ask", "once"] {
        let (code, text) = said(&home, &["run", "p.prose", "--plain", "--exec", policy]);
        assert_eq!(code, Some(3), "{text}");
        assert!(text.contains("line 1: exec: touch one") && text.contains("line 2: exec"), "{text}");
    }
    // The settings require asking as well; the flag has the last word.
    home.configure("config.toml", "[programs]\nexec = \"ask\"\n");
    assert_eq!(said(&home, &["run", "p.prose", "--plain"]).0, Some(3));
    assert!(!has(&home, "one") && !home.workspace().join(".prose").exists());
    assert_eq!(said(&home, &["run", "p.prose", "--plain", "--exec", "allow"]).0, Some(0));
    assert!(has(&home, "one") && has(&home, "two"));
    home.configure("config.toml", "[programs]\nexec = \"perhaps\"\n");
    let (code, text) = said(&home, &["run", "p.prose", "--plain"]);
    assert!(code != Some(0) && text.contains("perhaps"), "{text}");
}

#[test]
fn a_file_of_answers_lets_commands_run_only_when_it_may_open_gates() {
    let home = Home::new();
    write(&home, "p.prose", "exec \"touch one\"\n");
    write(&home, "a.toml", "[[answer]]\nkind = \"command\"\nanswer = \"approve\"\n");
    let args = ["run", "p.prose", "--plain", "--exec", "once", "--answers", "a.toml"];
    assert_eq!(said(&home, &args).0, Some(3));
    assert!(!has(&home, "one"));
    let (code, text) = said(&home, &[&args[..], &["--gates-from-answers"]].concat());
    assert_eq!(code, Some(0), "{text}");
    let journal = std::fs::read_to_string(run_folder(&home).join("journal.jsonl")).expect("a journal");
    assert!(journal.contains("\"principal\":\"file\"") && journal.contains("\"exec\":\"once\""), "{journal}");
}
