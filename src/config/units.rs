//! A number of things as it is written in settings, beside [sizes and durations](crate::envelope::units).

use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// A number of things, or `None` for no limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Count(pub Option<u32>);

impl<'de> Deserialize<'de> for Count {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct NumberOrNone;
        impl de::Visitor<'_> for NumberOrNone {
            type Value = Count;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number of at least 1, or \"none\"")
            }

            fn visit_i64<E: de::Error>(self, number: i64) -> Result<Count, E> {
                let read = u32::try_from(number).ok().filter(|most| *most > 0);
                let invalid = || E::invalid_value(de::Unexpected::Signed(number), &self);
                read.map(|most| Count(Some(most))).ok_or_else(invalid)
            }

            fn visit_u64<E: de::Error>(self, number: u64) -> Result<Count, E> {
                self.visit_i64(i64::try_from(number).unwrap_or(i64::MAX))
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Count, E> {
                let invalid = || E::invalid_value(de::Unexpected::Str(text), &self);
                (text.trim() == "none").then_some(Count(None)).ok_or_else(invalid)
            }
        }
        deserializer.deserialize_any(NumberOrNone)
    }
}

impl Serialize for Count {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Some(most) => serializer.serialize_u32(most),
            None => serializer.serialize_str("none"),
        }
    }
}

impl JsonSchema for Count {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Count".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "anyOf": [{ "type": "integer", "minimum": 1 }, { "const": "none" }] })
    }
}

/// For `#[serde(with = "…")]` on a field that holds the plain value.
impl Count {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
    pub(super) fn serialize<S: Serializer>(most: &Option<u32>, to: S) -> Result<S::Ok, S::Error> {
        Serialize::serialize(&Self(*most), to)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<u32>, D::Error> {
        <Self as Deserialize>::deserialize(from).map(|count| count.0)
    }
}
