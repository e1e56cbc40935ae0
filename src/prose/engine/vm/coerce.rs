//! What can be decided without asking anyone: yes and no, comparisons, sums. Pure. Nothing uncertain is guessed: the
//! result is then `None`, and the question is asked.

use std::cmp::Ordering;

use crate::prose::engine::value::Value;
use crate::prose::syntax::ast::{Comparison, Sign};

/// Interprets a value as yes or no (docs/prose-rules.md#rule-24).
pub(super) fn verdict(value: &Value) -> Option<bool> {
    let text = match value {
        Value::Nothing => String::new(),
        Value::List(_) | Value::Record(_) => return None,
        other => other.body().trim().to_lowercase(),
    };
    match text.as_str() {
        "yes" | "y" | "true" | "1" => Some(true),
        "no" | "n" | "false" | "0" | "" => Some(false),
        _ => None,
    }
}

/// Compares two values (docs/prose-rules.md#rule-36): as numbers if both are, otherwise as texts.
pub(super) fn compare(left: &Value, by: Comparison, right: &Value) -> Option<bool> {
    let order = match (left.number(), right.number()) {
        (Some(left), Some(right)) => left.cmp(&right),
        _ => ordering(left, by, right)?,
    };
    Some(match by {
        Comparison::Equal => order.is_eq(),
        Comparison::NotEqual => order.is_ne(),
        Comparison::Less => order.is_lt(),
        Comparison::LessOrEqual => order.is_le(),
        Comparison::Greater => order.is_gt(),
        Comparison::GreaterOrEqual => order.is_ge(),
    })
}

fn ordering(left: &Value, by: Comparison, right: &Value) -> Option<Ordering> {
    let is_plain = |value: &Value| matches!(value, Value::Text(_) | Value::Number(_) | Value::Nothing);
    if is_plain(left) && is_plain(right) {
        return Some(left.inline_text().cmp(&right.inline_text()));
    }
    let asks_for_same = matches!(by, Comparison::Equal | Comparison::NotEqual);
    asks_for_same.then(|| if left == right { Ordering::Equal } else { Ordering::Less })
}

/// Adds or subtracts (docs/prose-rules.md#rule-36): works on numbers; plus also joins lists and texts.
pub(super) fn sum(left: &Value, sign: Sign, right: &Value) -> Option<Value> {
    if let (Some(left), Some(right)) = (left.number(), right.number()) {
        let result = match sign {
            Sign::Plus => left.checked_add(right),
            Sign::Minus => left.checked_sub(right),
        };
        return result.map(Value::Number);
    }
    match (left, sign, right) {
        (Value::List(left), Sign::Plus, Value::List(right)) => {
            Some(Value::list(left.iter().chain(right.iter()).cloned().collect()))
        }
        (Value::List(left), Sign::Plus, other) => {
            Some(Value::list(left.iter().cloned().chain([other.clone()]).collect()))
        }
        (Value::Text(_) | Value::Number(_), Sign::Plus, Value::Text(_) | Value::Number(_)) => {
            Some(Value::text(left.inline_text() + &right.inline_text()))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_plain_yes_or_no_is_a_verdict() {
        for (text, expected) in [
            ("yes\n", Some(true)),
            (" TRUE ", Some(true)),
            ("1", Some(true)),
            ("y", Some(true)),
            ("No", Some(false)),
            ("false", Some(false)),
            ("0", Some(false)),
            ("n", Some(false)),
            ("", Some(false)),
            ("\n", Some(false)),
            ("yes, because", None),
            ("2", None),
            ("ok", None),
        ] {
            assert_eq!(verdict(&Value::text(text)), expected, "{text:?}");
        }
        assert_eq!(verdict(&Value::list(vec![])), None);
    }

    #[test]
    fn numbers_are_compared_as_numbers_and_texts_as_texts() {
        let holds = |left: Value, by, right: Value| compare(&left, by, &right);
        assert_eq!(holds(Value::text("10\n"), Comparison::Greater, Value::Number(9)), Some(true));
        assert_eq!(holds(Value::text("b"), Comparison::Greater, Value::text("a")), Some(true));
        assert_eq!(holds(Value::text("x\n"), Comparison::Equal, Value::text("x")), Some(true));
        let list = Value::list(vec![Value::text("a")]);
        assert_eq!(holds(list.clone(), Comparison::Equal, list.clone()), Some(true));
        assert_eq!(holds(list, Comparison::Less, Value::text("a")), None);
    }

    #[test]
    fn values_without_a_sum_give_none() {
        let list = Value::list(vec![Value::text("a")]);
        assert_eq!(sum(&Value::Number(4), Sign::Minus, &Value::text("1")), Some(Value::Number(3)));
        assert_eq!(sum(&Value::text("a\n"), Sign::Plus, &Value::Number(1)), Some(Value::text("a1")));
        assert_eq!(
            sum(&list, Sign::Plus, &Value::text("b")),
            Some(Value::list(vec![Value::text("a"), Value::text("b")]))
        );
        assert_eq!(sum(&Value::text("a"), Sign::Minus, &Value::text("b")), None);
        assert_eq!(sum(&Value::Number(i64::MAX), Sign::Plus, &Value::Number(1)), None);
    }
}
