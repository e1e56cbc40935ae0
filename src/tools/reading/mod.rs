//! Reading further in truncated output: which lines TaskOutput is asked for. How many of them fit in an answer is
//! decided in [`page`].

mod page;
mod read;

pub use read::StreamLines;
pub(super) use read::read;

use std::str::FromStr;

use regex::{Regex, RegexBuilder};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::envelope::{ToolError, one_line};
use crate::model::phrases::unusable;
use crate::runtime::{LinePart, OutputStream};

/// The maximum number of context lines around a match.
pub(super) const MOST_CONTEXT: u64 = 50;
/// The maximum length of a pattern, in characters.
const PATTERN_CHARS: usize = 1_000;
/// The size limit of a compiled pattern, and of its cache: matching time is proportional to it.
const PATTERN_BYTES: usize = 1 << 20;
/// The maximum length of an explanation of what is wrong with a pattern, in characters.
const REASON_CHARS: usize = 300;

/// The stream to read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum Streams {
    /// Everything, in order of arrival.
    #[default]
    Output,
    /// Standard output alone.
    Stdout,
    /// Standard error alone.
    Stderr,
}

impl From<Streams> for OutputStream {
    fn from(streams: Streams) -> Self {
        match streams {
            Streams::Output => Self::Merged,
            Streams::Stdout => Self::Stdout,
            Streams::Stderr => Self::Stderr,
        }
    }
}

/// The requested lines, counted from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LineSelection {
    /// From one line to another, inclusive; to the end if the second is `None`.
    Range(u64, Option<u64>),
    /// The last lines, this many.
    Last(u64),
    /// One line, from one of its characters to another, inclusive; to its end if that is `None`.
    Part(u64, u64, Option<u64>),
}

/// The error for text that does not specify lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct InvalidLines;

impl FromStr for LineSelection {
    type Err = InvalidLines;

    fn from_str(text: &str) -> Result<Self, InvalidLines> {
        let number = |text: &str| match text.trim() {
            // `parse` alone would accept a sign.
            digits if digits.bytes().all(|byte| byte.is_ascii_digit()) => {
                digits.parse::<u64>().ok().filter(|number| *number > 0).ok_or(InvalidLines)
            }
            _ => Err(InvalidLines),
        };
        if let Some((line, chars)) = text.split_once(':') {
            let line = number(line)?;
            return match chars.parse()? {
                Self::Range(first, last) => Ok(Self::Part(line, first, last)),
                Self::Last(_) | Self::Part(..) => Err(InvalidLines),
            };
        }
        match text.trim().split_once('-') {
            None => number(text).map(|only| Self::Range(only, Some(only))),
            Some(("", last)) => number(last).map(Self::Last),
            Some((first, "")) => number(first).map(|first| Self::Range(first, None)),
            Some((first, last)) => {
                let (first, last) = (number(first)?, number(last)?);
                if first <= last { Ok(Self::Range(first, Some(last))) } else { Err(InvalidLines) }
            }
        }
    }
}

#[derive(Debug, Clone)]
pub(super) struct LineRequest {
    pub(super) stream: Streams,
    pub(super) lines: LineSelection,
    /// Only lines that match this pattern.
    pub(super) pattern: Option<Regex>,
    /// Lines shown before and after each match.
    pub(super) context: u64,
}

impl LineRequest {
    /// Returns the part of a line that is asked for: the numbers of the line and of its first character.
    fn part(&self) -> Option<LinePart> {
        match self.lines {
            LineSelection::Part(line, first, _) => Some((line, first)),
            LineSelection::Range(..) | LineSelection::Last(_) => None,
        }
    }

    /// Parses the line-related fields of a call; returns `None` if it does not ask for lines.
    ///
    /// # Errors
    /// When a field is not valid; says what to write instead.
    pub(super) fn read(
        tool: &str,
        lines: Option<&str>,
        pattern: Option<&str>,
        context: Option<u64>,
        stream: Option<Streams>,
    ) -> Result<Option<Self>, ToolError> {
        let no = |field: &str, reason: &str, hint: &str| {
            Err(unusable(tool, field, reason).with_hint(hint.to_owned()))
        };
        if context.is_some() && pattern.is_none() {
            return no("context", "`context` needs `match`", "give `match` as well, or leave `context` out");
        }
        let given = lines.map(str::parse::<LineSelection>).transpose();
        let Ok(lines_given) = given else {
            let reason = "`lines` must be a range of lines, counted from 1";
            let hint = "write \"20000-20050\", \"20000-\" for the rest, \"-50\" for the last 50, \"17\", or \"17:2000-\" \
                        for line 17 from its character 2000 on";
            return no("lines", reason, hint);
        };
        if pattern.is_some() && matches!(lines_given, Some(LineSelection::Last(_))) {
            let hint = "write the first line: \"20000-\" or \"20000-20050\"";
            return no("lines", "with `match`, `lines` must say where to begin", hint);
        }
        let compiled = match pattern.map(compile).transpose() {
            Ok(compiled) => compiled,
            Err(reason) => {
                let hint = "write a regular expression in the syntax of ripgrep, without look-around and back-references, \
                            for example \"error|warning\" or \"(?i)failed\"; escape a literal ( [ { . * + ? with a backslash";
                return no("match", &reason, hint);
            }
        };
        let is_asked = lines_given.is_some() || compiled.is_some() || stream.is_some();
        Ok(is_asked.then(|| Self {
            stream: stream.unwrap_or_default(),
            lines: lines_given.unwrap_or(LineSelection::Range(1, None)),
            pattern: compiled,
            context: context.unwrap_or(0).min(MOST_CONTEXT),
        }))
    }
}

/// Compiles a pattern sent by an agent. Matching takes linear time for any pattern.
fn compile(pattern: &str) -> Result<Regex, String> {
    if pattern.is_empty() {
        return Err("`match` is empty".to_owned());
    }
    if pattern.chars().nth(PATTERN_CHARS).is_some() {
        return Err(format!("`match` is longer than {PATTERN_CHARS} characters"));
    }
    let built = RegexBuilder::new(pattern).size_limit(PATTERN_BYTES).dfa_size_limit(PATTERN_BYTES).build();
    built.map_err(|error| match error {
        regex::Error::CompiledTooBig(_) => "`match` is too complex".to_owned(),
        error => {
            let said = error.to_string();
            let last = said.lines().last().unwrap_or_default().trim_start_matches("error: ");
            format!("`match` is no regular expression: {}", one_line(last, REASON_CHARS))
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_valid_range_of_lines_is_parsed() {
        let cases = [
            ("20000-20050", LineSelection::Range(20_000, Some(20_050))),
            ("7-7", LineSelection::Range(7, Some(7))),
            ("17", LineSelection::Range(17, Some(17))),
            (" 5 - 9 ", LineSelection::Range(5, Some(9))),
            ("20000-", LineSelection::Range(20_000, None)),
            ("-50", LineSelection::Last(50)),
            ("7:200-", LineSelection::Part(7, 200, None)),
            ("7:200-300", LineSelection::Part(7, 200, Some(300))),
            ("7: 200 ", LineSelection::Part(7, 200, Some(200))),
        ];
        for (text, lines) in cases {
            assert_eq!(text.parse(), Ok(lines), "{text}");
        }
        let bad = [
            "",
            "-",
            "0",
            "0-5",
            "9-5",
            "a-b",
            "1-2-3",
            "1,2",
            "+1",
            "-0",
            "1-+2",
            "1..2",
            "7:",
            ":7",
            "7:-5",
            "7:1:2",
            "7-8:1",
            "0:1",
            "99999999999999999999",
        ];
        for text in bad {
            assert_eq!(text.parse::<LineSelection>(), Err(InvalidLines), "{text}");
        }
    }

    #[test]
    fn an_invalid_reading_request_is_refused_with_an_example() {
        let deep = "(".repeat(900);
        let large = r"(\w{100}){100}";
        let long = "x".repeat(1_001);
        let cases = [
            ((Some("9-5"), None, None), "lines", "a range of lines", "\"20000-20050\""),
            ((Some("-5"), Some("x"), None), "lines", "where to begin", "\"20000-\""),
            ((None, Some("("), None), "match", "unclosed group", "escape"),
            ((None, Some("(?=x)"), None), "match", "look-around", "without look-around"),
            ((None, Some(deep.as_str()), None), "match", "no regular expression", "(?i)failed"),
            ((None, Some(large), None), "match", "too complex", "(?i)failed"),
            ((None, Some(long.as_str()), None), "match", "longer than 1000", "(?i)failed"),
            ((None, Some(""), None), "match", "empty", "(?i)failed"),
            ((None, None, Some(2)), "context", "needs `match`", "give `match`"),
        ];
        for ((lines, pattern, context), field, reason, hint) in cases {
            let error = LineRequest::read("TaskOutput", lines, pattern, context, None).unwrap_err();
            let details = error.details.as_deref().unwrap();
            assert_eq!(details["field"], field, "{pattern:?}");
            assert!(details["validation_error"].as_str().unwrap().contains(reason), "{details}");
            assert!(error.recovery_hint.as_deref().unwrap().contains(hint), "{error:?}");
        }
        assert!(LineRequest::read("TaskOutput", None, None, None, None).unwrap().is_none());
        let wanted = LineRequest::read("TaskOutput", None, Some("x"), Some(99), None).unwrap().unwrap();
        assert_eq!((wanted.lines, wanted.context), (LineSelection::Range(1, None), MOST_CONTEXT));
    }
}
