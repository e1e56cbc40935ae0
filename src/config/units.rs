//! Sizes and durations as people write them: `2 GiB`, `110 s`. Bare numbers are rejected: their unit would be a
//! guess.

use std::fmt;
use std::time::Duration;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

const SIZES: [(&str, u64); 5] =
    [("TiB", 1 << 40), ("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10), ("B", 1)];
const TIMES: [(&str, u64); 5] =
    [("d", 86_400_000), ("h", 3_600_000), ("min", 60_000), ("s", 1_000), ("ms", 1)];

/// A number of bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Bytes(pub u64);

/// A number of bytes, or `None` for no limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ceiling(pub Option<u64>);

/// A number of things, or `None` for no limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Count(pub Option<u32>);

/// A duration, in whole milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Period(pub Duration);

/// A duration, or `None` for no limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Limit(pub(super) Option<Duration>);

/// Parses a number with its unit.
fn parse(text: &str, units: &[(&str, u64)]) -> Option<u64> {
    let text = text.trim();
    let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit() || c == '_').len();
    let (number, unit) = text.split_at_checked(digits)?;
    let number: u64 = number.replace('_', "").parse().ok()?;
    let (_, factor) = units.iter().find(|(name, _)| *name == unit.trim())?;
    number.checked_mul(*factor)
}

/// Formats a value with the largest unit that divides it evenly.
fn write(f: &mut fmt::Formatter<'_>, value: u64, units: &[(&str, u64)]) -> fmt::Result {
    let fits = units.iter().find(|(_, factor)| value.is_multiple_of(*factor) && value > 0);
    let (name, factor) = fits.copied().or(units.last().copied()).unwrap_or(("", 1));
    write!(f, "{} {name}", value / factor)
}

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write(f, self.0, &SIZES)
    }
}

impl fmt::Display for Ceiling {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(bytes) => Bytes(bytes).fmt(f),
            None => f.write_str("none"),
        }
    }
}

impl fmt::Display for Period {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write(f, u64::try_from(self.0.as_millis()).unwrap_or(u64::MAX), &TIMES)
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(time) => Period(time).fmt(f),
            None => f.write_str("none"),
        }
    }
}

/// Implements parsing, formatting and the schema of a unit.
macro_rules! written {
    ($name:ident($plain:ty) in $module:ident, $read:expr, $expected:literal, $pattern:literal) => {
        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = String::deserialize(deserializer)?;
                let read: fn(&str) -> Option<$name> = $read;
                read(&text).ok_or_else(|| de::Error::invalid_value(de::Unexpected::Str(&text), &$expected))
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl JsonSchema for $name {
            fn inline_schema() -> bool {
                true
            }
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }
            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!({ "type": "string", "pattern": $pattern })
            }
        }

        /// For `#[serde(with = "…")]` on a field that holds the plain value.
        pub(super) mod $module {
            use crate::config::units::*;

            pub(in crate::config) fn serialize<S>(value: &$plain, serializer: S) -> Result<S::Ok, S::Error>
            where
                S: Serializer,
            {
                $name(*value).serialize(serializer)
            }

            pub(in crate::config) fn deserialize<'de, D>(deserializer: D) -> Result<$plain, D::Error>
            where
                D: Deserializer<'de>,
            {
                $name::deserialize(deserializer).map(|unit| unit.0)
            }
        }
    };
}

written!(
    Bytes(u64) in bytes,
    |text| parse(text, &SIZES).map(Bytes),
    "a size such as \"2 GiB\" (B, KiB, MiB, GiB, TiB)",
    "^[0-9_]+ ?(B|KiB|MiB|GiB|TiB)$"
);
written!(
    Ceiling(Option<u64>) in ceiling,
    |text| match text.trim() {
        "none" => Some(Ceiling(None)),
        text => parse(text, &SIZES).map(|bytes| Ceiling(Some(bytes))),
    },
    "a size such as \"4 GiB\" (B, KiB, MiB, GiB, TiB), or \"none\"",
    "^(none|[0-9_]+ ?(B|KiB|MiB|GiB|TiB))$"
);
written!(
    Period(Duration) in period,
    |text| parse(text, &TIMES).map(|millis| Period(Duration::from_millis(millis))),
    "a time such as \"10 s\" (ms, s, min, h, d)",
    "^[0-9_]+ ?(ms|s|min|h|d)$"
);

written!(
    Limit(Option<Duration>) in limit,
    |text| match text.trim() {
        "none" => Some(Limit(None)),
        text => parse(text, &TIMES).map(|millis| Limit(Some(Duration::from_millis(millis)))),
    },
    "a time such as \"10 min\" (ms, s, min, h, d), or \"none\"",
    "^(none|[0-9_]+ ?(ms|s|min|h|d))$"
);

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
pub(super) mod count {
    use crate::config::units::{Count, Deserialize as _, Deserializer, Serialize as _, Serializer};

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
    pub(crate) fn serialize<S: Serializer>(most: &Option<u32>, to: S) -> Result<S::Ok, S::Error> {
        Count(*most).serialize(to)
    }

    pub(crate) fn deserialize<'de, D>(from: D) -> Result<Option<u32>, D::Error>
    where
        D: Deserializer<'de>,
    {
        Count::deserialize(from).map(|count| count.0)
    }
}

impl Period {
    /// Parses a duration as typed by a person: `30 s`.
    pub fn read(text: &str) -> Option<Duration> {
        parse(text, &TIMES).map(Duration::from_millis)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_back() {
        for text in ["2 GiB", "64 KiB", "1 B", "3 MiB", "0 B"] {
            assert_eq!(parse(text, &SIZES).map(|size| Bytes(size).to_string()).as_deref(), Some(text));
        }
        for text in ["5 s", "110 s", "30 d", "250 ms", "2 min", "1 h"] {
            let read = parse(text, &TIMES).map(|ms| Period(Duration::from_millis(ms)).to_string());
            assert_eq!(read.as_deref(), Some(text));
        }
    }

    #[test]
    fn no_unit_another_unit_and_too_much_are_refused() {
        for text in
            ["", "5", "5 parsecs", "GiB", "-1 s", "99999999999999999999 s", "99999999999999 TiB", "1.5 s"]
        {
            assert_eq!(parse(text, &SIZES).or_else(|| parse(text, &TIMES)), None, "{text}");
        }
        assert_eq!(parse("4GiB", &SIZES), Some(4 << 30));
    }
}
