//! The front end as a whole: the diagnostics of small programs.

mod cases;
mod codes;
mod layout;
mod rules;

use super::{CheckedProgram, Profile, SourceText, check};

/// Checks a program in `compat`.
fn compat(text: &str) -> CheckedProgram {
    check(&SourceText::new("t.prose", text).expect("short"), Profile::Compat)
}

/// Checks a program in `strict`.
fn strict(text: &str) -> CheckedProgram {
    check(&SourceText::new("t.prose", text).expect("short"), Profile::Strict)
}

/// Returns each diagnostic as code and line.
fn told(checked: &CheckedProgram, text: &str) -> Vec<String> {
    let source = SourceText::new("t.prose", text).expect("short");
    let say = |one: &super::Diagnostic| format!("{}:{}", one.code, source.line_of(one.span.start()));
    checked.diagnostics.iter().map(say).collect()
}

/// Expects exactly these diagnostics of a program in `compat`.
#[track_caller]
fn expect(text: &str, codes: &[&str]) {
    let checked = compat(text);
    assert_eq!(told(&checked, text), codes, "\n{text}\n{}", all(&checked));
}

/// Expects exactly these diagnostics of a program in `strict`.
#[track_caller]
fn expect_strict(text: &str, codes: &[&str]) {
    let checked = strict(text);
    assert_eq!(told(&checked, text), codes, "\n{text}\n{}", all(&checked));
}

fn all(checked: &CheckedProgram) -> String {
    let each: Vec<String> =
        checked.diagnostics.iter().map(|one| format!("{}: {}", one.code, one.message)).collect();
    each.join("\n")
}
