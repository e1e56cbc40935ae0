//! Makes foreign text safe and honest to display: non-printing characters are named, never dropped or passed
//! on.

use std::borrow::Cow;
use std::fmt::Write as _;

use unicode_width::UnicodeWidthChar;

use crate::envelope::{self, mask};

/// Maximum run of blanks shown as is; longer ones are counted.
const BLANKS: usize = 32;
/// Maximum number of combining marks on one character that are shown as is.
const MARKS: usize = 4;
const TAB: usize = 8;

/// Returns `text` on one line: controls, invisible and direction-changing characters as `⟨U+202E⟩`, a line
/// break as `⏎ `, a tab as `→`, a long run of blanks as `⟨64 spaces⟩`.
pub fn one_line(text: &str) -> Cow<'_, str> {
    let blanks = " ".repeat(BLANKS + 1);
    if !text.chars().any(is_hidden) && !text.contains(&blanks) && !has_tower(text) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    let mut spaces = 0;
    let mut marks = 0;
    for c in text.chars() {
        if c == ' ' {
            spaces += 1;
            continue;
        }
        push_spaces(&mut out, spaces);
        spaces = 0;
        marks = if is_mark(c) { marks + 1 } else { 0 };
        match c {
            '\n' => out.push_str("⏎ "),
            '\t' => out.push('→'),
            c if is_hidden(c) || marks > MARKS => push_named(&mut out, c),
            c => out.push(c),
        }
    }
    push_spaces(&mut out, spaces);
    Cow::Owned(out)
}

/// Returns user- or agent-supplied text about a task (its command, name or reason) on one line, with secrets
/// masked.
pub fn masked_line(text: &str) -> String {
    one_line(&mask(text)).into_owned()
}

/// Returns one line of a longer text: like `one_line`, but blanks are kept and tabs are expanded.
pub fn in_text(line: &str) -> Cow<'_, str> {
    if !line.chars().any(is_hidden) && !has_tower(line) {
        return Cow::Borrowed(line);
    }
    let mut out = String::with_capacity(line.len() + 16);
    let mut column = 0;
    let mut marks = 0;
    for c in line.chars() {
        marks = if is_mark(c) { marks + 1 } else { 0 };
        if c == '\t' {
            let gap = TAB - column % TAB;
            out.push_str(&" ".repeat(gap));
            column += gap;
        } else if is_hidden(c) || marks > MARKS {
            let before = out.len();
            push_named(&mut out, c);
            column += out.len() - before;
        } else {
            out.push(c);
            column += c.width().unwrap_or(0);
        }
    }
    Cow::Owned(out)
}

/// Tells whether `text` contains characters a reader would not see.
pub fn has_hidden(text: &str) -> bool {
    text.chars().any(|c| is_hidden(c) && !matches!(c, '\n' | '\t'))
}

fn push_named(out: &mut String, c: char) {
    let _ = write!(out, "⟨U+{:04X}⟩", u32::from(c));
}

fn push_spaces(out: &mut String, count: usize) {
    if count > BLANKS {
        let _ = write!(out, "⟨{count} spaces⟩");
    } else {
        out.extend(std::iter::repeat_n(' ', count));
    }
}

fn is_mark(c: char) -> bool {
    c.width() == Some(0) && !is_hidden(c)
}

fn has_tower(text: &str) -> bool {
    let mut marks = 0;
    text.chars().any(|c| {
        marks = if is_mark(c) { marks + 1 } else { 0 };
        marks > MARKS
    })
}

/// Tells whether a terminal hides a character or no font shows it: this includes private use and
/// noncharacters.
fn is_hidden(c: char) -> bool {
    envelope::is_hidden(c)
        || matches!(u32::from(c), 0xE000..=0xF8FF | 0xFDD0..=0xFDEF | 0xFFFE..=0xFFFF | 0xF_0000..=0x10_FFFF)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_that_do_not_print_are_named() {
        for (given, shown) in [
            ("plain — ünïcode 你好", "plain — ünïcode 你好"),
            ("rm -rf \u{202e}txt", "rm -rf ⟨U+202E⟩txt"),
            ("a\x1b]52;c;x\x07b", "a⟨U+001B⟩]52;c;x⟨U+0007⟩b"),
            ("zero\u{200b}width", "zero⟨U+200B⟩width"),
            ("tag\u{e0041}", "tag⟨U+E0041⟩"),
            ("one\ntwo\tthree", "one⏎ two→three"),
            ("c1\u{9b}31m", "c1⟨U+009B⟩31m"),
        ] {
            assert_eq!(one_line(given), shown);
            assert_eq!(one_line(shown), shown, "idempotent");
        }
    }

    #[test]
    fn a_long_run_of_blanks_and_a_tower_of_marks_are_told() {
        assert_eq!(one_line(&format!("a{}b", " ".repeat(64))), "a⟨64 spaces⟩b");
        assert!(one_line(&format!("e{}", "\u{301}".repeat(9))).contains("⟨U+0301⟩"));
        assert_eq!(in_text(&format!("a{}b", " ".repeat(64))).len(), 66);
    }

    #[test]
    fn a_tab_in_a_text_reaches_its_stop() {
        assert_eq!(in_text("ab\tc"), "ab      c");
    }

    proptest::proptest! {
        #[test]
        fn shown_text_holds_no_hidden_character(text in "\\PC*|.*") {
            proptest::prop_assert!(!one_line(&text).chars().any(is_hidden));
            proptest::prop_assert!(!in_text(&text).chars().any(is_hidden));
        }
    }
}
