//! Gates from the command line: listed, decided at a terminal only, reported (docs/prose-rules.md#rule-27, #rule-28).

use std::process::{Child, Stdio};

use serde_json::Value;

use crate::prose_cases::run_folder;
use crate::support::{Console, Home, program_word, wait_until};

fn write(home: &Home, name: &str, text: &str) {
    std::fs::write(home.workspace().join(name), text).expect("written");
}

fn start(home: &Home, args: &[&str]) -> Child {
    home.command(args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("starts")
}

fn data(home: &Home, args: &[&str]) -> Value {
    let output = home.run(args);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let value: Value = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
    value["data"].clone()
}

fn waiting(home: &Home) -> Vec<Value> {
    data(home, &["prose", "gates"])["gates"].as_array().cloned().unwrap_or_default()
}

/// Opens the command that decides, and returns it with the word that it asks for.
fn deciding(home: &Home, args: &[&str], text: &str) -> (Console, String) {
    let console = Console::open(home, args, (100, 30));
    console.shows(text);
    console.shows(&format!("and Enter to {}:", args[2]));
    let shown = console.text();
    let (_, after) = shown.split_once("Type ").expect("a word");
    (console, after.split_whitespace().next().expect("a word").to_owned())
}

/// Decides a gate: types the word, and again as long as it comes too early to count.
fn decides(home: &Home, args: &[&str], text: &str) {
    let (mut console, word) = deciding(home, args, text);
    console.asks_until(format!("{word}\r").as_bytes(), "gate deploy");
    assert_eq!(console.exit(), 0, "{}", console.text());
}

#[test]
fn a_gate_is_listed_and_opened_by_the_word_that_its_terminal_shows() {
    let home = Home::new();
    write(
        &home,
        "p.prose",
        "let v = exec \"echo 1.2.3\"\nparallel:\n  gate deploy:\n    prompt: \"Deploy {v}?\"\n  do:\n    gate deploy:\n      \
         prompt: \"And again?\"\nexec \"touch deployed\"\n",
    );
    let run = start(&home, &["run", "p.prose", "--plain", "--attended"]);
    wait_until("both gates wait", || waiting(&home).len() == 2);
    let gates = waiting(&home);
    let id = gates[0]["run"].as_str().expect("a run").to_owned();
    assert_eq!(run_folder(&home).file_name().expect("a name").to_string_lossy(), id);
    let mut names: Vec<&str> = gates.iter().filter_map(|gate| gate["gate"].as_str()).collect();
    names.sort_unstable();
    assert_eq!(names, ["deploy", "deploy-2"]);
    let first = gates.iter().find(|gate| gate["prompt"] == "Deploy 1.2.3?").expect("listed").clone();
    let first = first["gate"].as_str().expect("a name");
    let approve = ["prose", "gate", "approve", &id, first];
    let nowhere = home.run(&approve);
    assert_eq!(nowhere.status.code(), Some(4), "without a terminal");
    assert_eq!(home.run(&["prose", "gate", "approve", &id, "nope"]).status.code(), Some(5));
    let (mut console, word) = deciding(&home, &approve, "Deploy 1.2.3?");
    console.asks_until(format!("not{word}\r").as_bytes(), "nothing was decided");
    assert_eq!(console.exit(), 4);
    assert_eq!(waiting(&home).len(), 2);
    decides(&home, &approve, "Deploy 1.2.3?");
    wait_until("one gate is left", || waiting(&home).len() == 1);
    let second = names.iter().find(|name| **name != first).expect("the other");
    let reject = ["prose", "gate", "reject", &id, second, "--note", "not twice"];
    decides(&home, &reject, "And again?");
    let output = run.wait_with_output().expect("ends");
    assert_eq!(output.status.code(), Some(1), "{}", String::from_utf8_lossy(&output.stdout));
    assert!(!home.workspace().join("deployed").exists());
    assert!(waiting(&home).is_empty(), "nobody runs");
    let log = data(&home, &["prose", "gate", "log", &id]);
    let events: Vec<(&str, &str)> = log["events"]
        .as_array()
        .expect("events")
        .iter()
        .map(|event| (event["event"].as_str().expect("what"), event["principal"].as_str().expect("who")))
        .collect();
    let expected =
        [("created", "system"), ("created", "system"), ("approved", "operator"), ("rejected", "operator")];
    assert_eq!(events, expected, "{log}");
    let only = data(&home, &["prose", "gate", "log", &id, "--gate", second]);
    assert_eq!(only["events"][1]["comment"], "not twice", "{only}");
    assert_eq!(home.run(&["prose", "gate", "log", "nope"]).status.code(), Some(5));
}

#[test]
fn a_command_of_the_program_opens_no_gate_however_it_hides() {
    // docs/prose-rules.md#rule-28.
    let home = Home::new();
    let own = program_word();
    let attempt = format!("{own} prose gate approve $(ls .prose/runs | tail -n 1) g");
    write(&home, "try.sh", &format!("{attempt} > $1 2>&1 < /dev/null; echo $? >> $1; touch $1.done\n"));
    write(
        &home,
        "p.prose",
        "parallel:\n  gate g:\n    prompt: \"Open?\"\n    timeout: \"10s\"\n    on_reject: continue\n  do:\n    \
         exec \"until ls .prose/runs/*/gates/g.pending.json; do :; done\"\n    exec \"sh try.sh plain\"\n    \
         exec \"setsid sh -c 'sh try.sh forked &' & until test -e forked.done; do sleep 0.05; done\"\n",
    );
    let output = home.run(&["run", "p.prose", "--plain", "--attended"]);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.code(), Some(0), "{text}");
    for attempt in ["plain", "forked"] {
        let said = std::fs::read_to_string(home.workspace().join(attempt)).expect("it tried");
        assert!(said.contains("cannot act as the operator") && said.ends_with("4\n"), "{attempt}: {said}");
    }
    let state = std::fs::read_to_string(run_folder(&home).join("state.md")).expect("a state");
    assert!(state.contains("gate:g timeout") && !state.contains("approved"), "{state}");
}
