//! Numbers of a program's report, with all their digits: a person decides on what was asked, not on a rounded number.

/// Returns JSON in which each number that would be read as another one (`1.10`, twenty digits) is a string of its digits.
pub fn spell_numbers(json: &str) -> String {
    let mut spelled = String::with_capacity(json.len());
    let mut rest = json;
    while let Some(at) = rest.find(['"', '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9']) {
        let (before, from) = rest.split_at(at);
        let length = if from.starts_with('"') { string(from) } else { number(from) };
        let (token, after) = from.split_at(length);
        spelled.push_str(before);
        match serde_json::from_str::<serde_json::Number>(token) {
            Ok(read) if read.to_string() != token => spelled.push_str(&format!("\"{token}\"")),
            _ => spelled.push_str(token),
        }
        rest = after;
    }
    spelled + rest
}

/// Returns the length of the string that a text begins with.
fn string(text: &str) -> usize {
    let mut is_escaped = false;
    let end = text.bytes().skip(1).position(|byte| {
        let ends = byte == b'"' && !is_escaped;
        is_escaped = byte == b'\\' && !is_escaped;
        ends
    });
    end.map_or(text.len(), |end| end + 2)
}

/// Returns the length of the number that a text begins with.
fn number(text: &str) -> usize {
    let is_part = |c: char| c.is_ascii_digit() || matches!(c, '-' | '+' | '.' | 'e' | 'E');
    text.find(|c| !is_part(c)).unwrap_or(text.len())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn numbers_that_would_change_are_strings_of_their_digits() {
        let json = r#"{"1.10":[1.10, 1,-0,12345678901234567890123,0.5],"a\"2.50":1e4,"b":"3.30\\"}"#;
        let read: Value = serde_json::from_str(&spell_numbers(json)).expect("JSON");
        let expected = json!({
            "1.10": ["1.10", 1, "-0", "12345678901234567890123", 0.5], "a\"2.50": "1e4", "b": "3.30\\",
        });
        assert_eq!(read, expected);
    }

    proptest! {
        #[test]
        fn text_and_64_bit_numbers_are_left_unchanged(text in "\\PC*", numbers in prop::collection::vec(any::<i64>(), 0..5)) {
            let json = json!({ "text": text, "numbers": numbers }).to_string();
            prop_assert_eq!(spell_numbers(&json), json);
            let _ = spell_numbers(&text);
        }
    }
}
