//! The cases that need no run: programs that are refused before anything happens.

use std::time::Duration;

use super::{compat, expect, expect_strict, told};
use crate::ast::{Expr, OnFail, StatementKind, TextPart};
use crate::{Contract, Imports, Profile, SourceText, check_with};

#[test]
fn c01_a_command_that_is_empty_is_refused() {
    expect("exec \"\"\n", &["E050:1"]);
    expect("exec \"  \"\n", &["E050:1"]);
    expect("let x = exec \"\"\"\n\"\"\"\n", &["E050:1"]);
}

#[test]
fn c02_a_timeout_is_a_quoted_duration_of_more_than_nothing() {
    for value in ["\"5 minutes\"", "\"\"", "\"0s\"", "\"-1s\"", "5m", "120s", "5", "soon"] {
        expect(&format!("exec \"true\"\n  timeout: {value}\n"), &["E051:2"]);
    }
    for value in ["30s", "5m", "1h30m", "2d"] {
        let codes: &[&str] =
            if value.ends_with(['d']) || value.starts_with("1h") { &["W050:2"] } else { &[] };
        expect(&format!("exec \"true\"\n  timeout: \"{value}\"\n"), codes);
    }
    let checked = compat("exec \"true\"\n  timeout: \"11m\"\n");
    assert_eq!(checked.diagnostics[0].message, "exec timeout exceeds 10 minutes");
}

#[test]
fn a_command_that_says_nothing_may_take_two_minutes_and_its_failure_throws() {
    let checked = compat("let x = exec \"true\"\n");
    let StatementKind::Bind(binding) = &checked.program.body[0].kind else { panic!("a binding") };
    let Expr::Exec(exec) = &*binding.value else { panic!("an exec") };
    assert_eq!((exec.timeout(), exec.on_fail()), (Duration::from_secs(120), OnFail::Throw));
}

#[test]
fn c03_a_failure_throws_continues_or_is_ignored() {
    expect("exec \"true\"\n  on-fail: \"retry\"\n", &["E052:2"]);
    expect("exec \"true\"\n  on-fail: continue\n", &["E052:2"]);
    for value in ["throw", "continue", "ignore"] {
        expect(&format!("exec \"true\"\n  on-fail: \"{value}\"\n"), &[]);
    }
}

#[test]
fn c04_a_command_needs_its_variables() {
    expect("exec \"echo {nope}\"\n", &["W051:1", "E053:1"]);
    let checked = compat("exec \"true\"\nexec \"echo {nope}\"\n");
    let error = checked.diagnostics.iter().find(|one| one.is_error()).expect("an error");
    assert_eq!(error.message, "Variable {nope} is not defined");
}

#[test]
fn c05_a_command_that_interpolates_is_warned_about_once() {
    expect("let b = exec \"echo hi\"\nlet c = exec \"echo {b}-x {b}\"\n", &["W051:2"]);
}

#[test]
fn c06_braces_that_hold_no_name_are_text() {
    let text = "let a = exec \"echo \\{x\\} {} {a b} {0} {.X}\"\n";
    expect(text, &[]);
    let checked = compat(text);
    let StatementKind::Bind(binding) = &checked.program.body[0].kind else { panic!("a binding") };
    let Expr::Exec(exec) = &*binding.value else { panic!("an exec") };
    assert_eq!(exec.command.parts, [TextPart::Literal("echo {x} {} {a b} {0} {.X}".to_owned())]);
}

#[test]
fn c16_a_gate_needs_a_prompt_and_a_known_way_out() {
    expect("gate g:\n  timeout: \"5m\"\n", &["OPE002:1"]);
    expect("gate g:\n  prompt: \"p\"\n  on_reject: explode\n", &["HPE023:3"]);
}

#[test]
fn c17_a_name_is_taken_once_and_a_constant_stays() {
    expect("let x = exec \"true\"\nlet x = exec \"true\"\n", &["E019:2"]);
    expect("const c = exec \"true\"\nc = exec \"true\"\n", &["HPE001:2"]);
}

#[test]
fn c18_a_block_sees_its_parameters() {
    expect("block f(n):\n  exec \"echo {n} >> log\"\ndo f(\"a\")\ndo f(\"b\")\n", &["W051:2"]);
}

#[test]
fn a_property_an_exec_does_not_have_is_told_loudly() {
    expect("exec \"true\"\n  retry: 3\n", &["W005:2"]);
    expect_strict("exec \"true\"\n  retry: 3\n", &["W005:2"]);
    let checked = compat("exec \"true\"\n  on_fail: \"ignore\"\n");
    assert_eq!(checked.diagnostics[0].hint.as_deref(), Some("did you mean `on-fail`?"));
}

#[test]
fn a_call_is_checked_against_the_program_that_is_used() {
    let used =
        "input topic: \"t\"\nif **it is about something**:\n  output found = \"x\"\ninput late: \"l\"\n";
    let contract = Contract::of(&compat(used).program);
    assert_eq!((contract.inputs.len(), contract.required.len(), contract.outputs.len()), (2, 1, 1));
    let mut imports = Imports::new();
    imports.insert("./used.prose".to_owned(), Ok(contract));
    imports.insert("./gone.prose".to_owned(), Err("there is no such file".to_owned()));
    let text = "\
use \"./used.prose\" as used
use \"./gone.prose\" as gone
let a = used(topic: \"x\", late: \"y\")
let b = used(topik: \"x\")
let { found, lost } = used(topic: \"x\")
session \"s\"
  context: [a.found, a.fund]
let c = gone(any: \"x\")
";
    let source = SourceText::new("t.prose", text).expect("short");
    let checked = check_with(&source, Profile::Compat, &imports);
    assert_eq!(told(&checked, text), ["HPE026:2", "E026:4", "E027:4", "E028:5", "E028:7"]);
    let hints: Vec<_> = checked.diagnostics.iter().filter_map(|one| one.hint.as_deref()).collect();
    assert!(
        hints.contains(&"did you mean `topic`?") && hints.contains(&"did you mean `found`?"),
        "{hints:?}"
    );
}
