//! JSON for a terminal or a model: the same value, with every character that a terminal obeys or a reader does not see
//! spelled `\u…`. The record has a spelling of its own, which its hashes are made of: serde_json's.

use std::io;

use serde::Serialize;
use serde_json::ser::{CompactFormatter, Formatter, PrettyFormatter, Serializer};

use super::characters::{is_ordinary, walk};

pub(super) use serde_json::Error;

/// Returns a value as JSON on one line.
///
/// # Errors
/// When the value has no JSON form.
pub(super) fn spelled(value: &impl Serialize) -> Result<String, Error> {
    written(value, CompactFormatter)
}

/// Returns a value as JSON over several lines.
///
/// # Errors
/// When the value has no JSON form.
pub(super) fn pretty(value: &impl Serialize) -> Result<String, Error> {
    written(value, PrettyFormatter::new())
}

fn written(value: &impl Serialize, layout: impl Formatter) -> Result<String, Error> {
    let mut bytes = Vec::with_capacity(256);
    value.serialize(&mut Serializer::with_formatter(&mut bytes, Spelled(layout)))?;
    String::from_utf8(bytes).map_err(serde::ser::Error::custom)
}

/// A layout in which nothing is hidden.
struct Spelled<F>(F);

/// Hands the calls that lay a document out to the layout within.
macro_rules! laid_out_within {
    ($($call:ident($($first:ident)?)),+) => {
        $(fn $call<W: ?Sized + io::Write>(&mut self, writer: &mut W $(, $first: bool)?) -> io::Result<()> {
            self.0.$call(writer $(, $first)?)
        })+
    };
}

impl<F: Formatter> Formatter for Spelled<F> {
    laid_out_within!(
        begin_array(),
        end_array(),
        begin_array_value(first),
        end_array_value(),
        begin_object(),
        end_object(),
        begin_object_key(first),
        end_object_key(),
        begin_object_value(),
        end_object_value()
    );

    fn write_string_fragment<W: ?Sized + io::Write>(&mut self, writer: &mut W, text: &str) -> io::Result<()> {
        if is_ordinary(text, false) {
            return writer.write_all(text.as_bytes());
        }
        let mut shown = String::with_capacity(text.len() + 64);
        walk(text, false, |c, is_odd| {
            if is_odd {
                let mut units = [0; 2];
                shown.extend(c.encode_utf16(&mut units).iter().map(|unit| format!("\\u{unit:04x}")));
            } else {
                shown.push(c);
            }
        });
        writer.write_all(shown.as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn what_is_hidden_is_spelled_and_the_rest_is_as_serde_json_has_it() {
        let value = json!({"a\u{202e}": "x\u{7f}\u{9b}\u{2028}\u{200b}\u{e0041}\u{1b}❤\u{fe0f} 你好"});
        assert_eq!(
            spelled(&value).unwrap(),
            r#"{"a\u202e":"x\u007f\u009b\u2028\u200b\udb40\udc41\u001b❤️ 你好"}"#
        );
        let plain = json!({"a": [1, {}, [], {"b": "é \u{1f469}\u{200d}\u{1f4bb}\n\""}], "c": null});
        assert_eq!(spelled(&plain).unwrap(), plain.to_string());
        assert_eq!(pretty(&plain).unwrap(), format!("{plain:#}"));
    }

    proptest! {
        #[test]
        fn the_value_is_unchanged_and_nothing_is_hidden(text in "(?s)\\PC*|.*", key in ".{0,6}") {
            let value = json!({ (key): [text] });
            for shown in [spelled(&value).unwrap(), pretty(&value).unwrap()] {
                prop_assert_eq!(serde_json::from_str::<Value>(&shown).unwrap(), value.clone());
                let is_bare = |c: char| c.is_control() && c != '\n' || ('\u{202A}'..='\u{202E}').contains(&c);
                prop_assert!(!shown.chars().any(is_bare));
            }
        }
    }
}
