//! Lays a JSON document out over lines. Rewrites blanks only: numbers, strings, key order and
//! repeated keys stay exactly as they were printed.

use serde::de::IgnoredAny;

const INDENT: &str = "  ";

/// Returns the document laid out, when the text is one JSON object or array and nothing else.
pub(super) fn document(text: &str) -> Option<String> {
    let document = text.trim();
    let opens = document.starts_with(['{', '[']);
    if !opens || serde_json::from_str::<IgnoredAny>(document).is_err() {
        return None;
    }
    let mut laid_out = lay_out(document);
    if text.ends_with('\n') {
        laid_out.push('\n');
    }
    Some(laid_out)
}

fn lay_out(document: &str) -> String {
    let mut out = String::with_capacity(document.len() * 2);
    let mut depth = 0_usize;
    let mut in_string = false;
    let mut escaped = false;
    let mut chars = document.chars().peekable();
    while let Some(c) = chars.next() {
        if in_string {
            out.push(c);
            in_string = escaped || c != '"';
            escaped = !escaped && c == '\\';
            continue;
        }
        match c {
            ' ' | '\t' | '\n' | '\r' => {}
            '{' | '[' => {
                out.push(c);
                while chars.next_if(char::is_ascii_whitespace).is_some() {}
                match chars.next_if(|next| matches!(next, '}' | ']')) {
                    Some(close) => out.push(close),
                    None => {
                        depth += 1;
                        new_line(&mut out, depth);
                    }
                }
            }
            '}' | ']' => {
                depth = depth.saturating_sub(1);
                new_line(&mut out, depth);
                out.push(c);
            }
            ',' => {
                out.push(c);
                new_line(&mut out, depth);
            }
            ':' => out.push_str(": "),
            other => {
                in_string = other == '"';
                out.push(other);
            }
        }
    }
    out
}

fn new_line(out: &mut String, depth: usize) {
    out.push('\n');
    out.extend(std::iter::repeat_n(INDENT, depth));
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::Value;

    use super::*;

    #[test]
    fn only_blanks_change() {
        let printed =
            r#" {"a":[1,2.50,{}],"b":"x, \"{y\\","a":[ ],"big":12345678901234567890123,"e":1e400} "#;
        let shown = "{\n  \"a\": [\n    1,\n    2.50,\n    {}\n  ],\n  \"b\": \"x, \\\"{y\\\\\",\n  \"a\": [],\n  \"big\": 12345678901234567890123,\n  \"e\": 1e400\n}";
        assert_eq!(document(printed).as_deref(), Some(shown));
        assert_eq!(document(shown).as_deref(), Some(shown));
    }

    #[test]
    fn what_is_not_one_document_is_left_alone() {
        for text in ["", "12", "\"a\"", "{\"a\":1}\n{\"a\":2}", "[1,", "[ok] done", "{}x"] {
            assert_eq!(document(text), None, "{text}");
        }
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
        fn agrees_with_the_usual_layout(value in json()) {
            prop_assume!(value.is_object() || value.is_array());
            let usual = serde_json::to_string_pretty(&value).unwrap();
            prop_assert_eq!(document(&value.to_string()), Some(usual));
        }
    }
}
