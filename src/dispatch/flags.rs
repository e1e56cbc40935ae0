//! The options of one run that every command has.

use std::time::Duration;

use crate::envelope::units::timeout;

/// The options of one run, in addition to its input.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RunFlags {
    /// Only report what would be done.
    pub dry_run: bool,
    pub timeout: Option<Duration>,
    /// The request's idempotency key.
    pub once: Option<String>,
    /// Only print the JSON Schemas of its input and of its data.
    pub schema: bool,
}

/// Parses a timeout: `500ms`, `30s`, `2m`, or seconds as a plain number.
pub fn parse_timeout(text: &str) -> Option<Duration> {
    let seconds = || Duration::try_from_secs_f64(text.parse().ok()?).ok().filter(|time| !time.is_zero());
    timeout(text).or_else(seconds)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_has_a_unit_or_is_in_seconds() {
        for (text, ms) in [
            ("500ms", 500),
            ("30s", 30_000),
            ("2m", 120_000),
            ("1.5", 1_500),
            ("1h30m", 5_400_000),
            ("1e3", 1_000_000),
            ("2 min", 120_000),
        ] {
            assert_eq!(parse_timeout(text), Some(Duration::from_millis(ms)), "{text}");
        }
        for bad in ["", "s", "0", "-1", "0s", "nan", "inf", "1e300h", "5é"] {
            assert_eq!(parse_timeout(bad), None, "{bad}");
        }
    }
}
