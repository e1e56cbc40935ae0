//! Durations and sizes as people write and read them, in one grammar everywhere: one or more numbers, each with its
//! unit (`2m`, `2 min`, `1h30m`, `1.5 GiB`, `256M`). Bare numbers are rejected: their unit would be a guess.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// The units of a quantity, the largest first, each with its factor and its spellings; the first one is printed.
type Units = [(u64, &'static [&'static str]); 5];

const SIZES: Units = [
    (1 << 40, &["TiB", "T"]),
    (1 << 30, &["GiB", "G"]),
    (1 << 20, &["MiB", "M"]),
    (1 << 10, &["KiB", "K"]),
    (1, &["B"]),
];
const TIMES: Units =
    [(86_400_000, &["d"]), (3_600_000, &["h"]), (60_000, &["min", "m"]), (1_000, &["s"]), (1, &["ms"])];

/// A number of bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Bytes(pub u64);

/// A number of bytes, or `None` for no limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ceiling(pub Option<u64>);

/// A duration, in whole milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Period(pub Duration);

/// A duration, or `None` for no limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limit(pub Option<Duration>);

/// Parses numbers with their units, and returns their sum, rounded up.
fn parse(text: &str, units: &Units) -> Option<u64> {
    let mut rest = text.trim();
    let mut total = (!rest.is_empty()).then_some(0_u64)?;
    while !rest.is_empty() {
        let (number, after) = split(rest, |letter| letter.is_ascii_digit() || "_.".contains(letter));
        let (unit, after) = split(after.trim_start(), |letter| letter.is_ascii_alphabetic());
        let (factor, _) = units.iter().find(|(_, spellings)| spellings.contains(&unit))?;
        let number = number.replace('_', "");
        let (whole, part) = number.split_once('.').unwrap_or((&number, ""));
        let digits: u128 = format!("{whole}{part}").parse().ok()?;
        let scale = 10_u128.checked_pow(u32::try_from(part.len()).ok()?)?;
        let amount = digits.checked_mul((*factor).into())?.div_ceil(scale);
        total = total.checked_add(amount.try_into().ok()?)?;
        rest = after.trim_start();
    }
    Some(total)
}

fn split(text: &str, is_first: impl Fn(char) -> bool) -> (&str, &str) {
    text.split_at(text.find(|letter| !is_first(letter)).unwrap_or(text.len()))
}

/// Formats a value exactly, with the largest unit that divides it evenly.
fn write(f: &mut fmt::Formatter<'_>, value: u64, units: &Units) -> fmt::Result {
    let fits = units.iter().find(|(factor, _)| value.is_multiple_of(*factor) && value > 0);
    let (factor, spellings) = fits.copied().unwrap_or(units[4]);
    write!(f, "{} {}", value / factor, spellings[0])
}

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write(f, self.0, &SIZES)
    }
}

impl fmt::Display for Period {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write(f, u64::try_from(self.0.as_millis()).unwrap_or(u64::MAX), &TIMES)
    }
}

impl fmt::Display for Ceiling {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_or_none(f, self.0.map(Bytes))
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_or_none(f, self.0.map(Period))
    }
}

fn write_or_none(f: &mut fmt::Formatter<'_>, most: Option<impl fmt::Display>) -> fmt::Result {
    match most {
        Some(most) => most.fmt(f),
        None => f.write_str("none"),
    }
}

fn or_none<T>(text: &str, read: impl Fn(&str) -> Option<T>) -> Option<Option<T>> {
    if text.trim() == "none" { Some(None) } else { read(text).map(Some) }
}

/// Implements reading, serialization and the schema of a quantity.
macro_rules! written {
    ($name:ident($plain:ty), $read:expr, $expected:literal, $pattern:literal) => {
        impl FromStr for $name {
            type Err = &'static str;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                let read: fn(&str) -> Option<$plain> = $read;
                read(text).map(Self).ok_or($expected)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = String::deserialize(deserializer)?;
                text.parse().map_err(|expected| de::Error::invalid_value(de::Unexpected::Str(&text), &expected))
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
        impl $name {
            /// # Errors
            /// Those of the serializer.
            pub fn serialize<S: Serializer>(value: &$plain, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(&Self(*value))
            }

            /// # Errors
            /// When it is written in another way.
            pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<$plain, D::Error> {
                <Self as Deserialize>::deserialize(deserializer).map(|unit| unit.0)
            }
        }
    };
}

written!(
    Bytes(u64),
    |text| parse(text, &SIZES),
    "a size such as \"2 GiB\" (B, KiB, MiB, GiB, TiB)",
    "^([0-9._]+ ?(B|[KMGT](iB)?) ?)+$"
);
written!(
    Ceiling(Option<u64>),
    |text| or_none(text, |text| parse(text, &SIZES)),
    "a size such as \"4 GiB\" (B, KiB, MiB, GiB, TiB), or \"none\"",
    "^(none|([0-9._]+ ?(B|[KMGT](iB)?) ?)+)$"
);
written!(
    Period(Duration),
    duration,
    "a time such as \"10 s\" (ms, s, min, h, d)",
    "^([0-9._]+ ?(ms|s|m|min|h|d) ?)+$"
);
written!(
    Limit(Option<Duration>),
    |text| or_none(text, duration),
    "a time such as \"10 min\" (ms, s, min, h, d), or \"none\"",
    "^(none|([0-9._]+ ?(ms|s|m|min|h|d) ?)+)$"
);

/// Parses a duration.
pub fn duration(text: &str) -> Option<Duration> {
    parse(text, &TIMES).map(Duration::from_millis)
}

/// Parses a duration of more than nothing.
pub fn timeout(text: &str) -> Option<Duration> {
    duration(text).filter(|time| !time.is_zero())
}

/// Says exactly how long so many milliseconds are: `90 s`, `2 min`.
pub fn exact(ms: u64) -> String {
    Period(Duration::from_millis(ms)).to_string()
}

/// Says about how long, in at most six columns: `12 ms`, `2.4 s`, `3m20s`, `1h02m`, `3d04h`.
pub fn millis(ms: u64) -> String {
    match ms {
        0..1_000 => format!("{ms} ms"),
        1_000..60_000 => format!("{}.{} s", ms / 1_000, ms % 1_000 / 100),
        60_000..3_600_000 => format!("{}m{:02}s", ms / 60_000, ms / 1_000 % 60),
        3_600_000..86_400_000 => format!("{}h{:02}m", ms / 3_600_000, ms / 60_000 % 60),
        _ => format!("{}d{:02}h", ms / 86_400_000, ms / 3_600_000 % 24),
    }
}

/// Says about how many bytes: `412 B`, `12.4 MiB`.
pub fn size(bytes: u64) -> String {
    const UNITS: [&str; 5] = ["KiB", "MiB", "GiB", "TiB", "PiB"];
    if bytes < 1024 {
        return format!("{bytes} B");
    }
    let mut tenths = u128::from(bytes) * 10 / 1024;
    let mut unit = 0;
    while tenths >= 10_240 && unit + 1 < UNITS.len() {
        tenths /= 1024;
        unit += 1;
    }
    if tenths < 1000 {
        format!("{}.{} {}", tenths / 10, tenths % 10, UNITS[unit])
    } else {
        format!("{} {}", tenths / 10, UNITS[unit])
    }
}

/// Says how many: `1 line`, `2 lines`.
pub fn amount(count: u64, one: &str) -> String {
    format!("{count} {}", noun(count, one))
}

/// Returns a noun for so many: `line`, `lines`.
pub fn noun(count: u64, one: &str) -> String {
    if count == 1 { one.to_owned() } else { format!("{one}s") }
}

/// Returns a number with thousands separators: `1,106`.
pub fn grouped_number(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// Says how many, with separators: `1 file`, `1,234 files`.
pub fn grouped_amount(number: u64, one: &str) -> String {
    format!("{} {}", grouped_number(number), noun(number, one))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn every_spelling_of_a_quantity_is_parsed_and_printed_in_one_form() {
        for (text, ms, printed) in [
            ("500ms", 500, "500 ms"),
            ("90 s", 90_000, "90 s"),
            ("2m", 120_000, "2 min"),
            ("2 min", 120_000, "2 min"),
            ("1h30m", 5_400_000, "90 min"),
            ("1 h 30 min", 5_400_000, "90 min"),
            ("1.5h", 5_400_000, "90 min"),
            (" 0.0001 s ", 1, "1 ms"),
            ("1_000d", 86_400_000_000, "1000 d"),
            ("0m1s", 1_000, "1 s"),
        ] {
            let read = duration(text);
            assert_eq!(read, Some(Duration::from_millis(ms)), "{text}");
            assert_eq!(read.map(|read| Period(read).to_string()).as_deref(), Some(printed));
        }
        for (text, bytes, printed) in [
            ("0 B", 0, "0 B"),
            ("256M", 256 << 20, "256 MiB"),
            ("256 MiB", 256 << 20, "256 MiB"),
            ("4G", 4 << 30, "4 GiB"),
            ("4GiB", 4 << 30, "4 GiB"),
            ("1.5 K", 1_536, "1536 B"),
        ] {
            let read = text.parse::<Bytes>();
            assert_eq!(read, Ok(Bytes(bytes)), "{text}");
            assert_eq!(Bytes(bytes).to_string(), printed);
        }
        let none = ("none".parse(), " none ".parse());
        assert_eq!(none, (Ok(Ceiling(None)), Ok(Limit(None))));
    }

    #[test]
    fn a_quantity_without_a_unit_with_an_unknown_unit_or_too_large_is_refused() {
        for text in [
            "",
            " ",
            "5",
            "5 parsecs",
            "5 minutes",
            "m",
            "GiB",
            "-1 s",
            "1 h 5",
            "1.2.3 s",
            ". s",
            "1e3 s",
            "5é",
            "∞ s",
            "99999999999999999999 s",
            "18446744073709551615d",
            "99999999999999 TiB",
            "none",
        ] {
            assert_eq!(parse(text, &SIZES).or_else(|| parse(text, &TIMES)), None, "{text}");
        }
    }

    #[test]
    fn rounded_durations_and_sizes_are_printed_in_readable_units() {
        for (ms, text) in [
            (0, "0 ms"),
            (999, "999 ms"),
            (2_410, "2.4 s"),
            (59_999, "59.9 s"),
            (200_000, "3m20s"),
            (3_720_000, "1h02m"),
            (273_700_000, "3d04h"),
        ] {
            assert_eq!(millis(ms), text);
        }
        for (bytes, text) in [(1_023, "1023 B"), (12_999_999, "12.3 MiB"), (184 << 20, "184 MiB")] {
            assert_eq!(size(bytes), text);
        }
    }

    proptest! {
        #[test]
        fn any_printed_quantity_reads_back(number: u64) {
            let period = Period(Duration::from_millis(number));
            prop_assert_eq!(period.to_string().parse(), Ok(period));
            prop_assert_eq!(Limit(Some(period.0)).to_string().parse(), Ok(Limit(Some(period.0))));
            prop_assert_eq!(Bytes(number).to_string().parse(), Ok(Bytes(number)));
            prop_assert_eq!(Ceiling(Some(number)).to_string().parse(), Ok(Ceiling(Some(number))));
        }

        #[test]
        fn a_rounded_duration_reads_back_within_ten_percent(ms in 0_u64..1 << 50) {
            let read = duration(&millis(ms)).map(|read| read.as_millis());
            prop_assert!(read.is_some_and(|read| read <= ms.into() && read + read / 10 + 1 >= ms.into()));
        }

        #[test]
        fn parsing_a_quantity_never_panics(text in "\\PC{0,40}|[0-9smhdin._ ]{0,40}") {
            let _ = (parse(&text, &SIZES), duration(&text));
        }
    }

    #[test]
    fn one_of_a_thing_is_named_in_the_singular() {
        assert_eq!(
            [0, 1, 2, 1_234].map(|count| amount(count, "line")),
            ["0 lines", "1 line", "2 lines", "1234 lines"]
        );
    }
}
