//! Durations as written in programs: `30s`, `5m`, `1h30m`, `2d`.

use std::time::Duration;

/// Parses a duration; returns `None` for text of another form, for zero, and on overflow.
pub fn parse_duration(text: &str) -> Option<Duration> {
    let mut total = 0_u64;
    let mut number: Option<u64> = None;
    for byte in text.bytes() {
        let unit = match byte {
            b'0'..=b'9' => {
                let digit = u64::from(byte - b'0');
                number = Some(number.unwrap_or(0).checked_mul(10)?.checked_add(digit)?);
                continue;
            }
            b's' => 1,
            b'm' => 60,
            b'h' => 3_600,
            b'd' => 86_400,
            _ => return None,
        };
        total = total.checked_add(number.take()?.checked_mul(unit)?)?;
    }
    let whole = number.is_none() && total > 0 && i64::try_from(total).is_ok();
    whole.then(|| Duration::from_secs(total))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_numbers_with_units_and_more_than_zero() {
        // docs/prose-rules.md#rule-21.
        for (text, seconds) in
            [("30s", 30), ("5m", 300), ("1h", 3_600), ("1h30m", 5_400), ("2d", 172_800), ("0m1s", 1)]
        {
            assert_eq!(parse_duration(text), Some(Duration::from_secs(seconds)), "{text}");
        }
        for text in [
            "",
            "0s",
            "-1s",
            "5",
            "5 minutes",
            "m",
            "5m ",
            "1.5h",
            "99999999999999999999s",
            "18446744073709551615d",
        ] {
            assert_eq!(parse_duration(text), None, "{text}");
        }
    }
}
