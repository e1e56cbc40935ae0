//! What of a text nobody can read: bytes that are no text, and blanks without end. Pure.

use std::borrow::Cow;

use crate::units::grouped_number;

/// How many characters of a text are looked at.
const LOOKED_AT: usize = 8_192;
/// From which share of them, and from how many, a text is said to be binary if they stand for bytes that are no text.
const BINARY_PERCENT: usize = 10;
const BINARY_LEAST: usize = 8;
/// So many blanks in a row are counted, not shown: programs that take a pipe for a terminal draw whole screens of them.
const BLANKS: &[u8] = &[b' '; 500];

/// Returns a text with what cannot be read named: `[binary output: 40 % of it is no text]`, `[1,920 blanks]`.
pub(super) fn mark(text: Cow<'_, str>) -> Cow<'_, str> {
    let text = match memchr::memmem::find(text.as_bytes(), BLANKS) {
        Some(at) => Cow::Owned(without_blanks(&text, at)),
        None => text,
    };
    match percent_no_text(&text) {
        Some(percent) => Cow::Owned(format!("[{}] {text}", name_of(&text, percent))),
        None => text,
    }
}

/// Returns what a text is that bytes of this share are no text of.
fn name_of(text: &str, percent: usize) -> String {
    let beginning = || text.chars().take(LOOKED_AT);
    let zeros = beginning().filter(|c| *c == '\u{2400}').count();
    // The mark of UTF-16 is two invalid bytes, and every other byte of what most people write with it is 0.
    if text.starts_with("\u{FFFD}\u{FFFD}") && 4 * zeros >= beginning().count() {
        return "not UTF-8 but UTF-16: `iconv -f UTF-16` converts it".to_owned();
    }
    if beginning().any(|c| matches!(c, '\u{2400}'..='\u{2421}')) {
        return format!("binary output: {percent} % of it is no text");
    }
    format!("{percent} % of it is not UTF-8: if it is text, `iconv -f` with its encoding converts it")
}

fn without_blanks(text: &str, first: usize) -> String {
    let (mut shown, mut rest) = (String::with_capacity(text.len() / 2), text);
    let mut next = Some(first);
    while let Some(at) = next {
        let (before, from) = rest.split_at(at);
        let after = from.trim_start_matches(' ');
        shown.push_str(before);
        shown.push_str(&format!("[{} blanks]", grouped_number((from.len() - after.len()) as u64)));
        rest = after;
        next = memchr::memmem::find(rest.as_bytes(), BLANKS);
    }
    shown.push_str(rest);
    shown
}

/// Returns the percentage of a text's beginning that stands for bytes that are no text, if it is binary.
fn percent_no_text(text: &str) -> Option<usize> {
    let (mut all, mut no_text) = (0, 0);
    for c in text.chars().take(LOOKED_AT) {
        all += 1;
        // The replacement character, and the pictures of control characters.
        no_text += usize::from(matches!(c, '\u{FFFD}' | '\u{2400}'..='\u{2421}'));
    }
    let percent = no_text * 100 / all.max(1);
    (no_text >= BINARY_LEAST && percent >= BINARY_PERCENT).then_some(percent)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> String {
        mark(Cow::Borrowed(text)).into_owned()
    }

    #[test]
    fn binary_output_is_said_to_be_binary_and_text_is_not() {
        let bytes = format!("\u{FFFD}ELF{}", "\u{2400}".repeat(9));
        assert_eq!(shown(&bytes), format!("[binary output: 76 % of it is no text] {bytes}"));
        for text in
            ["", "a␀b", "a name\u{2400}another name\u{2400}", "caf\u{FFFD}\n", &"some words ".repeat(900)]
        {
            assert_eq!(shown(text), text);
        }
    }

    #[test]
    fn text_in_another_encoding_is_said_to_be_so() {
        let sixteen: String = "\u{FFFD}\u{FFFD}"
            .chars()
            .chain("Windows line\r\n".chars().flat_map(|c| [c, '\u{2400}']))
            .collect();
        assert!(shown(&sixteen).starts_with("[not UTF-8 but UTF-16: `iconv -f UTF-16` converts it] "));
        let latin = "caf\u{FFFD} cr\u{FFFD}me br\u{FFFD}l\u{FFFD}e ".repeat(3);
        assert!(shown(&latin).starts_with("[22 % of it is not UTF-8: if it is text, "), "{}", shown(&latin));
    }

    #[test]
    fn a_long_run_of_blanks_is_shown_as_its_count() {
        let blanks = |count| " ".repeat(count);
        assert_eq!(
            shown(&format!("{}Every{}", blanks(1_920), blanks(48))),
            format!("[1,920 blanks]Every{}", blanks(48))
        );
        assert_eq!(
            shown(&format!("a{}\nb{}c", blanks(500), blanks(12_345))),
            "a[500 blanks]\nb[12,345 blanks]c"
        );
        assert_eq!(shown(&blanks(499)), blanks(499));
    }
}
