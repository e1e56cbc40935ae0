//! The reference of codes as Markdown, generated from the table.

use std::fmt::Write as _;

use super::codes::{RuleCode, RulePhase};
use super::diagnostic::{Profile, Severity};

const HEAD: &str = "\
# What is said about programs

<!-- Written from the table of codes. To renew it: UPDATE_REFERENCE=1 cargo test --test it prose_codes -->

`pilothouse prose check FILE…` reads `.prose` programs without running them. Each finding has a stable code. `E…` and `W…`
are the language's own, `OPE…` and `OPW…` those of its public linter, `HPE…` and `HPW…` Pilothouse's: for rules that the
language states without a code, and for what is accepted although the language does not have it.

Two profiles: `compat` (the usual one) accepts what real programs do, with a warning; `strict` keeps to the letter. Errors
stop a program from running, warnings do not. Exit code: 0 without errors, 1 with some, 2 when a file cannot be read.

";

/// Returns the whole reference.
pub fn codes_reference() -> String {
    let mut text = HEAD.to_owned();
    for (title, word, letter) in [("Errors", "error", 'E'), ("Warnings", "warning", 'W')] {
        let _ =
            write!(text, "## {title}\n\n| code | {word} | in `strict` | what to do |\n|---|---|---|---|\n");
        for code in RuleCode::ALL.iter().filter(|code| code.as_str().contains(letter)) {
            line(&mut text, *code);
        }
        text.push('\n');
    }
    text.truncate(text.trim_end().len());
    text.push('\n');
    text
}

fn line(text: &mut String, code: RuleCode) {
    let row = code.row();
    let (other, severity) = code.in_profile(Profile::Strict);
    let strict = match (other == code, severity) {
        (false, _) => format!("error `{other}`"),
        (true, Severity::Error) => "error".to_owned(),
        (true, Severity::Warning) => "warning".to_owned(),
    };
    let when = if row.when == RulePhase::Run { " (known only when it runs)" } else { "" };
    let _ = writeln!(text, "| `{code}` | {}{when} | {strict} | {} |", cell(row.what), cell(row.fix));
}

fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}
