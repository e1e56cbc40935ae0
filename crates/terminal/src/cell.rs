//! A drawable cell: its filtered text, its width and its style. It never contains a control character, or an
//! invisible one that could reorder or hide its neighbours.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use pilothouse_envelope::is_hidden;

/// Stands in for U+FFFD inside the emulator, which drops the real one; a noncharacter that no program should
/// print.
pub(super) const REPLACEMENT_STAND_IN: char = '\u{FDD0}';

/// Follows a character that is to be an emoji, which takes two columns.
pub(super) const EMOJI_PRESENTATION: char = '\u{FE0F}';
/// A hyphen that takes one column according to programs and the C library, but none in vt100, and how it is drawn.
pub(super) const SOFT_HYPHEN: char = '\u{AD}';
pub(super) const HYPHEN: &str = "\u{2010}";

/// A blank two columns wide.
const WIDE_BLANK: char = '\u{3000}';

/// Maximum number of combining marks drawn on one character.
const MAX_MARKS: usize = 4;

/// One cell of a screen, ready to be drawn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cell<'a> {
    /// The text to draw: a single blank for an empty cell, empty for the second half of a wide character.
    pub text: Cow<'a, str>,
    /// The width in columns: 1, 2, or 0 for the second half of a wide character.
    pub width: u8,
    /// How to draw it.
    pub style: CellStyle,
}

impl<'a> Cell<'a> {
    /// Returns an empty cell in the given style.
    pub fn blank(style: CellStyle) -> Self {
        Self { text: Cow::Borrowed(" "), width: 1, style }
    }

    /// Returns the second half of a wide character.
    pub fn continuation() -> Self {
        Self { text: Cow::Borrowed(""), width: 0, style: CellStyle::default() }
    }

    /// Returns a cell that shows `raw`, without anything that must not reach a terminal.
    pub fn from_raw(raw: &'a str, wide: bool, style: CellStyle) -> Self {
        let width = if wide { 2 } else { 1 };
        Self { text: drawable(raw, wide), width, style }
    }

    /// Returns the same cell, owning its text.
    pub fn into_owned(self) -> Cell<'static> {
        Cell { text: Cow::Owned(self.text.into_owned()), width: self.width, style: self.style }
    }
}

/// Colours and attributes of a cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct CellStyle {
    /// The text colour.
    #[serde(skip_serializing_if = "is_default")]
    pub fg: Color,
    /// The background colour.
    #[serde(skip_serializing_if = "is_default")]
    pub bg: Color,
    #[serde(skip_serializing_if = "is_default")]
    pub bold: bool,
    /// Dim; never together with bold.
    #[serde(skip_serializing_if = "is_default")]
    pub dim: bool,
    #[serde(skip_serializing_if = "is_default")]
    pub italic: bool,
    /// Underlined, whatever kind of underline was requested.
    #[serde(skip_serializing_if = "is_default")]
    pub underline: bool,
    /// Foreground and background swapped.
    #[serde(skip_serializing_if = "is_default")]
    pub inverse: bool,
    /// Struck through.
    #[serde(skip_serializing_if = "is_default")]
    pub struck: bool,
}

/// Tells whether a value is the default, which is omitted when serialized.
pub(super) fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

impl CellStyle {
    /// Tells whether blanks in this style are visible.
    pub(super) fn shows_on_blanks(self) -> bool {
        self.bg != Color::Default || self.inverse || self.underline || self.struck
    }

    /// Returns the SGR sequence that sets this style, whatever was set before.
    pub(super) fn sequence(self) -> String {
        let Self { bold, dim, italic, underline, inverse, struck, .. } = self;
        let flags = [(bold, 1), (dim, 2), (italic, 3), (underline, 4), (inverse, 7), (struck, 9)];
        let mut codes: Vec<String> = vec!["0".to_owned()];
        codes.extend(flags.iter().filter(|(set, _)| *set).map(|(_, code)| code.to_string()));
        codes.extend(self.fg.code(30));
        codes.extend(self.bg.code(40));
        format!("\x1b[{}m", codes.join(";"))
    }
}

/// A colour as specified by the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Color {
    /// The terminal's default.
    #[default]
    Default,
    /// One of the 256 palette colours.
    Indexed(u8),
    /// Red, green, blue.
    Rgb(u8, u8, u8),
}

impl Color {
    /// Returns the SGR parameters that select it, with 30 for the foreground and 40 for the background.
    fn code(self, base: u8) -> Option<String> {
        match self {
            Self::Default => None,
            Self::Indexed(index @ 0..=7) => Some((base + index).to_string()),
            Self::Indexed(index @ 8..=15) => Some((base + 52 + index).to_string()),
            Self::Indexed(index) => Some(format!("{};5;{index}", base + 8)),
            Self::Rgb(r, g, b) => Some(format!("{};2;{r};{g};{b}", base + 8)),
        }
    }
}

/// Follows each character that is struck through, because the emulator has no such attribute: an invisible character
/// without a width, which is taken out again.
pub(super) const STRUCK_STAND_IN: char = '\u{E01EF}';

/// Returns the drawable part of a cell's text; at least one blank, so that columns stay aligned.
fn drawable(raw: &str, wide: bool) -> Cow<'_, str> {
    match raw.as_bytes() {
        [] => return Cow::Borrowed(" "),
        [b' '..=b'~'] => return Cow::Borrowed(raw),
        _ => {}
    }
    let is_odd = |c| c == REPLACEMENT_STAND_IN || is_hidden(c);
    if !raw.chars().any(is_odd) && raw.chars().nth(MAX_MARKS + 1).is_none() {
        return Cow::Borrowed(raw);
    }
    let mut text = String::with_capacity(raw.len());
    let mut marks = 0;
    for (at, c) in raw.chars().enumerate() {
        let c = if c == REPLACEMENT_STAND_IN { char::REPLACEMENT_CHARACTER } else { c };
        let joins_emoji = at > 0 && wide && matches!(c, '\u{200D}' | '\u{FE0F}') && !text.ends_with(c);
        if !joins_emoji && is_hidden(c) {
            continue;
        }
        if at > 0 {
            marks += 1;
        }
        if marks <= MAX_MARKS {
            text.push(c);
        }
    }
    // A trailing joiner would join with the next cell.
    text.truncate(text.trim_end_matches('\u{200D}').len());
    if raw.chars().next().is_some_and(is_hidden) {
        text.insert(0, if wide { WIDE_BLANK } else { ' ' });
    }
    Cow::Owned(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(raw: &str, wide: bool) -> String {
        Cell::from_raw(raw, wide, CellStyle::default()).text.into_owned()
    }

    #[test]
    fn plain_text_is_borrowed() {
        for text in ["a", "é", "好", "e\u{301}"] {
            let cell = Cell::from_raw(text, false, CellStyle::default());
            assert!(matches!(cell.text, Cow::Borrowed(_)), "{text}");
            assert_eq!(cell.text, text);
        }
    }

    #[test]
    fn bidi_zero_width_and_tag_characters_are_taken_out() {
        assert_eq!(shown("a\u{202E}", false), "a");
        assert_eq!(shown("a\u{200B}\u{2066}\u{E0041}", false), "a");
        assert_eq!(shown("a\u{E0100}", false), "a");
    }

    #[test]
    fn a_hidden_base_leaves_a_blank_of_its_width() {
        assert_eq!(shown("\u{AD}", false), " ");
        assert_eq!(shown("\u{115F}", true), "\u{3000}");
        assert_eq!(shown("\u{7}", false), " ");
    }

    #[test]
    fn joiners_stay_inside_an_emoji_only() {
        assert_eq!(shown("❤\u{FE0F}", true), "❤\u{FE0F}");
        assert_eq!(shown("👩\u{200D}", true), "👩");
        assert_eq!(shown("1\u{FE0F}\u{FE0F}", true), "1\u{FE0F}", "the second one says nothing");
        assert_eq!(shown("a\u{200D}\u{FE0F}", false), "a");
    }

    #[test]
    fn at_most_four_marks_are_drawn() {
        assert_eq!(shown(&format!("e{}", "\u{301}".repeat(7)), false), format!("e{}", "\u{301}".repeat(4)));
    }

    #[test]
    fn the_stand_in_is_drawn_as_the_replacement_character() {
        assert_eq!(shown("\u{FDD0}", false), "\u{FFFD}");
    }
}
