//! Pretty-prints a JSON document. Only whitespace changes: numbers, strings, the order of keys and duplicate keys are
//! preserved exactly.

use serde::de::IgnoredAny;

const INDENT: &str = "  ";
/// A document nested deeper than this is left as it was printed: each level indents everything inside it.
const MAX_DEPTH: usize = 64;
/// A document that would grow by more than this factor in bytes is left as it was printed, too.
const MAX_GROWTH: usize = 4;

/// Pretty-prints a text that consists of one JSON object or array. Returns `None` if it does not, or if the result
/// would exceed [`MAX_DEPTH`] levels or [`MAX_GROWTH`] times its bytes.
pub(super) fn laid_out(text: &str) -> Option<String> {
    let document = text.trim();
    let opens = document.starts_with(['{', '[']);
    if !opens || serde_json::from_str::<IgnoredAny>(document).is_err() {
        return None;
    }
    let most = document.len().saturating_mul(MAX_GROWTH);
    let mut out = String::with_capacity(document.len() * 2);
    let mut depth = 0_usize;
    let mut rest = document;
    while let Some(c) = rest.bytes().next() {
        let length = match c {
            b'"' => string_length(rest),
            b'{' | b'[' | b'}' | b']' | b',' | b':' => 1,
            _ => rest.find([' ', '\t', '\n', '\r', ',', '}', ']']).unwrap_or(rest.len()),
        };
        let (token, after) = rest.split_at_checked(length)?;
        rest = after.trim_ascii_start();
        let closes = |rest: &str| rest.starts_with(['}', ']']);
        match c {
            b'}' | b']' if out.ends_with(['{', '[']) => out.push_str(token),
            b'}' | b']' => {
                depth = depth.saturating_sub(1);
                new_line(&mut out, depth);
                out.push_str(token);
            }
            b'{' | b'[' => {
                out.push_str(token);
                if !closes(rest) {
                    depth += 1;
                    new_line(&mut out, depth);
                }
            }
            b',' => {
                out.push_str(token);
                new_line(&mut out, depth);
            }
            b':' => out.push_str(": "),
            _ => out.push_str(token),
        }
        if depth > MAX_DEPTH || out.len() > most {
            return None;
        }
    }
    if text.ends_with('\n') {
        out.push('\n');
    }
    Some(out)
}

fn new_line(out: &mut String, depth: usize) {
    out.push('\n');
    (0..depth).for_each(|_| out.push_str(INDENT));
}

/// Returns the length of the string at the start of a text in bytes, including its quotes.
fn string_length(text: &str) -> usize {
    let mut escaped = false;
    for (at, c) in text.bytes().enumerate().skip(1) {
        match c {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => return at + 1,
            _ => {}
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::Value;

    use super::*;

    fn document(text: &str) -> Option<String> {
        laid_out(text)
    }

    #[test]
    fn pretty_printing_changes_only_blanks() {
        let printed =
            r#" {"a":[1,2.50,{}],"b":"x, \"{y\\","a":[ ],"big":12345678901234567890123,"e":1e400} "#;
        let shown = "{\n  \"a\": [\n    1,\n    2.50,\n    {}\n  ],\n  \"b\": \"x, \\\"{y\\\\\",\n  \"a\": [],\n  \"big\": 12345678901234567890123,\n  \"e\": 1e400\n}";
        assert_eq!(document(printed).as_deref(), Some(shown));
        assert_eq!(document(shown).as_deref(), Some(shown));
    }

    #[test]
    fn text_that_is_not_one_json_document_is_not_pretty_printed() {
        for text in ["", "12", "\"a\"", "{\"a\":1}\n{\"a\":2}", "[1,", "[ok] done", "{}x"] {
            assert_eq!(document(text), None, "{text}");
        }
    }

    #[test]
    fn a_document_nested_too_deep_or_grown_too_large_is_left_alone() {
        let nested =
            |depth: usize| format!("{}{}{}", "[".repeat(depth), " ".repeat(9_000), "]".repeat(depth));
        let padded =
            |depth: usize| nested(depth).replace(&" ".repeat(9_000), &format!("\"{}\"", "x".repeat(9_000)));
        assert!(document(&padded(64)).is_some_and(|laid_out| laid_out.lines().count() == 129));
        assert_eq!(document(&padded(65)), None);
        assert_eq!(document(&nested(60_000)), None);
        // Not too deep, but each level indents every line: 40 bytes for two of its own.
        let many = format!("{}{}{}", "[".repeat(20), vec!["1"; 900].join(","), "]".repeat(20));
        assert_eq!(document(&many), None);
    }

    fn json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            ".{0,12}".prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 32, 6, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
                prop::collection::vec((".{0,6}", inner), 0..6)
                    .prop_map(|pairs| Value::Object(pairs.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn the_layout_of_a_document_agrees_with_serde_json(value in json()) {
            prop_assume!(value.is_object() || value.is_array());
            let (printed, usual) = (value.to_string(), serde_json::to_string_pretty(&value).unwrap());
            let fits = usual.len() <= 4 * printed.len();
            prop_assert_eq!(document(&printed), fits.then(|| usual.clone()));
            prop_assert_eq!(document(&format!("{printed} \n")), fits.then(|| usual + "\n"));
        }
    }
}
