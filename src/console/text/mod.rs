//! Text utilities: widths, cutting, counts, ages.

pub mod cell;
pub mod diff;
pub mod document;
pub mod finding;
pub(crate) mod json;
pub mod reading;
pub mod visible;

use jiff::Timestamp;
use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

pub use crate::envelope::units::{grouped_amount, grouped_number as count};
pub use crate::envelope::units::{millis, size};
use crate::model::millis_between;
pub use document::{StyledPiece, WrappedText, piece, wrap_lines};

/// Returns the width of `text` in columns.
pub fn width(text: &str) -> usize {
    text.width()
}

/// Returns `text` cut to `columns`, ending in `mark` if anything was cut.
pub fn cut(text: &str, columns: usize, mark: &str) -> String {
    if width(text) <= columns {
        return text.to_owned();
    }
    let Some(room) = columns.checked_sub(width(mark)) else { return String::new() };
    let mut out = prefix(text, room).to_owned();
    out.push_str(mark);
    out
}

/// Returns `text` cut to `columns` with the cut in its middle, for paths and ids.
pub fn cut_middle(text: &str, columns: usize, mark: &str) -> String {
    if width(text) <= columns {
        return text.to_owned();
    }
    let Some(room) = columns.checked_sub(width(mark)) else { return String::new() };
    let head = prefix(text, room / 2);
    let mut tail: Vec<&str> = Vec::new();
    let mut left = room - width(head);
    for cluster in text.graphemes(true).rev() {
        let columns = width(cluster);
        if columns > left {
            break;
        }
        left -= columns;
        tail.push(cluster);
    }
    let tail: String = tail.into_iter().rev().collect();
    format!("{head}{mark}{tail}")
}

/// Returns as much of the beginning of `text` as fits in `columns`.
pub fn prefix(text: &str, columns: usize) -> &str {
    let mut used = 0;
    for (at, cluster) in text.grapheme_indices(true) {
        used += width(cluster);
        if used > columns {
            return &text[..at];
        }
    }
    text
}

/// Splits `text` at a column: returns what precedes it, and the rest as it appears from there on.
pub fn split_at_column(text: &str, columns: usize) -> (&str, String) {
    let before = prefix(text, columns);
    let rest = &text[before.len()..];
    let Some(cluster) = rest.graphemes(true).next().filter(|_| width(before) < columns) else {
        return (before, rest.to_owned());
    };
    // If the column splits a wide character, its second half becomes blank.
    let half = (width(before) + width(cluster)).saturating_sub(columns);
    (before, format!("{}{}", " ".repeat(half), &rest[cluster.len()..]))
}

/// Returns `text` cut or padded with blanks to exactly `columns`.
pub fn column(text: &str, columns: usize, mark: &str) -> String {
    let mut out = cut(text, columns, mark);
    let missing = columns.saturating_sub(width(&out));
    out.extend(std::iter::repeat_n(' ', missing));
    out
}

/// Returns `text` right-aligned: padded with blanks on the left to at least `columns`.
pub fn right(text: &str, columns: usize) -> String {
    let missing = columns.saturating_sub(width(text));
    format!("{}{text}", " ".repeat(missing))
}

/// Does the same for a column of a table: what is too long for it still stands apart from what is before it.
pub fn apart(text: &str, columns: usize) -> String {
    format!(" {}", right(text, columns.saturating_sub(1)))
}

/// Estimates the number of tokens in this many characters: a quarter, rounded up.
pub fn tokens(chars: u64) -> u64 {
    chars.div_ceil(4)
}

/// A time span as displayed, and when that text will change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Age {
    /// `42s`, `2m`, `1h02m`, `3d04h`.
    pub text: String,
    /// When the text changes, as `now` advances.
    pub until: Timestamp,
}

/// Returns the time from `since` to `now`, rounded so that an idle screen seldom changes.
pub fn age(since: Timestamp, now: Timestamp) -> Age {
    let ms = millis_between(since, now);
    let seconds = ms / 1000;
    let (text, is_coarse) = match seconds {
        0..60 => (format!("{seconds}s"), false),
        60..3_600 => (format!("{}m", seconds / 60), true),
        _ => (millis(ms), true),
    };
    // All of them change together with the clock, so that an idle screen is redrawn once a minute, or once a second, and
    // not once per task.
    let until = if is_coarse { next_minute(now) } else { next_second(now) };
    Age { text, until }
}

/// Returns the time since something was last heard of, in steps of ten seconds after the first ten: nothing goes on there.
pub fn silence(since: Timestamp, now: Timestamp) -> Age {
    let seconds = millis_between(since, now) / 1_000;
    if !(10..60).contains(&seconds) {
        return age(since, now);
    }
    let next = (now.as_second().div_euclid(10) + 1) * 10;
    let until = Timestamp::from_second(next).unwrap_or(Timestamp::MAX);
    Age { text: format!("{}s", seconds / 10 * 10), until }
}

/// Returns when the next minute begins.
pub fn next_minute(now: Timestamp) -> Timestamp {
    Timestamp::from_second((now.as_second().div_euclid(60) + 1) * 60).unwrap_or(Timestamp::MAX)
}

/// Returns when the next second begins.
pub fn next_second(now: Timestamp) -> Timestamp {
    Timestamp::from_second(now.as_millisecond().div_euclid(1_000) + 1).unwrap_or(Timestamp::MAX)
}

/// Returns the time left until `end`, and when that number changes.
pub fn countdown(end: Timestamp, now: Timestamp) -> Age {
    let seconds = millis_between(now, end).div_ceil(1_000);
    let until = if seconds == 0 { later(now, 3_600) } else { later(end, 1 - seconds.cast_signed()) };
    let text = if seconds < 60 { format!("{seconds}s") } else { millis(seconds * 1_000) };
    Age { text, until }
}

fn later(at: Timestamp, seconds: i64) -> Timestamp {
    at.checked_add(jiff::SignedDuration::from_secs(seconds)).unwrap_or(Timestamp::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_second(seconds).expect("in range")
    }

    #[test]
    fn an_age_is_coarse_and_says_when_it_changes() {
        for (seconds, text, until) in [
            (0, "0s", 1),
            (42, "42s", 43),
            (60, "1m", 80),
            (179, "2m", 200),
            (3_720, "1h02m", 3_740),
            (273_700, "3d04h", 273_740),
        ] {
            let shown = age(at(1_000), at(1_000 + seconds));
            assert_eq!((shown.text.as_str(), shown.until), (text, at(1_000 + until)), "{seconds}");
        }
        assert_eq!(age(at(2_000), at(1_000)).text, "0s", "a clock set back shows no negative age");
        let ms = |ms| Timestamp::from_millisecond(ms).expect("in range");
        let until = [1_100, 1_700, 1_999].map(|since| age(ms(since), ms(5_050)).until);
        assert_eq!(until, [at(6); 3], "those that began at different moments change together");
    }

    #[test]
    fn the_time_of_a_silence_is_shown_in_coarse_common_steps() {
        let shown = [3, 9, 10, 19, 59, 61].map(|now| silence(at(0), at(now)));
        let shown = shown.map(|Age { text, until }| (text, until.as_second()));
        let expected = [("3s", 4), ("9s", 10), ("10s", 20), ("10s", 20), ("50s", 60), ("1m", 120)];
        assert_eq!(shown, expected.map(|(text, until)| (text.to_owned(), until)));
    }

    #[test]
    fn a_countdown_reaches_nought_and_rests() {
        assert_eq!(countdown(at(10), at(6)), Age { text: "4s".into(), until: at(7) });
        assert_eq!(countdown(at(10), at(12)).text, "0s");
    }

    #[test]
    fn a_cut_never_splits_a_wide_character() {
        assert_eq!(cut("你好吗", 5, "…"), "你好…");
        assert_eq!(cut("你好吗", 4, "…"), "你…");
        assert_eq!(cut("abc", 0, "…"), "");
        assert_eq!(cut_middle("/a/long/path", 7, "…"), "/a/…ath");
        assert_eq!(column("你好吗", 4, "…"), "你… ");
    }

    #[test]
    fn counts_are_grouped_by_thousands_and_tokens_are_estimated_from_characters() {
        assert_eq!((count(1_106).as_str(), count(12).as_str()), ("1,106", "12"));
        assert_eq!((tokens(0), tokens(1), tokens(279)), (0, 1, 70));
    }
}
