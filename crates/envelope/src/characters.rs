//! Characters that are invisible or that control a terminal, and the contexts in which one of them is part of
//! ordinary writing: inside an emoji, or between letters of a script that uses joiners.

use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthChar;

/// The number of combining marks on one character that counts as ordinary.
const MARKS: usize = 4;
const NON_JOINER: char = '\u{200C}';
const JOINER: char = '\u{200D}';
/// Turns the preceding digit into a keycap.
const KEYCAP: char = '\u{20E3}';
/// The offset of the tag characters from ASCII.
const TAGS: u32 = 0xE_0000;
const FLAG: char = '\u{1F3F4}';
const LAST_TAG: char = '\u{E007F}';
/// The tags of a region's flag: five letters and the cancel tag.
const REGION_TAGS: usize = 6;
/// The regions with flags in common fonts: England, Scotland, Wales.
const REGIONS: [&str; 3] = ["gbeng", "gbsct", "gbwls"];

/// Returns whether a character is a control, a format character or ignored by default when shown.
pub fn is_hidden(c: char) -> bool {
    if c.is_control() {
        return true;
    }
    if c < '\u{AD}' {
        return false;
    }
    let at = HIDDEN.partition_point(|range| *range.end() < c);
    HIDDEN.get(at).is_some_and(|range| range.contains(&c))
}

/// General categories Cf, Zl and Zp, and the property `Default_Ignorable_Code_Point` (Unicode 17).
const HIDDEN: &[std::ops::RangeInclusive<char>] = &[
    '\u{AD}'..='\u{AD}',
    '\u{34F}'..='\u{34F}',
    '\u{600}'..='\u{605}',
    '\u{61C}'..='\u{61C}',
    '\u{6DD}'..='\u{6DD}',
    '\u{70F}'..='\u{70F}',
    '\u{890}'..='\u{891}',
    '\u{8E2}'..='\u{8E2}',
    '\u{115F}'..='\u{1160}',
    '\u{17B4}'..='\u{17B5}',
    '\u{180B}'..='\u{180F}',
    '\u{200B}'..='\u{200F}',
    '\u{2028}'..='\u{202E}',
    '\u{2060}'..='\u{206F}',
    '\u{3164}'..='\u{3164}',
    '\u{FE00}'..='\u{FE0F}',
    '\u{FEFF}'..='\u{FEFF}',
    '\u{FFA0}'..='\u{FFA0}',
    '\u{FFF0}'..='\u{FFFB}',
    '\u{110BD}'..='\u{110BD}',
    '\u{110CD}'..='\u{110CD}',
    '\u{13430}'..='\u{1343F}',
    '\u{1BCA0}'..='\u{1BCA3}',
    '\u{1D173}'..='\u{1D17A}',
    '\u{E0000}'..='\u{E0FFF}',
];

/// Returns whether a character is a combining mark: it takes no column of its own and is not hidden.
pub(super) fn is_mark(c: char) -> bool {
    c > '\u{2FF}' && c.width() == Some(0) && !is_hidden(c)
}

/// Calls `each` with every character, and whether it must be replaced by its name because it is hidden and not part
/// of ordinary writing. With `stacked`, that also applies to marks beyond the first few on one character.
pub(super) fn walk(text: &str, stacked: bool, mut each: impl FnMut(char, bool)) {
    let mut marks = 0;
    for (at, c) in text.char_indices() {
        marks = if stacked && is_mark(c) { marks + 1 } else { 0 };
        let is_odd = is_hidden(c) && !is_writing(text, at, c);
        each(c, is_odd || marks > MARKS);
    }
}

/// Returns quickly whether a text is certain to contain nothing that [`walk`] would have replaced.
pub(super) fn is_ordinary(text: &str, stacked: bool) -> bool {
    let mut marks = 0;
    text.bytes().all(|byte| matches!(byte, b' '..=b'~'))
        || text.chars().all(|c| {
            marks = if stacked && is_mark(c) { marks + 1 } else { 0 };
            marks <= MARKS && !is_hidden(c)
        })
}

/// Returns whether a hidden character is part of how its text is written.
fn is_writing(text: &str, at: usize, c: char) -> bool {
    let before = text.get(..at).unwrap_or_default();
    let Some(last) = before.chars().next_back() else { return false };
    let next = || text.get(at + c.len_utf8()..).and_then(|after| after.chars().next());
    match c {
        '\u{FE0E}' | '\u{FE0F}' if matches!(last, '0'..='9' | '#' | '*') => next() == Some(KEYCAP),
        '\u{FE0E}' | '\u{FE0F}' => is_pictograph(last),
        JOINER | NON_JOINER if is_joined_letter(last) => next().is_some_and(is_joined_letter),
        JOINER => {
            let is_modifier = |c: &char| matches!(c, '\u{FE0F}' | '\u{1F3FB}'..='\u{1F3FF}');
            let emoji = before.chars().rev().find(|c| !is_modifier(c));
            emoji.is_some_and(is_pictograph) && next().is_some_and(is_pictograph)
        }
        '\u{E0020}'..='\u{E007F}' => is_region(text, at),
        _ => false,
    }
}

/// Returns whether a character is an emoji, by the rule that joins emoji into one character (GB11 in Unicode's annex
/// 29): a joiner attaches what follows only to an emoji.
fn is_pictograph(c: char) -> bool {
    let joined = || [c, JOINER, '\u{1F600}'].iter().collect::<String>().graphemes(true).count() == 1;
    c >= '\u{A9}' && !is_hidden(c) && joined()
}

/// Returns whether a character is a letter or sign of Arabic or an Indian script, which are written with joiners
/// between letters.
fn is_joined_letter(c: char) -> bool {
    let is_one = matches!(c, '\u{620}'..='\u{6FF}' | '\u{750}'..='\u{77F}' | '\u{8A0}'..='\u{DFF}');
    is_one && !is_hidden(c)
}

/// Returns whether the tag at `at` belongs to the flag of a region: a black flag, five letters, and the tag that ends
/// it.
fn is_region(text: &str, at: usize) -> bool {
    let before = text.get(..at).unwrap_or_default().char_indices().rev().take(REGION_TAGS);
    let Some(start) = before.into_iter().find(|(_, c)| *c == FLAG).map(|(start, _)| start + FLAG.len_utf8())
    else {
        return false;
    };
    let tags = || text.get(start..).unwrap_or_default().chars().take(REGION_TAGS);
    let tag = |c: char| char::from_u32(u32::from(c) + TAGS);
    REGIONS.iter().any(|region| tags().map(Some).eq(region.chars().map(tag).chain([Some(LAST_TAG)])))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(text: &str) -> Vec<u32> {
        let mut named = Vec::new();
        walk(text, true, |c, is_odd| named.extend(is_odd.then_some(u32::from(c))));
        named
    }

    #[test]
    fn the_table_is_sorted() {
        assert!(HIDDEN.windows(2).all(|pair| pair[0].end() < pair[1].start()));
    }

    #[test]
    fn characters_of_ordinary_writing_are_not_named() {
        for text in [
            "plain — ünïcode 你好 e\u{301}",
            "❤\u{FE0F} ☎\u{FE0E} 1\u{FE0F}\u{20E3} 🇨🇭",
            "👩\u{200D}💻 👩🏽\u{200D}🚀 🏳\u{FE0F}\u{200D}🌈 🤷\u{200D}♀\u{FE0F} 👨\u{200D}👩\u{200D}👧",
            "🏴\u{E0067}\u{E0062}\u{E0073}\u{E0063}\u{E0074}\u{E007F}",
            "می\u{200C}خواهم क्\u{200D}ष श्री",
        ] {
            assert!(named(text).is_empty(), "{text}");
        }
    }

    #[test]
    fn hidden_characters_outside_ordinary_writing_are_named() {
        for (text, expected) in [
            ("a\u{FE0F}", vec![0xFE0F]),
            ("1\u{FE0F}", vec![0xFE0F]),
            ("❤\u{FE0F}\u{FE0F}\u{E0100}", vec![0xFE0F, 0xE0100]),
            ("a\u{200D}b", vec![0x200D]),
            ("👩\u{200D}", vec![0x200D]),
            ("👩\u{200D}\u{200D}💻", vec![0x200D, 0x200D]),
            ("a\u{200C}b م\u{200C}", vec![0x200C, 0x200C]),
            ("🏴\u{E0067}\u{E007F}", vec![0xE0067, 0xE007F]),
            (
                "x\u{E0041}\u{202E}\u{2066}\u{200B}\u{85}\u{9B}",
                vec![0xE0041, 0x202E, 0x2066, 0x200B, 0x85, 0x9B],
            ),
        ] {
            assert_eq!(named(text), expected, "{text:?}");
        }
        assert_eq!(named(&format!("e{}", "\u{301}".repeat(300))).len(), 296);
    }
}
