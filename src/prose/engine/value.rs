//! The values of programs: mostly text, and lists and records of values. Pure.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// A value. Cheap to clone. In JSON it is the corresponding JSON value.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Value {
    /// Nothing: of what has no value.
    #[default]
    Nothing,
    /// A number, as `3` in a program.
    Number(i64),
    /// A text: the output of a command, an answer, a string.
    Text(Arc<str>),
    /// Values in order.
    List(Arc<[Value]>),
    /// Named values, in order.
    Record(RecordValue),
}

/// Named values, in order.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RecordValue(pub Arc<[(Arc<str>, Value)]>);

impl Value {
    /// Creates a text.
    pub fn text(text: impl Into<Arc<str>>) -> Self {
        Self::Text(text.into())
    }

    /// Creates a list.
    pub fn list(values: Vec<Self>) -> Self {
        Self::List(values.into())
    }

    /// Creates a record.
    pub fn record(fields: Vec<(Arc<str>, Self)>) -> Self {
        Self::Record(RecordValue(fields.into()))
    }

    /// Returns it as written to a binding file: a text unchanged, a list or a record as JSON.
    pub fn body(&self) -> String {
        match self {
            Self::Nothing => String::new(),
            Self::Number(number) => number.to_string(),
            Self::Text(text) => text.to_string(),
            Self::List(_) | Self::Record(_) => serde_json::to_string_pretty(self).unwrap_or_default(),
        }
    }

    /// Returns it as interpolated into a string: without trailing line feeds, a list line by line.
    pub fn inline_text(&self) -> String {
        match self {
            Self::List(values) => values.iter().map(Self::inline_text).collect::<Vec<_>>().join("\n"),
            Self::Record(_) => serde_json::to_string(self).unwrap_or_default(),
            other => other.body().trim_end_matches(['\n', '\r']).to_owned(),
        }
    }

    /// Returns it as a number, if it is one or can be parsed as one.
    pub fn number(&self) -> Option<i64> {
        match self {
            Self::Number(number) => Some(*number),
            Self::Text(text) => text.trim().parse().ok(),
            _ => None,
        }
    }

    /// Returns the elements for `for` and pipelines: those of a list, or of a text that is a JSON list; otherwise the
    /// lines of a text that are not blank.
    pub fn elements(&self) -> Option<Vec<Self>> {
        match self {
            Self::List(values) => Some(values.to_vec()),
            Self::Text(text) => Some(elements_of(text)),
            Self::Number(_) => Some(vec![self.clone()]),
            Self::Nothing => Some(Vec::new()),
            Self::Record(_) => None,
        }
    }

    /// Returns a field of a record, or of a text that is a JSON object.
    pub fn field(&self, name: &str) -> Option<Self> {
        match self {
            Self::Record(RecordValue(fields)) => {
                fields.iter().find(|(key, _)| &**key == name).map(|(_, value)| value.clone())
            }
            Self::Text(text) if text.trim_start().starts_with('{') => {
                let record: Self = serde_json::from_str(text.trim()).ok()?;
                record.field(name)
            }
            _ => None,
        }
    }
}

fn elements_of(text: &str) -> Vec<Value> {
    if text.trim_start().starts_with('[')
        && let Ok(Value::List(values)) = serde_json::from_str(text.trim())
    {
        return values.to_vec();
    }
    let lines = text.lines().map(str::trim_end).filter(|line| !line.trim().is_empty());
    lines.map(Value::text).collect()
}

impl Serialize for RecordValue {
    fn serialize<S: serde::Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        out.collect_map(self.0.iter().map(|(key, value)| (key, value)))
    }
}

impl<'de> Deserialize<'de> for RecordValue {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let map = serde_json::Map::deserialize(from)?;
        let field = |(key, value)| {
            let value = serde_json::from_value(value).map_err(serde::de::Error::custom)?;
            Ok((Arc::<str>::from(key), value))
        };
        Ok(Self(map.into_iter().map(field).collect::<Result<Vec<_>, _>>()?.into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_survives_json() {
        let value = Value::record(vec![
            ("a".into(), Value::list(vec![Value::text("x\n"), Value::Number(3), Value::Nothing])),
            ("b".into(), Value::record(vec![])),
        ]);
        let json = serde_json::to_string(&value).expect("JSON");
        assert_eq!(json, r#"{"a":["x\n",3,null],"b":{}}"#);
        assert_eq!(serde_json::from_str::<Value>(&json).expect("a value"), value);
    }

    #[test]
    fn a_text_is_inserted_without_the_line_feeds_at_its_end() {
        assert_eq!(Value::text("a\nb\r\n\n").inline_text(), "a\nb");
        assert_eq!(Value::list(vec![Value::text("a\n"), Value::Number(2)]).inline_text(), "a\n2");
        assert_eq!(Value::record(vec![("k".into(), Value::text("v"))]).inline_text(), r#"{"k":"v"}"#);
    }

    #[test]
    fn the_elements_of_a_text_are_its_lines_unless_it_is_a_list() {
        let texts = |value: Value| {
            value.elements().expect("elements").iter().map(Value::inline_text).collect::<Vec<_>>()
        };
        assert_eq!(texts(Value::text("a \n\n  \nb\r\n")), ["a", "b"]);
        assert_eq!(texts(Value::text(r#" ["a", "b c"] "#)), ["a", "b c"]);
        assert_eq!(texts(Value::text("[not json")), ["[not json"]);
        assert_eq!(Value::record(vec![]).elements(), None);
        assert_eq!(Value::text(r#"{"a": "b"}"#).field("a"), Some(Value::text("b")));
        assert_eq!(Value::text("{a}").field("a"), None);
    }
}
