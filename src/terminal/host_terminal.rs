//! The terminal around this program: what it is asked, and how its answers read. Pure; whoever holds it asks.

/// Red, green and blue.
pub type Rgb = (u8, u8, u8);

/// A mark of the console that some terminals draw two columns wide.
const MARK: char = '●';
/// A row that no key is reported with: `CSI 1 ; 2 R` would be Shift-F3 as well.
const ROW: u16 = 2;

/// Something a terminal answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    /// A colour.
    Colour(Ink, Rgb),
    /// Where the cursor stands, from 1.
    Cursor {
        /// Its row.
        row: u16,
        /// Its column.
        column: u16,
    },
    /// What it is: every terminal answers that, and this one after all other questions.
    Attributes,
}

/// A colour by its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ink {
    /// Of text without a colour.
    Foreground,
    /// Behind it.
    Background,
    /// One of the sixteen with names.
    Palette(u8),
}

/// What is known of a terminal from its answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct HostTerminal {
    /// Of text without a colour.
    pub foreground: Option<Rgb>,
    /// Behind it.
    pub background: Option<Rgb>,
    /// The sixteen with names.
    pub palette: [Option<Rgb>; 16],
    /// Columns of a character whose width is up to the terminal.
    pub ambiguous_columns: Option<u16>,
}

/// Returns the questions about colours.
#[must_use]
pub fn colour_questions() -> String {
    let mut all = String::from("\x1b]10;?\x1b\\\x1b]11;?\x1b\\");
    for index in 0..16 {
        all.push_str(&format!("\x1b]4;{index};?\x1b\\"));
    }
    all
}

/// Returns all questions: colours, the width of a mark, and last what every terminal answers. The mark is written on a
/// screen that is blank and stays so; the cursor is left there.
#[must_use]
pub fn questions() -> String {
    let mut all = colour_questions();
    all.push_str(&format!("\x1b[{ROW};1H\x1b[8m{MARK}\x1b[6n\x1b[{ROW};1H\x1b[0m\x1b[K\x1b[c"));
    all
}

impl HostTerminal {
    /// Takes an answer in; tells whether it was the last.
    pub fn take(&mut self, answer: Answer) -> bool {
        match answer {
            Answer::Colour(Ink::Foreground, rgb) => self.foreground = Some(rgb),
            Answer::Colour(Ink::Background, rgb) => self.background = Some(rgb),
            Answer::Colour(Ink::Palette(index), rgb) => {
                if let Some(place) = self.palette.get_mut(usize::from(index)) {
                    *place = Some(rgb);
                }
            }
            Answer::Cursor { row: ROW, column } => {
                self.ambiguous_columns = column.checked_sub(1).filter(|columns| (1..=2).contains(columns));
            }
            Answer::Cursor { .. } => {}
            Answer::Attributes => return true,
        }
        false
    }

    /// Returns the sixteen colours when all of them are known.
    #[must_use]
    pub fn whole_palette(&self) -> Option<[Rgb; 16]> {
        let known: Vec<Rgb> = self.palette.iter().flatten().copied().collect();
        known.try_into().ok()
    }

    /// Tells whether text stands on a light background, where that is known.
    #[must_use]
    pub fn is_light(&self) -> Option<bool> {
        let (red, green, blue) = self.background?;
        // The weights of how bright the three look (ITU-R BT.601), in thousandths.
        let bright = u32::from(red) * 299 + u32::from(green) * 587 + u32::from(blue) * 114;
        Some(bright > 127 * 1000)
    }
}

/// Reads an operating system command as an answer: `11;rgb:ffff/ffff/ffff`.
#[must_use]
pub fn command(body: &[u8]) -> Option<Answer> {
    let text = std::str::from_utf8(body).ok()?;
    let (number, rest) = text.split_once(';')?;
    let (ink, colour) = match number {
        "10" => (Ink::Foreground, rest),
        "11" => (Ink::Background, rest),
        "4" => {
            let (index, colour) = rest.split_once(';')?;
            (Ink::Palette(index.parse().ok().filter(|index| *index < 16)?), colour)
        }
        _ => return None,
    };
    Some(Answer::Colour(ink, rgb(colour)?))
}

/// Reads `rgb:h/h/h` with one to four digits each, `rgba:`, or `#rrggbb`.
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
            ("11;rgb:ffff/8080/0000", Some(Answer::Colour(Ink::Background, (255, 128, 0)))),
            ("10;rgb:f/8/0", Some(Answer::Colour(Ink::Foreground, (255, 136, 0)))),
            ("11;rgba:1e1e/1e1e/1e1e/ffff", Some(Answer::Colour(Ink::Background, (30, 30, 30)))),
            ("4;9;#ff0010", Some(Answer::Colour(Ink::Palette(9), (255, 0, 16)))),
            ("4;16;rgb:00/00/00", None),
            ("4;9", None),
            ("11;rgb:ffff/8080", None),
            ("11;rgb:fffff/0/0", None),
            ("11;garbage", None),
            ("11;#é1111", None),
            ("52;c;AAAA", None),
            ("", None),
        ] {
            assert_eq!(command(body.as_bytes()), expected, "{body}");
        }
    }

    #[test]
    fn answers_come_to_what_is_known_and_end_with_the_attributes() {
        let mut outer = HostTerminal::default();
        assert!(!outer.take(Answer::Colour(Ink::Background, (253, 246, 227))));
        assert!(!outer.take(Answer::Cursor { row: ROW, column: 3 }));
        assert_eq!((outer.is_light(), outer.ambiguous_columns), (Some(true), Some(2)));
        assert!(!outer.take(Answer::Cursor { row: 9, column: 9 }), "that was not asked");
        assert_eq!(outer.ambiguous_columns, Some(2));
        assert_eq!(outer.whole_palette(), None);
        for index in 0..16 {
            outer.take(Answer::Colour(Ink::Palette(index), (index, 0, 0)));
        }
        assert_eq!(outer.whole_palette().map(|palette| palette[15]), Some((15, 0, 0)));
        assert!(outer.take(Answer::Attributes));
    }

    proptest::proptest! {
        #[test]
        fn nothing_read_is_beyond_reading(body: Vec<u8>) {
            let _ = command(&body);
        }
    }
}
