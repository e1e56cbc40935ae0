//! Arithmetic: its substitutions run, its variables are evaluated in their turn, and some of them are set.

use crate::braces;
use crate::fields::Argument;
use crate::interpreter::Interpreter;
use crate::names::shorten;
use crate::shell_state::Value;

/// The deepest nesting of variables whose values name variables.
const MOST_DEEP: usize = 8;

impl Interpreter<'_> {
    /// Goes through an expression as it is written; returns its value if it is a plain number.
    pub(crate) fn arithmetic(&mut self, written: &str) -> Option<i64> {
        match self.text_of_arithmetic(&in_quotes(written)) {
            Ok((text, is_exact)) => {
                self.compute_names(&text, 0);
                text.trim().parse().ok().filter(|_| is_exact)
            }
            Err(from) => {
                self.not_known(format!("what is computed from {from}"));
                None
            }
        }
    }

    /// Goes through the names in an expression: what their values would run, and which of them it sets.
    fn compute_names(&mut self, text: &str, deep: usize) {
        if text.contains(['$', '`']) || deep > MOST_DEEP {
            return self.not_known(format!("what is computed from `{}`", shorten(text)));
        }
        let is_part = |c: char| !c.is_alphanumeric() && c != '_';
        let names: Vec<&str> = text
            .split(is_part)
            .filter(|name| name.starts_with(|c: char| c.is_alphabetic() || c == '_'))
            .collect();
        for name in &names {
            let elements = match self.state.get(name) {
                Some(Value::Text(text)) => vec![text],
                Some(Value::List(list)) => list,
                Some(Value::Unknown(from)) => {
                    self.not_known(format!("what is computed from {from}"));
                    continue;
                }
                Some(Value::Number(_)) | None => continue,
            };
            for element in elements.iter().filter(|element| element.parse::<i64>().is_err()) {
                self.compute_names(element, deep + 1);
            }
        }
        let mut compared = text.replace("<<=", "=").replace(">>=", "=");
        for sign in ["==", "!=", "<=", ">="] {
            compared = compared.replace(sign, " ");
        }
        if !compared.contains('=') && !text.contains("++") && !text.contains("--") {
            return;
        }
        for name in names {
            let from = format!("${name} (computed)");
            let is_number = self.state.get(name).is_none_or(|value| value.is_number());
            self.set(name, if is_number { Value::Number(from) } else { Value::Unknown(from) });
        }
    }

    /// Returns the name of a variable that a command is given. A subscript behind it is evaluated once more.
    pub(crate) fn variable_name(&mut self, command: &str, argument: &Argument) -> Option<String> {
        let Some(text) = argument.known_text() else {
            self.not_known(format!("which variable {command} means: {}", argument.display_text()));
            return None;
        };
        let Some((name, subscript)) = text.split_once('[') else { return Some(text.to_owned()) };
        self.subscript(name, subscript.trim_end_matches(']'));
        Some(name.to_owned())
    }

    /// Goes through a subscript as it is written; returns it if it is a plain number.
    pub(crate) fn subscript(&mut self, name: &str, written: &str) -> Option<i64> {
        if self.state.maps.contains(name) || matches!(written, "@" | "*") {
            self.visit(&in_quotes(written));
            return None;
        }
        self.arithmetic(written)
    }
}

/// Returns a text within double quotes, in which what is substituted stays as it is.
pub(crate) fn in_quotes(text: &str) -> String {
    let (mut done, mut at) = (String::from("\""), 0);
    while at < text.len() {
        let rest = &text[at..];
        if rest.starts_with("\\\"") {
            done.push_str("\\\\\\\"");
            at += 2;
        } else if rest.starts_with('"') {
            done.push_str("\\\"");
            at += 1;
        } else {
            let is_part = rest.starts_with(['\\', '`']) || rest.starts_with("$(") || rest.starts_with("${");
            let end = if is_part {
                braces::skip(text, at)
            } else {
                at + rest.chars().next().map_or(1, char::len_utf8)
            };
            done.push_str(&text[at..end]);
            at = end;
        }
    }
    done + "\""
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_inside_substitutions_stay_unescaped() {
        for (text, within) in [
            ("a\"b", "\"a\\\"b\""),
            ("$(rm \"a b\")\"", "\"$(rm \"a b\")\\\"\""),
            ("\\\"", "\"\\\\\\\"\""),
            ("${a:-\"b\"}`c \"d\"`", "\"${a:-\"b\"}`c \"d\"`\""),
        ] {
            assert_eq!(in_quotes(text), within);
        }
    }
}
