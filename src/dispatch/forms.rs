//! The output formats of answers, and which one is the default.

use serde_json::{Value, json};

/// When the answer of a command is text to be pasted or a file: plain is then the default format, even in a pipe.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlainDefault {
    Never,
    Always,
    /// With this flag.
    With(&'static str),
}

impl PlainDefault {
    /// Returns it for the manifest: `true`, or the flag; `None` for never.
    pub(super) fn manifest_value(self) -> Option<Value> {
        match self {
            Self::Never => None,
            Self::Always => Some(json!(true)),
            Self::With(flag) => Some(json!(format!("--{flag}"))),
        }
    }
}

/// The output formats of every command.
pub(super) const FORMS: [&str; 4] = ["json", "jsonl", "table", "plain"];
