//! The terminal this program runs in: the queries sent to it, and the parsing of its answers. Pure: sending
//! is up to the caller.

use serde::{Deserialize, Serialize};

/// Red, green and blue.
pub type Rgb = (u8, u8, u8);

/// A light grey, and an almost black one.
const LIGHT: Rgb = (0xd0, 0xd0, 0xd0);
const DARK: Rgb = (0x10, 0x10, 0x10);

/// The colours of text without one, and of its background.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct DefaultColours {
    /// The colour of the text.
    pub foreground: Rgb,
    /// The colour of the background.
    pub background: Rgb,
}

impl Default for DefaultColours {
    /// Returns those of a terminal that nobody looks at: light on dark.
    fn default() -> Self {
        Self { foreground: LIGHT, background: DARK }
    }
}

/// A console glyph that some terminals draw two columns wide.
const MARK: char = '●';
/// A row whose report cannot be mistaken for a key: `CSI 1 ; 2 R` could also be Shift-F3.
const ROW: u16 = 2;

/// An answer from a terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TerminalAnswer {
    Colour(ColourRole, Rgb),
    /// The position of the cursor, from 1.
    Cursor {
        row: u16,
        column: u16,
    },
    /// The flags of kitty's keyboard protocol: the terminal knows it.
    Keys,
    /// The device attributes: every terminal answers this query, and only after the preceding ones.
    Attributes,
}

/// Where a colour is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ColourRole {
    /// Text without a colour of its own.
    Foreground,
    /// The background of such text.
    Background,
    /// One of the sixteen named colours.
    Palette(u8),
}

/// What a terminal's answers say about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct HostTerminal {
    /// The default text colour.
    pub foreground: Option<Rgb>,
    /// The default background colour.
    pub background: Option<Rgb>,
    /// The sixteen named colours.
    pub palette: [Option<Rgb>; 16],
    /// The width of a character of ambiguous width, in columns.
    pub ambiguous_columns: Option<u16>,
    /// Whether it can give keys that usually share a code one of their own.
    pub has_distinct_keys: bool,
}

/// Returns the queries for colours.
pub fn colour_queries() -> String {
    let mut all = String::from("\x1b]10;?\x1b\\\x1b]11;?\x1b\\");
    for index in 0..16 {
        all.push_str(&format!("\x1b]4;{index};?\x1b\\"));
    }
    all
}

/// Returns all queries: for colours, for the width of a glyph, and finally one that every terminal answers.
/// The glyph is written invisibly and erased again; the cursor is left there.
pub fn queries() -> String {
    let mut all = colour_queries();
    all.push_str(&format!("\x1b[{ROW};1H\x1b[8m{MARK}\x1b[6n\x1b[{ROW};1H\x1b[0m\x1b[K\x1b[?u\x1b[c"));
    all
}

impl HostTerminal {
    /// Records an answer; tells whether it was the last.
    pub fn record(&mut self, answer: TerminalAnswer) -> bool {
        match answer {
            TerminalAnswer::Colour(ColourRole::Foreground, rgb) => self.foreground = Some(rgb),
            TerminalAnswer::Colour(ColourRole::Background, rgb) => self.background = Some(rgb),
            TerminalAnswer::Colour(ColourRole::Palette(index), rgb) => {
                if let Some(place) = self.palette.get_mut(usize::from(index)) {
                    *place = Some(rgb);
                }
            }
            TerminalAnswer::Cursor { row: ROW, column } => {
                self.ambiguous_columns = column.checked_sub(1).filter(|columns| (1..=2).contains(columns));
            }
            TerminalAnswer::Cursor { .. } => {}
            TerminalAnswer::Keys => self.has_distinct_keys = true,
            TerminalAnswer::Attributes => return true,
        }
        false
    }

    /// Returns the sixteen named colours if all of them are known.
    pub fn whole_palette(&self) -> Option<[Rgb; 16]> {
        let known: Vec<Rgb> = self.palette.iter().flatten().copied().collect();
        known.try_into().ok()
    }

    /// Returns what programs in panes are told of its colours, if its background is known.
    pub fn default_colours(&self) -> Option<DefaultColours> {
        let background = self.background?;
        let readable = if self.is_light()? { DARK } else { LIGHT };
        Some(DefaultColours { foreground: self.foreground.unwrap_or(readable), background })
    }

    /// Tells whether the background is light, if it is known.
    pub fn is_light(&self) -> Option<bool> {
        let (red, green, blue) = self.background?;
        // The weights of the three colours in perceived brightness (ITU-R BT.601), in thousandths.
        let bright = u32::from(red) * 299 + u32::from(green) * 587 + u32::from(blue) * 114;
        Some(bright > 127 * 1000)
    }
}

/// Parses an operating system command as an answer: `11;rgb:ffff/ffff/ffff`.
pub fn parse_osc(body: &[u8]) -> Option<TerminalAnswer> {
    let text = std::str::from_utf8(body).ok()?;
    let (number, rest) = text.split_once(';')?;
    let (role, colour) = match number {
        "10" => (ColourRole::Foreground, rest),
        "11" => (ColourRole::Background, rest),
        "4" => {
            let (index, colour) = rest.split_once(';')?;
            (ColourRole::Palette(index.parse().ok().filter(|index| *index < 16)?), colour)
        }
        _ => return None,
    };
    Some(TerminalAnswer::Colour(role, rgb(colour)?))
}

/// Parses `rgb:h/h/h` with one to four digits each, `rgba:`, or `#rrggbb`.
fn rgb(text: &str) -> Option<Rgb> {
    if let Some(digits) = text.strip_prefix('#').filter(|digits| digits.len() == 6 && digits.is_ascii()) {
        let part = |at: usize| u8::from_str_radix(&digits[at..at + 2], 16).ok();
        return Some((part(0)?, part(2)?, part(4)?));
    }
    let parts = text.strip_prefix("rgb:").or_else(|| text.strip_prefix("rgba:"))?;
    let mut parts = parts.split('/').map(|part| {
        let most = match part.len() {
            1..=4 => (1_u32 << (4 * part.len())) - 1,
            _ => return None,
        };
        let value = u32::from_str_radix(part, 16).ok()?;
        u8::try_from(value * 255 / most).ok()
    });
    Some((parts.next()??, parts.next()??, parts.next()??))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_are_read_in_the_forms_terminals_use() {
        for (body, expected) in [
            ("11;rgb:ffff/8080/0000", Some(TerminalAnswer::Colour(ColourRole::Background, (255, 128, 0)))),
            ("10;rgb:f/8/0", Some(TerminalAnswer::Colour(ColourRole::Foreground, (255, 136, 0)))),
            (
                "11;rgba:1e1e/1e1e/1e1e/ffff",
                Some(TerminalAnswer::Colour(ColourRole::Background, (30, 30, 30))),
            ),
            ("4;9;#ff0010", Some(TerminalAnswer::Colour(ColourRole::Palette(9), (255, 0, 16)))),
            ("4;16;rgb:00/00/00", None),
            ("4;9", None),
            ("11;rgb:ffff/8080", None),
            ("11;rgb:fffff/0/0", None),
            ("11;garbage", None),
            ("11;#é1111", None),
            ("52;c;AAAA", None),
            ("", None),
        ] {
            assert_eq!(parse_osc(body.as_bytes()), expected, "{body}");
        }
    }

    #[test]
    fn programs_are_told_colours_that_can_be_told_apart() {
        let told = |foreground, background| {
            HostTerminal { foreground, background, ..HostTerminal::default() }.default_colours()
        };
        let (white, red) = ((255, 255, 255), (255, 0, 0));
        assert_eq!(told(Some(red), None), None);
        let whole = DefaultColours { foreground: red, background: white };
        assert_eq!(told(Some(red), Some(white)), Some(whole));
        assert_eq!(told(None, Some(white)).map(|told| told.foreground), Some(DARK));
        assert_eq!(told(None, Some((0, 0, 0))).map(|told| told.foreground), Some(LIGHT));
    }

    #[test]
    fn answers_come_to_what_is_known_and_end_with_the_attributes() {
        let mut outer = HostTerminal::default();
        assert!(!outer.record(TerminalAnswer::Colour(ColourRole::Background, (253, 246, 227))));
        assert!(!outer.record(TerminalAnswer::Cursor { row: ROW, column: 3 }));
        assert_eq!((outer.is_light(), outer.ambiguous_columns), (Some(true), Some(2)));
        assert!(!outer.record(TerminalAnswer::Cursor { row: 9, column: 9 }), "that was not asked");
        assert_eq!(outer.ambiguous_columns, Some(2));
        assert_eq!(outer.whole_palette(), None);
        for index in 0..16 {
            outer.record(TerminalAnswer::Colour(ColourRole::Palette(index), (index, 0, 0)));
        }
        assert_eq!(outer.whole_palette().map(|palette| palette[15]), Some((15, 0, 0)));
        assert!(outer.record(TerminalAnswer::Attributes));
    }

    proptest::proptest! {
        #[test]
        fn no_answer_makes_the_parser_panic(body: Vec<u8>) {
            let _ = parse_osc(&body);
        }
    }
}
