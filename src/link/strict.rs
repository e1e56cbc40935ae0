//! Strict JSON parsing: an object with a duplicate key is rejected, whatever the values.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

/// A JSON value in which no object has a duplicate key.
#[derive(Debug)]
pub struct Strict(pub Value);

impl<'de> Deserialize<'de> for Strict {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(StrictVisitor)
    }
}

struct StrictVisitor;

impl<'de> Visitor<'de> for StrictVisitor {
    type Value = Strict;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Strict, E> {
        Ok(Strict(Value::Null))
    }

    fn visit_bool<E>(self, value: bool) -> Result<Strict, E> {
        Ok(Strict(Value::Bool(value)))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Strict, E> {
        Ok(Strict(value.into()))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Strict, E> {
        Ok(Strict(value.into()))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Strict, E> {
        let number = Number::from_f64(value).ok_or_else(|| E::custom("a number that is not finite"))?;
        Ok(Strict(Value::Number(number)))
    }

    fn visit_str<E>(self, value: &str) -> Result<Strict, E> {
        Ok(Strict(value.into()))
    }

    fn visit_string<E>(self, value: String) -> Result<Strict, E> {
        Ok(Strict(Value::String(value)))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Strict, A::Error> {
        let mut array = Vec::new();
        while let Some(Strict(item)) = items.next_element()? {
            array.push(item);
        }
        Ok(Strict(Value::Array(array)))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Strict, A::Error> {
        let mut object = Map::new();
        while let Some((key, Strict(value))) = entries.next_entry::<String, Strict>()? {
            if object.contains_key(&key) {
                return Err(A::Error::custom(format_args!("the key {key:?} appears twice in one object")));
            }
            object.insert(key, value);
        }
        Ok(Strict(Value::Object(object)))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[test]
    fn a_key_that_stands_twice_is_refused_at_any_depth() {
        for text in [r#"{"a":1,"a":1}"#, r#"[{"b":{"a":1,"a":2}}]"#, r#"{"\u0061":1,"a":2}"#] {
            let refused = serde_json::from_str::<Strict>(text).map(|Strict(value)| value);
            assert!(refused.unwrap_err().to_string().contains("appears twice"), "{text}");
        }
        let twice = serde_json::from_str::<Strict>(r#"[{"a":1},{"a":2}]"#).unwrap().0;
        assert_eq!(twice, json!([{"a": 1}, {"a": 2}]));
    }

    proptest! {
        #[test]
        fn strict_json_without_repeated_keys_reads_as_usual(text in r#"[\[\]{}",:0-9a-e.\\ -]{0,40}"#) {
            let strict = serde_json::from_str::<Strict>(&text).map(|Strict(value)| value);
            match (serde_json::from_str::<Value>(&text), strict) {
                (Ok(usual), Ok(strict)) => prop_assert_eq!(usual, strict),
                (Err(_), Err(_)) => {}
                (Ok(_), Err(error)) => prop_assert!(error.to_string().contains("appears twice")),
                (Err(error), Ok(value)) => prop_assert!(false, "{} became {}", error, value),
            }
        }
    }
}
