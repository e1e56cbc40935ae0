//! JSON for a terminal or a model: the same value, with every character that would control a terminal or be invisible
//! to a reader written as `\u…`. Recordings keep serde_json's own form, from which their hashes are computed.

use std::io;

use serde::Serialize;

use super::characters::{is_ordinary, walk};

/// Counts the bytes written to it.
struct Length(usize);

impl io::Write for Length {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 += bytes.len();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Returns the length of a value as JSON, in bytes; the largest number if it cannot be written as JSON.
pub fn json_length(value: &impl Serialize) -> usize {
    let mut length = Length(0);
    serde_json::to_writer(&mut length, value).map_or(usize::MAX, |()| length.0)
}

/// Returns JSON text with its hidden characters escaped. Outside strings, JSON has none except line feeds, which are
/// kept.
pub(super) fn escape(json: &str) -> String {
    if is_ordinary(json, false) {
        return json.to_owned();
    }
    let mut shown = String::with_capacity(json.len() + 64);
    walk(json, false, |c, is_hidden| {
        if is_hidden && c != '\n' {
            let mut units = [0; 2];
            shown.extend(c.encode_utf16(&mut units).iter().map(|unit| format!("\\u{unit:04x}")));
        } else {
            shown.push(c);
        }
    });
    shown
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;

    fn json_text(value: &Value) -> String {
        escape(&value.to_string())
    }

    fn pretty_text(value: &Value) -> String {
        escape(&format!("{value:#}"))
    }

    #[test]
    fn hidden_characters_are_escaped_in_json_and_all_others_are_written_as_serde_json_does() {
        let value = json!({"a\u{202e}": "x\u{7f}\u{9b}\u{2028}\u{200b}\u{e0041}\u{1b}❤\u{fe0f} 你好"});
        assert_eq!(json_text(&value), r#"{"a\u202e":"x\u007f\u009b\u2028\u200b\udb40\udc41\u001b❤️ 你好"}"#);
        let plain = json!({"a": [1, {}, [], {"b": "é \u{1f469}\u{200d}\u{1f4bb}\n\""}], "c": null});
        assert_eq!(json_text(&plain), plain.to_string());
        assert_eq!(pretty_text(&plain), format!("{plain:#}"));
    }

    proptest! {
        #[test]
        fn the_value_is_unchanged_and_nothing_is_hidden(text in "(?s)\\PC*|.*", key in ".{0,6}") {
            let value = json!({ (key): [text] });
            for shown in [json_text(&value), pretty_text(&value)] {
                prop_assert_eq!(serde_json::from_str::<Value>(&shown).unwrap(), value.clone());
                let is_bare = |c: char| c.is_control() && c != '\n' || ('\u{202A}'..='\u{202E}').contains(&c);
                prop_assert!(!shown.chars().any(is_bare));
            }
        }
    }
}
