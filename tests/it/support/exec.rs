//! `pilothouse exec` as a script uses it: lines in, lines out. Every output line is checked against the shape that
//! all lines have.

use std::io::Write;
use std::process::{Command, Output, Stdio};

use serde_json::{Map, Value};

use super::Home;

/// The result of a stream.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) lines: Vec<Value>,
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// Runs `input` as a stream, in this process.
#[track_caller]
pub(crate) fn exec(home: &Home, args: &[&str], input: impl AsRef<[u8]>) -> Ran {
    exec_with(home, &[], args, input)
}

/// Like `exec`, with more variables.
#[track_caller]
pub(crate) fn exec_with(
    home: &Home,
    variables: &[(&str, &str)],
    args: &[&str],
    input: impl AsRef<[u8]>,
) -> Ran {
    ran(home.in_process().exec(home.caller(variables), args, input.as_ref()))
}

/// Returns `pilothouse exec` with arguments, not yet started.
pub(crate) fn command(home: &Home, args: &[&str]) -> Command {
    let mut command = home.command(&["exec"]);
    command.args(args);
    command
}

/// Runs a prepared command with `input` on standard input; all of it is written before anything is read.
#[track_caller]
pub(crate) fn exec_by(command: &mut Command, input: impl AsRef<[u8]>) -> Ran {
    ran(output(command, input))
}

/// Runs it in this process, and returns everything it printed, whatever its shape.
#[track_caller]
pub(crate) fn exec_text(home: &Home, args: &[&str], input: impl AsRef<[u8]>) -> String {
    let output = home.in_process().exec(home.caller(&[]), args, input.as_ref());
    String::from_utf8(output.stdout).expect("stdout is UTF-8")
}

fn output(command: &mut Command, input: impl AsRef<[u8]>) -> Output {
    let piped = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = piped.spawn().expect("exec starts");
    let mut stdin = child.stdin.take().expect("piped");
    // `exec` closes its input early when it refuses a stream.
    let _ = stdin.write_all(input.as_ref());
    drop(stdin);
    child.wait_with_output().expect("exec ends")
}

/// Parses what a stream printed.
#[track_caller]
pub(crate) fn ran(output: Output) -> Ran {
    let stdout = String::from_utf8(output.stdout).expect("stdout is UTF-8");
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    let lines: Vec<Value> = stdout
        .lines()
        .map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error} in {line}")))
        .collect();
    lines.iter().for_each(check_line);
    Ran { lines, code: output.status.code(), stdout, stderr }
}

impl Ran {
    /// The answer to an input line.
    #[track_caller]
    pub(crate) fn of(&self, line: u64) -> &Value {
        let found = self.lines.iter().find(|answer| answer["meta"]["_line"] == line);
        found.unwrap_or_else(|| panic!("no answer to line {line} in {self:#?}"))
    }

    /// The error codes, in order; `ok` for lines without an error.
    pub(crate) fn codes(&self) -> Vec<&str> {
        self.lines.iter().map(|line| line["error"]["code"].as_str().unwrap_or("ok")).collect()
    }

    /// The exit codes of the lines.
    pub(crate) fn exits(&self) -> Vec<u64> {
        self.lines.iter().map(|line| line["meta"]["exit_code"].as_u64().expect("a code")).collect()
    }
}

/// Checks the shape of a line: five keys and what each may contain.
#[track_caller]
pub(crate) fn check_line(line: &Value) {
    let keys = |value: &Value| -> Vec<String> {
        value.as_object().map(|map| map.keys().cloned().collect()).unwrap_or_default()
    };
    assert_eq!(keys(line), ["ok", "data", "error", "warnings", "meta"], "{line}");
    let ok = line["ok"].as_bool().expect("ok is a boolean");
    assert!(line["data"].is_object() || line["data"].is_array() || line["data"].is_null(), "{line}");
    let warnings = line["warnings"].as_array().expect("warnings is a list");
    assert!(warnings.iter().all(Value::is_string), "{line}");
    let meta = line["meta"].as_object().expect("meta is an object");
    let code = meta["exit_code"].as_u64().expect("exit_code is a number");
    let is_known = matches!(code, 0..=13 | 79..=125 | 130 | 141 | 143);
    assert!(is_known && (code == 0) == ok, "{line}");
    assert!(meta["duration_ms"].is_u64(), "{line}");
    let is_text = |key: &str| meta.get(key).is_none_or(Value::is_string);
    assert!(is_text("_cmd") && meta.get("_line").is_none_or(|line| line.as_u64() >= Some(1)), "{line}");
    assert!(meta.get("truncated").is_none_or(Value::is_boolean), "{line}");
    match line["error"].as_object() {
        Some(error) => check_error(error),
        None => assert!(ok && line["error"].is_null(), "{line}"),
    }
}

fn check_error(error: &Map<String, Value>) {
    let text = |key: &str| error.get(key).and_then(Value::as_str).unwrap_or_default();
    let code = text("code");
    let is_word = code.len() > 1
        && code.starts_with(|first: char| first.is_ascii_uppercase())
        && code.chars().all(|letter| letter.is_ascii_uppercase() || letter.is_ascii_digit() || letter == '_');
    assert!(is_word && !text("message").is_empty(), "{error:?}");
    assert!(error["retryable"].is_boolean(), "{error:?}");
    assert!(["validation", "execution", "cleanup"].contains(&text("phase")), "{error:?}");
    for key in ["detail", "fix_required", "suggestion"] {
        assert!(error.get(key).is_none_or(Value::is_string), "{key} of {error:?}");
    }
    assert!(error.get("context").is_none_or(Value::is_object), "{error:?}");
}
