//! The settings that an agent is started with in one argument: those of its user, and ours.

use std::ffi::{OsStr, OsString};
use std::ops::Range;
use std::path::Path;

use serde_json::Value;

use crate::files::{self, Links};

/// The longest file of settings that is read.
const MOST_BYTES: u64 = 1 << 20;

/// The settings among the arguments of an agent's user.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum OwnSettings {
    Absent,
    /// These, in these arguments.
    Given(Value, Range<usize>),
    /// They are no JSON object, or given more than once.
    Unclear,
}

impl OwnSettings {
    /// Reads those that an argument gives, as JSON or as the path of a file.
    pub(super) fn read(args: &[OsString], argument: &str) -> Self {
        let mut found = args.iter().enumerate().filter_map(|(at, word)| {
            let rest = word.to_str()?.strip_prefix(argument)?;
            match rest.strip_prefix('=') {
                Some(value) => Some((at..at + 1, Some(OsStr::new(value)))),
                None if rest.is_empty() => Some((at..at + 2, args.get(at + 1).map(OsString::as_os_str))),
                None => None,
            }
        });
        match (found.next(), found.next()) {
            (None, _) => Self::Absent,
            (Some((at, Some(given))), None) => {
                object(given).map_or(Self::Unclear, |settings| Self::Given(settings, at))
            }
            _ => Self::Unclear,
        }
    }

    /// Returns our settings joined with these, and the arguments that hold these; `None` if that cannot be done.
    pub(super) fn join(self, ours: Value) -> Option<(Value, Range<usize>)> {
        match self {
            Self::Absent => Some((ours, 0..0)),
            Self::Given(own, at) => Some((merge(own, ours), at)),
            Self::Unclear => None,
        }
    }
}

/// Returns the object that a text is, or that is in the file which it names.
fn object(given: &OsStr) -> Option<Value> {
    let inline = given.to_str().and_then(|text| serde_json::from_str(text).ok());
    let in_file = || {
        let text = files::read_text(Path::new(given), Links::Followed, MOST_BYTES).ok()?;
        serde_json::from_str(&text).ok()
    };
    inline.or_else(in_file).filter(Value::is_object)
}

/// Adds settings to others: what both have as a list gets longer, and of what is neither list nor object the added one counts.
fn merge(own: Value, added: Value) -> Value {
    match (own, added) {
        (Value::Object(mut own), Value::Object(added)) => {
            for (key, value) in added {
                let joined = match own.shift_remove(&key) {
                    Some(known) => merge(known, value),
                    None => value,
                };
                own.insert(key, joined);
            }
            Value::Object(own)
        }
        (Value::Array(own), Value::Array(added)) => own.into_iter().chain(added).collect(),
        (_, added) => added,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn settings_of_the_user_are_joined_with_ours_where_they_can_be_read() {
        let read = |args: &[&str]| {
            OwnSettings::read(&args.iter().map(OsString::from).collect::<Vec<_>>(), "--settings")
        };
        assert_eq!(read(&["-p", "--settingsx", "x"]), OwnSettings::Absent);
        let own = json!({"env": {"A": "1", "S": "own"}, "hooks": {"Stop": [1]}, "model": "m"});
        let ours = json!({"env": {"S": "ours"}, "hooks": {"Stop": [2], "Used": [3]}});
        let joined = json!({
            "model": "m", "env": {"A": "1", "S": "ours"}, "hooks": {"Stop": [1, 2], "Used": [3]}
        });
        let text = own.to_string();
        for args in [&["-p", "--settings", &*text, "x"][..], &["-p", &*format!("--settings={text}")]] {
            let (settings, at) = read(args).join(ours.clone()).expect("joined");
            assert_eq!(settings, joined);
            assert_eq!(at.start, 1);
        }
        for unclear in [
            &["--settings", "[]"][..],
            &["--settings", "/nonexistent"],
            &["--settings"],
            &["--settings", "{}", "--settings={}"],
        ] {
            assert_eq!(read(unclear).join(json!({})), None, "{unclear:?}");
        }
    }
}
