//! Colour arithmetic: the contrast between two colours, and the nearest colour available at a lower colour
//! level.

use ratatui::style::Color;

use crate::config;

/// Red, green and blue.
pub type Rgb = (u8, u8, u8);

/// The least contrast at which text is easy to read (WCAG 2, level AA).
pub const LEGIBLE: f64 = 4.5;

/// How many colours a terminal has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    None,
    /// The sixteen named colours.
    Sixteen,
    /// 256 colours.
    Many,
    /// True colour: 16 million.
    True,
}

/// The background of a terminal and its sixteen named colours, if known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Backdrop {
    pub background: Rgb,
    /// The named colours, from `black` to `bright-white`.
    pub palette: [Rgb; 16],
}

/// The palette of xterm, assumed for terminals that do not report theirs.
pub const XTERM: [Rgb; 16] = [
    (0, 0, 0),
    (205, 0, 0),
    (0, 205, 0),
    (205, 205, 0),
    (0, 0, 238),
    (205, 0, 205),
    (0, 205, 205),
    (229, 229, 229),
    (127, 127, 127),
    (255, 0, 0),
    (0, 255, 0),
    (255, 255, 0),
    (92, 92, 255),
    (255, 0, 255),
    (0, 255, 255),
    (255, 255, 255),
];

impl Level {
    /// Derives the level from `TERM` and `COLORTERM`.
    pub fn of_terminal(term: &str, colorterm: &str) -> Self {
        match (colorterm, term) {
            ("truecolor" | "24bit", _) => Self::True,
            (_, term) if term.contains("direct") || term.contains("kitty") || term.contains("ghostty") => {
                Self::True
            }
            (_, term) if term.contains("256color") => Self::Many,
            (_, "" | "dumb" | "vt100" | "vt102" | "vt220" | "unknown") => Self::None,
            _ => Self::Sixteen,
        }
    }

    /// Returns the level requested in the settings, or `None` if it depends on the terminal.
    pub fn of_setting(color: config::ColorSetting) -> Option<Self> {
        match color {
            config::ColorSetting::Auto => None,
            config::ColorSetting::None => Some(Self::None),
            config::ColorSetting::Sixteen => Some(Self::Sixteen),
            config::ColorSetting::Many => Some(Self::Many),
            config::ColorSetting::True => Some(Self::True),
        }
    }

    /// Returns the nearest colour available at this level.
    pub fn map(self, color: Color) -> Color {
        match (self, color) {
            (Self::True, color) | (_, color @ Color::Reset) => color,
            (Self::None, _) => Color::Reset,
            (Self::Many, Color::Rgb(red, green, blue)) => Color::Indexed(nearest_of_256((red, green, blue))),
            (Self::Sixteen, Color::Rgb(red, green, blue)) => sixteen(nearest_of_16((red, green, blue))),
            (Self::Sixteen, Color::Indexed(index)) if index >= 16 => {
                sixteen(nearest_of_16(rgb_of_index(index)))
            }
            (_, color) => color,
        }
    }
}

/// Returns one of the sixteen as a ratatui colour.
pub fn sixteen(index: u8) -> Color {
    const NAMED: [Color; 16] = [
        Color::Black,
        Color::Red,
        Color::Green,
        Color::Yellow,
        Color::Blue,
        Color::Magenta,
        Color::Cyan,
        Color::Gray,
        Color::DarkGray,
        Color::LightRed,
        Color::LightGreen,
        Color::LightYellow,
        Color::LightBlue,
        Color::LightMagenta,
        Color::LightCyan,
        Color::White,
    ];
    NAMED.get(usize::from(index)).copied().unwrap_or(Color::Reset)
}

/// Returns the contrast between two colours, from 1 to 21.
pub fn contrast(one: Rgb, other: Rgb) -> f64 {
    let (one, other) = (luminance(one), luminance(other));
    (one.max(other) + 0.05) / (one.min(other) + 0.05)
}

fn luminance((red, green, blue): Rgb) -> f64 {
    let linear = |part: u8| {
        let part = f64::from(part) / 255.0;
        if part <= 0.040_45 { part / 12.92 } else { ((part + 0.055) / 1.055).powf(2.4) }
    };
    0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue)
}

const STEPS: [u8; 6] = [0, 95, 135, 175, 215, 255];

/// Returns the RGB value of one of the 256 colours.
fn rgb_of_index(index: u8) -> Rgb {
    match index {
        0..=15 => XTERM[usize::from(index)],
        16..=231 => {
            let at = index - 16;
            let step = |part: u8| STEPS[usize::from(part % 6)];
            (step(at / 36), step(at / 6), step(at))
        }
        grey => {
            let level = 8 + 10 * (grey - 232);
            (level, level, level)
        }
    }
}

fn distance((red, green, blue): Rgb, other: Rgb) -> u32 {
    let part = |one: u8, other: u8, weight: u32| weight * u32::from(one.abs_diff(other)).pow(2);
    // The eye distinguishes greens best and blues worst.
    part(red, other.0, 3) + part(green, other.1, 6) + part(blue, other.2, 1)
}

fn nearest_of_256(color: Rgb) -> u8 {
    // The first sixteen are excluded, because they differ between terminals.
    (16..=255).min_by_key(|index| distance(color, rgb_of_index(*index))).unwrap_or(16)
}

fn nearest_of_16(color: Rgb) -> u8 {
    (0..16).min_by_key(|index| distance(color, rgb_of_index(*index))).unwrap_or(7)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_colour_level_follows_term_and_colorterm() {
        for (term, colorterm, level) in [
            ("xterm-256color", "truecolor", Level::True),
            ("xterm-256color", "", Level::Many),
            ("xterm-kitty", "", Level::True),
            ("xterm", "", Level::Sixteen),
            ("linux", "", Level::Sixteen),
            ("dumb", "", Level::None),
            ("", "", Level::None),
        ] {
            assert_eq!(Level::of_terminal(term, colorterm), level, "{term} {colorterm}");
        }
    }

    #[test]
    fn contrast_is_that_of_wcag() {
        assert!((contrast((0, 0, 0), (255, 255, 255)) - 21.0).abs() < 0.01);
        assert!((contrast((119, 119, 119), (255, 255, 255)) - 4.48).abs() < 0.01);
    }

    #[test]
    fn a_poorer_terminal_gets_the_nearest_it_has() {
        let orange = Color::Rgb(255, 135, 0);
        assert_eq!(Level::True.map(orange), orange);
        assert_eq!(Level::Many.map(orange), Color::Indexed(208));
        assert_eq!(Level::Many.map(Color::Rgb(128, 128, 128)), Color::Indexed(244));
        assert_eq!(Level::Sixteen.map(Color::Rgb(250, 10, 10)), Color::LightRed);
        assert_eq!(Level::Sixteen.map(Color::Indexed(196)), Color::LightRed);
        assert_eq!(Level::Sixteen.map(Color::Indexed(3)), Color::Indexed(3), "the terminal's own");
        assert_eq!(Level::None.map(Color::Indexed(3)), Color::Reset);
        for level in [Level::None, Level::Sixteen, Level::Many] {
            assert_eq!(level.map(Color::Reset), Color::Reset);
        }
    }
}
