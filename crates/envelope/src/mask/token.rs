//! Recognition of tokens by their form, wherever they appear. A hash is not one: 40 hexadecimal digits are a commit
//! id.

/// The minimum number of characters after a prefix.
const LEAST: usize = 20;
/// The length of a run of letters and digits that does not occur in names of branches and packages.
const RUN: usize = 12;

/// Returns whether this byte before a token makes it part of something else.
pub(super) fn is_part(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')
}

/// Returns the length of the token at the start of a text, in bytes.
pub(super) fn length(text: &[u8]) -> Option<usize> {
    match text {
        [b'g', b'h', b'p' | b'o' | b'u' | b's' | b'r', b'_', rest @ ..] => {
            whole(4, rest, |byte| byte.is_ascii_alphanumeric(), LEAST)
        }
        [b'g', b'i', b't', b'h', b'u', b'b', b'_', b'p', b'a', b't', b'_', rest @ ..] => {
            whole(11, rest, |byte| byte.is_ascii_alphanumeric() || byte == b'_', LEAST)
        }
        [b'x', b'o', b'x', b'a'..=b'z', b'-', rest @ ..] => whole(5, rest, is_part, LEAST / 2),
        [b'A', b'K' | b'S', b'I', b'A', rest @ ..] => {
            let is_part = |byte: u8| byte.is_ascii_uppercase() || byte.is_ascii_digit();
            whole(4, rest, is_part, 16).filter(|length| *length == 20)
        }
        [b's', b'k', b'-', rest @ ..] => {
            whole(3, rest, is_part, LEAST).filter(|length| has_run(&text[..*length]))
        }
        _ => None,
    }
}

/// Returns the length of a prefix with all that may follow it; `None` if that is too short or continues as another
/// word.
fn whole(prefix: usize, rest: &[u8], is_own: impl Fn(u8) -> bool, least: usize) -> Option<usize> {
    let own = rest.iter().take_while(|byte| is_own(**byte)).count();
    let goes_on = rest.get(own).is_some_and(|byte| is_part(*byte));
    (own >= least && !goes_on).then_some(prefix + own)
}

/// Returns whether a long run of letters and digits contains a digit.
fn has_run(token: &[u8]) -> bool {
    let runs = token.split(|byte| !byte.is_ascii_alphanumeric());
    runs.into_iter().any(|run| run.len() >= RUN && run.iter().any(u8::is_ascii_digit))
}
