//! One line of the stream: a request, a blank line, or an error. The input is untrusted.

use serde_json::{Map, Value};

use crate::dispatch::code::Code;
use crate::dispatch::registry::{nearest_path, path_of_tool};
use crate::dispatch::response::Failure;
use crate::link::{MAX_DEPTH, Strict, depth_within};

/// The maximum length of a line, in bytes: what a runtime accepts in one frame, less the frame's overhead.
pub(super) const MAX_LINE: usize = (1 << 20) - 4_096;
/// The UTF-8 byte order mark that some programs put at the start of a text.
const BOM: &[u8] = b"\xef\xbb\xbf";

/// A request as written on its line.
#[derive(Debug, PartialEq)]
pub(super) struct StreamRequest {
    /// The path of the command.
    pub(super) cmd: String,
    /// The flags of this line.
    pub(super) opts: Map<String, Value>,
    /// The input of the command.
    pub(super) payload: Map<String, Value>,
}

#[derive(Debug, PartialEq)]
pub(super) enum ParsedLine {
    /// Nothing to do.
    Blank,
    Line(StreamRequest),
    /// Not a request, and why; with its command if that could be read.
    Malformed(Option<String>, Box<Failure>),
}

impl ParsedLine {
    /// Returns the command, if it could be read.
    pub(super) fn cmd(&self) -> Option<&str> {
        match self {
            Self::Blank => None,
            Self::Line(line) => Some(&line.cmd),
            Self::Malformed(cmd, _) => cmd.as_deref(),
        }
    }

    /// Returns whether it is a request.
    pub(super) fn is_well_formed(&self) -> bool {
        matches!(self, Self::Line(_))
    }
}

/// Parses a line without its line feed; `number` counts from 1. `None` means that the line was too long to be kept.
pub(super) fn read(bytes: Option<&[u8]>, number: u64) -> ParsedLine {
    let Some(bytes) = bytes else {
        let failure = parse_failure(format!("The line is longer than {MAX_LINE} bytes."));
        return ParsedLine::Malformed(None, Box::new(failure.with("limit_bytes", MAX_LINE)));
    };
    let bytes = if number == 1 { bytes.strip_prefix(BOM).unwrap_or(bytes) } else { bytes };
    if bytes.iter().all(u8::is_ascii_whitespace) {
        return ParsedLine::Blank;
    }
    let mut cmd = None;
    match parse(bytes.trim_ascii(), number, &mut cmd) {
        Ok(line) => ParsedLine::Line(line),
        Err(failure) => ParsedLine::Malformed(cmd, Box::new(failure)),
    }
}

fn parse(bytes: &[u8], number: u64, cmd: &mut Option<String>) -> Result<StreamRequest, Failure> {
    if !depth_within(bytes, MAX_DEPTH) {
        return Err(parse_failure(format!("The line nests deeper than {MAX_DEPTH} levels.")));
    }
    let text = std::str::from_utf8(bytes)
        .map_err(|error| parse_failure("The line is not UTF-8.").detail(error.to_string()))?;
    let Strict(value) = serde_json::from_str(text).map_err(|error| {
        let message = if error.is_data() { "The line has a key twice." } else { "The line is not JSON." };
        parse_failure(message).detail(at_line(&error, number))
    })?;
    let Value::Object(mut payload) = value else {
        return Err(parse_failure("The line is not a JSON object."));
    };
    let path = match payload.shift_remove("_cmd") {
        Some(Value::String(path)) if is_path(&path) => path,
        Some(Value::String(path)) => {
            let shown: String = path.chars().take(80).collect();
            let near = path_of_tool(&path)
                .or_else(|| nearest_path(&path.to_lowercase().replace(['/', ' ', ':'], ".")));
            return Err(parse_failure("`_cmd` is not a path of words joined by dots.")
                .with("_cmd", shown)
                .suggest(near));
        }
        Some(_) => return Err(parse_failure("`_cmd` is not a string.")),
        None => {
            return Err(parse_failure("The line has no `_cmd`.")
                .fix(r#"add the command, e.g. `"_cmd":"task.list"`; `pilothouse manifest` lists all"#));
        }
    };
    *cmd = Some(path.clone());
    let opts = match payload.shift_remove("_opts") {
        None => Map::new(),
        Some(Value::Object(opts)) => opts,
        Some(_) => return Err(parse_failure("`_opts` is not an object.").with("opt", "_opts")),
    };
    for (name, value) in &opts {
        if !is_option(name) {
            let shown: String = name.chars().take(80).collect();
            return Err(parse_failure("A key of `_opts` is not the name of an option.").with("opt", shown));
        }
        if !(value.is_boolean() || value.is_string() || value.is_number()) {
            let message = format!("The option `{name}` is neither true, false, a string nor a number.");
            return Err(parse_failure(message).with("opt", name.as_str()));
        }
    }
    Ok(StreamRequest { cmd: path, opts, payload })
}

/// Rewrites a parser's message to refer to the line of the stream: the parser has seen only this line.
fn at_line(error: &serde_json::Error, number: u64) -> String {
    error.to_string().replace("at line 1 column", &format!("at line {number} column"))
}

fn parse_failure(message: impl Into<String>) -> Failure {
    Failure::new(Code::DispatchParseError, message)
        .fix(r#"write one JSON object per line: {"_cmd":"task.list"}"#)
}

/// Returns whether a text has the form of a command path.
pub fn is_path(text: &str) -> bool {
    let word = |word: &str| {
        let mut letters = word.bytes();
        letters.next().is_some_and(|first| first.is_ascii_lowercase())
            && letters.all(|letter| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == b'-')
    };
    text.split('.').all(word)
}

fn is_option(text: &str) -> bool {
    let mut letters = text.bytes();
    letters.next().is_some_and(|first| first.is_ascii_lowercase())
        && letters
            .all(|letter| letter.is_ascii_lowercase() || letter.is_ascii_digit() || b"_-".contains(&letter))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn refused(bytes: &[u8]) -> (Option<String>, Value) {
        match read(Some(bytes), 2) {
            ParsedLine::Malformed(cmd, failure) => {
                assert_eq!(failure.code(), "DISPATCH_PARSE_ERROR");
                (cmd, crate::dispatch::Response::failure(*failure).to_value()["error"].clone())
            }
            other => panic!("{other:?} of {}", String::from_utf8_lossy(bytes)),
        }
    }

    #[test]
    fn a_request_is_taken_apart() {
        let line = br#" {"_cmd":"command.run","_opts":{"dry-run":true},"cmd":"true"} "#;
        let ParsedLine::Line(line) = read(Some(line), 2) else { panic!("refused") };
        assert_eq!(line.cmd, "command.run");
        assert_eq!(Value::Object(line.opts), json!({"dry-run": true}));
        assert_eq!(Value::Object(line.payload), json!({"cmd": "true"}));
    }

    #[test]
    fn a_line_that_is_no_request_is_refused_with_the_command_that_could_be_read() {
        let deep = format!(r#"{{"_cmd":"version","x":{}{}}}"#, "[".repeat(100), "]".repeat(100));
        let cases: [(&[u8], Option<&str>); 16] = [
            (b"not json", None),
            (b"{", None),
            (b"[]", None),
            (b"{}", None),
            (b"null", None),
            (br#"{"_cmd":5}"#, None),
            (br#"{"_cmd":"account/create"}"#, None),
            (br#"{"_cmd":"Task.List"}"#, None),
            (br#"{"_cmd":"a..b"}"#, None),
            (br#"{"_cmd":"version","_cmd":"version"}"#, None),
            (br#"{"_cmd":"version","x":NaN}"#, None),
            (br#"{"_cmd":"version"} {}"#, None),
            (b"{\"_cmd\":\"version\",\"x\":\"\xff\"}", None),
            (deep.as_bytes(), None),
            (br#"{"_cmd":"version","_opts":[]}"#, Some("version")),
            (br#"{"_cmd":"version","_opts":{"x":null}}"#, Some("version")),
        ];
        for (line, cmd) in cases {
            assert_eq!(refused(line).0.as_deref(), cmd, "{}", String::from_utf8_lossy(line));
        }
        assert!(
            refused(b"not json").1["detail"]
                .as_str()
                .is_some_and(|detail| detail.ends_with("at line 2 column 2"))
        );
        assert_eq!(refused(br#"{"_cmd":"v","_opts":{"x":{}}}"#).1["context"]["opt"], "x");
        assert_eq!(refused(br#"{"_cmd":"v","_opts":[]}"#).1["context"]["opt"], "_opts");
        assert_eq!(refused(br#"{"_cmd":"Task/List"}"#).1["suggestion"], "task.list");
        assert_eq!(refused(br#"{"_cmd":"ExecCommand"}"#).1["suggestion"], "command.run");
        assert_eq!(refused(br#"{"_cmd":"exec_command_batch"}"#).1["suggestion"], "command.batch");
        assert!(matches!(read(None, 2), ParsedLine::Malformed(None, _)));
    }

    #[test]
    fn a_byte_order_mark_is_stripped_from_the_first_line_only_and_carriage_returns_from_all() {
        let marked = b"\xef\xbb\xbf{\"_cmd\":\"version\"}\r";
        assert!(read(Some(marked), 1).is_well_formed());
        assert!(!read(Some(marked), 2).is_well_formed());
        assert_eq!(read(Some(b" \t\r"), 2), ParsedLine::Blank);
    }
}
